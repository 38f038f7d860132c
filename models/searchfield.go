package models

import (
	"encoding/json"
	"strings"
)

// DataType is the type of a field, in the service's notation.
type DataType string

// The types of fields. All but the last five also exist as lists, which Collection makes. The last five exist only as
// elements of lists, which are vectors.
const (
	DataTypeString         DataType = "Edm.String"
	DataTypeBoolean        DataType = "Edm.Boolean"
	DataTypeInt32          DataType = "Edm.Int32"
	DataTypeInt64          DataType = "Edm.Int64"
	DataTypeDouble         DataType = "Edm.Double"
	DataTypeDateTimeOffset DataType = "Edm.DateTimeOffset"
	DataTypeGeographyPoint DataType = "Edm.GeographyPoint"
	DataTypeComplex        DataType = "Edm.ComplexType"

	DataTypeSingle DataType = "Edm.Single"
	DataTypeHalf   DataType = "Edm.Half"
	DataTypeInt16  DataType = "Edm.Int16"
	DataTypeSByte  DataType = "Edm.SByte"
	DataTypeByte   DataType = "Edm.Byte"
)

// Collection returns the type of a list of t.
func Collection(t DataType) DataType { return "Collection(" + t + ")" }

// Element returns the type of the elements of a list type, and whether t is one.
func (t DataType) Element() (DataType, bool) {
	inner, ok := strings.CutPrefix(string(t), "Collection(")
	if !ok || !strings.HasSuffix(inner, ")") {
		return "", false
	}
	return DataType(strings.TrimSuffix(inner, ")")), true
}

// IsVector reports whether fields of type t hold vectors.
func (t DataType) IsVector() bool {
	switch element, _ := t.Element(); element {
	case DataTypeSingle, DataTypeHalf, DataTypeInt16, DataTypeSByte, DataTypeByte:
		return true
	}
	return false
}

// VectorEncodingPackedBit means that each byte of a Collection(Edm.Byte) holds eight dimensions.
const VectorEncodingPackedBit = "packedBit"

// The kinds of values in a field that filters by permission.
const (
	PermissionFilterUserIDs   = "userIds"
	PermissionFilterGroupIDs  = "groupIds"
	PermissionFilterRBACScope = "rbacScope"
)

// SearchField is a field of an index or of a complex field. nil attributes get the service's defaults, listed below.
// For a complex field only Name, Type and Fields may be set.
//
// Only Retrievable, SearchAnalyzer and SynonymMaps of an existing field can be changed.
type SearchField struct {
	// Name is 1 to 128 letters, digits and underscores, the first one alphabetic.
	Name string `json:"name"`
	// Type is the type of the values.
	Type DataType `json:"type"`
	// Key makes the field the key of documents. Exactly one field must be the key, a top-level Edm.String. The service
	// defaults to false.
	Key *bool `json:"key,omitzero"`
	// Retrievable includes the field in documents and results. The service defaults to true, for vectors to false. The
	// key must be retrievable.
	Retrievable *bool `json:"retrievable,omitzero"`
	// Stored keeps a copy of a vector for retrieval. false saves storage. It is allowed only for a vector with
	// Retrievable false that is created with its index. The service defaults to true.
	Stored *bool `json:"stored,omitzero"`
	// Searchable includes the field in full-text or vector search. It is possible for strings, lists of strings and
	// vectors, and required for vectors. The service defaults to true where it is possible.
	Searchable *bool `json:"searchable,omitzero"`
	// Filterable allows filters on the field. Strings are compared whole and case-sensitively. The service defaults to
	// true, for vectors to false.
	Filterable *bool `json:"filterable,omitzero"`
	// Sortable allows sorting by the field. It is impossible for lists, fields within lists, and vectors. The service
	// defaults to true where it is possible.
	Sortable *bool `json:"sortable,omitzero"`
	// Facetable allows facets of the field. It is impossible for points and vectors. The service defaults to true where
	// it is possible.
	Facetable *bool `json:"facetable,omitzero"`
	// PermissionFilter means that the field lists the identities that may see a document: one of the PermissionFilter
	// constants. It needs api-version 2026-10-01 or a preview that has it.
	PermissionFilter string `json:"permissionFilter,omitzero"`
	// SensitivityLabel means that the field holds the sensitivity label of a document. It needs a preview that has it.
	// The service defaults to false.
	SensitivityLabel *bool `json:"sensitivityLabel,omitzero"`
	// SharePointSiteURL means that the field holds the URL of the SharePoint site of a document. It needs api-version
	// 2026-10-01 or a preview that has it. The service defaults to false.
	SharePointSiteURL *bool `json:"sharepointSiteUrl,omitzero"`
	// Analyzer splits the text of a searchable string, in documents and queries. The service defaults to
	// AnalyzerStandardLucene.
	Analyzer AnalyzerName `json:"analyzer,omitzero"`
	// SearchAnalyzer (for queries) and IndexAnalyzer (for documents) replace Analyzer. Set both or neither.
	SearchAnalyzer AnalyzerName `json:"searchAnalyzer,omitzero"`
	IndexAnalyzer  AnalyzerName `json:"indexAnalyzer,omitzero"`
	// Normalizer modifies strings before they are filtered, sorted or counted by. It needs api-version 2025-09-01.
	Normalizer NormalizerName `json:"normalizer,omitzero"`
	// Dimensions is the length of a vector, 2 to 4096.
	Dimensions *int `json:"dimensions,omitzero"`
	// VectorSearchProfile is the profile in SearchIndex.VectorSearch for a vector.
	VectorSearchProfile string `json:"vectorSearchProfile,omitzero"`
	// VectorEncoding is VectorEncodingPackedBit for a Collection(Edm.Byte).
	VectorEncoding string `json:"vectorEncoding,omitzero"`
	// SynonymMaps are the names of synonym maps that expand queries. At most one.
	SynonymMaps []string `json:"synonymMaps,omitzero"`
	// Fields are the fields of a complex field.
	Fields []SearchField `json:"fields,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
