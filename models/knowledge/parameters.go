package knowledge

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
)

// SourceParameters are the parameters of a Source: SearchIndex, AzureBlob, OneLake, Web, SharePoint, SQL, File, or
// UnknownSource for an unknown kind. Decoded parameters are values, not pointers. All sources except SearchIndex and
// Web copy their content into their own index.
type SourceParameters interface{ kind() SourceKind }

// UnknownSource stands for parameters of an unknown kind. Their members are in the AdditionalProperties of the
// Source.
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
	// SearchIndexName is the name of the index, which must have a semantic configuration.
	SearchIndexName string `json:"searchIndexName"`
	// SourceDataFields are the fields that references return.
	SourceDataFields []FieldReference `json:"sourceDataFields,omitzero"`
	// SearchFields are the fields to search. Defaults to all searchable fields.
	SearchFields []FieldReference `json:"searchFields,omitzero"`
	// SemanticConfigurationName is the semantic configuration that ranks the results. Defaults to the index's default.
	SemanticConfigurationName string `json:"semanticConfigurationName,omitzero"`
	// BaseFilter restricts every query. It needs api-version 2026-10-01 or a preview that has it.
	BaseFilter string `json:"baseFilter,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FieldReference refers to a field of an index by its name.
type FieldReference struct {
	// Name is the name of the field.
	Name string `json:"name"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AzureBlob reads a blob container.
type AzureBlob struct {
	// ConnectionString gives access to the account, or identifies it as "ResourceId=…;".
	ConnectionString string `json:"connectionString" empty:"null"`
	// ContainerName is the name of the container.
	ContainerName string `json:"containerName"`
	// FolderPath is the folder to read. Defaults to all folders.
	FolderPath string `json:"folderPath,omitzero"`
	// IsADLSGen2 means that the account has hierarchical namespaces. The service defaults to false.
	IsADLSGen2 *bool `json:"isADLSGen2,omitzero"`
	// Ingestion configures how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are the names of the definitions that the service created, by kind: "datasource", "indexer",
	// "skillset", "index". Read only.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// OneLake reads a lakehouse of Microsoft Fabric.
type OneLake struct {
	// FabricWorkspaceID is the id of the workspace.
	FabricWorkspaceID string `json:"fabricWorkspaceId"`
	// LakehouseID is the id of the lakehouse.
	LakehouseID string `json:"lakehouseId"`
	// TargetPath is the folder to read. Defaults to all folders.
	TargetPath string `json:"targetPath,omitzero"`
	// Ingestion configures how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are as for AzureBlob.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Web searches the web.
type Web struct {
	// Domains restrict the search. Defaults to all domains.
	Domains *WebDomains `json:"domains,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebDomains restrict a web search to domains.
type WebDomains struct {
	// Allowed are the only domains to search.
	Allowed []WebDomain `json:"allowedDomains,omitzero"`
	// Blocked are domains to exclude.
	Blocked []WebDomain `json:"blockedDomains,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebDomain is a domain of the web.
type WebDomain struct {
	// Address is the name of the domain.
	Address string `json:"address"`
	// IncludeSubpages includes the pages below Address.
	IncludeSubpages *bool `json:"includeSubpages,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SharePoint reads libraries of SharePoint. It needs api-version 2026-10-01 or a preview that has it.
type SharePoint struct {
	// ConnectionString gives access to the site.
	ConnectionString string `json:"connectionString" empty:"null"`
	// ContainerName is the part of the site to read.
	ContainerName SharePointContainer `json:"containerName"`
	// Query selects content if ContainerName is SharePointContainerUseQuery.
	Query string `json:"query,omitzero"`
	// Ingestion configures how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are as for AzureBlob.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
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
	// ConnectionString gives access to the database, or identifies it as "ResourceId=…;".
	ConnectionString string `json:"connectionString" empty:"null"`
	// TableOrView is the table or view to read.
	TableOrView string `json:"tableOrView"`
	// HighWaterMarkColumnName is the column that identifies changed rows of a view.
	HighWaterMarkColumnName string `json:"highWaterMarkColumnName,omitzero"`
	// ContentColumns are the columns to search and return.
	ContentColumns []ContentColumn `json:"contentColumns,omitzero"`
	// EmbeddingColumns are the columns to vectorize.
	EmbeddingColumns []EmbeddingColumn `json:"embeddingColumns,omitzero"`
	// Ingestion configures how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are as for AzureBlob.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ContentColumn maps a column to a field.
type ContentColumn struct {
	// Name is the name of the field.
	Name string `json:"name"`
	// SourceField is the name of the column.
	SourceField string `json:"sourceField"`
	// SearchFieldType is the type of the field, such as "Edm.String".
	SearchFieldType string `json:"searchFieldType"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EmbeddingColumn maps a column to a vector field.
type EmbeddingColumn struct {
	// Name is the name of the field.
	Name string `json:"name"`
	// SourceField is the name of the column.
	SourceField string `json:"sourceField"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// File reads files that clients upload. It needs api-version 2026-10-01 or a preview that has it.
type File struct {
	// Ingestion configures how the content is read.
	Ingestion *Ingestion `json:"ingestionParameters,omitzero"`
	// CreatedResources are as for AzureBlob.
	CreatedResources map[string]string `json:"createdResources,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Ingestion configures how a source copies content into its index.
type Ingestion struct {
	// Identity is the managed identity that reads the source. Defaults to the system-assigned one.
	Identity *models.DataIdentity `json:"identity,omitzero"`
	// EmbeddingModel computes vectors. Defaults to none.
	EmbeddingModel Model `json:"embeddingModel,omitzero"`
	// ChatCompletionModel writes descriptions of images.
	ChatCompletionModel Model `json:"chatCompletionModel,omitzero"`
	// DisableImageVerbalization omits descriptions of images. The service defaults to false.
	DisableImageVerbalization *bool `json:"disableImageVerbalization,omitzero"`
	// Schedule reads the content periodically.
	Schedule *indexers.Schedule `json:"ingestionSchedule,omitzero"`
	// ContentExtractionMode selects how thoroughly files are read. The service defaults to ContentExtractionModeMinimal.
	ContentExtractionMode ContentExtractionMode `json:"contentExtractionMode,omitzero"`
	// AIServices is the resource that reads files for ContentExtractionModeStandard.
	AIServices *AIServices `json:"aiServices,omitzero"`
	// PermissionOptions are the permissions to copy. They need api-version 2026-10-01 or a preview that
	// has them.
	PermissionOptions []indexers.PermissionOption `json:"ingestionPermissionOptions,omitzero"`
	// NetworkAccessMode selects the network path to the source. It cannot be changed later. It needs api-version
	// 2026-10-01 or a preview that has it.
	NetworkAccessMode NetworkAccessMode `json:"networkAccessMode,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ContentExtractionMode selects how thoroughly files are read.
type ContentExtractionMode string

// The known values of ContentExtractionMode.
const (
	ContentExtractionModeMinimal  ContentExtractionMode = "minimal"
	ContentExtractionModeStandard ContentExtractionMode = "standard"
)

// NetworkAccessMode is a network path to a source.
type NetworkAccessMode string

// The known values of NetworkAccessMode.
const (
	NetworkAccessModePublic  NetworkAccessMode = "public"
	NetworkAccessModePrivate NetworkAccessMode = "private"
)

// AIServices is an Azure AI services resource.
type AIServices struct {
	// URI is the URL of the resource.
	URI string `json:"uri"`
	// APIKey is a key of the resource. If it is empty, a managed identity is used.
	APIKey string `json:"apiKey,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Model is a language model: AzureOpenAI, or UnknownModel for an unknown kind. Decoded models are values, not
// pointers.
type Model interface{ model() }

// AzureOpenAI is a model of Azure OpenAI.
type AzureOpenAI struct {
	// Parameters locate the model.
	Parameters models.AzureOpenAIParameters `json:"azureOpenAIParameters"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownModel is a model of an unknown kind. It is written back unchanged.
type UnknownModel struct {
	// Kind is the kind of the model.
	Kind string `json:"kind"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
