package skills

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// IndexProjections write parts of an enriched document to indexes of their own.
type IndexProjections struct {
	// Selectors say which parts, and where they go.
	Selectors []IndexProjectionSelector `json:"selectors"`
	// Parameters say what happens to the document itself.
	Parameters *IndexProjectionParameters `json:"parameters,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// IndexProjectionSelector writes a document for each node of a path.
type IndexProjectionSelector struct {
	// TargetIndexName is the index to write. Its key is a string with the analyzer "keyword".
	TargetIndexName string `json:"targetIndexName"`
	// ParentKeyFieldName is the filterable string field that gets the key of the whole document.
	ParentKeyFieldName string `json:"parentKeyFieldName"`
	// SourceContext is the path of the nodes, such as "/document/pages/*".
	SourceContext string `json:"sourceContext"`
	// Mappings fill the fields of the index.
	Mappings []Input `json:"mappings"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// IndexProjectionParameters say what happens to a document that is projected.
type IndexProjectionParameters struct {
	// ProjectionMode says whether it is indexed as well. The service defaults to
	// ProjectionModeIncludeParents.
	ProjectionMode ProjectionMode `json:"projectionMode,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ProjectionMode says whether projected documents are indexed as well.
type ProjectionMode string

// The known values of ProjectionMode.
const (
	ProjectionModeSkipParents    ProjectionMode = "skipIndexingParentDocuments"
	ProjectionModeIncludeParents ProjectionMode = "includeIndexingParentDocuments"
)

// KnowledgeStore keeps enriched documents in a storage account.
type KnowledgeStore struct {
	// StorageConnectionString opens the account, or names it as "ResourceId=…;". The service does not
	// return it; empty it is written as null, which keeps the stored one in an update.
	StorageConnectionString string `json:"storageConnectionString" empty:"null"`
	// Projections say what is kept.
	Projections []Projection `json:"projections"`
	// Identity is the managed identity that opens the account. Defaults to the system-assigned one. It
	// needs api-version 2026-04-01 or a preview that has it.
	Identity *models.DataIdentity `json:"identity,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Projection is a group of tables, objects and files whose rows refer to each other.
type Projection struct {
	// Tables are tables of Azure Table Storage.
	Tables []TableProjection `json:"tables"`
	// Objects are JSON blobs.
	Objects []ObjectProjection `json:"objects"`
	// Files are images.
	Files []FileProjection `json:"files"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TableProjection writes rows of a table.
type TableProjection struct {
	// TableName is the table.
	TableName string `json:"tableName"`
	// GeneratedKeyName is the column of the generated key.
	GeneratedKeyName string `json:"generatedKeyName"`
	// ReferenceKeyName is the column by which other projections refer to the row.
	ReferenceKeyName string `json:"referenceKeyName,omitzero"`
	// Source is the path of the value to write.
	Source string `json:"source,omitzero"`
	// SourceContext is the level at which Inputs make a row each.
	SourceContext string `json:"sourceContext,omitzero"`
	// Inputs are its columns.
	Inputs []Input `json:"inputs,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ObjectProjection writes JSON blobs.
type ObjectProjection struct {
	// StorageContainer is the container.
	StorageContainer string `json:"storageContainer"`
	// GeneratedKeyName is the member of the generated key.
	GeneratedKeyName string `json:"generatedKeyName,omitzero"`
	// ReferenceKeyName is the member by which other projections refer to the object.
	ReferenceKeyName string `json:"referenceKeyName,omitzero"`
	// Source is the path of the value to write.
	Source string `json:"source,omitzero"`
	// SourceContext is the level at which Inputs make an object each.
	SourceContext string `json:"sourceContext,omitzero"`
	// Inputs are its members.
	Inputs []Input `json:"inputs,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileProjection writes images.
type FileProjection struct {
	// StorageContainer is the container.
	StorageContainer string `json:"storageContainer"`
	// GeneratedKeyName is the name of the generated key.
	GeneratedKeyName string `json:"generatedKeyName,omitzero"`
	// ReferenceKeyName is the name by which other projections refer to the file.
	ReferenceKeyName string `json:"referenceKeyName,omitzero"`
	// Source is the path of the image to write.
	Source string `json:"source,omitzero"`
	// SourceContext is the level at which Inputs are read.
	SourceContext string `json:"sourceContext,omitzero"`
	// Inputs are further values.
	Inputs []Input `json:"inputs,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
