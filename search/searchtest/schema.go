package searchtest

import (
	"encoding/json"
	"slices"
	"strings"
)

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
	fields []*field // in the order in which documents are written
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

	fields  []*field          // of complex fields, in the order in which documents are written
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
	sc := &schema{name: def.name, parsed: def}
	sc.definition = sc.appendDefinition(nil, apiVersion, "")
	sc.fields, sc.byName = compileFields(def.object.objects("fields"))
	for _, f := range sc.fields {
		if f.key {
			sc.key = f
		}
	}
	return sc, nil
}

// compileFields compiles the fields of an index or of a complex field.
func compileFields(defs []*object) ([]*field, map[string]*field) {
	fields := make([]*field, 0, len(defs))
	byName := make(map[string]*field, len(defs))
	for _, d := range defs {
		f := compileField(d)
		fields = append(fields, f)
		byName[f.name] = f
	}
	// Recorded: documents have their complex members after all others.
	slices.SortStableFunc(fields, func(a, b *field) int {
		switch {
		case a.typ != edmComplex && b.typ == edmComplex:
			return -1
		case a.typ == edmComplex && b.typ != edmComplex:
			return 1
		}
		return 0
	})
	for i, f := range fields {
		f.ordinal = i
	}
	return fields, byName
}

func compileField(d *object) *field {
	f := &field{name: d.str("name")}
	f.typ, f.collection, _ = parseTypeName(d.str("type"))
	if f.typ == edmComplex {
		// A complex field has no attributes of its own: what can be seen of it is
		// for its sub-fields to say.
		f.retrievable, f.stored = true, true
		f.fields, f.byName = compileFields(d.objects("fields"))
		return f
	}
	f.key = d.boolean("key")
	f.retrievable = d.boolean("retrievable")
	f.stored = d.boolean("stored")
	f.filterable = d.boolean("filterable")
	f.sortable = d.boolean("sortable")
	f.facetable = d.boolean("facetable")
	f.searchable = d.boolean("searchable")
	if f.vector() {
		f.dimensions = int(d.number("dimensions"))
		if d.str("vectorEncoding") == packedBit {
			f.dimensions /= 8
		}
	}
	return f
}

// parseTypeName takes a type apart as definitions spell it.
func parseTypeName(name string) (typ edmType, collection, ok bool) {
	if inner, found := strings.CutPrefix(name, "Collection("); found {
		if inner, found = strings.CutSuffix(inner, ")"); !found {
			return 0, false, false
		}
		name, collection = inner, true
	}
	i := slices.Index(edmNames[:], name)
	return edmType(max(i, 0)), collection, i >= 0
}

// appendDefinition appends the definition as a service of that version writes
// it, with the members before in front of the others: they end in a comma.
func (sc *schema) appendDefinition(dst []byte, apiVersion, before string) []byte {
	start := len(dst)
	dst = sc.parsed.object.appendTo(dst, definitionVersion(apiVersion))
	return slices.Insert(dst, start+1, []byte(before)...)
}
