package searchtest

import "encoding/json"

// edmType is the type of a field, or of the elements of a collection.
type edmType uint8

const (
	edmString edmType = iota
	edmBoolean
	edmInt32
	edmInt64
	edmDouble
	edmDateTimeOffset
	edmGeographyPoint
	edmComplex

	// Elements of vector fields; they exist only inside collections.
	edmSingle
	edmHalf
	edmInt16
	edmSByte
	edmByte
)

var edmNames = [...]string{
	edmString:         "Edm.String",
	edmBoolean:        "Edm.Boolean",
	edmInt32:          "Edm.Int32",
	edmInt64:          "Edm.Int64",
	edmDouble:         "Edm.Double",
	edmDateTimeOffset: "Edm.DateTimeOffset",
	edmGeographyPoint: "Edm.GeographyPoint",
	edmComplex:        "Edm.ComplexType",
	edmSingle:         "Edm.Single",
	edmHalf:           "Edm.Half",
	edmInt16:          "Edm.Int16",
	edmSByte:          "Edm.SByte",
	edmByte:           "Edm.Byte",
}

func (t edmType) String() string { return edmNames[t] }

// vectorElement reports whether t is one of the number types that only vectors
// have.
func (t edmType) vectorElement() bool { return t >= edmSingle }

// schema is the compiled definition of an index. It is built once, by
// compileSchema, and only read afterwards.
type schema struct {
	name   string
	key    *field
	fields []*field // in the order of the definition
	byName map[string]*field

	etag string // bare, without quotes and W/

	// definition is what a reply says about the index: every member that the
	// service writes, in its order, defaults filled in, without @odata.context
	// and @odata.etag.
	definition json.RawMessage

	// parsed is the definition in the form that updates are judged by.
	parsed *indexDefinition
}

// field is one field of a schema or of a complex field.
type field struct {
	name       string
	typ        edmType
	collection bool // Collection(typ)

	key, retrievable, stored, filterable, sortable, facetable, searchable bool

	// dimensions is the length of the arrays that a vector field takes, counted
	// in elements of the array: a packed-bit vector of 128 dimensions has 16
	// bytes. 0 for all other fields.
	dimensions int

	fields  []*field          // of complex fields
	byName  map[string]*field // of complex fields
	ordinal int               // place among the fields around it
}

// typeName is the type as definitions spell it.
func (f *field) typeName() string {
	if f.collection {
		return "Collection(" + f.typ.String() + ")"
	}
	return f.typ.String()
}

// vector reports whether the field holds a vector.
func (f *field) vector() bool { return f.typ.vectorElement() }

// compileSchema checks the definition of an index as the service of that
// version does and compiles it. The error is the reply to the request.
func compileSchema(body []byte, apiVersion string) (*schema, *serviceError) {
	def, err := parseDefinition(body, apiVersion)
	if err != nil {
		return nil, err
	}
	if err := def.validate(); err != nil {
		return nil, err
	}
	sc := &schema{name: def.name, parsed: def, definition: def.appendEcho(nil)}
	sc.fields, sc.byName = compileFields(def.fields)
	for _, f := range sc.fields {
		if f.key {
			sc.key = f
		}
	}
	return sc, nil
}

// compileFields compiles the fields of an index or of a complex field.
func compileFields(defs []*fieldDefinition) ([]*field, map[string]*field) {
	fields := make([]*field, len(defs))
	byName := make(map[string]*field, len(defs))
	for i, d := range defs {
		f := d.compile()
		f.ordinal = i
		fields[i] = f
		byName[f.name] = f
	}
	return fields, byName
}
