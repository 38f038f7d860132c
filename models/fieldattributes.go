package models

import (
	"fmt"
	"strconv"
)

// describe sets the attributes of a simple field, and returns the problems with them.
func describe(field *SearchField, tag fieldTag, length int, at place) []string {
	var problems []string
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	_, list := field.Type.Element()
	vector := field.Type.IsVector()
	text := field.Type == DataTypeString || field.Type == Collection(DataTypeString)

	key := tag.has("key")
	analysis := tag.anyOf("analyzer", "searchAnalyzer", "indexAnalyzer", "synonymMaps")
	searchable := tag.has("searchable") || analysis != "" || vector
	retrievable := !tag.has("hidden") && (!vector || tag.has("retrievable"))
	field.Searchable, field.Retrievable = &searchable, &retrievable
	field.Filterable = new(tag.has("filterable"))
	field.Sortable = new(tag.has("sortable"))
	field.Facetable = new(tag.has("facetable"))
	if key {
		field.Key = &key
	}
	switch field.PermissionFilter = tag.values["permissionFilter"]; field.PermissionFilter {
	case "", PermissionFilterUserIDs, PermissionFilterGroupIDs, PermissionFilterRBACScope:
	default:
		problem("permissionFilter=%s is none of userIds, groupIds, rbacScope", field.PermissionFilter)
	}
	if tag.has("sensitivityLabel") {
		field.SensitivityLabel = new(true)
	}
	field.Analyzer = AnalyzerName(tag.values["analyzer"])
	field.SearchAnalyzer = AnalyzerName(tag.values["searchAnalyzer"])
	field.IndexAnalyzer = AnalyzerName(tag.values["indexAnalyzer"])
	field.Normalizer = NormalizerName(tag.values["normalizer"])
	field.VectorSearchProfile = tag.values["vectorProfile"]
	field.VectorEncoding = tag.values["vectorEncoding"]
	if name := tag.values["synonymMaps"]; name != "" {
		field.SynonymMaps = []string{name}
	}

	switch {
	case key && field.Type != DataTypeString:
		problem("the key must be a string, not %s", field.Type)
	case key && at.path != "":
		problem("the key must be a field of the document itself, not of a complex field")
	case key && !retrievable:
		problem("the key cannot be hidden")
	}
	if tag.has("hidden") && tag.has("retrievable") {
		problem("it is both hidden and retrievable")
	}
	if searchable && !text && !vector {
		problem("%s is not searchable: only strings, lists of strings and vectors are", field.Type)
	}
	if (field.SearchAnalyzer == "") != (field.IndexAnalyzer == "") {
		problem("searchAnalyzer and indexAnalyzer only go together")
	}
	if field.Analyzer != "" && tag.has("searchAnalyzer") {
		problem("it has both analyzer and searchAnalyzer")
	}
	if field.Normalizer != "" && (!text || tag.anyOf("filterable", "sortable", "facetable") == "") {
		problem("a normalizer is for strings that are filterable, sortable or facetable")
	}
	if tag.has("sortable") && (list || at.inList) {
		problem("neither a list nor a field inside a list is sortable")
	}
	if scalar, _ := field.Type.Element(); tag.has("facetable") && (field.Type == DataTypeGeographyPoint || scalar == DataTypeGeographyPoint) {
		problem("a point is not facetable")
	}
	if !vector {
		if w := tag.anyOf("dimensions", "vectorProfile", "vectorEncoding", "stored"); w != "" {
			problem("%s is for vectors, not for %s", w, field.Type)
		}
		return problems
	}
	return append(problems, describeVector(field, tag, length, at)...)
}

// describeVector does the same for attributes of vectors.
func describeVector(field *SearchField, tag fieldTag, length int, at place) []string {
	var problems []string
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if at.path != "" {
		problem("a vector must be a field of the document itself, not of a complex field")
	}
	if w := tag.anyOf("filterable", "facetable"); w != "" {
		problem("a vector is not %s", w)
	}
	if w := tag.anyOf("analyzer", "searchAnalyzer", "indexAnalyzer", "synonymMaps"); w != "" {
		problem("%s is for strings, not for vectors", w)
	}
	if field.VectorSearchProfile == "" {
		problem("a vector needs vectorProfile= (a plain list of numbers is a []float64, or has type=Collection(Edm.Double))")
	}
	if field.VectorEncoding != "" && (field.VectorEncoding != VectorEncodingPackedBit || field.Type != Collection(DataTypeByte)) {
		problem("the only vectorEncoding is packedBit, for a Collection(Edm.Byte)")
	}
	switch stored := tag.values["stored"]; {
	case stored == "":
	case stored != "true" && stored != "false":
		problem("stored=%s is neither true nor false", stored)
	case stored == "false" && tag.has("retrievable"):
		problem("a vector that is not stored cannot be retrievable")
	default:
		field.Stored = new(stored == "true")
	}
	if field.VectorEncoding == VectorEncodingPackedBit {
		length *= 8
	}
	n := length
	if given := tag.values["dimensions"]; given != "" {
		var err error
		if n, err = strconv.Atoi(given); err != nil {
			problem("dimensions=%s is not a number", given)
			return problems
		}
		if length > 0 && n != length {
			problem("dimensions=%d differs from the length of the array, %d", n, length)
		}
	}
	switch {
	case n == 0:
		problem("a vector needs dimensions=")
	case n < 2 || n > 4096:
		problem("a vector has 2 to 4096 dimensions, not %d", n)
	}
	field.Dimensions = &n
	return problems
}
