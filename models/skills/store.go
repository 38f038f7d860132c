package skills

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// IndexProjections write parts of an enriched document to separate indexes.
type IndexProjections struct {
	// Selectors select the parts and their indexes.
	Selectors []IndexProjectionSelector `json:"selectors"`
	// Parameters configure the treatment of the document itself.
	Parameters *IndexProjectionParameters `json:"parameters,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// IndexProjectionSelector writes a document for each node of a path.
type IndexProjectionSelector struct {
	// TargetIndexName is the index to write. Its key must be a string with the analyzer "keyword".
	TargetIndexName string `json:"targetIndexName"`
	// ParentKeyFieldName is the filterable string field that receives the key of the whole document.
	ParentKeyFieldName string `json:"parentKeyFieldName"`
	// SourceContext is the path of the nodes, such as "/document/pages/*".
	SourceContext string `json:"sourceContext"`
	// Mappings map values to the fields of the index.
	Mappings []Input `json:"mappings"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// IndexProjectionParameters configure the treatment of a projected document itself.
type IndexProjectionParameters struct {
	// ProjectionMode selects whether the document itself is indexed too. The service defaults to
	// ProjectionModeIncludeParents.
	ProjectionMode ProjectionMode `json:"projectionMode,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ProjectionMode selects whether a projected document itself is indexed too.
type ProjectionMode string

// The known values of ProjectionMode.
const (
	ProjectionModeSkipParents    ProjectionMode = "skipIndexingParentDocuments"
	ProjectionModeIncludeParents ProjectionMode = "includeIndexingParentDocuments"
)

// KnowledgeStore stores enriched documents in a storage account.
type KnowledgeStore struct {
	// StorageConnectionString gives access to the account, or identifies it as "ResourceId=…;". The service does not
	// return it. An empty string is written as null; whether that keeps the stored one in an update is not documented.
	StorageConnectionString string `json:"storageConnectionString" empty:"null"`
	// Projections select the stored parts.
	Projections []Projection `json:"projections"`
	// Identity is the managed identity with access to the account. Defaults to the system-assigned one. It needs
	// api-version 2026-04-01 or a preview that has it.
	Identity *models.DataIdentity `json:"identity,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Projection is a group of tables, objects and files with references between their rows.
type Projection struct {
	// Tables are tables of Azure Table Storage.
	Tables []TableProjection `json:"tables"`
	// Objects are JSON blobs.
	Objects []ObjectProjection `json:"objects"`
	// Files are images.
	Files []FileProjection `json:"files"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TableProjection writes rows of a table.
type TableProjection struct {
	// TableName is the name of the table.
	TableName string `json:"tableName"`
	// GeneratedKeyName is the column with the generated key.
	GeneratedKeyName string `json:"generatedKeyName"`
	// ReferenceKeyName is the column with the reference of other projections.
	ReferenceKeyName string `json:"referenceKeyName,omitzero"`
	// Source is the path of the value to write.
	Source string `json:"source,omitzero"`
	// SourceContext is the path of the nodes that become one row each, built from Inputs.
	SourceContext string `json:"sourceContext,omitzero"`
	// Inputs are the columns of a row.
	Inputs []Input `json:"inputs,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ObjectProjection writes JSON blobs.
type ObjectProjection struct {
	// StorageContainer is the name of the container.
	StorageContainer string `json:"storageContainer"`
	// GeneratedKeyName is the member with the generated key.
	GeneratedKeyName string `json:"generatedKeyName,omitzero"`
	// ReferenceKeyName is the member by which other projections refer to the object.
	ReferenceKeyName string `json:"referenceKeyName,omitzero"`
	// Source is the path of the value to write.
	Source string `json:"source,omitzero"`
	// SourceContext is the path of the nodes that become one object each, built from Inputs.
	SourceContext string `json:"sourceContext,omitzero"`
	// Inputs are the members of an object.
	Inputs []Input `json:"inputs,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileProjection writes images.
type FileProjection struct {
	// StorageContainer is the name of the container.
	StorageContainer string `json:"storageContainer"`
	// GeneratedKeyName is the name of the generated key.
	GeneratedKeyName string `json:"generatedKeyName,omitzero"`
	// ReferenceKeyName is the name by which other projections refer to the file.
	ReferenceKeyName string `json:"referenceKeyName,omitzero"`
	// Source is the path of the image to write.
	Source string `json:"source,omitzero"`
	// SourceContext is the path of the nodes at which Inputs are read.
	SourceContext string `json:"sourceContext,omitzero"`
	// Inputs are further values.
	Inputs []Input `json:"inputs,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
