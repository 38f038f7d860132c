package schema

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// The limits of a definition. The service documents them for each tier; these are the limits
// in its statistics.
const (
	MaxFields             = 1000 // simple fields, including those of complex fields
	MaxNestingDepth       = 10
	MaxComplexCollections = 40
	maxNameLength         = 128
	maxSuggesters         = 1
	maxScoringProfiles    = 100
	maxScoringFunctions   = 8
	maxSemantic           = 100
	maxSynonymMaps        = 1
	minDimensions         = 2
	maxDimensions         = 4096
	maxDimensionsFirst    = 2048 // of versions without WideVectors
	MaxComplexObjects     = 3000 // in all collections of one document
)

// simpleAttributes are the members that only simple fields have.
var simpleAttributes = []string{
	"searchable", "filterable", "retrievable", "stored", "sortable", "facetable", "key", "permissionFilter", "sharepointSiteUrl", "indexAnalyzer",
	"searchAnalyzer", "analyzer", "normalizer", "dimensions", "vectorSearchProfile", "vectorEncoding",
}

// fieldCounts are the counts with limits.
type fieldCounts struct{ simple, complexCollections int }

// wrongKeys refuses a definition without exactly one key. Recorded: unlike in other refusals
// of newer versions, the name of the body is the one of older versions.
func (d *definition) wrongKeys(reason string) *reply.Error {
	if !d.Coded() {
		return d.Refuse("", reason)
	}
	return &reply.Error{
		Status: http.StatusBadRequest, Code: "OperationNotAllowed", Message: "The request is invalid. Details: index : " + reason,
		Details: []reply.Detail{{Code: "MissingKeyField", Message: reason + " Parameters: index"}},
	}
}

// validateFields checks all fields of the index.
func (d *definition) validateFields() *reply.Error {
	fields := d.Object.Objects("fields")
	keys := 0
	for _, f := range fields {
		if f.Bool("key") {
			keys++
		}
	}
	if reason := refusal.Keys(d.name, keys); reason != "" {
		return d.wrongKeys(reason)
	}
	var counts fieldCounts
	if err := d.fieldList(fields, "", 1, false, &counts); err != nil {
		return err
	}
	if counts.simple > MaxFields {
		return d.Refuse("TooManyFields", fmt.Sprintf("The index '%s' has %d fields. At most %d fields are allowed.", d.name, counts.simple, MaxFields))
	}
	if counts.complexCollections > MaxComplexCollections {
		return d.Refuse("TooManyComplexCollections", fmt.Sprintf("The index '%s' has %d complex collection fields. At most %d are allowed.", d.name, counts.complexCollections, MaxComplexCollections))
	}
	return nil
}

// fieldList checks the fields of one level. below reports whether they are inside a
// collection of complex objects.
func (d *definition) fieldList(fields []*shape.Object, prefix string, depth int, below bool, counts *fieldCounts) *reply.Error {
	if depth > MaxNestingDepth {
		return d.Refuse("FieldNestingTooDeep", fmt.Sprintf("The field '%s' is nested too deep. At most %d levels of fields are allowed.", strings.TrimSuffix(prefix, "/"), MaxNestingDepth))
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		name := f.Str("name")
		if reason := fieldNameFault(name); reason != "" {
			return d.Refuse("InvalidFieldName", "Invalid field name '"+name+"': "+reason)
		}
		if seen[name] {
			return d.Refuse("DuplicateFieldName", "There are two fields named '"+prefix+name+"'. Field names must be unique.")
		}
		seen[name] = true
		typ, collection, ok := stored.ParseType(f.Str("type"))
		if !ok || typ.VectorElement() && !d.Version.Has(vectorType(typ)) {
			return d.Refuse("InvalidFieldType", "The type '"+f.Str("type")+"' of the field '"+prefix+name+"' is not supported.")
		}
		if typ.VectorElement() && !collection {
			return d.Refuse("InvalidFieldType", "The field '"+prefix+name+"' is of type '"+typ.String()+"', which is supported only inside a collection.")
		}
		var err *reply.Error
		switch {
		case typ == stored.Complex:
			if collection {
				counts.complexCollections++
			}
			if err = d.complexAttributes(f, prefix+name); err == nil {
				err = d.fieldList(f.Objects("fields"), prefix+name+"/", depth+1, below || collection, counts)
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

// vectorType returns the capability of versions that have a type of vector elements.
func vectorType(typ stored.Type) apiversion.Capability {
	switch typ {
	case stored.Single:
		return apiversion.VectorSearch
	case stored.Byte:
		return apiversion.PackedBits
	}
	return apiversion.NarrowVectors
}

// complexAttributes checks that a complex field has sub-fields and no attributes.
func (d *definition) complexAttributes(f *shape.Object, path string) *reply.Error {
	for _, name := range simpleAttributes {
		if f.Has(name) {
			return d.Refuse("InvalidField", "The complex field '"+path+"' must not have the property '"+name+"': it belongs to simple fields.")
		}
	}
	if len(f.Strings("synonymMaps")) > 0 {
		return d.Refuse("InvalidField", "The complex field '"+path+"' must not have the property 'synonymMaps': it belongs to simple fields.")
	}
	if len(f.Objects("fields")) == 0 {
		return d.Refuse("InvalidField", "The complex field '"+path+"' must have at least one sub-field.")
	}
	return nil
}

// simpleField checks the attributes of a field that is neither complex nor a vector.
func (d *definition) simpleField(f *shape.Object, path string, nested, below bool) *reply.Error {
	typ, collection, _ := stored.ParseType(f.Str("type"))
	bad := func(format string, args ...any) *reply.Error {
		return d.Refuse("InvalidField", "The field '"+path+"' of type '"+f.Str("type")+"' "+fmt.Sprintf(format, args...))
	}
	if len(f.Objects("fields")) > 0 {
		return bad("must not have sub-fields.")
	}
	if f.Bool("key") {
		switch {
		case nested:
			return bad("cannot be the key: key fields must be at the top level.")
		case typ != stored.String || collection:
			return bad("cannot be the key: key fields must be of type 'Edm.String'.")
		case !f.Bool("retrievable"):
			return bad("is the key and must be retrievable.")
		}
	}
	switch {
	case f.Bool("searchable") && typ != stored.String:
		return bad("cannot be searchable: only strings, collections of strings and vectors can be.")
	case f.Bool("sortable") && collection:
		return bad("cannot be sortable: it has many values.")
	case f.Bool("sortable") && below:
		return bad("cannot be sortable: it is below a collection and has many values.")
	case f.Bool("facetable") && typ == stored.GeographyPoint:
		return bad("cannot be facetable.")
	case f.Has("permissionFilter") && (typ != stored.String || !f.Bool("filterable")):
		return bad("cannot have a permission filter: only filterable strings and collections of strings can.")
	case !f.Bool("stored"):
		return bad("must be stored: only vector fields can go without.")
	}
	for _, name := range []string{"dimensions", "vectorSearchProfile", "vectorEncoding"} {
		if f.Has(name) {
			return bad("must not have the property '%s': it belongs to vector fields.", name)
		}
	}
	return d.fieldAnalysis(f, bad)
}

// fieldAnalysis checks the attributes of a field for text analysis.
func (d *definition) fieldAnalysis(f *shape.Object, bad func(string, ...any) *reply.Error) *reply.Error {
	analyzer, search, index := f.Str("analyzer"), f.Str("searchAnalyzer"), f.Str("indexAnalyzer")
	for _, name := range []string{"analyzer", "searchAnalyzer", "indexAnalyzer"} {
		value := f.Str(name)
		switch {
		case value == "":
			if f.Has(name) {
				return bad("has an empty name as its '%s'.", name)
			}
		case !f.Bool("searchable"):
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
	if normalizer := f.Str("normalizer"); f.Has("normalizer") {
		typ, _, _ := stored.ParseType(f.Str("type"))
		switch {
		case typ != stored.String || !f.Bool("filterable") && !f.Bool("sortable") && !f.Bool("facetable"):
			return bad("must not have the property 'normalizer': it belongs to strings that are filterable, sortable or facetable.")
		case !analysis.HasNormalizer(normalizer) && d.component("normalizers", normalizer) == nil:
			return bad("has the unknown normalizer '%s'.", normalizer)
		}
	}
	switch maps := f.Strings("synonymMaps"); {
	case len(maps) > maxSynonymMaps:
		return bad("has %d synonym maps. At most %d is allowed.", len(maps), maxSynonymMaps)
	case len(maps) > 0 && !f.Bool("searchable"):
		return bad("must not have the property 'synonymMaps': it is not searchable.")
	}
	return nil
}

// knownAnalyzer reports whether an analyzer is built in or in the definition.
func (d *definition) knownAnalyzer(name string) bool {
	return analysis.HasAnalyzer(name) || d.component("analyzers", name) != nil
}

// component returns an analysis component of the definition.
func (d *definition) component(list, name string) *shape.Object {
	for _, c := range d.Object.Objects(list) {
		if c.Str("name") == name {
			return c
		}
	}
	return nil
}

// Field returns a field by its path, with slashes between the names.
func (d *definition) Field(path string) *shape.Object {
	fields := d.Object.Objects("fields")
	for {
		name, rest, more := strings.Cut(path, "/")
		var found *shape.Object
		for _, f := range fields {
			if f.Str("name") == name {
				found = f
			}
		}
		if found == nil || !more {
			return found
		}
		fields, path = found.Objects("fields"), rest
	}
}
