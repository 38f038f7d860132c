package models

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// DecodeDocument decodes a document in the JSON of the service into doc, like encoding/json with one addition: an
// Edm.Double that is infinite or not a number is a string in JSON, "INF", "-INF" or "NaN", and is decoded into float
// fields of doc. All calls that return documents use it. On error doc is the zero document. Types with an
// UnmarshalJSON decode their own values.
func DecodeDocument[T any](b []byte, doc *T) error {
	if raw, ok := any(doc).(*json.RawMessage); ok {
		if _, ok := wire.Check(b); ok { // avoids json.Unmarshal, which would read it three times
			*raw = append((*raw)[:0], bytes.TrimSpace(b)...)
			return nil
		}
	}
	err := json.Unmarshal(b, doc)
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) && mismatch.Value == "string" && isFloatKind(mismatch.Type.Kind()) {
		if plain, floats := withoutSpecial(b, reflect.TypeFor[T](), nil); len(floats) > 0 {
			*doc = *new(T)
			if err = json.Unmarshal(plain, doc); err == nil {
				for _, f := range floats {
					f.set(reflect.ValueOf(doc).Elem())
				}
				return nil
			}
		}
	}
	if err != nil {
		*doc = *new(T)
	}
	return err
}

// special are the floats that the service writes as strings. Document and FacetValue use it too.
var special = map[string]float64{"INF": math.Inf(1), "-INF": math.Inf(-1), "NaN": math.NaN()}

// specialFloat is a float without a JSON number, with its place in the document.
type specialFloat struct {
	path []any // *encode.Field, int, or string for a map key, from the outside in
	f    float64
}

// withoutSpecial returns b with 0 in place of each special float, and these floats. b is the JSON of a value of type
// t at path. If t does not fit, b is returned unchanged.
func withoutSpecial(b []byte, t reflect.Type, path []any) (plain []byte, floats []specialFloat) {
	t = encode.Deref(t)
	if p := reflect.PointerTo(t); p.Implements(unmarshalerType) || p.Implements(textUnmarshalerType) {
		return b, nil
	}
	if isFloatKind(t.Kind()) {
		if f, is := special[strings.Trim(string(b), `"`)]; is {
			return []byte("0"), []specialFloat{{append([]any(nil), path...), f}}
		}
		return b, nil
	}
	inside := func(b []byte, t reflect.Type, step any) []byte {
		b, more := withoutSpecial(b, t, append(path, step))
		floats = append(floats, more...)
		return b
	}
	var parts any
	switch kind := t.Kind(); {
	case kind == reflect.Struct, kind == reflect.Map && t.Key().Kind() == reflect.String:
		var members map[string]json.RawMessage
		if json.Unmarshal(b, &members) != nil || members == nil {
			return b, nil
		}
		for name, value := range members {
			if kind == reflect.Map {
				members[name] = inside(value, t.Elem(), name)
			} else if f := fieldNamed(t, name); f != nil {
				members[name] = inside(value, f.Type, f)
			}
		}
		parts = members
	case kind == reflect.Slice, kind == reflect.Array:
		var elements []json.RawMessage
		if json.Unmarshal(b, &elements) != nil || elements == nil {
			return b, nil
		}
		for i, value := range elements {
			if kind == reflect.Array && i >= t.Len() {
				break // encoding/json ignores surplus elements
			}
			elements[i] = inside(value, t.Elem(), i)
		}
		parts = elements
	}
	if len(floats) == 0 {
		return b, nil
	}
	plain, err := json.Marshal(parts)
	if err != nil {
		return b, nil
	}
	return plain, floats
}

var (
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func isFloatKind(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

// fieldNamed returns the field into which encoding/json decodes a member, or nil.
func fieldNamed(t reflect.Type, name string) *encode.Field {
	fields := encode.FieldsOf(t)
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for i := range fields {
			if same(fields[i].Name, name) {
				return &fields[i]
			}
		}
	}
	return nil
}

// set stores the float in v, which was decoded from the result of withoutSpecial.
func (s *specialFloat) set(v reflect.Value) { setIn(v, s.path, s.f) }

func setIn(v reflect.Value, path []any, f float64) {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if len(path) == 0 {
		v.SetFloat(f)
		return
	}
	switch step := path[0].(type) {
	case *encode.Field:
		setIn(step.Value(v), path[1:], f)
	case int:
		setIn(v.Index(step), path[1:], f)
	case string: // a value in a map is not addressable
		key := reflect.ValueOf(step).Convert(v.Type().Key())
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		setIn(value, path[1:], f)
		v.SetMapIndex(key, value)
	}
}
