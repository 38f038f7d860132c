package stored

import (
	"slices"
	"strings"
)

// Type is the type of a field, or of the elements of a collection.
type Type uint8

// The Edm types of fields.
const (
	String Type = iota
	Boolean
	Int32
	Int64
	Double
	DateTimeOffset
	GeographyPoint
	Complex

	// Element types of vector fields, which exist only in collections.
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

// ParseType parses the type of a field in a definition: Edm.String, or Collection(Edm.String).
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

// String returns the type as in a definition.
func (t Type) String() string { return typeNames[t] }

// VectorElement reports whether t is a number type that only vectors have.
func (t Type) VectorElement() bool { return t >= Single }

// Size returns the size of a stored value of type t in bytes, 0 if it varies.
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

// Field is a field of an index or of a complex field. It is immutable after the definition is compiled.
type Field struct {
	Name       string
	Type       Type
	Collection bool // Collection(Type)

	Key, Retrievable, Stored, Filterable, Sortable, Facetable, Searchable bool

	// Dimensions is the number of array elements of a vector field: a packed-bit vector of 128 dimensions has 16
	// bytes. It is 0 for other fields.
	Dimensions int

	Fields  []*Field          // of a complex field, in the order in which documents are written
	ByName  map[string]*Field // of a complex field
	Ordinal int               // index among its sibling fields; identifies it in stored documents
}

// TypeName returns the type as in a definition.
func (f *Field) TypeName() string {
	if f.Collection {
		return "Collection(" + f.Type.String() + ")"
	}
	return f.Type.String()
}

// Vector reports whether the field holds a vector.
func (f *Field) Vector() bool { return f.Type.VectorElement() }
