package encode

import (
	"encoding"
	"encoding/json"
	"reflect"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// methodWriter returns the writer of a type with MarshalJSON or MarshalText, or nil. A method with a pointer receiver
// is called if the value is addressable; otherwise encoding/json must write the value.
func methodWriter(t reflect.Type) writer {
	mayHaveAddress := t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface
	p := reflect.PointerTo(t)
	switch {
	case t.Implements(jsonMarshalerType):
		return methodOf(mayHaveAddress, writeMarshaler)
	case mayHaveAddress && p.Implements(jsonMarshalerType):
		return onlyWithAddress(writeMarshaler)
	case t.Implements(textMarshalerType):
		return methodOf(mayHaveAddress, writeText)
	case mayHaveAddress && p.Implements(textMarshalerType):
		return onlyWithAddress(writeText)
	}
	return nil
}

// AsksAddress reports whether writing a t may call a method whose receiver is the address of the value or of a part
// in the same memory.
func AsksAddress(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	for _, method := range []reflect.Type{jsonMarshalerType, textMarshalerType, zeroerType} {
		if t.Kind() != reflect.Interface && t.Kind() != reflect.Pointer && p.Implements(method) && !t.Implements(method) {
			return true
		}
	}
	switch t.Kind() {
	case reflect.Array:
		return AsksAddress(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if AsksAddress(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// methodOf uses the address of an addressable value, which avoids a copy to the heap.
func methodOf(mayHaveAddress bool, write writer) writer {
	if !mayHaveAddress {
		return write
	}
	return func(s *state, dst []byte, v reflect.Value) []byte {
		if v.CanAddr() {
			v = v.Addr()
		}
		return write(s, dst, v)
	}
}

func onlyWithAddress(write writer) writer {
	return func(s *state, dst []byte, v reflect.Value) []byte {
		if !v.CanAddr() {
			s.fail() // rare: leave it to encoding/json
			return dst
		}
		return write(s, dst, v.Addr())
	}
}

func writeMarshaler(s *state, dst []byte, v reflect.Value) []byte {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return append(dst, "null"...)
	}
	m, ok := reflect.TypeAssert[json.Marshaler](v)
	if !ok {
		return append(dst, "null"...) // a nil interface
	}
	text, err := m.MarshalJSON()
	if err != nil {
		s.fail()
		return dst
	}
	return appendRaw(s, dst, text)
}

// writeRaw writes a json.RawMessage without calling its method.
func writeRaw(s *state, dst []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(dst, "null"...)
	}
	return appendRaw(s, dst, v.Bytes())
}

// appendRaw appends JSON that another encoder wrote.
func appendRaw(s *state, dst, text []byte) []byte {
	out, ok := wire.Compact(dst, text)
	if !ok || s.document && !utf8.Valid(text) {
		s.fail()
	}
	return out
}

func writeText(s *state, dst []byte, v reflect.Value) []byte {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return append(dst, "null"...)
	}
	m, ok := reflect.TypeAssert[encoding.TextMarshaler](v)
	if !ok {
		return append(dst, "null"...)
	}
	text, err := m.MarshalText()
	if err != nil {
		s.fail()
		return dst
	}
	return appendString(s, dst, string(text))
}
