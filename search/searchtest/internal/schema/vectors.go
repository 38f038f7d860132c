package schema

import (
	"fmt"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/vectors"
)

// vectorField checks a vector field.
func (d *definition) vectorField(f *shape.Object, path string, nested bool) *reply.Error {
	bad := func(reason string) *reply.Error {
		return d.Refuse("InvalidField", "The vector field '"+path+"' "+reason)
	}
	if nested {
		return bad("must be at the top level of the index.")
	}
	if len(f.Objects("fields")) > 0 {
		return bad("must not have sub-fields.")
	}
	for _, name := range []string{"filterable", "sortable", "facetable", "key"} {
		if f.Bool(name) {
			return bad("must not have the property '" + name + "' set to true.")
		}
	}
	for _, name := range []string{"permissionFilter", "analyzer", "searchAnalyzer", "indexAnalyzer", "normalizer"} {
		if f.Has(name) {
			return bad("must not have the property '" + name + "'.")
		}
	}
	if len(f.Strings("synonymMaps")) > 0 {
		return bad("must not have the property 'synonymMaps'.")
	}
	switch {
	case !f.Bool("searchable"):
		return bad("must have the property 'searchable' set to true.")
	case !f.Bool("stored") && f.Bool("retrievable"):
		return d.Refuse("InvalidField", "The field '"+path+"' is marked as not stored but is marked as retrievable. A retrievable field must be stored. Either set 'stored=false' and 'retrievable=false' or 'stored=true'.")
	case !f.Has("dimensions") && !f.Has("vectorSearchProfile"):
		return bad("must have the properties 'dimensions' and 'vectorSearchProfile' set.")
	case !f.Has("dimensions"):
		return bad("must have the property 'dimensions' set.")
	case !f.Has("vectorSearchProfile"):
		return bad("must have the property 'vectorSearchProfile' set.")
	}
	most := maxDimensions
	if !d.Version.Has(apiversion.WideVectors) {
		most = maxDimensionsFirst
	}
	dimensions := f.Number("dimensions")
	if dimensions < minDimensions || dimensions > float64(most) {
		return bad(fmt.Sprintf("has %v dimensions. It must have between %d and %d.", dimensions, minDimensions, most))
	}
	typ, _, _ := stored.ParseType(f.Str("type"))
	packed := f.Str("vectorEncoding") == packedBit
	switch {
	case packed != (typ == stored.Byte):
		return bad("must be of type 'Collection(Edm.Byte)' and have the property 'vectorEncoding' set to 'packedBit', or neither.")
	case packed && int(dimensions)%8 != 0:
		return bad(fmt.Sprintf("has %v dimensions. The dimensions of a packed-bit vector must be a multiple of 8.", dimensions))
	}
	return d.vectorProfile(f, path, packed)
}

// vectorProfile checks that the profile of a field exists and fits its type.
func (d *definition) vectorProfile(f *shape.Object, path string, packed bool) *reply.Error {
	name := f.Str("vectorSearchProfile")
	profile := Named(d.vectors("profiles"), name)
	if profile == nil {
		return d.Refuse("UnknownVectorAlgorithmConfiguration", "The field '"+path+"' uses a vector search algorithm configuration '"+name+"' which is not defined.")
	}
	algorithm := Named(d.vectors("algorithms"), profile.Str("algorithm"))
	if algorithm == nil {
		return nil // the profile itself is refused later
	}
	if hamming := metricOf(algorithm) == "hamming"; hamming != packed {
		return d.Refuse("InvalidField", "The vector field '"+path+"' of type '"+f.Str("type")+"' cannot be used with the metric '"+metricOf(algorithm)+"': 'hamming' is for packed-bit vectors, and only for them.")
	}
	return nil
}

func metricOf(algorithm *shape.Object) string {
	if p := algorithm.Object("hnswParameters"); p != nil {
		return p.Str("metric")
	}
	if p := algorithm.Object("exhaustiveKnnParameters"); p != nil {
		return p.Str("metric")
	}
	return ""
}

// vectors returns a list of the vector search configuration.
func (d *definition) vectors(list string) []*shape.Object {
	if vs := d.Object.Object("vectorSearch"); vs != nil {
		return vs.Objects(list)
	}
	return nil
}

// validateVectors checks that names in the vector search configuration are unique, and that
// the names to which it refers exist.
func (d *definition) validateVectors() *reply.Error {
	for _, list := range []string{"algorithms", "profiles", "vectorizers", "compressions"} {
		if err := d.names("vector search "+list, d.vectors(list)); err != nil {
			return err
		}
	}
	for _, p := range d.vectors("profiles") {
		for _, use := range []struct{ member, list string }{
			{"algorithm", "algorithms"}, {"vectorizer", "vectorizers"}, {"compression", "compressions"},
		} {
			name := p.Str(use.member)
			if p.Has(use.member) && Named(d.vectors(use.list), name) == nil {
				return d.Refuse("InvalidVectorSearchProfile", "The vector search profile '"+p.Str("name")+"' uses the "+use.member+" '"+name+"' which is not defined.")
			}
		}
	}
	for _, a := range d.vectors("algorithms") {
		if err := d.onlyFor(a, map[string]string{"hnsw": "hnswParameters", "exhaustiveKnn": "exhaustiveKnnParameters"}); err != nil {
			return err
		}
	}
	for _, v := range d.vectors("vectorizers") {
		if kind := v.Str("kind"); (kind == "aiServicesVision" || kind == "aml") && !d.Version.Has(apiversion.VisionVectorizers) {
			return d.Refuse("InvalidPropertyValue", "The value '"+kind+"' of the property 'kind' is not valid. Supported values are: azureOpenAI, customWebApi.")
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

// onlyFor checks that an object has only the parameters of its kind.
func (d *definition) onlyFor(o *shape.Object, parameters map[string]string) *reply.Error {
	for kind, member := range parameters {
		if kind != o.Str("kind") && o.Has(member) {
			return d.Refuse("InvalidVectorSearch", "'"+o.Str("name")+"' is of kind '"+o.Str("kind")+"' and must not have the property '"+member+"'.")
		}
	}
	return nil
}

// VectorMetric returns the metric of a vector field, from the algorithm of its profile.
func (sc *Index) VectorMetric(name string) vectors.Metric {
	if algorithm := sc.vectorSetting(name, "algorithm", "algorithms"); algorithm != nil {
		m, _ := vectors.ParseMetric(metricOf(algorithm))
		return m
	}
	return vectors.Cosine
}

// Rescores reports whether results from a compressed vector field are ranked again with the
// original vectors.
func (sc *Index) Rescores(name string) bool {
	compression := sc.vectorSetting(name, "compression", "compressions")
	if compression == nil {
		return false
	}
	if options := compression.Object("rescoringOptions"); options != nil {
		return options.Bool("enableRescoring")
	}
	return compression.Bool("rerankWithOriginalVectors")
}

// vectorSetting returns the object of a list of the vector search configuration to which a
// member of the profile of a vector field refers. It is nil if there is none.
func (sc *Index) vectorSetting(field, member, list string) *shape.Object {
	d := sc.Parsed
	f := Named(d.Object.Objects("fields"), field)
	if f == nil {
		return nil
	}
	profile := Named(d.vectors("profiles"), f.Str("vectorSearchProfile"))
	if profile == nil {
		return nil
	}
	return Named(d.vectors(list), profile.Str(member))
}
