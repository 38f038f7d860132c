package searchtest

import (
	"encoding/json"
	"slices"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// schema is the compiled definition of an index. It is built once, by
// compileSchema, and only read afterwards.
type schema struct {
	resource
	key    *stored.Field
	fields []*stored.Field // in the order in which documents are written
	byName map[string]*stored.Field

	// definition is what a reply says about the index: every member that the
	// service writes, in its order, defaults filled in, without @odata.context
	// and @odata.etag.
	definition json.RawMessage

	// parsed is the definition in the form that updates are judged by.
	parsed *indexDefinition

	// For searches.
	texts           []textField
	normalizers     map[*stored.Field]func(string) string // see compileNormalizers
	lazyAnalysis    lazyAnalysis
	lazyNormalizers lazyNormalizers
}

// compileSchema checks the definition of an index as the service of that
// version does and compiles it. The error is the reply to the request.
func compileSchema(body []byte, version apiversion.Version) (*schema, *serviceError) {
	def, err := parseDefinition(body, version)
	if err != nil {
		return nil, err
	}
	if err := def.validate(); err != nil {
		return nil, err
	}
	sc := &schema{resource: resource{name: def.name, object: def.object}, parsed: def}
	sc.definition = sc.appendDefinition(nil, version, "")
	sc.fields, sc.byName = compileFields(def.object.objects("fields"))
	sc.texts = collectTextFields(nil, nil, "", sc.byName, def.object.objects("fields"))
	for _, f := range sc.fields {
		if f.Key {
			sc.key = f
		}
	}
	return sc, nil
}

// compileFields compiles the fields of an index or of a complex field.
func compileFields(defs []*object) ([]*stored.Field, map[string]*stored.Field) {
	fields := make([]*stored.Field, 0, len(defs))
	byName := make(map[string]*stored.Field, len(defs))
	for _, d := range defs {
		f := compileField(d)
		fields = append(fields, f)
		byName[f.Name] = f
	}
	// Recorded: documents have their complex members after all others.
	slices.SortStableFunc(fields, func(a, b *stored.Field) int {
		switch {
		case a.Type != stored.Complex && b.Type == stored.Complex:
			return -1
		case a.Type == stored.Complex && b.Type != stored.Complex:
			return 1
		}
		return 0
	})
	for i, f := range fields {
		f.Ordinal = i
	}
	return fields, byName
}

func compileField(d *object) *stored.Field {
	f := &stored.Field{Name: d.str("name")}
	f.Type, f.Collection, _ = stored.ParseType(d.str("type"))
	if f.Type == stored.Complex {
		// A complex field has no attributes of its own: what can be seen of it is
		// for its sub-fields to say.
		f.Retrievable, f.Stored = true, true
		f.Fields, f.ByName = compileFields(d.objects("fields"))
		return f
	}
	f.Key = d.boolean("key")
	f.Retrievable = d.boolean("retrievable")
	f.Stored = d.boolean("stored")
	f.Filterable = d.boolean("filterable")
	f.Sortable = d.boolean("sortable")
	f.Facetable = d.boolean("facetable")
	f.Searchable = d.boolean("searchable")
	if f.Vector() {
		f.Dimensions = int(d.number("dimensions"))
		if d.str("vectorEncoding") == packedBit {
			f.Dimensions /= 8
		}
	}
	return f
}
