package searchtest

import (
	"fmt"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// vectorField checks a field that holds vectors.
func (d *indexDefinition) vectorField(f *object, path string, nested bool) *serviceError {
	bad := func(reason string) *serviceError {
		return d.refuse("InvalidField", "The vector field '"+path+"' "+reason)
	}
	if nested {
		return bad("must be at the top level of the index.")
	}
	if len(f.objects("fields")) > 0 {
		return bad("must not have sub-fields.")
	}
	for _, name := range []string{"filterable", "sortable", "facetable", "key"} {
		if f.boolean(name) {
			return bad("must not have the property '" + name + "' set to true.")
		}
	}
	for _, name := range []string{"permissionFilter", "analyzer", "searchAnalyzer", "indexAnalyzer", "normalizer"} {
		if f.has(name) {
			return bad("must not have the property '" + name + "'.")
		}
	}
	if len(f.strings("synonymMaps")) > 0 {
		return bad("must not have the property 'synonymMaps'.")
	}
	switch {
	case !f.boolean("searchable"):
		return bad("must have the property 'searchable' set to true.")
	case !f.boolean("stored") && f.boolean("retrievable"):
		return d.refuse("InvalidField", "The field '"+path+"' is marked as not stored but is marked as retrievable. A retrievable field must be stored. Either set 'stored=false' and 'retrievable=false' or 'stored=true'.")
	case !f.has("dimensions") && !f.has("vectorSearchProfile"):
		return bad("must have the properties 'dimensions' and 'vectorSearchProfile' set.")
	case !f.has("dimensions"):
		return bad("must have the property 'dimensions' set.")
	case !f.has("vectorSearchProfile"):
		return bad("must have the property 'vectorSearchProfile' set.")
	}
	most := maxDimensions
	if !d.version.Has(apiversion.WideVectors) {
		most = maxDimensionsFirst
	}
	dimensions := f.number("dimensions")
	if dimensions < minDimensions || dimensions > float64(most) {
		return bad(fmt.Sprintf("has %v dimensions. It must have between %d and %d.", dimensions, minDimensions, most))
	}
	typ, _, _ := stored.ParseType(f.str("type"))
	packed := f.str("vectorEncoding") == packedBit
	switch {
	case packed != (typ == stored.Byte):
		return bad("must be of type 'Collection(Edm.Byte)' and have the property 'vectorEncoding' set to 'packedBit', or neither.")
	case packed && int(dimensions)%8 != 0:
		return bad(fmt.Sprintf("has %v dimensions. The dimensions of a packed-bit vector must be a multiple of 8.", dimensions))
	}
	return d.vectorProfile(f, path, packed)
}

// vectorProfile checks that the profile of a field exists and fits its type.
func (d *indexDefinition) vectorProfile(f *object, path string, packed bool) *serviceError {
	name := f.str("vectorSearchProfile")
	profile := named(d.vectors("profiles"), name)
	if profile == nil {
		return d.refuse("UnknownVectorAlgorithmConfiguration", "The field '"+path+"' uses a vector search algorithm configuration '"+name+"' which is not defined.")
	}
	algorithm := named(d.vectors("algorithms"), profile.str("algorithm"))
	if algorithm == nil {
		return nil // the profile itself is refused later
	}
	if hamming := metricOf(algorithm) == "hamming"; hamming != packed {
		return d.refuse("InvalidField", "The vector field '"+path+"' of type '"+f.str("type")+"' cannot be used with the metric '"+metricOf(algorithm)+"': 'hamming' is for packed-bit vectors, and only for them.")
	}
	return nil
}

func metricOf(algorithm *object) string {
	if p := algorithm.object("hnswParameters"); p != nil {
		return p.str("metric")
	}
	if p := algorithm.object("exhaustiveKnnParameters"); p != nil {
		return p.str("metric")
	}
	return ""
}

// vectors is a list of the vector search configuration.
func (d *indexDefinition) vectors(list string) []*object {
	if vs := d.object.object("vectorSearch"); vs != nil {
		return vs.objects(list)
	}
	return nil
}

// validateVectors checks the vector search configuration: names are unique and
// those that are used exist.
func (d *indexDefinition) validateVectors() *serviceError {
	for _, list := range []string{"algorithms", "profiles", "vectorizers", "compressions"} {
		if err := d.names("vector search "+list, d.vectors(list)); err != nil {
			return err
		}
	}
	for _, p := range d.vectors("profiles") {
		for _, use := range []struct{ member, list string }{
			{"algorithm", "algorithms"}, {"vectorizer", "vectorizers"}, {"compression", "compressions"},
		} {
			name := p.str(use.member)
			if p.has(use.member) && named(d.vectors(use.list), name) == nil {
				return d.refuse("InvalidVectorSearchProfile", "The vector search profile '"+p.str("name")+"' uses the "+use.member+" '"+name+"' which is not defined.")
			}
		}
	}
	for _, a := range d.vectors("algorithms") {
		if err := d.onlyFor(a, map[string]string{"hnsw": "hnswParameters", "exhaustiveKnn": "exhaustiveKnnParameters"}); err != nil {
			return err
		}
	}
	for _, v := range d.vectors("vectorizers") {
		if kind := v.str("kind"); (kind == "aiServicesVision" || kind == "aml") && !d.version.Has(apiversion.VisionVectorizers) {
			return d.refuse("InvalidPropertyValue", "The value '"+kind+"' of the property 'kind' is not valid. Supported values are: azureOpenAI, customWebApi.")
		}
		if err := d.onlyFor(v, map[string]string{
			"azureOpenAI": "azureOpenAIParameters", "customWebApi": "customWebApiParameters",
			"aiServicesVision": "aiServicesVisionParameters", "aml": "amlParameters",
		}); err != nil {
			return err
		}
	}
	for _, c := range d.vectors("compressions") {
		if err := d.onlyFor(c, map[string]string{"scalarQuantization": "scalarQuantizationParameters"}); err != nil {
			return err
		}
	}
	return nil
}

// onlyFor checks that an object has no parameters but those of its kind.
func (d *indexDefinition) onlyFor(o *object, parameters map[string]string) *serviceError {
	for kind, member := range parameters {
		if kind != o.str("kind") && o.has(member) {
			return d.refuse("InvalidVectorSearch", "'"+o.str("name")+"' is of kind '"+o.str("kind")+"' and must not have the property '"+member+"'.")
		}
	}
	return nil
}
