package searchtest

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// kind is what a member of a definition holds.
type kind uint8

const (
	kindString kind = iota
	kindBool
	kindInt
	kindDouble
	kindObject  // property.shape or property.variants
	kindStrings // list of strings
	kindObjects // list of kindObject
	kindWeights // object of any names with numbers
	kindHeaders // object of any names with strings
	kindAny     // JSON that is kept as it came, of *jsonMembers, []any, json.Number, …
)

// shape describes the JSON objects of one type: their members in the order in
// which the service writes them.
type shape struct {
	typeName string // without the namespace, as error messages say it
	members  []property

	needs apiversion.Capability // where it is one of the variants of a member
	// open means that other members are kept and written behind those of the shape.
	open bool

	// writes, when set, says which members an object has when it is written;
	// otherwise it has them all.
	writes func(o *object, name string) bool
}

// property describes one member of a shape.
type property struct {
	name     string
	kind     kind
	needs    apiversion.Capability // 0 for none
	required bool
	def      any // value when it is absent or null: nil, bool, string, json.Number, []any

	// enum lists the only values that a string, or the strings of a list, may
	// have. Case matters.
	enum []string

	// limits of a number, used when bounded.
	bounded  bool
	min, max float64

	// shape of an object, or a function of it where shapes are recursive.
	shape func() *shape

	// variants of an object by the value of its @odata.type, which is the first
	// member of every variant.
	variants map[string]*shape

	// secret values are accepted and never shown again: echoes say shown.
	secret bool
	shown  any
}

// object is a JSON object that fits its shape: values[i] belongs to
// shape.members[i] and is nil, bool, string, json.Number, []any (of strings or
// *object), *object, or *pairs.
type object struct {
	shape  *shape
	values []any
	given  []bool       // whether the request had the member, and not as null
	others *jsonMembers // of an open shape, nil for none
}

// pairs is an object with names of the user's choice, in the order given.
type pairs struct {
	names  []string
	values []any
}

// index finds a member by name, -1 if the shape has none.
func (sh *shape) index(name string) int {
	return slices.IndexFunc(sh.members, func(m property) bool { return m.name == name })
}

func (o *object) get(name string) any {
	if i := o.shape.index(name); i >= 0 {
		return o.values[i]
	}
	return nil
}

func (o *object) set(name string, value any) {
	if i := o.shape.index(name); i >= 0 {
		o.values[i] = value
	}
}

// has reports whether the request gave the member.
func (o *object) has(name string) bool {
	i := o.shape.index(name)
	return i >= 0 && o.given[i]
}

func (o *object) str(name string) string {
	s, _ := o.get(name).(string)
	return s
}

func (o *object) boolean(name string) bool {
	b, _ := o.get(name).(bool)
	return b
}

func (o *object) number(name string) float64 {
	n, _ := o.get(name).(json.Number)
	f, _ := n.Float64()
	return f
}

func (o *object) object(name string) *object {
	v, _ := o.get(name).(*object)
	return v
}

func (o *object) strings(name string) []string {
	list, _ := o.get(name).([]any)
	out := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func (o *object) objects(name string) []*object {
	list, _ := o.get(name).([]any)
	out := make([]*object, 0, len(list))
	for _, v := range list {
		if e, ok := v.(*object); ok {
			out = append(out, e)
		}
	}
	return out
}

// appendTo appends o as the service of that version writes it.
func (o *object) appendTo(dst []byte, version apiversion.Version) []byte {
	return o.appendSome(dst, version, nil)
}

// appendSome is appendTo for some members of o; nil means all.
func (o *object) appendSome(dst []byte, version apiversion.Version, chosen []string) []byte {
	dst = append(dst, '{')
	first := true
	for i := range o.shape.members {
		m := &o.shape.members[i]
		if !version.Has(m.needs) || o.shape.writes != nil && !o.shape.writes(o, m.name) || chosen != nil && !slices.Contains(chosen, m.name) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendJSONString(dst, m.name)
		dst = append(dst, ':')
		value := o.values[i]
		if m.secret && value != nil {
			value = m.shown
		}
		dst = appendDefinitionValue(dst, m.kind, value, version)
	}
	if o.others != nil && chosen == nil {
		dst = appendOpenMembers(dst, o.others, redactSecrets, first)
	}
	return append(dst, '}')
}

func appendDefinitionValue(dst []byte, k kind, value any, version apiversion.Version) []byte {
	if k == kindAny {
		return appendOpen(dst, value, redactSecrets)
	}
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendJSONString(dst, v)
	case json.Number:
		if k == kindInt {
			return append(dst, v...)
		}
		f, _ := v.Float64()
		return appendJSONDouble(dst, f)
	case *object:
		return v.appendTo(dst, version)
	case *pairs:
		dst = append(dst, '{')
		for i, name := range v.names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSONString(dst, name)
			dst = append(dst, ':')
			dst = appendDefinitionValue(dst, k, v.values[i], version)
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendDefinitionValue(dst, k, e, version)
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

// equalValues reports whether two values of one member are the same. Objects
// with names of the user's choice are never compared: nothing that an update
// may not change has one.
func equalValues(a, b any) bool {
	switch a := a.(type) {
	case *object:
		b, ok := b.(*object)
		if !ok || a.shape != b.shape {
			return false
		}
		return slices.EqualFunc(a.values, b.values, equalValues)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalValues)
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

// integer reads n as a whole number of 64 bits, in the plain form: the service
// takes neither 1.0 nor 1e0 for an integer.
func integer(n json.Number) (int64, bool) {
	i, err := strconv.ParseInt(n.String(), 10, 64)
	return i, err == nil
}

// finite reads n as a double that is a number.
func finite(n json.Number) (float64, bool) {
	f, err := n.Float64()
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}
