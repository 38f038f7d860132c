package shape

import "github.com/go-azsearch/azsearch/internal/apiversion"

// Text returns a string member. The functions below return members of other kinds.
func Text(name string) Property { return Property{Name: name} }

// Flag returns a boolean member.
func Flag(name string) Property { return Property{Name: name, Kind: kindBool} }

// Whole returns an integer member.
func Whole(name string) Property { return Property{Name: name, Kind: kindInt} }

// Double returns a member for any number.
func Double(name string) Property { return Property{Name: name, Kind: kindDouble} }

// Texts returns a member that is a list of strings.
func Texts(name string) Property { return Property{Name: name, Kind: KindStrings, Default: []any{}} }

// Anything returns a member for any JSON, which is stored unchanged.
func Anything(name string) Property { return Property{Name: name, Kind: KindAny} }

// ObjectOf returns a member that is an object of a shape.
func ObjectOf(name string, sh *Shape) Property {
	return Property{Name: name, Kind: kindObject, Shape: func() *Shape { return sh }}
}

// ListOf returns a member that is a list of objects of a shape.
func ListOf(name string, sh *Shape) Property {
	return Property{Name: name, Kind: KindObjects, Default: []any{}, Shape: func() *Shape { return sh }}
}

// OneOf returns a member that is an object with the shape of its @odata.type.
func OneOf(name string, variants map[string]*Shape) Property {
	return Property{Name: name, Kind: kindObject, variants: variants}
}

// ManyOf returns a member that is a list of objects with the shapes of their @odata.type.
func ManyOf(name string, variants map[string]*Shape) Property {
	return Property{Name: name, Kind: KindObjects, Default: []any{}, variants: variants}
}

// When restricts the member to versions with a capability.
func (m Property) When(c apiversion.Capability) Property { m.Needs = c; return m }

// Must makes the member required.
func (m Property) Must() Property { m.Required = true; return m }

// Or sets the default of the member.
func (m Property) Or(def any) Property { m.Default = def; return m }

// Among sets the allowed values of the member.
func (m Property) Among(values ...string) Property { m.enum = values; return m }

// Within sets the limits of the number.
func (m Property) Within(low, high float64) Property {
	m.bounded, m.min, m.max = true, low, high
	return m
}

// Hidden makes the member a secret. Replies contain shown in its place.
func (m Property) Hidden(shown any) Property { m.Secret, m.shown = true, shown; return m }
