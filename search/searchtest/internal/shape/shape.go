// Package shape is for definitions in JSON: a shape says which members an object of the service has, a parser fits the
// body of a request to one, with the refusals of the service, and an object is written back as the service does.
package shape

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// Kind is the kind of values of a member.
type Kind uint8

// The kinds.
const (
	kindString Kind = iota
	kindBool
	kindInt
	kindDouble
	kindObject  // property.shape or property.variants
	KindStrings // list of strings
	KindObjects // list of kindObject
	KindWeights // object of any names with numbers
	KindHeaders // object of any names with strings
	KindAny     // any JSON, stored unchanged: *Members, []any, json.Number, …
)

// Shape describes the JSON objects of one type by their members, in the order in which the
// service writes them.
type Shape struct {
	TypeName string // without the namespace, as in error messages
	Members  []Property

	Needs apiversion.Capability // capability of the version, for a variant of a member
	// Open keeps members that are not in the shape, and writes them after the others.
	Open bool

	// Writes reports whether the object o has the member in replies. Nil means all members.
	Writes func(o *Object, name string) bool
}

// Property describes one member of a shape.
type Property struct {
	Name     string
	Kind     Kind
	Needs    apiversion.Capability // 0 for none
	Required bool
	Default  any // value of a missing or null member: nil, bool, string, json.Number, []any

	// enum lists the allowed values of a string, or of the strings of a list. It is case
	// sensitive.
	enum []string

	// The limits of a number, if bounded.
	bounded  bool
	min, max float64

	// Shape returns the shape of an object. It is a function because shapes may be recursive.
	Shape func() *Shape

	// variants are the shapes of an object by its @odata.type, which is the first member of
	// every variant.
	variants map[string]*Shape

	// Secret values are accepted and never returned. Replies contain shown instead.
	Secret bool
	shown  any
}

// Object is a JSON object that fits its shape: Values[i] belongs to
// Shape.Members[i] and is nil, bool, string, json.Number, []any (of strings or
// *Object), *Object, or *Pairs.
type Object struct {
	Shape  *Shape
	Values []any
	Given  []bool   // whether the request had the member with a value other than null
	Others *Members // further members of an open shape, nil for none
}

// Pairs is an object with arbitrary names, in the given order.
type Pairs struct {
	Names  []string
	Values []any
}

// Index returns the index of a member by name, -1 for none.
func (sh *Shape) Index(name string) int {
	return slices.IndexFunc(sh.Members, func(m Property) bool { return m.Name == name })
}

// Get returns the value of a member, nil for none.
func (o *Object) Get(name string) any {
	if i := o.Shape.Index(name); i >= 0 {
		return o.Values[i]
	}
	return nil
}

// Set sets the value of a member of the shape.
func (o *Object) Set(name string, value any) {
	if i := o.Shape.Index(name); i >= 0 {
		o.Values[i] = value
	}
}

// Give sets the value of a member of the shape as if the request had it.
func (o *Object) Give(name string, value any) {
	if i := o.Shape.Index(name); i >= 0 {
		o.Values[i], o.Given[i] = value, true
	}
}

// Has reports whether the request had the member.
func (o *Object) Has(name string) bool {
	i := o.Shape.Index(name)
	return i >= 0 && o.Given[i]
}

// Str is Get for a string, "" for another value.
func (o *Object) Str(name string) string {
	s, _ := o.Get(name).(string)
	return s
}

// Bool is Get for a boolean.
func (o *Object) Bool(name string) bool {
	b, _ := o.Get(name).(bool)
	return b
}

// Number is Get for a number.
func (o *Object) Number(name string) float64 {
	n, _ := o.Get(name).(json.Number)
	f, _ := n.Float64()
	return f
}

// Object is Get for an object.
func (o *Object) Object(name string) *Object {
	v, _ := o.Get(name).(*Object)
	return v
}

// Strings is Get for a list of strings.
func (o *Object) Strings(name string) []string {
	list, _ := o.Get(name).([]any)
	out := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Objects is Get for a list of objects.
func (o *Object) Objects(name string) []*Object {
	list, _ := o.Get(name).([]any)
	out := make([]*Object, 0, len(list))
	for _, v := range list {
		if e, ok := v.(*Object); ok {
			out = append(out, e)
		}
	}
	return out
}

// AppendTo appends o as a service of that version writes it.
func (o *Object) AppendTo(dst []byte, version apiversion.Version) []byte {
	return o.AppendSome(dst, version, nil)
}

// AppendSome is AppendTo for the chosen members; nil means all.
func (o *Object) AppendSome(dst []byte, version apiversion.Version, chosen []string) []byte {
	dst = append(dst, '{')
	first := true
	for i := range o.Shape.Members {
		m := &o.Shape.Members[i]
		if !version.Has(m.Needs) || o.Shape.Writes != nil && !o.Shape.Writes(o, m.Name) || chosen != nil && !slices.Contains(chosen, m.Name) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = reply.AppendString(dst, m.Name)
		dst = append(dst, ':')
		value := o.Values[i]
		if m.Secret && value != nil {
			value = m.shown
		}
		dst = AppendValue(dst, m.Kind, value, version)
	}
	if o.Others != nil && chosen == nil {
		dst = AppendOpenMembers(dst, o.Others, RedactSecrets, first)
	}
	return append(dst, '}')
}

// AppendValue appends the value of a member of kind k.
func AppendValue(dst []byte, k Kind, value any, version apiversion.Version) []byte {
	if k == KindAny {
		return AppendOpen(dst, value, RedactSecrets)
	}
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return reply.AppendString(dst, v)
	case json.Number:
		if k == kindInt {
			return append(dst, v...)
		}
		f, _ := v.Float64()
		return reply.AppendDouble(dst, f)
	case *Object:
		return v.AppendTo(dst, version)
	case *Pairs:
		dst = append(dst, '{')
		for i, name := range v.Names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = reply.AppendString(dst, name)
			dst = append(dst, ':')
			dst = AppendValue(dst, k, v.Values[i], version)
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, k, e, version)
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

// Equal reports whether two values of one member are equal. It does not compare the content
// of Pairs, because no member that an update must not change contains them.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case *Object:
		b, ok := b.(*Object)
		if !ok || a.Shape != b.Shape {
			return false
		}
		return slices.EqualFunc(a.Values, b.Values, Equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, _ := a.Float64()
		y, _ := b.Float64()
		return x == y
	}
	return a == b
}

// integer reads n as a 64-bit integer in plain form. The service accepts neither 1.0 nor 1e0
// for an integer.
func integer(n json.Number) (int64, bool) {
	i, err := strconv.ParseInt(n.String(), 10, 64)
	return i, err == nil
}

// finite reads n as a finite double.
func finite(n json.Number) (float64, bool) {
	f, err := n.Float64()
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}
