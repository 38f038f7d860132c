package indexers

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// DataSource is the store from which an indexer reads. It is printed without its secrets.
type DataSource struct {
	// Name is the name by which indexers refer to the data source.
	Name string `json:"name"`
	// Description is free text.
	Description string `json:"description,omitzero"`
	// Type is the kind of store.
	Type DataSourceType `json:"type"`
	// Credentials give access to the store.
	Credentials Credentials `json:"credentials"`
	// Container is the part of the store to read.
	Container Container `json:"container"`
	// Identity is the managed identity with access to the store. Defaults to the system-assigned one if the connection
	// string names a resource id instead of a key. In an update nil keeps the stored identity; models.DataIdentityNone
	// clears it.
	Identity *models.DataIdentity `json:"identity,omitzero"`
	// PermissionOptions are the permissions to ingest with the documents. They need api-version 2026-10-01 or a preview
	// that has them.
	PermissionOptions []PermissionOption `json:"indexerPermissionOptions,omitzero"`
	// ChangeDetection finds rows that changed since the last run. Blobs and files need none: they are compared by their
	// times.
	ChangeDetection ChangeDetectionPolicy `json:"dataChangeDetectionPolicy,omitzero"`
	// DeletionDetection finds deleted rows. Without it a document stays in the index when its source is deleted.
	DeletionDetection DeletionDetectionPolicy `json:"dataDeletionDetectionPolicy,omitzero"`
	// EncryptionKey is a customer-managed key that encrypts the definition. It cannot be removed later.
	EncryptionKey *models.EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the definition, in the service's notation with quotes.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// DataSourceType is a kind of store.
type DataSourceType string

// The known values of DataSourceType.
const (
	DataSourceTypeAzureSQL   DataSourceType = "azuresql"
	DataSourceTypeCosmosDB   DataSourceType = "cosmosdb"
	DataSourceTypeAzureBlob  DataSourceType = "azureblob"
	DataSourceTypeAzureTable DataSourceType = "azuretable"
	DataSourceTypeMySQL      DataSourceType = "mysql"
	DataSourceTypeADLSGen2   DataSourceType = "adlsgen2"
	DataSourceTypeOneLake    DataSourceType = "onelake"
	// Needs api-version 2026-10-01 or a preview.
	DataSourceTypeSharePoint DataSourceType = "sharepoint"
)

// Credentials give access to a data source. They are printed as ***.
type Credentials struct {
	// ConnectionString is the connection string, or "ResourceId=…;" for a managed identity. The service never returns it.
	// An empty string is written as null; CreateOrUpdateDataSource writes Unchanged instead, so that the service keeps
	// the stored one.
	ConnectionString string `json:"connectionString" empty:"null"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Unchanged is the ConnectionString with which an update keeps the stored one.
const Unchanged = "<unchanged>"

// Container is the part of a data source to read.
type Container struct {
	// Name is the name of the table, view, collection, blob container, library or folder.
	Name string `json:"name"`
	// Query restricts the content: a prefix of blobs, SQL of Cosmos DB, OData of a table. Azure SQL does not support it.
	Query string `json:"query,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PermissionOption is a kind of permission that an indexer ingests.
type PermissionOption string

// The known values of PermissionOption.
const (
	PermissionOptionUserIDs   PermissionOption = "userIds"
	PermissionOptionGroupIDs  PermissionOption = "groupIds"
	PermissionOptionRBACScope PermissionOption = "rbacScope"
)

// ChangeDetectionPolicy is a way to find changed rows: HighWaterMark, SQLChangeTracking, or UnknownPolicy for an
// unknown type. Decoded policies are values, not pointers.
type ChangeDetectionPolicy interface{ changeDetection() }

// HighWaterMark reads the rows whose column exceeds the highest value that was read. A row with null in the column is
// never read.
type HighWaterMark struct {
	// Column is the name of the column, such as "_ts" of Cosmos DB.
	Column string `json:"highWaterMarkColumnName"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SQLChangeTracking uses the change tracking of a SQL table with one key column.
type SQLChangeTracking struct {
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// DeletionDetectionPolicy is a way to find deleted rows: SoftDeleteColumn, NativeBlobSoftDelete, or UnknownPolicy for
// an unknown type. Decoded policies are values, not pointers.
type DeletionDetectionPolicy interface{ deletionDetection() }

// SoftDeleteColumn treats a row as deleted if a column, or a metadata key of a blob, has a given value.
type SoftDeleteColumn struct {
	// Column is the name of the column or key.
	Column string `json:"softDeleteColumnName,omitzero"`
	// Marker is the value of a deleted row, as text.
	Marker string `json:"softDeleteMarkerValue,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NativeBlobSoftDelete uses the soft delete of the storage account.
type NativeBlobSoftDelete struct {
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownPolicy is a policy of an unknown type. It is written back unchanged.
type UnknownPolicy struct {
	// Type is the @odata.type of the policy.
	Type string `json:"@odata.type"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
