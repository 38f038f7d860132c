package models

import (
	"encoding/json"
	"strings"
)

// DataType is the type of a field, in the service's words.
type DataType string

// The types of fields. All but the last four also exist as lists: Collection
// makes them. The last four exist only so, as vectors.
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

// Collection returns the type of lists of t.
func Collection(t DataType) DataType { return "Collection(" + t + ")" }

// Element returns the type of the elements if t is a list type.
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

// VectorEncodingPackedBit says that the bytes of a Collection(Edm.Byte) hold
// eight dimensions each.
const VectorEncodingPackedBit = "packedBit"

// What a field that filters by permission holds.
const (
	PermissionFilterUserIDs   = "userIds"
	PermissionFilterGroupIDs  = "groupIds"
	PermissionFilterRBACScope = "rbacScope"
)

// SearchField is a field of an index, or of a complex field. A nil attribute
// leaves it to the service, whose defaults are given below. On a complex field
// only Name, Type and Fields may be set.
//
// All but Retrievable, SearchAnalyzer and SynonymMaps are fixed once the field
// exists.
type SearchField struct {
	// Name is 1 to 128 letters, digits and underscores, the first a letter.
	Name string `json:"name"`
	// Type is the type of its values.
	Type DataType `json:"type"`
	// Key makes the field the key of documents. Exactly one field is, a top-level
	// Edm.String. The service defaults to false.
	Key *bool `json:"key,omitzero"`
	// Retrievable lets documents and results show the field. The service defaults
	// to true, for vectors to false. The key must be retrievable.
	Retrievable *bool `json:"retrievable,omitzero"`
	// Stored keeps a copy of a vector to show. It can only be false, which saves
	// storage, on a vector with Retrievable false that is created with its index.
	// The service defaults to true.
	Stored *bool `json:"stored,omitzero"`
	// Searchable makes the field part of full-text search, or of vector search.
	// Only strings, lists of strings and vectors can be; vectors must. The service
	// defaults to true for those that can be.
	Searchable *bool `json:"searchable,omitzero"`
	// Filterable lets filters use the field. Strings are compared whole and
	// case-sensitively. The service defaults to true, for vectors to false.
	Filterable *bool `json:"filterable,omitzero"`
	// Sortable lets results be ordered by the field. Lists, fields inside lists
	// and vectors cannot be. The service defaults to true for those that can be.
	Sortable *bool `json:"sortable,omitzero"`
	// Facetable lets results be counted by the values of the field. Points and
	// vectors cannot be. The service defaults to true for those that can be.
	Facetable *bool `json:"facetable,omitzero"`
	// PermissionFilter says that the field holds who may see a document: one of
	// the PermissionFilter constants. It takes api-version 2026-10-01 or a preview
	// that has it.
	PermissionFilter string `json:"permissionFilter,omitzero"`
	// SensitivityLabel says that the field holds the sensitivity label of a
	// document. It takes a preview that has it. The service defaults to false.
	SensitivityLabel *bool `json:"sensitivityLabel,omitzero"`
	// SharePointSiteURL says that the field holds the address of the SharePoint site
	// of a document. It takes api-version 2026-10-01 or a preview that has it. The
	// service defaults to false.
	SharePointSiteURL *bool `json:"sharepointSiteUrl,omitzero"`
	// Analyzer splits the text of a searchable string, of documents and queries
	// alike. The service defaults to AnalyzerStandardLucene.
	Analyzer AnalyzerName `json:"analyzer,omitzero"`
	// SearchAnalyzer and IndexAnalyzer are used instead of Analyzer, and only
	// together: one for queries, one for documents.
	SearchAnalyzer AnalyzerName `json:"searchAnalyzer,omitzero"`
	IndexAnalyzer  AnalyzerName `json:"indexAnalyzer,omitzero"`
	// Normalizer changes strings before they are filtered, sorted or counted by.
	// It takes api-version 2025-09-01.
	Normalizer NormalizerName `json:"normalizer,omitzero"`
	// Dimensions is the length of a vector, 2 to 4096.
	Dimensions *int `json:"dimensions,omitzero"`
	// VectorSearchProfile is the profile of SearchIndex.VectorSearch to index a
	// vector by.
	VectorSearchProfile string `json:"vectorSearchProfile,omitzero"`
	// VectorEncoding is VectorEncodingPackedBit for a Collection(Edm.Byte).
	VectorEncoding string `json:"vectorEncoding,omitzero"`
	// SynonymMaps are the names of synonym maps to expand queries with. At most
	// one.
	SynonymMaps []string `json:"synonymMaps,omitzero"`
	// Fields are the fields of a complex one.
	Fields []SearchField `json:"fields,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
