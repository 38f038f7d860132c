package models

import "encoding/json"

// SearchIndex is the definition of an index: its fields and how they are analyzed, scored and searched. The types of
// this package cover api-version 2026-10-01, a superset of the earlier stable ones. The service refuses members that
// the requested api-version lacks.
//
// If the service distinguishes a missing member from a value, the Go field is a pointer, a slice or a map. nil omits
// the member, so that the service's default applies. new(true), new(false) and new(7) make such values in place.
//
// A definition that was read is written back completely, except for secrets, which the service does not return:
// AdditionalProperties keep unknown members at every level.
// The service treats null like a missing member, so nulls are not written back, except those in AdditionalProperties.
type SearchIndex struct {
	// Name is 2 to 128 lower-case letters, digits, dashes and underscores. It starts with a letter or digit and has no
	// consecutive dashes or underscores.
	Name string `json:"name"`
	// Description is free text, also for language models that choose among indexes. It needs api-version 2025-09-01.
	Description string `json:"description,omitzero"`
	// Fields are the fields of a document. Exactly one is the key. FieldsOf derives them from a Go type.
	Fields []SearchField `json:"fields"`
	// ScoringProfiles modify the ranking of results, for queries that name one. At most 100.
	ScoringProfiles []ScoringProfile `json:"scoringProfiles,omitzero"`
	// DefaultScoringProfile is the scoring profile of queries that name none.
	DefaultScoringProfile string `json:"defaultScoringProfile,omitzero"`
	// CORSOptions allow scripts of other origins to query the index.
	CORSOptions *CORSOptions `json:"corsOptions,omitzero"`
	// Suggesters name the fields for suggestions and completions. At most one.
	Suggesters []Suggester `json:"suggesters,omitzero"`
	// Analyzers, Tokenizers, TokenFilters, CharFilters and Normalizers are analysis components, to which fields and other
	// components refer by name. Adding one to an existing index takes the index offline for some seconds.
	Analyzers    []Analyzer    `json:"analyzers,omitzero"`
	Tokenizers   []Tokenizer   `json:"tokenizers,omitzero"`
	TokenFilters []TokenFilter `json:"tokenFilters,omitzero"`
	CharFilters  []CharFilter  `json:"charFilters,omitzero"`
	Normalizers  []Normalizer  `json:"normalizers,omitzero"`
	// EncryptionKey is a customer-managed key that encrypts the index in addition to the service's own key. It cannot be
	// removed later.
	EncryptionKey *EncryptionKey `json:"encryptionKey,omitzero"`
	// Similarity is the algorithm that ranks text matches. Its type cannot be changed. The service defaults to BM25.
	Similarity *Similarity `json:"similarity,omitzero"`
	// Semantic configures the semantic ranker.
	Semantic *SemanticSearch `json:"semantic,omitzero"`
	// VectorSearch configures how vector fields are indexed and searched.
	VectorSearch *VectorSearch `json:"vectorSearch,omitzero"`
	// PermissionFilterOption is PermissionFilterEnabled if queries return only documents that the user may see, according
	// to the fields with a PermissionFilter. It needs api-version 2026-10-01 or a preview that has it.
	PermissionFilterOption string `json:"permissionFilterOption,omitzero"`
	// SharePointApp is the application that queries permissions from SharePoint. It needs api-version 2026-10-01 or a
	// preview that has it.
	SharePointApp *SharePointApp `json:"sharePointConnectorAppRegistration,omitzero"`
	// ETag is the version of the definition, in the service's notation with quotes.
	// search.IndexClient.CreateOrUpdateIndex writes only over this version, unless its options say otherwise.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The values of SearchIndex.PermissionFilterOption.
const (
	PermissionFilterEnabled  = "enabled"
	PermissionFilterDisabled = "disabled"
)

// SharePointApp is an application registered with Entra ID.
type SharePointApp struct {
	// ApplicationID is the id of the application.
	ApplicationID string `json:"applicationId"`
	// FederatedCredentialID is the credential with which the service acts as the application.
	FederatedCredentialID string `json:"federatedCredentialId"`
	// TenantID is the tenant of the application.
	TenantID string `json:"tenantId,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// KeyField returns the key of the index, a top-level field, and whether there is one.
func (x SearchIndex) KeyField() (SearchField, bool) {
	for _, f := range x.Fields {
		if f.Key != nil && *f.Key {
			return f, true
		}
	}
	return SearchField{}, false
}

// CORSOptions allow scripts of other origins to query an index.
type CORSOptions struct {
	// AllowedOrigins are origins such as "https://example.com:8080", or "*" alone.
	AllowedOrigins []string `json:"allowedOrigins"`
	// MaxAgeInSeconds is how long browsers may cache the reply to a preflight request. The service defaults to 300.
	MaxAgeInSeconds *int64 `json:"maxAgeInSeconds,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnalyzingInfixMatching is the only search mode of suggesters.
const AnalyzingInfixMatching = "analyzingInfixMatching"

// Suggester names the fields for suggestions and completions.
type Suggester struct {
	// Name is the name by which requests refer to the suggester: 1 to 128 letters, digits, underscores.
	Name string `json:"name"`
	// SearchMode is AnalyzingInfixMatching. "" is written as AnalyzingInfixMatching too.
	SearchMode string `json:"searchMode" empty:"\"analyzingInfixMatching\""`
	// SourceFields are paths of searchable strings with a standard or language analyzer: "hotelName", "address/city". A
	// suggester that is added to an existing index can only use fields that are added with it.
	SourceFields []string `json:"sourceFields"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EncryptionKey is a key in Azure Key Vault.
type EncryptionKey struct {
	// KeyVaultURI is the URL of the vault, such as "https://name.vault.azure.net".
	KeyVaultURI string `json:"keyVaultUri"`
	// KeyVaultKeyName is the name of the key.
	KeyVaultKeyName string `json:"keyVaultKeyName"`
	// KeyVaultKeyVersion is the version of the key. Since api-version 2026-04-01 it defaults to the newest version and
	// follows rotations; before, it is required.
	KeyVaultKeyVersion string `json:"keyVaultKeyVersion,omitzero"`
	// AccessCredentials give access to the vault if the service's managed identity has none.
	AccessCredentials *ApplicationCredentials `json:"accessCredentials,omitzero"`
	// Identity is the managed identity with access to the vault. Defaults to the system-assigned one. It needs
	// api-version 2026-04-01.
	Identity *DataIdentity `json:"identity,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ApplicationCredentials are the credentials of an application registered with Entra ID.
type ApplicationCredentials struct {
	// ApplicationID is the id of the application.
	ApplicationID string `json:"applicationId"`
	// ApplicationSecret is the secret of the application. The service does not return it.
	ApplicationSecret string `json:"applicationSecret,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The types of DataIdentity.
const (
	DataIdentityNone         = "#Microsoft.Azure.Search.DataNoneIdentity"
	DataIdentityUserAssigned = "#Microsoft.Azure.Search.DataUserAssignedIdentity"
)

// DataIdentity is the identity with which the service connects to another resource.
type DataIdentity struct {
	// Type is DataIdentityNone, which clears the stored identity, or DataIdentityUserAssigned.
	Type string `json:"@odata.type"`
	// UserAssignedIdentity is the resource id of a user-assigned managed identity.
	UserAssignedIdentity string `json:"userAssignedIdentity,omitzero"`
	// FederatedIdentityClientID is the client id of a multi-tenant application that trusts this identity. It needs
	// api-version 2026-04-01.
	FederatedIdentityClientID string `json:"federatedIdentityClientId,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The types of Similarity.
const (
	SimilarityBM25    = "#Microsoft.Azure.Search.BM25Similarity"
	SimilarityClassic = "#Microsoft.Azure.Search.ClassicSimilarity"
)

// Similarity is the algorithm that ranks text matches.
type Similarity struct {
	// Type is SimilarityBM25, or SimilarityClassic (TF-IDF) for indexes from 2020 or earlier.
	Type string `json:"@odata.type"`
	// K1 controls the saturation of repeated matches of a term, for BM25; with 0 only the first match counts. The service
	// defaults to 1.2.
	K1 *float64 `json:"k1,omitzero"`
	// B controls how much the length of a field reduces the score, 0 to 1, for BM25. The service defaults to 0.75.
	B *float64 `json:"b,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
