package searchtest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// The limits of a definition. The service documents them per tier; these are
// the ones that its statistics announce.
const (
	maxFields             = 1000 // simple fields, those of complex fields included
	maxNestingDepth       = 10
	maxComplexCollections = 40
	maxNameLength         = 128
	maxSuggesters         = 1
	maxScoringProfiles    = 100
	maxScoringFunctions   = 8
	maxSemantic           = 100
	maxSynonymMaps        = 1
	minDimensions         = 2
	maxDimensions         = 4096
	maxDimensionsFirst    = 2048 // of versions without WideVectors
	maxComplexObjects     = 3000 // in all collections of one document
)

// simpleAttributes are the members that only simple fields have.
var simpleAttributes = []string{
	"searchable", "filterable", "retrievable", "stored", "sortable", "facetable", "key", "permissionFilter", "indexAnalyzer", "searchAnalyzer",
	"analyzer", "normalizer", "dimensions", "vectorSearchProfile", "vectorEncoding",
}

// fieldCounts is what the limits count.
type fieldCounts struct{ simple, complexCollections int }

// wrongKeys refuses a definition without exactly one key. Recorded: unlike other
// refusals of newer versions, it calls the body what older ones call it.
func (d *indexDefinition) wrongKeys(reason string) *serviceError {
	if !d.coded() {
		return d.refuse("", reason)
	}
	return &serviceError{
		status: http.StatusBadRequest, code: "OperationNotAllowed", message: "The request is invalid. Details: index : " + reason,
		details: []errorDetail{{code: "MissingKeyField", message: reason + " Parameters: index"}},
	}
}

// validateFields checks all fields of the index.
func (d *indexDefinition) validateFields() *serviceError {
	fields := d.object.objects("fields")
	keys := 0
	for _, f := range fields {
		if f.boolean("key") {
			keys++
		}
	}
	if keys != 1 {
		return d.wrongKeys(fmt.Sprintf("Found %d key fields in index '%s'. Each index must have exactly one key field.", keys, d.name))
	}
	var counts fieldCounts
	if err := d.fieldList(fields, "", 1, false, &counts); err != nil {
		return err
	}
	if counts.simple > maxFields {
		return d.refuse("TooManyFields", fmt.Sprintf("The index '%s' has %d fields. At most %d fields are allowed.", d.name, counts.simple, maxFields))
	}
	if counts.complexCollections > maxComplexCollections {
		return d.refuse("TooManyComplexCollections", fmt.Sprintf("The index '%s' has %d complex collection fields. At most %d are allowed.", d.name, counts.complexCollections, maxComplexCollections))
	}
	return nil
}

// fieldList checks fields that stand side by side. below is whether a
// collection of complex objects is around them.
func (d *indexDefinition) fieldList(fields []*object, prefix string, depth int, below bool, counts *fieldCounts) *serviceError {
	if depth > maxNestingDepth {
		return d.refuse("FieldNestingTooDeep", fmt.Sprintf("The field '%s' is nested too deep. At most %d levels of fields are allowed.", strings.TrimSuffix(prefix, "/"), maxNestingDepth))
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		name := f.str("name")
		if reason := fieldNameFault(name); reason != "" {
			return d.refuse("InvalidFieldName", "Invalid field name '"+name+"': "+reason)
		}
		if seen[name] {
			return d.refuse("DuplicateFieldName", "There are two fields named '"+prefix+name+"'. Field names must be unique.")
		}
		seen[name] = true
		typ, collection, ok := stored.ParseType(f.str("type"))
		if !ok || typ.VectorElement() && !d.version.Has(vectorType(typ)) {
			return d.refuse("InvalidFieldType", "The type '"+f.str("type")+"' of the field '"+prefix+name+"' is not supported.")
		}
		if typ.VectorElement() && !collection {
			return d.refuse("InvalidFieldType", "The field '"+prefix+name+"' is of type '"+typ.String()+"', which is supported only inside a collection.")
		}
		var err *serviceError
		switch {
		case typ == stored.Complex:
			if collection {
				counts.complexCollections++
			}
			if err = d.complexAttributes(f, prefix+name); err == nil {
				err = d.fieldList(f.objects("fields"), prefix+name+"/", depth+1, below || collection, counts)
			}
		case typ.VectorElement():
			counts.simple++
			err = d.vectorField(f, prefix+name, depth > 1)
		default:
			counts.simple++
			err = d.simpleField(f, prefix+name, depth > 1, below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// vectorType is the capability of a version to have a type of vector elements.
func vectorType(typ stored.Type) apiversion.Capability {
	switch typ {
	case stored.Single:
		return apiversion.VectorSearch
	case stored.Byte:
		return apiversion.PackedBits
	}
	return apiversion.NarrowVectors
}

// complexAttributes checks that a complex field has sub-fields and nothing else.
func (d *indexDefinition) complexAttributes(f *object, path string) *serviceError {
	for _, name := range simpleAttributes {
		if f.has(name) {
			return d.refuse("InvalidField", "The complex field '"+path+"' must not have the property '"+name+"': it belongs to simple fields.")
		}
	}
	if len(f.strings("synonymMaps")) > 0 {
		return d.refuse("InvalidField", "The complex field '"+path+"' must not have the property 'synonymMaps': it belongs to simple fields.")
	}
	if len(f.objects("fields")) == 0 {
		return d.refuse("InvalidField", "The complex field '"+path+"' must have at least one sub-field.")
	}
	return nil
}

// simpleField checks the attributes of a field that is neither complex nor a
// vector.
func (d *indexDefinition) simpleField(f *object, path string, nested, below bool) *serviceError {
	typ, collection, _ := stored.ParseType(f.str("type"))
	bad := func(format string, args ...any) *serviceError {
		return d.refuse("InvalidField", "The field '"+path+"' of type '"+f.str("type")+"' "+fmt.Sprintf(format, args...))
	}
	if len(f.objects("fields")) > 0 {
		return bad("must not have sub-fields.")
	}
	if f.boolean("key") {
		switch {
		case nested:
			return bad("cannot be the key: key fields must be at the top level.")
		case typ != stored.String || collection:
			return bad("cannot be the key: key fields must be of type 'Edm.String'.")
		case !f.boolean("retrievable"):
			return bad("is the key and must be retrievable.")
		}
	}
	switch {
	case f.boolean("searchable") && typ != stored.String:
		return bad("cannot be searchable: only strings, collections of strings and vectors can be.")
	case f.boolean("sortable") && collection:
		return bad("cannot be sortable: it has many values.")
	case f.boolean("sortable") && below:
		return bad("cannot be sortable: it is below a collection and has many values.")
	case f.boolean("facetable") && typ == stored.GeographyPoint:
		return bad("cannot be facetable.")
	case f.has("permissionFilter") && (typ != stored.String || !f.boolean("filterable")):
		return bad("cannot have a permission filter: only filterable strings and collections of strings can.")
	case !f.boolean("stored"):
		return bad("must be stored: only vector fields can go without.")
	}
	for _, name := range []string{"dimensions", "vectorSearchProfile", "vectorEncoding"} {
		if f.has(name) {
			return bad("must not have the property '%s': it belongs to vector fields.", name)
		}
	}
	return d.fieldAnalysis(f, bad)
}

// fieldAnalysis checks what a field says about text.
func (d *indexDefinition) fieldAnalysis(f *object, bad func(string, ...any) *serviceError) *serviceError {
	analyzer, search, index := f.str("analyzer"), f.str("searchAnalyzer"), f.str("indexAnalyzer")
	for _, name := range []string{"analyzer", "searchAnalyzer", "indexAnalyzer"} {
		value := f.str(name)
		switch {
		case value == "":
			if f.has(name) {
				return bad("has an empty name as its '%s'.", name)
			}
		case !f.boolean("searchable"):
			return bad("must not have the property '%s': it is not searchable.", name)
		case !d.knownAnalyzer(value):
			return bad("has the unknown analyzer '%s' as its '%s'.", value, name)
		case name != "analyzer" && analysis.HasLanguageAnalyzer(value):
			return bad("has the language analyzer '%s' as its '%s'. Language analyzers can be used only as 'analyzer'.", value, name)
		}
	}
	switch {
	case analyzer != "" && (search != "" || index != ""):
		return bad("must not have 'analyzer' together with 'searchAnalyzer' or 'indexAnalyzer'.")
	case (search == "") != (index == ""):
		return bad("must have both 'searchAnalyzer' and 'indexAnalyzer', or neither.")
	}
	if normalizer := f.str("normalizer"); f.has("normalizer") {
		typ, _, _ := stored.ParseType(f.str("type"))
		switch {
		case typ != stored.String || !f.boolean("filterable") && !f.boolean("sortable") && !f.boolean("facetable"):
			return bad("must not have the property 'normalizer': it belongs to strings that are filterable, sortable or facetable.")
		case !analysis.HasNormalizer(normalizer) && d.component("normalizers", normalizer) == nil:
			return bad("has the unknown normalizer '%s'.", normalizer)
		}
	}
	switch maps := f.strings("synonymMaps"); {
	case len(maps) > maxSynonymMaps:
		return bad("has %d synonym maps. At most %d is allowed.", len(maps), maxSynonymMaps)
	case len(maps) > 0 && !f.boolean("searchable"):
		return bad("must not have the property 'synonymMaps': it is not searchable.")
	}
	return nil
}

// knownAnalyzer reports whether a name is that of a built-in analyzer or of one
// that the definition defines.
func (d *indexDefinition) knownAnalyzer(name string) bool {
	return analysis.HasAnalyzer(name) || d.component("analyzers", name) != nil
}

// component finds an analysis component that the definition defines.
func (d *indexDefinition) component(list, name string) *object {
	for _, c := range d.object.objects(list) {
		if c.str("name") == name {
			return c
		}
	}
	return nil
}

// field finds a field by its path, with slashes between the names.
func (d *indexDefinition) field(path string) *object {
	fields := d.object.objects("fields")
	for {
		name, rest, more := strings.Cut(path, "/")
		var found *object
		for _, f := range fields {
			if f.str("name") == name {
				found = f
			}
		}
		if found == nil || !more {
			return found
		}
		fields, path = found.objects("fields"), rest
	}
}
