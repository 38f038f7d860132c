package encode

import (
	"reflect"
	"sync"
)

// Plan holds the writer of a type.
type Plan struct {
	write writer
	// object means that every value is written as an object, or not at all. names are the names of all members.
	object bool
	names  []string
}

// writer appends a value. If it cannot, it calls state.fail and may return anything.
type writer func(s *state, dst []byte, v reflect.Value) []byte

// state is the state of writing one value.
type state struct {
	depth  int
	failed bool
	// document means that the infinities of a float64 are written as the strings of an Edm.Double, and that text that is
	// not UTF-8 fails.
	document bool
	names    []string // of the maps that are being written, innermost last
}

// deepest is the deepest nesting of pointers, maps and slices. At this depth encoding/json starts to look for cycles,
// and writes the value if there are none.
const deepest = 1000

func (s *state) fail() { s.failed = true }

// enter is called before a value that may contain itself. If it returns false, the value is not written. One failure
// stops everything, because a tree of cycles would otherwise take exponential time.
func (s *state) enter() bool {
	if s.depth >= deepest {
		s.failed = true
	}
	s.depth++
	return !s.failed
}

func (s *state) leave() { s.depth-- }

var states = sync.Pool{New: func() any { return new(state) }}

// Append appends the JSON of v to dst. If ok is false, it cannot write v, and dst is unchanged: encoding/json either
// can write v or returns the right error. Append calls the methods of v (MarshalJSON, MarshalText, IsZero) like
// encoding/json, and does not recover their panics.
//
// It is safe for concurrent use.
func Append(dst []byte, v any) (out []byte, ok bool) {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		return append(dst, "null"...), true
	}
	return PlanOf(value.Type()).Append(dst, value)
}

// AppendDocument is Append for documents, with two differences. It writes the infinities of a float64 as "INF" and
// "-INF", like the service in an Edm.Double, where encoding/json fails. It fails for text that is not UTF-8, where
// encoding/json replaces the invalid bytes.
func AppendDocument(dst []byte, v any) (out []byte, ok bool) {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		return append(dst, "null"...), true
	}
	return PlanOf(value.Type()).AppendDocument(dst, value)
}

// Append is the function Append for a v of the plan's type.
func (p *Plan) Append(dst []byte, v reflect.Value) (out []byte, ok bool) {
	return p.append(dst, v, false)
}

// AppendDocument is the function AppendDocument for a v of the plan's type.
func (p *Plan) AppendDocument(dst []byte, v reflect.Value) (out []byte, ok bool) {
	return p.append(dst, v, true)
}

func (p *Plan) append(dst []byte, v reflect.Value, document bool) (out []byte, ok bool) {
	s := states.Get().(*state)
	s.document = document
	out = p.write(s, dst, v)
	ok = !s.failed
	s.depth, s.failed, s.names = 0, false, s.names[:0]
	states.Put(s)
	if !ok {
		return dst, false
	}
	return out, true
}

// Object reports whether every value of the type is written as an object, or not at all, and returns the names of its
// possible members.
func (p *Plan) Object() (names []string, ok bool) { return p.names, p.object }

// PlanOf returns the plan for t. It is made once.
func PlanOf(t reflect.Type) *Plan {
	if known, ok := plans.Load(t); ok {
		return known.(*Plan)
	}
	p := newPlan(t)
	known, _ := plans.LoadOrStore(t, p)
	return known.(*Plan)
}

var plans sync.Map // reflect.Type → *Plan, written once per type

func newPlan(t reflect.Type) *Plan {
	p := &Plan{write: newWriter(t)}
	if t.Kind() == reflect.Struct && !MarshalsJSON(t) && !MarshalsText(t) {
		p.object = true
		for _, f := range FieldsOf(t) {
			p.names = append(p.names, f.Name)
		}
	}
	return p
}

// element returns the writer for a type inside another one. The plan is looked up when the first value is written,
// because types may contain themselves.
func element(t reflect.Type) writer {
	if w := leaf(t); w != nil {
		return w
	}
	write := sync.OnceValue(func() writer { return PlanOf(t).write })
	return func(s *state, dst []byte, v reflect.Value) []byte { return write()(s, dst, v) }
}

// newWriter tries methods first and then the kind, in the order of encoding/json.
func newWriter(t reflect.Type) writer {
	if w := leaf(t); w != nil {
		return w
	}
	switch t.Kind() {
	case reflect.Interface:
		return writeInterface
	case reflect.Struct:
		return structWriter(t)
	case reflect.Map:
		return mapWriter(t)
	case reflect.Slice:
		return sliceWriter(t)
	case reflect.Array:
		return listWriter(t)
	case reflect.Pointer:
		return pointerWriter(t)
	}
	return writeNothing // a channel, a function or a complex number
}

// leaf returns the writer of a type that contains no other type, or nil.
func leaf(t reflect.Type) writer {
	switch t {
	case timeType:
		return writeTime
	case timePointerType:
		return pointerWriter(t)
	case numberType:
		return writeNumber
	case rawType:
		return writeRaw
	}
	if w := methodWriter(t); w != nil {
		return w
	}
	switch t.Kind() {
	case reflect.Bool:
		return writeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return writeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return writeUint
	case reflect.Float32:
		return writeFloat32
	case reflect.Float64:
		return writeFloat64
	case reflect.String:
		return writeString
	}
	return nil
}

func writeNothing(s *state, dst []byte, _ reflect.Value) []byte {
	s.fail()
	return dst
}

func writeInterface(s *state, dst []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(dst, "null"...)
	}
	v = v.Elem()
	return PlanOf(v.Type()).write(s, dst, v)
}

func pointerWriter(t reflect.Type) writer {
	write := element(t.Elem())
	return func(s *state, dst []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(dst, "null"...)
		}
		if s.enter() {
			dst = write(s, dst, v.Elem())
		}
		s.leave()
		return dst
	}
}
