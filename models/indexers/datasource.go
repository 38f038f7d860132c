package indexers

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// DataSource is the store from which an indexer reads. It is printed without its secrets.
type DataSource struct {
	// Name is the name that indexers refer to.
	Name string `json:"name"`
	// Description is free text.
	Description string `json:"description,omitzero"`
	// Type is the kind of store.
	Type DataSourceType `json:"type"`
	// Credentials open the store.
	Credentials Credentials `json:"credentials"`
	// Container is the part of the store to read.
	Container Container `json:"container"`
	// Identity is the managed identity that opens the store. Defaults to the system-assigned one if the
	// connection string names a resource id instead of a key. Absent in an update it stays as it is;
	// models.DataIdentityNone clears it.
	Identity *models.DataIdentity `json:"identity,omitzero"`
	// PermissionOptions are the permissions to ingest with the documents. They need api-version
	// 2026-10-01 or a preview that has them.
	PermissionOptions []PermissionOption `json:"indexerPermissionOptions,omitzero"`
	// ChangeDetection finds the rows that changed since the last run. Blobs and files are compared by
	// their times and take none.
	ChangeDetection ChangeDetectionPolicy `json:"dataChangeDetectionPolicy,omitzero"`
	// DeletionDetection finds deleted rows. Without it documents stay in the index when their source is
	// deleted.
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

// Credentials open a data source. They are printed as ***.
type Credentials struct {
	// ConnectionString is the connection string, or "ResourceId=…;" for a managed identity. The service
	// never returns it. Empty it is written as null; CreateOrUpdateDataSource of the client writes
	// Unchanged instead, so that the service keeps the stored one.
	ConnectionString string `json:"connectionString" empty:"null"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Unchanged is the ConnectionString by which an update keeps the stored one.
const Unchanged = "<unchanged>"

// Container is a part of a data source.
type Container struct {
	// Name is the table, view, collection, blob container, library or folder.
	Name string `json:"name"`
	// Query narrows it: a prefix of blobs, SQL of Cosmos DB, OData of a table. Azure SQL takes none.
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

// ChangeDetectionPolicy finds changed rows: HighWaterMark, SQLChangeTracking, or UnknownPolicy for
// what a newer service has. Definitions that were read hold values, not pointers.
type ChangeDetectionPolicy interface{ changeDetection() }

// HighWaterMark takes the rows whose column is above the highest value that was read. Rows with null
// in it are never read.
type HighWaterMark struct {
	// Column is that column, such as "_ts" of Cosmos DB.
	Column string `json:"highWaterMarkColumnName"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SQLChangeTracking uses the change tracking of a SQL table with one key column.
type SQLChangeTracking struct {
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// DeletionDetectionPolicy finds deleted rows: SoftDeleteColumn, NativeBlobSoftDelete, or UnknownPolicy
// for what a newer service has. Definitions that were read hold values, not pointers.
type DeletionDetectionPolicy interface{ deletionDetection() }

// SoftDeleteColumn takes a row as deleted while a column, or a metadata key of a blob, has a value.
type SoftDeleteColumn struct {
	// Column is that column or key.
	Column string `json:"softDeleteColumnName,omitzero"`
	// Marker is that value, as text.
	Marker string `json:"softDeleteMarkerValue,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NativeBlobSoftDelete follows the soft delete of the storage account.
type NativeBlobSoftDelete struct {
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownPolicy is a policy of an unknown type. It is written back as it was
// read.
type UnknownPolicy struct {
	// Type is its @odata.type.
	Type string `json:"@odata.type"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
