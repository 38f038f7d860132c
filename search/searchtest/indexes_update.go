package searchtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// frozenAttributes are the members of a field that an update cannot change:
// what is stored depends on them. retrievable, searchAnalyzer and synonymMaps
// matter only to reading and may change at any time.
var frozenAttributes = []string{
	"type", "searchable", "filterable", "stored", "sortable", "facetable", "key", "indexAnalyzer", "analyzer", "normalizer",
	"dimensions", "vectorSearchProfile", "vectorEncoding",
}

// changeFault is the refusal of a change that an update cannot make, nil if it
// can make all of them. downtime is whether it may take the index offline.
func (s *Server) changeFault(prev, next *indexDefinition, downtime bool) *serviceError {
	added := make(map[string]bool)
	if err := next.changedFields(prev.object.objects("fields"), next.object.objects("fields"), "", added); err != nil {
		return err
	}
	if err := next.newSuggesters(prev, added); err != nil {
		return err
	}
	if err := next.newVectorStorage(added); err != nil {
		return err
	}
	if err := next.changedVectorSearch(prev, prev.object.objects("fields")); err != nil {
		return err
	}
	switch {
	case !prev.object.has("encryptionKey") && next.object.has("encryptionKey"):
		return next.deny("CannotEncryptExistingIndex", "The index '"+next.name+"' was created without an encryption key. An existing index cannot be encrypted.")
	case prev.object.has("encryptionKey") && !next.object.has("encryptionKey"): // documented: the service ignores that
		next.object.set("encryptionKey", prev.object.get("encryptionKey"))
	}
	needsDowntime := false
	for _, list := range []string{"analyzers", "tokenizers", "tokenFilters", "charFilters", "normalizers"} {
		before := prev.object.objects(list)
		for _, c := range next.object.objects(list) {
			if named(before, c.str("name")) == nil {
				needsDowntime = true
			}
		}
		for _, c := range before {
			switch now := named(next.object.objects(list), c.str("name")); {
			case now == nil:
				return next.deny("CannotDeleteExistingAnalysisComponent", "The existing component '"+c.str("name")+"' in "+list+" cannot be deleted.")
			case !equalValues(c, now):
				return next.deny("CannotChangeExistingAnalysisComponent", "The existing component '"+c.str("name")+"' in "+list+" cannot be changed.")
			}
		}
	}
	similarity, before := next.object.object("similarity"), prev.object.object("similarity")
	if !next.object.has("similarity") && !prev.object.has("similarity") { // nobody asked for one: what an older version has chosen stays
		similarity = before
		next.object.set("similarity", before)
	}
	switch {
	case before.shape != similarity.shape:
		return next.deny("CannotChangeSimilarity", "The similarity algorithm of an existing index cannot be changed.")
	case !equalValues(factor(before, "k1", "1.2"), factor(similarity, "k1", "1.2")) || !equalValues(factor(before, "b", "0.75"), factor(similarity, "b", "0.75")):
		needsDowntime = true
	}
	if needsDowntime && !downtime {
		return &serviceError{status: http.StatusBadRequest, code: next.denialCode(), message: "An index with the name '" + next.name + "' in service '" + s.opts.ServiceName + "' could not be updated. " + needsDowntimeText}
	}
	return nil
}

// factor is a parameter of BM25, whose default is documented.
func factor(similarity *object, name string, def json.Number) any {
	if similarity.shape == similarityShapes[bm25Similarity] {
		if v := similarity.get(name); v != nil {
			return v
		}
	}
	return def
}

// needsDowntimeText is as recorded.
const needsDowntimeText = "Index update not allowed because it would cause downtime. In order to add new analyzers, tokenizers, token filters, or character filters to an existing index, set the 'allowIndexDowntime' query parameter to 'true' in the index update request. Note that this operation will put your index offline for at least a few seconds, causing your indexing and query requests to fail. Performance and write availability of the index can be impaired for several minutes after the index is updated, or longer for very large indexes."

// denialCode is the code of a refused update, which old versions leave empty.
func (p *parser) denialCode() string {
	if p.coded() {
		return "OperationNotAllowed"
	}
	return ""
}

// changedFields checks that the fields of prev are still there, unchanged, and
// puts the paths of new ones into added.
func (d *indexDefinition) changedFields(prev, next []*object, prefix string, added map[string]bool) *serviceError {
	var gone []string
	for _, f := range prev {
		name := f.str("name")
		if named(next, name) == nil {
			gone = append(gone, prefix+name)
		}
	}
	if len(gone) > 0 {
		return d.deny("CannotDeleteExistingFields", "Existing field(s) '"+strings.Join(gone, ", ")+"' cannot be deleted.")
	}
	for _, f := range next {
		path := prefix + f.str("name")
		before := named(prev, f.str("name"))
		if before == nil {
			addPaths(f, path, added)
			continue
		}
		for _, name := range frozenAttributes {
			if !equalValues(before.get(name), f.get(name)) {
				return d.deny("CannotChangeExistingField", "Existing field '"+path+"' cannot be changed.")
			}
		}
		if err := d.changedFields(before.objects("fields"), f.objects("fields"), path+"/", added); err != nil {
			return err
		}
	}
	return nil
}

// addPaths puts the path of a new field and of those below it into added.
func addPaths(f *object, path string, added map[string]bool) {
	added[path] = true
	for _, sub := range f.objects("fields") {
		addPaths(sub, path+"/"+sub.str("name"), added)
	}
}

// newSuggesters checks that a suggester which is new, or has new sources, has
// them among the fields of the same update: documents that are already there
// were not prepared for it.
func (d *indexDefinition) newSuggesters(prev *indexDefinition, added map[string]bool) *serviceError {
	suggesters := d.object.objects("suggesters")
	for _, before := range prev.object.objects("suggesters") {
		now := named(suggesters, before.str("name"))
		if now == nil {
			continue // a suggester may be given up
		}
		for _, path := range before.strings("sourceFields") {
			if !slices.Contains(now.strings("sourceFields"), path) {
				return d.deny("CannotChangeExistingSuggester", "The existing suggester '"+now.str("name")+"' cannot be changed.")
			}
		}
	}
	for _, s := range suggesters {
		var known []string
		if before := named(prev.object.objects("suggesters"), s.str("name")); before != nil {
			known = before.strings("sourceFields")
		}
		var old []string
		for _, path := range s.strings("sourceFields") {
			if !added[path] && !slices.Contains(known, path) {
				old = append(old, path)
			}
		}
		if len(old) > 0 {
			return d.deny("CannotReferenceExistingFieldsInNewSuggester", "Fields that were already present in an index ("+strings.Join(old, ", ")+") cannot be referenced by a new suggester. Only new fields added in the same index update operation are allowed.")
		}
	}
	return nil
}

// newVectorStorage checks that no new vector field goes without storage, which
// can be chosen only when the index is created.
func (d *indexDefinition) newVectorStorage(added map[string]bool) *serviceError {
	for _, f := range d.object.objects("fields") {
		if added[f.str("name")] && !complexField(f) && !f.boolean("stored") {
			return d.deny("CannotAddFieldWithoutStorage", "The new field '"+f.str("name")+"' must be stored: 'stored' can be set to false only when the index is created.")
		}
	}
	return nil
}

// changedVectorSearch checks that what the vectors of fields were indexed with is as it was. What only queries
// need may change, and so may what no field uses. github.com/Azure/azure-sdk-for-python/issues/38203 has the service
// refuse another algorithm.
func (d *indexDefinition) changedVectorSearch(prev *indexDefinition, fields []*object) *serviceError {
	before, now := prev.object.object("vectorSearch"), d.object.object("vectorSearch")
	for _, f := range fields {
		if err := d.changedVectorSearch(prev, f.objects("fields")); err != nil {
			return err
		}
		name := f.str("vectorSearchProfile")
		if name == "" || before == nil || now == nil {
			continue
		}
		profile := named(before.objects("profiles"), name)
		for _, used := range []struct {
			list, name string
			free       []string
		}{
			{"profiles", name, []string{"vectorizer"}},
			{"algorithms", profile.str("algorithm"), []string{"hnswParameters.efSearch"}},
			{"compressions", profile.str("compression"), []string{"rerankWithOriginalVectors", "defaultOversampling", "rescoringOptions.enableRescoring", "rescoringOptions.defaultOversampling"}},
		} {
			was, is := named(before.objects(used.list), used.name), named(now.objects(used.list), used.name)
			if was != nil && is != nil && differs(was.shape, was, is, "", used.free) {
				return d.deny("CannotChangeExistingVectorSearch", "The existing entry '"+used.name+"' in "+used.list+" cannot be changed: the vectors of the field '"+f.str("name")+"' were indexed with it.")
			}
		}
	}
	return nil
}

// differs reports whether two objects of a shape differ in other members than the free ones, given by their paths. One
// that is nil has the defaults.
func differs(sh *shape, a, b *object, prefix string, free []string) bool {
	value := func(o *object, m *property) any {
		if o == nil || o.get(m.name) == nil {
			return m.def
		}
		return o.get(m.name)
	}
	for i := range sh.members {
		m := &sh.members[i]
		x, y := value(a, m), value(b, m)
		if slices.Contains(free, prefix+m.name) {
			continue
		}
		inner, isObject := x.(*object)
		other, areObjects := y.(*object)
		if isObject && areObjects || (isObject || areObjects) && m.shape != nil {
			if differs(m.shape(), inner, other, prefix+m.name+".", free) {
				return true
			}
			continue
		}
		if !equalValues(x, y) {
			return true
		}
	}
	return false
}
