package searchtest

import (
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// indexDefinition is the definition of an index as a request wrote it, with the
// service's defaults filled in.
type indexDefinition struct {
	*parser
	object *object
	name   string
}

const packedBit = "packedBit"

// complexField reports whether a field of a definition is complex.
func complexField(o *object) bool {
	typ, _, ok := stored.ParseType(o.str("type"))
	return ok && typ == stored.Complex
}

// complete fills in the defaults that depend on other members.
func (d *indexDefinition) complete() {
	for _, f := range d.object.objects("fields") {
		d.completeField(f, false)
	}
	for _, p := range d.object.objects("scoringProfiles") {
		// Recorded: a profile without functions has no aggregation, one with
		// functions sums them unless it says otherwise.
		if p.get("functionAggregation") == nil && len(p.objects("functions")) > 0 {
			p.set("functionAggregation", "sum")
		}
	}
	for _, f := range d.object.objects("tokenFilters") {
		// Recorded: the list is English only when there are no words either.
		if f.shape == tokenFilterShapes[componentType+"StopwordsTokenFilter"] && !f.has("stopwords") && !f.has("stopwordsList") {
			f.set("stopwordsList", "english")
		}
	}
	if d.object.object("similarity") == nil {
		name := bm25Similarity
		if !d.version.Has(apiversion.Similarity) { // recorded: scores are those of the older algorithm
			name = classicSimilarity
		}
		sh := similarityShapes[name]
		values := make([]any, len(sh.members))
		values[0] = name
		d.object.set("similarity", &object{shape: sh, values: values, given: make([]bool, len(sh.members))})
	}
	if vs := d.object.object("vectorSearch"); vs != nil {
		for _, a := range vs.objects("algorithms") {
			switch {
			case a.str("kind") == "hnsw" && a.object("hnswParameters") == nil:
				a.set("hnswParameters", d.defaults(&hnswShape))
			case a.str("kind") == "exhaustiveKnn" && a.object("exhaustiveKnnParameters") == nil:
				a.set("exhaustiveKnnParameters", d.defaults(&exhaustiveKnnShape))
			}
		}
		for _, c := range vs.objects("compressions") {
			if c.str("kind") == "scalarQuantization" && c.object("scalarQuantizationParameters") == nil {
				c.set("scalarQuantizationParameters", d.defaults(&scalarQuantizationShape))
			}
		}
	}
}

// defaults is an object of a shape that has no required members, with nothing
// given.
func (d *indexDefinition) defaults(sh *shape) *object {
	o, _ := d.parser.object(&jsonMembers{}, sh)
	return o
}

// completeField fills in the attributes that a field does not mention. Below a
// collection of complex objects nothing can be sorted by.
func (d *indexDefinition) completeField(o *object, below bool) {
	typ, collection, ok := stored.ParseType(o.str("type"))
	if !ok {
		return // validate refuses it
	}
	if typ == stored.Complex {
		for _, f := range o.objects("fields") {
			d.completeField(f, below || collection)
		}
		return
	}
	vector := typ.VectorElement()
	for name, def := range map[string]bool{
		"searchable": typ == stored.String || vector,
		"filterable": !vector,
		// The vendor: 2024-03-01-preview has changed the default of vectors to false.
		"retrievable": !vector || !d.version.Has(apiversion.Stored),
		"stored":      true,
		"sortable":    !vector && !collection && !below,
		"facetable":   !vector && typ != stored.GeographyPoint,
		"key":         false,
	} {
		if o.get(name) == nil {
			o.set(name, def)
		}
	}
}
