package schema

import (
	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// definition is the definition of an index from a request, with the service's defaults.
type definition struct {
	*shape.Parser
	Object *shape.Object
	name   string
}

const packedBit = "packedBit"

// complexField reports whether a field of a definition is complex.
func complexField(o *shape.Object) bool {
	typ, _, ok := stored.ParseType(o.Str("type"))
	return ok && typ == stored.Complex
}

// complete sets the defaults that depend on other members.
func (d *definition) complete() {
	for _, f := range d.Object.Objects("fields") {
		d.completeField(f, false)
	}
	for _, p := range d.Object.Objects("scoringProfiles") {
		// Recorded: a profile without functions has no aggregation; the default of one with
		// functions is sum.
		if p.Get("functionAggregation") == nil && len(p.Objects("functions")) > 0 {
			p.Set("functionAggregation", "sum")
		}
	}
	for _, f := range d.Object.Objects("tokenFilters") {
		// Recorded: the list is English only without stopwords.
		if f.Shape == tokenFilterShapes[ComponentType+"StopwordsTokenFilter"] && !f.Has("stopwords") && !f.Has("stopwordsList") {
			f.Set("stopwordsList", "english")
		}
	}
	if d.Object.Object("similarity") == nil {
		name := defaultSimilarity(d.Version)
		sh := similarityShapes[name]
		similarity := &shape.Object{Shape: sh, Values: make([]any, len(sh.Members)), Given: make([]bool, len(sh.Members))}
		similarity.Give("@odata.type", name)
		d.Object.Set("similarity", similarity)
	}
	if vs := d.Object.Object("vectorSearch"); vs != nil {
		for _, a := range vs.Objects("algorithms") {
			switch {
			case a.Str("kind") == "hnsw" && a.Object("hnswParameters") == nil:
				a.Set("hnswParameters", d.defaults(&hnswShape))
			case a.Str("kind") == "exhaustiveKnn" && a.Object("exhaustiveKnnParameters") == nil:
				a.Set("exhaustiveKnnParameters", d.defaults(&exhaustiveKnnShape))
			}
		}
		for _, c := range vs.Objects("compressions") {
			if c.Str("kind") == "scalarQuantization" && c.Object("scalarQuantizationParameters") == nil {
				c.Set("scalarQuantizationParameters", d.defaults(&scalarQuantizationShape))
			}
		}
	}
}

// defaults returns an object of a shape without required members, with all members missing.
func (d *definition) defaults(sh *shape.Shape) *shape.Object {
	o, _ := d.Parser.Object(&shape.Members{}, sh)
	return o
}

// completeField sets the attributes that a field does not have. Fields below a collection of
// complex objects cannot be sortable.
func (d *definition) completeField(o *shape.Object, below bool) {
	typ, collection, ok := stored.ParseType(o.Str("type"))
	if !ok {
		return // validate refuses it
	}
	if typ == stored.Complex {
		for _, f := range o.Objects("fields") {
			d.completeField(f, below || collection)
		}
		return
	}
	vector := typ.VectorElement()
	for name, def := range map[string]bool{
		"searchable": typ == stored.String || vector,
		"filterable": !vector,
		// The vendor: 2024-03-01-preview changed the default for vectors to false.
		"retrievable": !vector || !d.Version.Has(apiversion.Stored),
		"stored":      true,
		"sortable":    !vector && !collection && !below,
		"facetable":   !vector && typ != stored.GeographyPoint,
		"key":         false,
	} {
		if o.Get(name) == nil {
			o.Set(name, def)
		}
	}
}

// parseDefinition reads the JSON of an index definition and sets the service's defaults.
// validate checks the result.
func parseDefinition(body []byte, version apiversion.Version) (*definition, *reply.Error) {
	p := shape.NewParser("index", version)
	index, err := p.Read(body, &Shape)
	if err != nil {
		return nil, err
	}
	def := &definition{Parser: p, Object: index, name: index.Str("name")}
	def.complete()
	return def, nil
}
