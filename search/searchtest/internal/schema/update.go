package schema

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// frozenAttributes are the members of a field that an update cannot change, because stored
// data depends on them. retrievable, searchAnalyzer and synonymMaps matter only for reading
// and may change.
var frozenAttributes = []string{
	"type", "searchable", "filterable", "stored", "sortable", "facetable", "key", "indexAnalyzer", "analyzer", "normalizer",
	"dimensions", "vectorSearchProfile", "vectorEncoding",
}

// UpdateFault returns the refusal of an update with changes that are not possible, nil if all
// are. downtime allows changes that take the index offline. service is the name of the
// service.
func UpdateFault(prev, next *definition, downtime bool, service string) *reply.Error {
	added := make(map[string]bool)
	if err := next.changedFields(prev.Object.Objects("fields"), next.Object.Objects("fields"), "", added); err != nil {
		return err
	}
	if err := next.newSuggesters(prev, added); err != nil {
		return err
	}
	if err := next.newVectorStorage(added); err != nil {
		return err
	}
	if err := next.changedVectorSearch(prev, prev.Object.Objects("fields")); err != nil {
		return err
	}
	switch {
	case !prev.Object.Has("encryptionKey") && next.Object.Has("encryptionKey"):
		return next.Deny("CannotEncryptExistingIndex", "The index '"+next.name+"' was created without an encryption key. An existing index cannot be encrypted.")
	case prev.Object.Has("encryptionKey") && !next.Object.Has("encryptionKey"): // documented: the service ignores its removal
		next.Object.Give("encryptionKey", prev.Object.Get("encryptionKey"))
	}
	needsDowntime := false
	for _, list := range []string{"analyzers", "tokenizers", "tokenFilters", "charFilters", "normalizers"} {
		before := prev.Object.Objects(list)
		for _, c := range next.Object.Objects(list) {
			if Named(before, c.Str("name")) == nil {
				needsDowntime = true
			}
		}
		for _, c := range before {
			switch now := Named(next.Object.Objects(list), c.Str("name")); {
			case now == nil:
				return next.Deny("CannotDeleteExistingAnalysisComponent", "The existing component '"+c.Str("name")+"' in "+list+" cannot be deleted.")
			case !shape.Equal(c, now):
				return next.Deny("CannotChangeExistingAnalysisComponent", "The existing component '"+c.Str("name")+"' in "+list+" cannot be changed.")
			}
		}
	}
	similarity, before := next.Object.Object("similarity"), prev.Object.Object("similarity")
	if !next.Object.Has("similarity") && !prev.Object.Has("similarity") { // the similarity of an older version stays
		similarity = before
		next.Object.Set("similarity", before)
	}
	switch {
	case before.Shape != similarity.Shape:
		return next.Deny("CannotChangeSimilarity", "The similarity algorithm of an existing index cannot be changed.")
	case !shape.Equal(factor(before, "k1", "1.2"), factor(similarity, "k1", "1.2")) || !shape.Equal(factor(before, "b", "0.75"), factor(similarity, "b", "0.75")):
		needsDowntime = true
	}
	if needsDowntime && !downtime {
		return &reply.Error{Status: http.StatusBadRequest, Code: denialCode(next.Parser), Message: "An index with the name '" + next.name + "' in service '" + service + "' could not be updated. " + needsDowntimeText}
	}
	return nil
}

// factor returns a parameter of BM25 or its documented default.
func factor(similarity *shape.Object, name string, def json.Number) any {
	if similarity.Shape == similarityShapes[bm25Similarity] {
		if v := similarity.Get(name); v != nil {
			return v
		}
	}
	return def
}

// needsDowntimeText is the recorded message.
const needsDowntimeText = "Index update not allowed because it would cause downtime. In order to add new analyzers, tokenizers, token filters, or character filters to an existing index, set the 'allowIndexDowntime' query parameter to 'true' in the index update request. Note that this operation will put your index offline for at least a few seconds, causing your indexing and query requests to fail. Performance and write availability of the index can be impaired for several minutes after the index is updated, or longer for very large indexes."

// denialCode returns the code of a refused update, "" for old versions.
func denialCode(p *shape.Parser) string {
	if p.Coded() {
		return "OperationNotAllowed"
	}
	return ""
}

// changedFields checks that the fields of prev still exist unchanged, and adds the paths of
// new fields to added.
func (d *definition) changedFields(prev, next []*shape.Object, prefix string, added map[string]bool) *reply.Error {
	var gone []string
	for _, f := range prev {
		name := f.Str("name")
		if Named(next, name) == nil {
			gone = append(gone, prefix+name)
		}
	}
	if len(gone) > 0 {
		return d.Deny("CannotDeleteExistingFields", "Existing field(s) '"+strings.Join(gone, ", ")+"' cannot be deleted.")
	}
	for _, f := range next {
		path := prefix + f.Str("name")
		before := Named(prev, f.Str("name"))
		if before == nil {
			addPaths(f, path, added)
			continue
		}
		for _, name := range frozenAttributes {
			if !shape.Equal(before.Get(name), f.Get(name)) {
				return d.Deny("CannotChangeExistingField", "Existing field '"+path+"' cannot be changed.")
			}
		}
		if err := d.changedFields(before.Objects("fields"), f.Objects("fields"), path+"/", added); err != nil {
			return err
		}
	}
	return nil
}

// addPaths adds the path of a new field and those of its sub-fields to added.
func addPaths(f *shape.Object, path string, added map[string]bool) {
	added[path] = true
	for _, sub := range f.Objects("fields") {
		addPaths(sub, path+"/"+sub.Str("name"), added)
	}
}

// newSuggesters checks that the new sources of a suggester are fields added by the same
// update, because existing documents were not indexed for it.
func (d *definition) newSuggesters(prev *definition, added map[string]bool) *reply.Error {
	suggesters := d.Object.Objects("suggesters")
	for _, before := range prev.Object.Objects("suggesters") {
		now := Named(suggesters, before.Str("name"))
		if now == nil {
			continue // a suggester may be removed
		}
		for _, path := range before.Strings("sourceFields") {
			if !slices.Contains(now.Strings("sourceFields"), path) {
				return d.Deny("CannotChangeExistingSuggester", "The existing suggester '"+now.Str("name")+"' cannot be changed.")
			}
		}
	}
	for _, s := range suggesters {
		var known []string
		if before := Named(prev.Object.Objects("suggesters"), s.Str("name")); before != nil {
			known = before.Strings("sourceFields")
		}
		var old []string
		for _, path := range s.Strings("sourceFields") {
			if !added[path] && !slices.Contains(known, path) {
				old = append(old, path)
			}
		}
		if len(old) > 0 {
			return d.Deny("CannotReferenceExistingFieldsInNewSuggester", "Fields that were already present in an index ("+strings.Join(old, ", ")+") cannot be referenced by a new suggester. Only new fields added in the same index update operation are allowed.")
		}
	}
	return nil
}

// newVectorStorage checks that no new vector field has stored=false, which is possible only
// when the index is created.
func (d *definition) newVectorStorage(added map[string]bool) *reply.Error {
	for _, f := range d.Object.Objects("fields") {
		if added[f.Str("name")] && !complexField(f) && !f.Bool("stored") {
			return d.Deny("CannotAddFieldWithoutStorage", "The new field '"+f.Str("name")+"' must be stored: 'stored' can be set to false only when the index is created.")
		}
	}
	return nil
}

// changedVectorSearch checks that the settings with which vectors were indexed are unchanged. Settings that only
// queries use may change, and so may those that no field uses. In
// github.com/Azure/azure-sdk-for-python/issues/38203 the service refuses another algorithm.
func (d *definition) changedVectorSearch(prev *definition, fields []*shape.Object) *reply.Error {
	before, now := prev.Object.Object("vectorSearch"), d.Object.Object("vectorSearch")
	for _, f := range fields {
		if err := d.changedVectorSearch(prev, f.Objects("fields")); err != nil {
			return err
		}
		name := f.Str("vectorSearchProfile")
		if name == "" || before == nil || now == nil {
			continue
		}
		profile := Named(before.Objects("profiles"), name)
		for _, used := range []struct {
			list, name string
			free       []string
		}{
			{"profiles", name, []string{"vectorizer"}},
			{"algorithms", profile.Str("algorithm"), []string{"hnswParameters.efSearch"}},
			{"compressions", profile.Str("compression"), []string{"rerankWithOriginalVectors", "defaultOversampling", "rescoringOptions.enableRescoring", "rescoringOptions.defaultOversampling"}},
		} {
			was, is := Named(before.Objects(used.list), used.name), Named(now.Objects(used.list), used.name)
			if was != nil && is != nil && differs(was.Shape, was, is, "", used.free) {
				return d.Deny("CannotChangeExistingVectorSearch", "The existing entry '"+used.name+"' in "+used.list+" cannot be changed: the vectors of the field '"+f.Str("name")+"' were indexed with it.")
			}
		}
	}
	return nil
}

// differs reports whether two objects of a shape differ in members other than the free ones, which are paths. A nil
// object has the defaults.
func differs(sh *shape.Shape, a, b *shape.Object, prefix string, free []string) bool {
	value := func(o *shape.Object, m *shape.Property) any {
		if o == nil || o.Get(m.Name) == nil {
			return m.Default
		}
		return o.Get(m.Name)
	}
	for i := range sh.Members {
		m := &sh.Members[i]
		x, y := value(a, m), value(b, m)
		if slices.Contains(free, prefix+m.Name) {
			continue
		}
		inner, isObject := x.(*shape.Object)
		other, areObjects := y.(*shape.Object)
		if isObject && areObjects || (isObject || areObjects) && m.Shape != nil {
			if differs(m.Shape(), inner, other, prefix+m.Name+".", free) {
				return true
			}
			continue
		}
		if !shape.Equal(x, y) {
			return true
		}
	}
	return false
}
