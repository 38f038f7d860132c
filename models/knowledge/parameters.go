package knowledge

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
)

// SourceParameters say what a Source reads: SearchIndex, AzureBlob, OneLake, Web, SharePoint, SQL,
// File, or UnknownSource for what a newer service has. Sources that were read hold values, not
// pointers. All but SearchIndex and Web copy what they read into an index of their own.
type SourceParameters interface{ kind() SourceKind }

// UnknownSource stands for the parameters of a kind that this library does not know. The members
// are in the AdditionalProperties of the Source.
type UnknownSource struct{ Kind SourceKind }

func (SearchIndex) kind() SourceKind     { return SourceKindSearchIndex }
func (AzureBlob) kind() SourceKind       { return SourceKindAzureBlob }
func (OneLake) kind() SourceKind         { return SourceKindOneLake }
func (Web) kind() SourceKind             { return SourceKindWeb }
func (SharePoint) kind() SourceKind      { return SourceKindSharePoint }
func (SQL) kind() SourceKind             { return SourceKindSQL }
func (File) kind() SourceKind            { return SourceKindFile }
func (x UnknownSource) kind() SourceKind { return x.Kind }

// SearchIndex reads an index of the service.
type SearchIndex struct {
	// SearchIndexName is the index. It has a semantic configuration.
	SearchIndexName string `json:"searchIndexName"`
	// SourceDataFields are the fields that references return.
	SourceDataFields []FieldReference `json:"sourceDataFields,omitzero"`
	// SearchFields are the fields to search. Defaults to all that are searchable.
	SearchFields []FieldReference `json:"searchFields,omitzero"`
	// SemanticConfigurationName ranks the results. Defaults to the one of the index.
	SemanticConfigurationName string `json:"semanticConfigurationName,omitzero"`
	// BaseFilter restricts every query. It needs api-version 2026-10-01 or a preview that has it.
	BaseFilter string `json:"baseFilter,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FieldReference names a field of an index.
type FieldReference struct {
	// Name is the field.
	Name string `json:"name"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AzureBlob reads a container of blobs.
type AzureBlob struct {
	// ConnectionString opens the account, or names it as "ResourceId=…;".
	ConnectionString string `json:"connectionString" empty:"null"`
	// ContainerName is the container.
	ContainerName string `json:"containerName"`
	// FolderPath is the folder to read. Defaults to all.
	FolderPath string `json:"folderPath,omitzero"`
	// IsADLSGen2 says whether the account has hierarchical namespaces. The service defaults to false.
	IsADLSGen2 *bool `json:"isADLSGen2,omitzero"`
	// Ingestion says how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are the definitions that the service has made, by kind: "datasource", "indexer", "skillset",
	// "index". Read only.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// OneLake reads a lakehouse of Microsoft Fabric.
type OneLake struct {
	// FabricWorkspaceID is the workspace.
	FabricWorkspaceID string `json:"fabricWorkspaceId"`
	// LakehouseID is the lakehouse.
	LakehouseID string `json:"lakehouseId"`
	// TargetPath is the folder to read. Defaults to all.
	TargetPath string `json:"targetPath,omitzero"`
	// Ingestion says how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are as for AzureBlob.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Web searches the web.
type Web struct {
	// Domains restrict it. Defaults to all.
	Domains *WebDomains `json:"domains,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebDomains restrict a search of the web.
type WebDomains struct {
	// Allowed are the only domains to search.
	Allowed []WebDomain `json:"allowedDomains,omitzero"`
	// Blocked are domains to leave out.
	Blocked []WebDomain `json:"blockedDomains,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebDomain is a domain of the web.
type WebDomain struct {
	// Address is the domain.
	Address string `json:"address"`
	// IncludeSubpages says whether pages below it count.
	IncludeSubpages *bool `json:"includeSubpages,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SharePoint reads libraries of SharePoint. It needs api-version 2026-10-01 or a preview that has it.
type SharePoint struct {
	// ConnectionString opens the site.
	ConnectionString string `json:"connectionString" empty:"null"`
	// ContainerName is the part of the site to read.
	ContainerName SharePointContainer `json:"containerName"`
	// Query selects, for SharePointContainerUseQuery.
	Query string `json:"query,omitzero"`
	// Ingestion says how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are as for AzureBlob.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SharePointContainer is a part of a SharePoint site.
type SharePointContainer string

// The known values of SharePointContainer.
const (
	SharePointContainerDefaultSiteLibrary SharePointContainer = "defaultSiteLibrary"
	SharePointContainerAllSiteLibraries   SharePointContainer = "allSiteLibraries"
	SharePointContainerUseQuery           SharePointContainer = "useQuery"
	SharePointContainerAllSiteLists       SharePointContainer = "allSiteLists"
	SharePointContainerAllSitePages       SharePointContainer = "allSitePages"
	SharePointContainerAllSiteContent     SharePointContainer = "allSiteContent"
)

// SQL reads a table or view of Azure SQL. It needs api-version 2026-10-01 or a preview that has it.
type SQL struct {
	// ConnectionString opens the database, or names it as "ResourceId=…;".
	ConnectionString string `json:"connectionString" empty:"null"`
	// TableOrView is the table or view to read.
	TableOrView string `json:"tableOrView"`
	// HighWaterMarkColumnName finds changed rows of a view.
	HighWaterMarkColumnName string `json:"highWaterMarkColumnName,omitzero"`
	// ContentColumns are columns to search and return.
	ContentColumns []ContentColumn `json:"contentColumns,omitzero"`
	// EmbeddingColumns are columns to make vectors of.
	EmbeddingColumns []EmbeddingColumn `json:"embeddingColumns,omitzero"`
	// Ingestion says how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are as for AzureBlob.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ContentColumn leads a column to a field.
type ContentColumn struct {
	// Name is the field.
	Name string `json:"name"`
	// SourceField is the column.
	SourceField string `json:"sourceField"`
	// SearchFieldType is the type of the field, such as "Edm.String".
	SearchFieldType string `json:"searchFieldType"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EmbeddingColumn leads a column to a vector field.
type EmbeddingColumn struct {
	// Name is the field.
	Name string `json:"name"`
	// SourceField is the column.
	SourceField string `json:"sourceField"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// File holds files that clients upload. It needs api-version 2026-10-01 or a preview that has it.
type File struct {
	// Ingestion says how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are as for AzureBlob.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Ingestion says how a source copies content into its index.
type Ingestion struct {
	// Identity is the managed identity that reads the source. Defaults to the system-assigned one.
	Identity *models.DataIdentity `json:"identity,omitzero"`
	// EmbeddingModel makes vectors. Without one there are none.
	EmbeddingModel Model `json:"embeddingModel,omitzero"`
	// ChatCompletionModel describes images.
	ChatCompletionModel Model `json:"chatCompletionModel,omitzero"`
	// DisableImageVerbalization leaves images undescribed. The service defaults to false.
	DisableImageVerbalization *bool `json:"disableImageVerbalization,omitzero"`
	// Schedule reads again and again.
	Schedule *indexers.Schedule `json:"ingestionSchedule,omitzero"`
	// ContentExtractionMode says how thoroughly files are read. The service defaults to
	// ContentExtractionModeMinimal.
	ContentExtractionMode ContentExtractionMode `json:"contentExtractionMode,omitzero"`
	// AIServices read files for ContentExtractionModeStandard.
	AIServices *AIServices `json:"aiServices,omitzero"`
	// PermissionOptions are the permissions to copy. They need api-version 2026-10-01 or a preview that
	// has them.
	PermissionOptions []indexers.PermissionOption `json:"ingestionPermissionOptions,omitzero"`
	// NetworkAccessMode is the way to the source. It cannot be changed, and needs api-version
	// 2026-10-01 or a preview that has it.
	NetworkAccessMode NetworkAccessMode `json:"networkAccessMode,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ContentExtractionMode says how thoroughly files are read.
type ContentExtractionMode string

// The known values of ContentExtractionMode.
const (
	ContentExtractionModeMinimal  ContentExtractionMode = "minimal"
	ContentExtractionModeStandard ContentExtractionMode = "standard"
)

// NetworkAccessMode is a way to a source.
type NetworkAccessMode string

// The known values of NetworkAccessMode.
const (
	NetworkAccessModePublic  NetworkAccessMode = "public"
	NetworkAccessModePrivate NetworkAccessMode = "private"
)

// AIServices is an Azure AI services resource.
type AIServices struct {
	// URI is the address of the resource.
	URI string `json:"uri"`
	// APIKey is a key of the resource. Without one a managed identity is used.
	APIKey string `json:"apiKey,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Model is a language model: AzureOpenAI, or UnknownModel for what a newer service has. What was read
// holds values, not pointers.
type Model interface{ model() }

// AzureOpenAI is a model of Azure OpenAI.
type AzureOpenAI struct {
	// Parameters say where it is.
	Parameters models.AzureOpenAIParameters `json:"azureOpenAIParameters"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownModel is a model of a kind that this library does not know. It is written back as it was
// read.
type UnknownModel struct {
	// Kind is its kind.
	Kind string `json:"kind"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
