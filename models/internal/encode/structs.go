package encode

import (
	"reflect"
	"time"
)

// member is a field of a struct with its writer.
type member struct {
	*Field
	prefix []byte // `,"name":`
	first  int    // Index[0]
	deep   bool   // Index has more than one element
	kind   reflect.Kind
	write  writer
	isZero func(reflect.Value) bool // calls the IsZero method, nil if there is none
}

func structWriter(t reflect.Type) writer {
	fields := FieldsOf(t)
	members := make([]member, len(fields))
	for i := range fields {
		members[i] = newMember(&fields[i])
	}
	return func(s *state, dst []byte, v reflect.Value) []byte {
		start := len(dst)
		for i := range members {
			m := &members[i]
			fv := v.Field(m.first)
			if m.deep {
				if fv = m.Value(v); !fv.IsValid() {
					continue
				}
			}
			if (m.OmitEmpty || m.OmitZero) && m.omitted(fv) {
				continue
			}
			dst = append(dst, m.prefix...)
			switch m.kind { // the common kinds without a call
			case reflect.String:
				dst = appendString(s, dst, fv.String())
			case reflect.Float64:
				dst = appendFloat64(s, dst, fv.Float())
			default:
				dst = m.write(s, dst, fv)
			}
		}
		if len(dst) == start {
			return append(dst, "{}"...)
		}
		dst[start] = '{' // replaces the first comma
		return append(dst, '}')
	}
}

func newMember(f *Field) member {
	m := member{Field: f, first: f.Index[0], deep: len(f.Index) > 1}
	m.prefix = append(appendString(&state{}, []byte{','}, f.Name), ':')
	t := f.Type
	if f.Quoted && quotable(t) {
		m.write = quotedWriter(t)
	} else {
		m.write = element(t)
		if methodWriter(t) == nil && t != numberType {
			m.kind = t.Kind()
		}
	}
	if f.OmitZero {
		m.isZero = zeroMethod(t)
	}
	return m
}

// omitted reports whether a field with omitempty or omitzero is omitted.
func (m *member) omitted(v reflect.Value) bool {
	if m.OmitEmpty {
		switch v.Kind() {
		case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
			if v.Len() == 0 {
				return true
			}
		case reflect.Struct, reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		default:
			if v.IsZero() {
				return true
			}
		}
	}
	if !m.OmitZero {
		return false
	}
	if m.isZero != nil {
		return m.isZero(v)
	}
	return v.IsZero()
}

type zeroer interface{ IsZero() bool }

var zeroerType = reflect.TypeFor[zeroer]()

// zeroMethod returns a function that calls the IsZero method of a t for omitzero, or nil if there is none. A nil
// value is zero without a call.
func zeroMethod(t reflect.Type) func(reflect.Value) bool {
	ask := func(v reflect.Value) bool {
		z, _ := reflect.TypeAssert[zeroer](v)
		return z.IsZero()
	}
	switch {
	case t == timeType:
		return func(v reflect.Value) bool {
			t, _ := reflect.TypeAssert[time.Time](v)
			return t.IsZero()
		}
	case t.Kind() == reflect.Interface && t.Implements(zeroerType):
		return func(v reflect.Value) bool {
			return v.IsNil() || v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() || ask(v)
		}
	case t.Kind() == reflect.Pointer && t.Implements(zeroerType):
		return func(v reflect.Value) bool { return v.IsNil() || ask(v) }
	case t.Implements(zeroerType):
		return ask
	case reflect.PointerTo(t).Implements(zeroerType):
		return func(v reflect.Value) bool {
			if !v.CanAddr() {
				boxed := reflect.New(t).Elem()
				boxed.Set(v)
				v = boxed
			}
			return ask(v.Addr())
		}
	}
	return nil
}

// quotable reports whether `json:",string"` applies to a t.
func quotable(t reflect.Type) bool {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	k := t.Kind()
	return k >= reflect.Bool && k <= reflect.Float64 || k == reflect.String
}

// quotedWriter writes a scalar within a string, unless it has its own methods.
func quotedWriter(t reflect.Type) writer {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		if methodWriter(t) != nil {
			return methodWriter(t)
		}
		write := quotedWriter(t.Elem())
		return func(s *state, dst []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(dst, "null"...)
			}
			return write(s, dst, v.Elem())
		}
	}
	write := leaf(t)
	if t != numberType {
		if methodWriter(t) != nil {
			return write
		}
		if t.Kind() == reflect.String {
			return func(s *state, dst []byte, v reflect.Value) []byte {
				return appendString(s, dst, string(appendString(s, nil, v.String())))
			}
		}
	}
	return func(s *state, dst []byte, v reflect.Value) []byte {
		before := len(dst)
		dst = append(write(s, append(dst, '"'), v), '"')
		if dst[before+1] == '"' { // an infinity is already a string
			return append(dst[:before], dst[before+1:len(dst)-1]...)
		}
		return dst
	}
}
