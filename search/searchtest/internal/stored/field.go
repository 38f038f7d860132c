package stored

import (
	"slices"
	"strings"
)

// Type is the type of a field, or of the elements of a collection.
type Type uint8

// The types of the entity data model that fields may have.
const (
	String Type = iota
	Boolean
	Int32
	Int64
	Double
	DateTimeOffset
	GeographyPoint
	Complex

	// Elements of vector fields; they exist only inside collections.
	Single
	Half
	Int16
	SByte
	Byte
)

var typeNames = [...]string{
	String:         "Edm.String",
	Boolean:        "Edm.Boolean",
	Int32:          "Edm.Int32",
	Int64:          "Edm.Int64",
	Double:         "Edm.Double",
	DateTimeOffset: "Edm.DateTimeOffset",
	GeographyPoint: "Edm.GeographyPoint",
	Complex:        "Edm.ComplexType",
	Single:         "Edm.Single",
	Half:           "Edm.Half",
	Int16:          "Edm.Int16",
	SByte:          "Edm.SByte",
	Byte:           "Edm.Byte",
}

// ParseType takes a type apart as definitions spell it: Edm.String, or
// Collection(Edm.String).
func ParseType(name string) (typ Type, collection, ok bool) {
	if inner, found := strings.CutPrefix(name, "Collection("); found {
		if inner, found = strings.CutSuffix(inner, ")"); !found {
			return 0, false, false
		}
		name, collection = inner, true
	}
	i := slices.Index(typeNames[:], name)
	return Type(max(i, 0)), collection, i >= 0
}

// String is the type as definitions spell it.
func (t Type) String() string { return typeNames[t] }

// VectorElement reports whether t is one of the number types that only vectors
// have.
func (t Type) VectorElement() bool { return t >= Single }

// Size is the size of a stored value of type t in bytes, 0 if it varies.
func (t Type) Size() int {
	switch t {
	case Boolean, SByte, Byte:
		return 1
	case Int16:
		return 2
	case Int32, Single, Half:
		return 4
	case Int64, Double, DateTimeOffset:
		return 8
	case GeographyPoint:
		return 16
	}
	return 0
}

// Field is one field of an index or of a complex field. It is only read once the
// definition is compiled.
type Field struct {
	Name       string
	Type       Type
	Collection bool // Collection(Type)

	Key, Retrievable, Stored, Filterable, Sortable, Facetable, Searchable bool

	// Dimensions is the length of the arrays that a vector field takes, counted
	// in elements of the array: a packed-bit vector of 128 dimensions has 16
	// bytes. 0 for all other fields.
	Dimensions int

	Fields  []*Field          // of complex fields, in the order in which documents are written
	ByName  map[string]*Field // of complex fields
	Ordinal int               // place among the fields around it, which stored documents name it by
}

// TypeName is the type as definitions spell it.
func (f *Field) TypeName() string {
	if f.Collection {
		return "Collection(" + f.Type.String() + ")"
	}
	return f.Type.String()
}

// Vector reports whether the field holds a vector.
func (f *Field) Vector() bool { return f.Type.VectorElement() }
