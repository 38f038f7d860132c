package models

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// ErrNoKey is in the chain of an EncodeError if the key of the document is missing or null.
var ErrNoKey = errors.New("document has no key")

// KeyField reads the key of a T. The zero value reads none. It is safe for concurrent use.
type KeyField[T any] struct {
	// Name is the name of the key field in JSON and in the index, "" in the zero value.
	Name string

	field *encode.Field // nil for keyByName
	how   keyReading
}

type keyReading int

const (
	keyByName  keyReading = iota // maps and raw JSON by their dynamic type, all other types by their JSON
	keyString                    // the field is a string, or pointers to one
	keyEncoded                   // the field has its own text or JSON encoding
)

// KeyFieldOf finds the key of T, a struct or a pointer to one, by the tag `search:"key"`:
//
//	type Hotel struct {
//		ID string `json:"hotelId" search:"key"`
//	}
//
// Fields of embedded structs count. The key is a string, a type whose kind is string, a type with MarshalText (a
// UUID), or a pointer to one of these.
//
// If T has no such tag or is not a struct, the result is the zero KeyField without an error. Two keys, a key that is
// not a string, and a key that encoding/json ignores are errors: a *FieldError names the type and the fields.
func KeyFieldOf[T any]() (KeyField[T], error) {
	t := encode.Deref(reflect.TypeFor[T]())
	if t.Kind() != reflect.Struct {
		return KeyField[T]{}, nil
	}
	if err := unseenKey(t); err != nil {
		return KeyField[T]{}, err
	}
	var keys []encode.Field
	for _, f := range encode.FieldsOf(t) {
		if hasWord(f.Search, "key") {
			keys = append(keys, f)
		}
	}
	switch len(keys) {
	case 0:
		return KeyField[T]{}, nil
	case 1:
		return keyFieldFrom[T](t, keys[0])
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.GoName
	}
	return KeyField[T]{}, &FieldError{Type: typeName(t), Field: strings.Join(names, ", "), Problem: "a document has exactly one key"}
}

// KeyFieldByName finds the key of T by its name in JSON, for callers that have it from the definition of the index.
// It works for structs and pointers to them, maps, Document and json.RawMessage. For any other type, including those
// with MarshalJSON, Get encodes each document once more.
//
// For a struct the error is a *FieldError if no field has this name, or it is not a string. For other types only Get
// reports such errors.
func KeyFieldByName[T any](name string) (KeyField[T], error) {
	t := encode.Deref(reflect.TypeFor[T]())
	if name == "" {
		return KeyField[T]{}, &FieldError{Type: typeName(t), Problem: "the name of the key field is empty"}
	}
	if t.Kind() != reflect.Struct || encode.MarshalsJSON(t) || encode.MarshalsText(t) {
		return KeyField[T]{Name: name}, nil
	}
	for _, f := range encode.FieldsOf(t) {
		if f.Name == name {
			return keyFieldFrom[T](t, f)
		}
	}
	return KeyField[T]{}, &FieldError{Type: typeName(t), Problem: fmt.Sprintf("no field is called %q in JSON, which is the name of the index's key", name)}
}

// Get returns the key of doc. It does not check that the key is legal; use keys.Validate. The error is an
// *EncodeError; ErrNoKey is in its chain if the key is missing or null. Get does not allocate for a key that is a
// plain string field.
func (k KeyField[T]) Get(doc T) (string, error) { return k.GetFrom(&doc) }

// GetFrom is Get for a document behind a pointer, which avoids a copy. doc must not be nil.
func (k KeyField[T]) GetFrom(doc *T) (string, error) {
	switch {
	case k.Name == "":
		return "", &EncodeError{Err: fmt.Errorf("%w: its type names none", ErrNoKey)}
	case k.how == keyString:
		return keyOfString(doc, k.field)
	case k.how == keyEncoded:
		return keyOfMarshalingField(*doc, k.field) // a copy, because its method may keep it
	}
	return keyByDynamicType(*doc, k.Name)
}

func keyOfString[T any](doc *T, f *encode.Field) (string, error) {
	v, ok := pointee(reflect.ValueOf(doc).Elem())
	if !ok {
		return "", noKey(f.Name)
	}
	if v, ok = pointee(f.Value(v)); !ok {
		return "", noKey(f.Name)
	}
	return v.String(), nil
}

func keyOfMarshalingField[T any](doc T, f *encode.Field) (string, error) {
	v, ok := pointee(reflect.ValueOf(&doc).Elem())
	if !ok {
		return "", noKey(f.Name)
	}
	if v = f.Value(v); !v.IsValid() {
		return "", noKey(f.Name)
	}
	return keyOfMarshaler(v, f.Name)
}

// pointee follows pointers to their target. ok is false for a nil pointer and for the zero Value.
func pointee(v reflect.Value) (reflect.Value, bool) {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v, v.IsValid()
}

func keyFieldFrom[T any](t reflect.Type, f encode.Field) (KeyField[T], error) {
	fail := func(problem string) (KeyField[T], error) {
		return KeyField[T]{}, &FieldError{Type: typeName(t), Field: f.GoName, Problem: problem}
	}
	kt := encode.Deref(f.Type)
	switch {
	case f.Quoted:
		return fail(`the key cannot have the option ",string" in its json tag`)
	case encode.MarshalsJSON(kt), encode.MarshalsText(kt):
		return KeyField[T]{Name: f.Name, field: &f, how: keyEncoded}, nil
	case kt.Kind() == reflect.String:
		return KeyField[T]{Name: f.Name, field: &f, how: keyString}, nil
	}
	return fail(fmt.Sprintf("the key must be a string, not %s", f.Type))
}

// unseenKey returns an error if encoding/json ignores a field that is tagged as the key.
func unseenKey(t reflect.Type) error {
	for i := range t.NumField() {
		sf := t.Field(i)
		if !hasWord(sf.Tag.Get("search"), "key") {
			continue
		}
		if sf.Tag.Get("json") == "-" || !sf.IsExported() && !sf.Anonymous {
			return &FieldError{Type: typeName(t), Field: sf.Name, Problem: "the key is not written in JSON: the field must be exported and not be tagged `json:\"-\"`"}
		}
	}
	return nil
}

// hasWord reports whether word is among the comma-separated words of a `search` tag.
func hasWord(tag, word string) bool {
	for w := range strings.SplitSeq(tag, ",") {
		if strings.TrimSpace(w) == word {
			return true
		}
	}
	return false
}

func noKey(name string) error { return &EncodeError{Field: name, Err: ErrNoKey} }

func notAString(name, kind string) error {
	return &EncodeError{Field: name, Err: fmt.Errorf("the key must be a string, not %s", kind)}
}

func keyByDynamicType[T any](doc T, name string) (string, error) {
	switch d := any(doc).(type) {
	case Document:
		return keyOfMap(d, name)
	case map[string]any:
		return keyOfMap(d, name)
	case *Patch:
		if d != nil {
			return keyOfMap(d.fields, name)
		}
	case Patch:
		return keyOfMap(d.fields, name)
	case map[string]string:
		key, ok := d[name]
		if !ok {
			return "", noKey(name)
		}
		return key, nil
	case *Document:
		if d != nil {
			return keyOfMap(*d, name)
		}
	case json.RawMessage:
		return keyOfJSON(d, name)
	case *json.RawMessage:
		if d != nil {
			return keyOfJSON(*d, name)
		}
	}
	v := encodable(doc)
	encoded, err := appendValue(nil, v)
	if err != nil {
		return "", explain(v, err)
	}
	return keyOfJSON(encoded, name)
}

func keyOfMap(m map[string]any, name string) (string, error) {
	switch v := m[name].(type) {
	case nil:
		return "", noKey(name)
	case string:
		return v, nil
	default:
		return keyOfMarshaler(reflect.ValueOf(v), name)
	}
}

// keyOfJSON scans the top level only. It refuses a key that appears twice, because the service might read the other
// one.
func keyOfJSON(object []byte, name string) (string, error) {
	var value []byte
	times := 0
	err := wire.EachMember(object, func(quoted, v []byte) bool {
		if wire.Quotes(quoted, name) {
			value = v
			times++
		}
		return true
	})
	switch {
	case errors.Is(err, ErrNotAnObject):
		return "", &EncodeError{Err: fmt.Errorf("%w, not %s", err, jsonKind(object[wire.Space(object, 0):]))}
	case err != nil:
		return "", &EncodeError{Err: err}
	case times == 0 || string(value) == "null":
		return "", noKey(name)
	case times > 1:
		return "", &EncodeError{Field: name, Err: errors.New("the document has two keys")}
	case value[0] != '"':
		return "", notAString(name, jsonKind(value))
	}
	key, ok := wire.Unquote(value)
	if !ok {
		return "", &EncodeError{Field: name, Err: wire.ErrNotJSON}
	}
	return key, nil
}

// keyOfMarshaler returns the string in the JSON of v.
func keyOfMarshaler(v reflect.Value, name string) (string, error) {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return "", noKey(name)
	}
	x := v.Interface()
	if _, ok := x.(json.Marshaler); !ok {
		if v.CanAddr() {
			x = v.Addr().Interface()
		} else if v.Kind() == reflect.String {
			if _, ok := x.(encoding.TextMarshaler); !ok {
				return v.String(), nil
			}
		}
	}
	encoded, err := appendValue(nil, x)
	switch {
	case err != nil:
		return "", &EncodeError{Field: name, Err: err}
	case string(encoded) == "null":
		return "", noKey(name)
	case encoded[0] != '"':
		return "", notAString(name, jsonKind(encoded))
	}
	key, _ := wire.Unquote(encoded)
	return key, nil
}
