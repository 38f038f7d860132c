package encode

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mapWriter returns the writer of a map: nil is null, and the members are sorted by name.
func mapWriter(t reflect.Type) writer {
	name := nameOf(t.Key())
	if name == nil {
		return writeNothing
	}
	members := membersWriter(t, name)
	return func(s *state, dst []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(dst, "null"...)
		}
		if s.enter() {
			dst = members(s, dst, v)
		}
		s.leave()
		return dst
	}
}

var objectType = reflect.TypeFor[map[string]any]()

func membersWriter(t reflect.Type, name func(*state, reflect.Value) string) writer {
	if t.ConvertibleTo(objectType) {
		return func(s *state, dst []byte, v reflect.Value) []byte {
			if v.Type() != objectType {
				v = v.Convert(objectType)
			}
			object, _ := reflect.TypeAssert[map[string]any](v)
			return appendObject(s, dst, object)
		}
	}
	write := element(t.Elem())
	return func(s *state, dst []byte, v reflect.Value) []byte {
		type member struct {
			name  string
			value reflect.Value
		}
		members := make([]member, 0, v.Len())
		for i := v.MapRange(); i.Next(); {
			members = append(members, member{name(s, i.Key()), i.Value()})
		}
		slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(s, dst, m.name), ':')
			dst = write(s, dst, m.value)
		}
		return append(dst, '}')
	}
}

// nameOf returns a function that converts keys of type t to names of members, or nil. The methods of a string type
// are ignored.
func nameOf(t reflect.Type) func(*state, reflect.Value) string {
	switch kind := t.Kind(); {
	case kind == reflect.String:
		return func(_ *state, k reflect.Value) string { return k.String() }
	case t.Implements(textMarshalerType):
		return textName
	case kind >= reflect.Int && kind <= reflect.Int64:
		return func(_ *state, k reflect.Value) string { return strconv.FormatInt(k.Int(), 10) }
	case kind >= reflect.Uint && kind <= reflect.Uintptr:
		return func(_ *state, k reflect.Value) string { return strconv.FormatUint(k.Uint(), 10) }
	}
	return nil
}

func textName(s *state, k reflect.Value) string {
	m, ok := reflect.TypeAssert[encoding.TextMarshaler](k)
	if !ok { // a nil interface
		s.fail()
		return ""
	}
	if k.Kind() == reflect.Pointer && k.IsNil() {
		return ""
	}
	text, err := m.MarshalText()
	if err != nil {
		s.fail()
	}
	return string(text)
}

// appendObject appends a map that is not nil. All maps that are being written share s.names.
func appendObject(s *state, dst []byte, object map[string]any) []byte {
	start := len(s.names)
	for name := range object {
		s.names = append(s.names, name)
	}
	end := len(s.names)
	slices.Sort(s.names[start:end])
	dst = append(dst, '{')
	for i := start; i < end; i++ {
		if i > start {
			dst = append(dst, ',')
		}
		name := s.names[i]
		dst = append(appendString(s, dst, name), ':')
		dst = appendAny(s, dst, object[name])
	}
	clear(s.names[start:end])
	s.names = s.names[:start]
	return append(dst, '}')
}

// appendAny appends the value in an interface. It needs no reflection for the types that a decoder produces and those
// that programs usually store.
func appendAny(s *state, dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return appendString(s, dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		return appendFloat64(s, dst, v)
	case float32:
		return appendFloat32(s, dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case int32:
		return strconv.AppendInt(dst, int64(v), 10)
	case json.Number:
		return appendNumber(s, dst, string(v))
	case json.RawMessage:
		if v == nil {
			return append(dst, "null"...)
		}
		return appendRaw(s, dst, v)
	case time.Time:
		return appendTime(s, dst, v)
	case []any:
		return appendContainer(s, dst, v == nil, func() []byte { return appendList(s, dst, v, appendAny) })
	case map[string]any:
		return appendContainer(s, dst, v == nil, func() []byte { return appendObject(s, dst, v) })
	}
	value := reflect.ValueOf(v)
	return PlanOf(value.Type()).write(s, dst, value)
}

func appendContainer(s *state, dst []byte, isNil bool, content func() []byte) []byte {
	if isNil {
		return append(dst, "null"...)
	}
	if s.enter() {
		dst = content()
	}
	s.leave()
	return dst
}
