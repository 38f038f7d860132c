package encode

import (
	"encoding/base64"
	"reflect"
)

// sliceWriter returns the writer of a slice: nil is null, bytes are base64.
func sliceWriter(t reflect.Type) writer {
	if e := t.Elem(); e.Kind() == reflect.Uint8 && methodWriter(e) == nil {
		return writeBytes
	}
	list := listWriter(t)
	return func(s *state, dst []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(dst, "null"...)
		}
		if s.enter() {
			dst = list(s, dst, v)
		}
		s.leave()
		return dst
	}
}

func writeBytes(_ *state, dst []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(dst, "null"...)
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.Bytes()), '"')
}

// listWriter returns the writer of the elements of a slice or an array.
func listWriter(t reflect.Type) writer {
	switch t {
	case reflect.TypeFor[[]float32]():
		return typedList(appendFloat32)
	case reflect.TypeFor[[]float64]():
		return typedList(appendFloat64)
	case reflect.TypeFor[[]string]():
		return typedList(func(s *state, dst []byte, e string) []byte { return appendString(s, dst, e) })
	}
	write := element(t.Elem())
	return func(s *state, dst []byte, v reflect.Value) []byte {
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = write(s, dst, v.Index(i))
		}
		return append(dst, ']')
	}
}

// typedList is a listWriter for a fixed element type, without reflection for each element.
func typedList[E any](write func(*state, []byte, E) []byte) writer {
	return func(s *state, dst []byte, v reflect.Value) []byte {
		list, _ := reflect.TypeAssert[[]E](v)
		return appendList(s, dst, list, write)
	}
}

func appendList[E any](s *state, dst []byte, list []E, write func(*state, []byte, E) []byte) []byte {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = write(s, dst, e)
	}
	return append(dst, ']')
}
