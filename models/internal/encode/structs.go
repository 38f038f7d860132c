package encode

import (
	"reflect"
	"time"
)

// member is a field of a struct and how it is written.
type member struct {
	*Field
	prefix []byte // `,"name":`
	first  int    // Index[0]
	deep   bool   // there is more in Index
	kind   reflect.Kind
	write  writer
	isZero func(reflect.Value) bool // its IsZero method; nil: it has none
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
			switch m.kind { // the common ones without a call
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
		dst[start] = '{' // instead of the first comma
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

// omitted is called for fields with omitempty or omitzero.
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

// zeroMethod returns the IsZero method that decides about a t with omitzero, or
// nil. A nil is zero without being asked.
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

// quotedWriter writes a scalar inside a string, unless it has methods of its
// own.
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
		if dst[before+1] == '"' { // an infinity is a string already
			return append(dst[:before], dst[before+1:len(dst)-1]...)
		}
		return dst
	}
}
