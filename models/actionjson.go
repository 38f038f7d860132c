package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// ErrNotAnObject is in the chain of an EncodeError about a document whose JSON
// is not an object: a nil pointer or map, a slice, a string.
var ErrNotAnObject = wire.ErrNotAnObject

// ErrReservedName is in the chain of an EncodeError about a document that has a
// member whose name starts with "@search.". Such names belong to the service:
// they carry the action in a request and the score in an answer, so a type that
// holds both a document and its score needs two types, or `json:"-"`.
var ErrReservedName = errors.New(`names that start with "@search." belong to the service`)

// AppendAction appends one action as the service reads it,
//
//	{"@search.action":"upload",<members of doc>}
//
// to dst and returns the extended slice. The members are those that
// encoding/json writes for doc, with four differences: "<", ">" and "&" stay
// as they are (escaping them triples the size of HTML), an infinite float64 is "INF" or
// "-INF", as in an Edm.Double of the service (see DecodeDocument), a T whose MarshalJSON
// has a pointer receiver is asked too, and a panic in such a method is returned
// as an error. A float32 is written with the digits that a float32 needs.
//
// The error is an *EncodeError if typ is not one of the four actions, if the
// document is not a JSON object, if it has members that start with "@search.",
// or if it cannot be encoded: NaN, an infinite float32 and text that is not valid UTF-8
// are refused, with the path of the field. On error dst is returned as it was.
//
// AppendAction may be called by many goroutines at once, as long as nobody
// changes doc meanwhile. It keeps no reference to doc or dst.
func AppendAction[T any](dst []byte, typ ActionType, doc T) ([]byte, error) {
	t := documentTypeOf[T]()
	box := t.boxes.Get().(*T)
	*box = doc
	dst, err := appendAction(t, dst, typ, box)
	var zero T
	*box = zero
	t.boxes.Put(box)
	return dst, err
}

// AppendActionFrom is like AppendAction for a document that lies at doc, which
// must not be nil, and need not be copied.
func AppendActionFrom[T any](dst []byte, typ ActionType, doc *T) ([]byte, error) {
	return appendAction(documentTypeOf[T](), dst, typ, doc)
}

func appendAction[T any](t *documentType, dst []byte, typ ActionType, doc *T) ([]byte, error) {
	if !typ.Valid() {
		return dst, &EncodeError{Err: fmt.Errorf("unknown action %q", typ)}
	}
	start := len(dst)
	out := append(dst, `{"@search.action":"`...)
	out = append(out, typ...)
	out = append(out, '"')
	members := len(out)
	out, ok := appendPlanned(t, out, doc)
	if !ok {
		var err error
		v := encodable(*doc)
		if out, err = appendValue(out, v); err == nil {
			if _, broken := notUTF8(reflect.ValueOf(v), ""); broken {
				err = errNotUTF8
			}
		}
		if err != nil {
			return dst[:start], explain(v, err)
		}
	}
	encoded := out[members:]
	if encoded[0] != '{' {
		return dst[:start], &EncodeError{Err: fmt.Errorf("%w, not %s", ErrNotAnObject, jsonKind(encoded))}
	}
	if t.anyName {
		if name := reservedName(encoded); name != "" {
			return dst[:start], &EncodeError{Field: name, Err: ErrReservedName}
		}
	}
	if encoded[1] == '}' {
		return append(out[:members], '}'), nil
	}
	encoded[0] = ',' // the object goes on where it would have begun
	return out, nil
}

// AppendEncoded is like AppendAction for a document whose JSON is there already,
// for example from an encoder of the caller's own. White space inside it is kept.
//
// All of doc is checked: it must be one object, valid JSON as for json.Valid and
// valid UTF-8, and have no reserved name. If it is not JSON, the error names the first byte that is
// wrong, counted from 0 at the beginning of doc, and says why.
func AppendEncoded(dst []byte, typ ActionType, doc []byte) ([]byte, error) {
	if !typ.Valid() {
		return dst, &EncodeError{Err: fmt.Errorf("unknown action %q", typ)}
	}
	object := bytes.Trim(doc, jsonSpace)
	if len(object) > 0 {
		if at, ok := wire.Check(doc); !ok {
			return dst, notJSON(doc, at)
		}
	}
	if !utf8.Valid(doc) {
		return dst, &EncodeError{Err: fmt.Errorf("at offset %d: %w", wire.FirstInvalid(doc), errNotUTF8)}
	}
	if len(object) == 0 || object[0] != '{' {
		return dst, &EncodeError{Err: fmt.Errorf("%w, not %s", ErrNotAnObject, jsonKind(object))}
	}
	if name := reservedName(object); name != "" {
		return dst, &EncodeError{Field: name, Err: ErrReservedName}
	}
	dst = append(dst, `{"@search.action":"`...)
	dst = append(dst, typ...)
	dst = append(dst, '"')
	if object[wire.Space(object, 1)] == '}' { // it has no members
		return append(dst, '}'), nil
	}
	dst = append(dst, ',')
	return append(dst, object[1:]...), nil
}

const jsonSpace = " \t\r\n"

// notJSON is the error about a document that is not JSON from the byte at on.
func notJSON(doc []byte, at int) error {
	if bytes.HasPrefix(doc, byteOrderMark) {
		return &EncodeError{Err: fmt.Errorf("%w: %w", wire.ErrNotJSON, errByteOrderMark)}
	}
	if at == len(doc) {
		return &EncodeError{Err: fmt.Errorf("%w: it ends too early, after %d bytes", wire.ErrNotJSON, at)}
	}
	var text json.RawMessage
	err := json.Unmarshal(doc, &text) // which says what is wrong there
	return &EncodeError{Err: fmt.Errorf("%w at offset %d: %w", wire.ErrNotJSON, at, err)}
}

// AppendDelete appends the action that deletes the document with the given key,
//
//	{"@search.action":"delete","<keyField>":"<key>"}
//
// to dst and returns the extended slice. It does not check the key: package keys
// does.
func AppendDelete(dst []byte, keyField, key string) []byte {
	dst = append(dst, `{"@search.action":"delete",`...)
	dst = appendString(dst, keyField)
	dst = append(dst, ':')
	dst = appendString(dst, key)
	return append(dst, '}')
}

// MarshalJSON returns the body of the request, {"value":[<actions>]}, each
// action as AppendAction writes it. The error names the position of the action
// and has an *EncodeError in its chain.
//
// json.Marshal escapes "<", ">" and "&" in what this method returns. Call it
// directly, or use a json.Encoder with SetEscapeHTML(false), to keep them.
func (b IndexDocumentsBatch[T]) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 512), `{"value":[`...)
	for i, a := range b.Actions {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = AppendAction(out, a.Type, a.Document); err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
	}
	return append(out, `]}`...), nil
}

// encoder is a json.Encoder that appends to a slice of its caller's.
type encoder struct {
	json *json.Encoder
	out  []byte
}

func (e *encoder) Write(p []byte) (int, error) {
	e.out = append(e.out, p...)
	return len(p), nil
}

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.json = json.NewEncoder(e)
	e.json.SetEscapeHTML(false)
	return e
}}

// appendValue appends v as compact JSON without HTML escaping. A panic in a
// method of the user's becomes an error; the encoder it went through is dropped.
func appendValue(dst []byte, v any) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = dst, panicError(r)
		}
	}()
	e := encoders.Get().(*encoder)
	e.out = dst
	err = e.json.Encode(v)
	out, e.out = e.out, nil
	encoders.Put(e)
	if err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(out, []byte("\n")), nil
}

func panicError(r any) error {
	if err, ok := r.(error); ok {
		return fmt.Errorf("panic while encoding: %w", err)
	}
	return fmt.Errorf("panic while encoding: %v", r)
}

// appendString appends s as a JSON string without HTML escaping.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			dst, _ = appendValue(dst, s) // a string always encodes
			return dst
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// reservedName returns the first top-level member of a compact JSON object whose
// name starts with "@search.", or "".
//
// Such a name starts with the bytes "@ or, where the text comes from a
// MarshalJSON or a json.RawMessage, with "\u0040. Documents with neither, which
// is nearly all of them, cost two searches and no parsing.
func reservedName(object []byte) string {
	if !stringStarts(object, "@") && !stringStarts(object, `\u0040`) {
		return ""
	}
	found := ""
	_ = wire.EachMember(object, func(name, _ []byte) bool {
		if s, ok := wire.Unquote(name); ok && len(s) >= len(reservedPrefix) && s[:len(reservedPrefix)] == reservedPrefix {
			found = s
		}
		return found == ""
	})
	return found
}

const reservedPrefix = "@search."

// stringStarts reports whether start follows a quote somewhere in text. It
// searches for the first byte of start, because JSON is full of quotes.
func stringStarts(text []byte, start string) bool {
	for {
		i := bytes.IndexByte(text, start[0])
		if i < 0 {
			return false
		}
		if i > 0 && text[i-1] == '"' && bytes.HasPrefix(text[i:], []byte(start)) {
			return true
		}
		text = text[i+1:]
	}
}

// jsonKind names the kind of a JSON value for an error message.
func jsonKind(encoded []byte) string {
	if len(encoded) == 0 {
		return "nothing"
	}
	switch encoded[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}
