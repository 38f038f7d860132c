// Package schema checks and compiles the definitions of indexes: which definitions and updates the service refuses, and
// the field data for reading, writing and searching documents.
package schema

import (
	"encoding/json"
	"slices"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Index is the compiled definition of an index. It is immutable after Compile.
type Index struct {
	shape.Resource
	Key    *stored.Field
	Fields []*stored.Field // in the order of documents in replies
	ByName map[string]*stored.Field

	// Definition is the definition in a reply: every member that the service writes, in its
	// order, with defaults, without @odata.context and @odata.etag.
	Definition json.RawMessage

	// Parsed is the definition in the form for checking updates.
	Parsed *definition

	// For searches.
	Texts           []TextField
	normalizers     map[*stored.Field]func(string) string // see compileNormalizers
	lazyAnalysis    lazyAnalysis
	lazyNormalizers lazyNormalizers
}

// Compile checks the definition of an index as the service of that version does, and compiles
// it. An error is the reply to the request.
func Compile(body []byte, version apiversion.Version) (*Index, *reply.Error) {
	def, err := parseDefinition(body, version)
	if err != nil {
		return nil, err
	}
	if err := def.validate(); err != nil {
		return nil, err
	}
	sc := &Index{Resource: shape.Resource{Name: def.name, Object: def.Object}, Parsed: def}
	sc.Definition = sc.AppendDefinition(nil, version, "")
	sc.Fields, sc.ByName = compileFields(def.Object.Objects("fields"))
	sc.Texts = collectTextFields(nil, nil, "", sc.ByName, def.Object.Objects("fields"))
	for _, f := range sc.Fields {
		if f.Key {
			sc.Key = f
		}
	}
	return sc, nil
}

// compileFields compiles the fields of an index or of a complex field.
func compileFields(defs []*shape.Object) ([]*stored.Field, map[string]*stored.Field) {
	fields := make([]*stored.Field, 0, len(defs))
	byName := make(map[string]*stored.Field, len(defs))
	for _, d := range defs {
		f := compileField(d)
		fields = append(fields, f)
		byName[f.Name] = f
	}
	// Recorded: complex members of documents follow all others.
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

// Saves reports whether a snapshot has the i-th member of the definition: those that the request had, and a similarity
// from an older version, which a new index would not get.
func (sc *Index) Saves(i int) bool {
	o, version := sc.Object, sc.Parsed.Version
	return shape.ShowsGiven(o, i, version) || o.Shape.Members[i].Name == "similarity" && version.Has(apiversion.Similarity) &&
		o.Object("similarity").Shape != similarityShapes[defaultSimilarity(version)]
}

func compileField(d *shape.Object) *stored.Field {
	f := &stored.Field{Name: d.Str("name")}
	f.Type, f.Collection, _ = stored.ParseType(d.Str("type"))
	if f.Type == stored.Complex {
		// A complex field has no attributes. Its sub-fields decide what is visible.
		f.Retrievable, f.Stored = true, true
		f.Fields, f.ByName = compileFields(d.Objects("fields"))
		return f
	}
	f.Key = d.Bool("key")
	f.Retrievable = d.Bool("retrievable")
	f.Stored = d.Bool("stored")
	f.Filterable = d.Bool("filterable")
	f.Sortable = d.Bool("sortable")
	f.Facetable = d.Bool("facetable")
	f.Searchable = d.Bool("searchable")
	if f.Vector() {
		f.Dimensions = int(d.Number("dimensions"))
		if d.Str("vectorEncoding") == packedBit {
			f.Dimensions /= 8
		}
	}
	return f
}
