package shape

import "github.com/go-azsearch/azsearch/internal/apiversion"

// Text is a member that is a string. What follows are members of the other kinds.
func Text(name string) Property { return Property{Name: name} }

// Flag is a boolean.
func Flag(name string) Property { return Property{Name: name, Kind: kindBool} }

// Whole is an integer.
func Whole(name string) Property { return Property{Name: name, Kind: kindInt} }

// Double is any number.
func Double(name string) Property { return Property{Name: name, Kind: kindDouble} }

// Texts is a list of strings.
func Texts(name string) Property { return Property{Name: name, Kind: KindStrings, Default: []any{}} }

// Anything is JSON that is kept as it came.
func Anything(name string) Property { return Property{Name: name, Kind: KindAny} }

// ObjectOf is an object of a shape.
func ObjectOf(name string, sh *Shape) Property {
	return Property{Name: name, Kind: kindObject, Shape: func() *Shape { return sh }}
}

// ListOf is a list of objects of a shape.
func ListOf(name string, sh *Shape) Property {
	return Property{Name: name, Kind: KindObjects, Default: []any{}, Shape: func() *Shape { return sh }}
}

// OneOf is an object whose @odata.type chooses the shape.
func OneOf(name string, variants map[string]*Shape) Property {
	return Property{Name: name, Kind: kindObject, variants: variants}
}

// ManyOf is a list of such objects.
func ManyOf(name string, variants map[string]*Shape) Property {
	return Property{Name: name, Kind: KindObjects, Default: []any{}, variants: variants}
}

// When is the member where a version has a capability.
func (m Property) When(c apiversion.Capability) Property { m.Needs = c; return m }

// Must is the member as one that must be given.
func (m Property) Must() Property { m.Required = true; return m }

// Or is the member with a default.
func (m Property) Or(def any) Property { m.Default = def; return m }

// Among is the member with the only values that it may have.
func (m Property) Among(values ...string) Property { m.enum = values; return m }

// Within is the member with the limits of its number.
func (m Property) Within(low, high float64) Property {
	m.bounded, m.min, m.max = true, low, high
	return m
}

// Hidden is the member as a secret, in whose place replies say shown.
func (m Property) Hidden(shown any) Property { m.Secret, m.shown = true, shown; return m }
