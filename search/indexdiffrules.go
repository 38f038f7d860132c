package search

import (
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// run compares all members, in the order of models.SearchIndex.
func (d *indexDiff) run() {
	member := func(name string, rule changeRule) { d.compare(name, d.before[name], d.after[name], rule) }
	member("name", always(ChangeNeedsRebuild, "an index cannot be renamed"))
	member("description", always(ChangeInPlace, "it is only descriptive"))
	d.fields("fields", d.before["fields"], d.after["fields"], "")
	member("scoringProfiles", always(ChangeInPlace, "scoring profiles apply to queries only"))
	member("defaultScoringProfile", always(ChangeInPlace, "scoring profiles apply to queries only"))
	member("corsOptions", always(ChangeInPlace, "they affect browsers only"))
	d.suggesters()
	for _, list := range componentLists {
		d.components(list)
	}
	member("encryptionKey", encryptionRule)
	d.similarity()
	member("semantic", always(ChangeInPlace, "the semantic ranker applies to queries only"))
	d.vectorSearch()
	for _, name := range memberNames(d.before, d.after) {
		if !slices.Contains(comparedMembers, name) {
			member(name, always(ChangeInPlace, "unknown member: the service decides whether it can be changed"))
		}
	}
}

// componentLists are the members that hold analysis components.
var componentLists = []string{"analyzers", "tokenizers", "tokenFilters", "charFilters", "normalizers"}

// comparedMembers are the members with a rule in run.
var comparedMembers = append([]string{
	"name", "description", "fields", "scoringProfiles", "defaultScoringProfile", "corsOptions", "suggesters",
	"encryptionKey", "similarity", "semantic", "vectorSearch",
}, componentLists...)

// fields compares the fields of an index or of a complex field. prefix is the path of the complex field as in
// queries, with a slash at its end.
func (d *indexDiff) fields(path string, before, after any, prefix string) {
	d.entries(path, before, after, func(path string, before, after jsonObject) {
		switch {
		case after == nil:
			d.note(path, ChangeNeedsRebuild, "fields cannot be deleted", before, nil)
		case before == nil:
			d.addedField(path, after, prefix)
		case before["type"] != after["type"]:
			// The other attributes depend on the type, down to their defaults.
			d.note(path+".type", ChangeNeedsRebuild, "the type of a field is fixed", before["type"], after["type"])
		default:
			for _, name := range memberNames(before, after) {
				if name != "fields" {
					d.compare(path+"."+name, before[name], after[name], fieldRule(name))
				}
			}
			d.fields(path, before["fields"], after["fields"], prefix+nameOf(after)+"/")
		}
	})
}

// fieldRule returns the rule for an attribute of a field.
func fieldRule(name string) changeRule {
	switch name {
	case "retrievable":
		return always(ChangeInPlace, "it applies to results only")
	case "searchAnalyzer", "synonymMaps":
		return always(ChangeInPlace, "it applies to queries only")
	case "normalizer", "analyzer", "indexAnalyzer":
		return always(ChangeNeedsRebuild, "documents were indexed with it")
	}
	return always(ChangeNeedsRebuild, "only retrievable, searchAnalyzer and synonymMaps of an existing field can be changed")
}

// addedField records a new field and its sub-fields.
func (d *indexDiff) addedField(path string, field jsonObject, prefix string) {
	d.addPaths(field, prefix)
	if storesNoVectors(field) {
		d.note(path, ChangeNeedsRebuild, "stored can be false only for fields that are created with the index", nil, field)
		return
	}
	d.note(path, ChangeInPlace, "existing documents have null in new fields", nil, field)
}

func (d *indexDiff) addPaths(field jsonObject, prefix string) {
	path := prefix + nameOf(field)
	d.added[path] = true
	for _, sub := range entriesOf(field["fields"]) {
		d.addPaths(sub, path+"/")
	}
}

// storesNoVectors reports whether a field or a sub-field is a vector that is not stored.
func storesNoVectors(field jsonObject) bool {
	name, _ := field["type"].(string)
	return models.DataType(name).IsVector() && field["stored"] == false || slices.ContainsFunc(entriesOf(field["fields"]), storesNoVectors)
}

// suggesters compares suggesters. A suggester accepts only fields that are created in the same change, because
// existing documents are not prepared for suggestions. suggesters runs after fields, which collects the new fields.
func (d *indexDiff) suggesters() {
	d.entries("suggesters", d.before["suggesters"], d.after["suggesters"], func(path string, before, after jsonObject) {
		if after == nil {
			d.note(path, ChangeInPlace, "nothing is stored for it any more", before, nil)
			return
		}
		oldFields, newFields := textsOf(before["sourceFields"]), textsOf(after["sourceFields"])
		kind, reason := ChangeInPlace, "its new fields are created with the change"
		switch {
		case slices.ContainsFunc(oldFields, func(f string) bool { return !slices.Contains(newFields, f) }):
			kind, reason = ChangeNeedsRebuild, "fields cannot be removed from a suggester"
		case slices.ContainsFunc(newFields, func(f string) bool { return !slices.Contains(oldFields, f) && !d.added[f] }):
			kind, reason = ChangeNeedsRebuild, "only fields that are created in the same change can be added to a suggester"
		}
		switch {
		case before == nil:
			d.note(path, kind, reason, nil, after)
			return
		case kind == ChangeNeedsRebuild || len(oldFields) != len(newFields):
			d.note(path+".sourceFields", kind, reason, before["sourceFields"], after["sourceFields"])
		}
		for _, name := range memberNames(before, after) {
			if name != "sourceFields" {
				d.compare(path+"."+name, before[name], after[name], always(ChangeNeedsRebuild, "only fields can be added to a suggester"))
			}
		}
	})
}

// textsOf returns the strings in a list.
func textsOf(list any) []string {
	values, _ := list.([]any)
	texts := make([]string, 0, len(values))
	for _, v := range values {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// components compares a list of analysis components.
func (d *indexDiff) components(list string) {
	d.entries(list, d.before[list], d.after[list], func(path string, before, after jsonObject) {
		switch {
		case after == nil:
			d.note(path, ChangeNeedsRebuild, "analysis components cannot be deleted", before, nil)
		case before == nil:
			d.note(path, ChangeInPlaceWithDowntime, "the index is offline while analysis components are added", nil, after)
		default:
			d.compare(path, before, after, always(ChangeNeedsRebuild, "analysis components cannot be changed: documents were indexed with them"))
		}
	})
}

func encryptionRule(path string, before, after any) (ChangeKind, string) {
	switch {
	case path == "encryptionKey" && after == nil:
		return ChangeNeedsRebuild, "the service ignores it: an encrypted index stays encrypted"
	case path == "encryptionKey" && before == nil:
		return ChangeNeedsRebuild, "an index is encrypted from its creation on, or never"
	}
	return ChangeInPlace, "a key can be replaced by another"
}

// similarity compares parameters only if both similarities are of the same type.
func (d *indexDiff) similarity() {
	before, _ := d.before["similarity"].(jsonObject)
	after, _ := d.after["similarity"].(jsonObject)
	const typ = "@odata.type"
	if before != nil && after != nil && before[typ] != after[typ] {
		before, after = jsonObject{typ: before[typ]}, jsonObject{typ: after[typ]}
		d.compare("similarity", before, after, similarityRule)
		return
	}
	d.compare("similarity", d.before["similarity"], d.after["similarity"], similarityRule)
}

func similarityRule(path string, _, _ any) (ChangeKind, string) {
	if path == "similarity.k1" || path == "similarity.b" {
		return ChangeInPlaceWithDowntime, "the index is offline while the parameters of its similarity change"
	}
	return ChangeNeedsRebuild, "the similarity of an index is fixed"
}

// The members of vector search that apply to queries only.
var (
	queryAlgorithmMembers   = []string{"hnswParameters.efSearch"}
	queryCompressionMembers = []string{
		"rerankWithOriginalVectors", "defaultOversampling", "rescoringOptions.enableRescoring", "rescoringOptions.defaultOversampling",
	}
)

// vectorSearch compares the configuration of vector search. The algorithms and compressions in the profiles of fields
// determine how their vectors were indexed, so they cannot change.
func (d *indexDiff) vectorSearch() {
	before, _ := d.before["vectorSearch"].(jsonObject)
	after, _ := d.after["vectorSearch"].(jsonObject)
	used := d.usedVectorSearch(before)
	for _, name := range memberNames(before, after) {
		path := "vectorSearch." + name
		if !namedEntries(before[name]) && !namedEntries(after[name]) {
			d.compare(path, before[name], after[name], always(ChangeInPlace, "unknown member: the service decides whether it can be changed"))
			continue
		}
		d.entries(path, before[name], after[name], func(path string, before, after jsonObject) {
			switch {
			case after == nil:
				d.note(path, ChangeInPlace, "no field uses it any more", before, nil)
			case before == nil:
				d.note(path, ChangeInPlace, "no field uses it yet", nil, after)
			case name == "vectorizers":
				d.compare(path, before, after, always(ChangeInPlace, "vectorizers apply to queries only"))
			case !used[name+"/"+nameOf(before)]:
				d.compare(path, before, after, always(ChangeInPlace, "no field uses it yet"))
			default:
				d.compare(path, before, after, usedVectorRule(path+".", name))
			}
		})
	}
}

// usedVectorRule returns the rule for an entry of the given list that a field uses.
func usedVectorRule(prefix, list string) changeRule {
	query := map[string][]string{
		"profiles":     {"vectorizer"},
		"algorithms":   queryAlgorithmMembers,
		"compressions": queryCompressionMembers,
	}[list]
	return func(path string, _, _ any) (ChangeKind, string) {
		if slices.Contains(query, strings.TrimPrefix(path, prefix)) {
			return ChangeInPlace, "it applies to queries only"
		}
		return ChangeNeedsRebuild, "the vectors of a field were indexed with it"
	}
}

// usedVectorSearch returns the entries of a configuration that the remaining fields use: "algorithms/NAME" and so on.
func (d *indexDiff) usedVectorSearch(configuration jsonObject) map[string]bool {
	used := map[string]bool{}
	var look func(before, after any)
	look = func(before, after any) {
		for _, field := range entriesOf(before) {
			stays := entryNamed(after, nameOf(field))
			if stays == nil {
				continue
			}
			look(field["fields"], stays["fields"])
			name, _ := field["vectorSearchProfile"].(string)
			profile := entryNamed(configuration["profiles"], name)
			if profile == nil {
				continue
			}
			used["profiles/"+name] = true
			for member, list := range map[string]string{"algorithm": "algorithms", "compression": "compressions"} {
				if target, ok := profile[member].(string); ok {
					used[list+"/"+target] = true
				}
			}
		}
	}
	look(d.before["fields"], d.after["fields"])
	return used
}
