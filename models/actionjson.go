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

// ErrNotAnObject is in the chain of an EncodeError if the JSON of the document is not an object: a nil pointer or
// map, a slice, a string.
var ErrNotAnObject = wire.ErrNotAnObject

// ErrReservedName is in the chain of an EncodeError if the name of a member starts with "@search.". The service uses
// such names for the action in a request and the score in a reply. A type with both a document and its score must be
// split into two types, or use `json:"-"`.
var ErrReservedName = errors.New(`names that start with "@search." belong to the service`)

// AppendAction appends one action in the JSON of the service,
//
//	{"@search.action":"upload",<members of doc>}
//
// to dst and returns the extended slice. The members of doc are encoded as by encoding/json, with these
// differences: "<", ">" and "&" are not escaped, because that would triple the size of HTML. An infinite float64
// becomes "INF" or "-INF", as in an Edm.Double of the service (see DecodeDocument). A MarshalJSON with a pointer
// receiver is also called for a T. A panic in such a method is returned as an error. A float32 is written with the
// digits that a float32 needs.
//
// The error is an *EncodeError if typ is not one of the four actions, the document is not a JSON object or has
// members that start with "@search.", or it cannot be encoded. NaN, an infinite float32 and text that is not valid
// UTF-8 cannot be encoded; the error has the path of the field. On error dst is returned unchanged.
//
// AppendAction is safe for concurrent use as long as doc does not change meanwhile. It keeps no reference to doc or
// dst.
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

// AppendActionFrom is AppendAction for a document behind a pointer, which avoids a copy. doc must not be nil.
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
	encoded[0] = ',' // replaces the opening brace of the document
	return out, nil
}

// AppendEncoded is AppendAction for a document that is already JSON, for example from a custom encoder. White space
// in it is kept.
//
// All of doc is checked: it must be one object, valid JSON in the sense of json.Valid, and valid UTF-8, without
// reserved names. If it is not JSON, the error has the offset of the first wrong byte, from 0, and the reason.
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

// notJSON returns the error for a document that is not JSON. at is the offset of the first wrong byte.
func notJSON(doc []byte, at int) error {
	if bytes.HasPrefix(doc, byteOrderMark) {
		return &EncodeError{Err: fmt.Errorf("%w: %w", wire.ErrNotJSON, errByteOrderMark)}
	}
	if at == len(doc) {
		return &EncodeError{Err: fmt.Errorf("%w: it ends too early, after %d bytes", wire.ErrNotJSON, at)}
	}
	var text json.RawMessage
	err := json.Unmarshal(doc, &text) // for its description of the error
	return &EncodeError{Err: fmt.Errorf("%w at offset %d: %w", wire.ErrNotJSON, at, err)}
}

// AppendDelete appends the action that deletes the document with the given key,
//
//	{"@search.action":"delete","<keyField>":"<key>"}
//
// to dst and returns the extended slice. It does not check the key; use keys.Validate.
func AppendDelete(dst []byte, keyField, key string) []byte {
	dst = append(dst, `{"@search.action":"delete",`...)
	dst = appendString(dst, keyField)
	dst = append(dst, ':')
	dst = appendString(dst, key)
	return append(dst, '}')
}

// MarshalJSON returns the body of the request, {"value":[<actions>]}, with each action encoded as by AppendAction.
// The error has the position of the action, and an *EncodeError in its chain.
//
// json.Marshal escapes "<", ">" and "&" in the result of this method. To avoid that, call the method directly, or use
// a json.Encoder with SetEscapeHTML(false).
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

// encoder is a json.Encoder that appends to a slice of the caller.
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

// appendValue appends v as compact JSON without HTML escaping. A panic in a method of the caller's type becomes an
// error, and its encoder is not reused.
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

// reservedName returns the first top-level member of a compact JSON object whose name starts with "@search.", or "".
//
// Such a name starts with "@, or with "\u0040 in text from a MarshalJSON or a json.RawMessage. Nearly all documents
// contain neither and cost only two searches, without parsing.
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

// stringStarts reports whether a string in text may begin with start. It searches for the first byte of start rather
// than for a quote, because JSON is full of quotes.
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

// jsonKind returns the kind of a JSON value for an error text.
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
