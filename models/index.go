package models

import "encoding/json"

// SearchIndex is the definition of an index: its fields and how they are
// analyzed, scored and searched. The types of this package cover api-version
// 2026-10-01, which is a superset of the earlier stable ones; a member that an
// older api-version does not know is refused by the service.
//
// Wherever the service tells "not said" from a value, a field is a pointer, a
// slice or a map, and nil leaves the member out, so that the service's default
// applies: new(true), new(false) and new(7) make such values in place.
//
// What was read from a service is written back whole: members that this library
// does not know are kept in AdditionalProperties, on every level. A null is the
// same to the service as an absent member and is not written back, unless
// AdditionalProperties holds it.
type SearchIndex struct {
	// Name is 2 to 128 lower-case letters, digits, dashes and underscores, the
	// first a letter or digit, no two dashes or underscores in a row.
	Name string `json:"name"`
	// Description is for people and for language models that choose among indexes.
	// It takes api-version 2025-09-01.
	Description string `json:"description,omitzero"`
	// Fields are the fields of a document. Exactly one is the key. FieldsOf makes
	// them from a Go type.
	Fields []SearchField `json:"fields"`
	// ScoringProfiles change how results are ranked, for queries that name one. At
	// most 100.
	ScoringProfiles []ScoringProfile `json:"scoringProfiles,omitzero"`
	// DefaultScoringProfile is the one for queries that name none.
	DefaultScoringProfile string `json:"defaultScoringProfile,omitzero"`
	// CORSOptions lets scripts of other origins query the index.
	CORSOptions *CORSOptions `json:"corsOptions,omitzero"`
	// Suggesters name the fields to complete and suggest from. At most one.
	Suggesters []Suggester `json:"suggesters,omitzero"`
	// Analyzers, Tokenizers, TokenFilters, CharFilters and Normalizers are analysis
	// components that fields and each other refer to by name. Adding one to an
	// existing index takes it offline for seconds.
	Analyzers    []Analyzer    `json:"analyzers,omitzero"`
	Tokenizers   []Tokenizer   `json:"tokenizers,omitzero"`
	TokenFilters []TokenFilter `json:"tokenFilters,omitzero"`
	CharFilters  []CharFilter  `json:"charFilters,omitzero"`
	Normalizers  []Normalizer  `json:"normalizers,omitzero"`
	// EncryptionKey is a key of the customer's to encrypt the index with, beside
	// the service's own. Once set it cannot be removed.
	EncryptionKey *EncryptionKey `json:"encryptionKey,omitzero"`
	// Similarity ranks text matches. Its type cannot be changed. The service
	// defaults to BM25.
	Similarity *Similarity `json:"similarity,omitzero"`
	// Semantic configures the semantic ranker.
	Semantic *SemanticSearch `json:"semantic,omitzero"`
	// VectorSearch configures how vector fields are indexed and searched.
	VectorSearch *VectorSearch `json:"vectorSearch,omitzero"`
	// PermissionFilterOption is PermissionFilterEnabled if queries return only what
	// the user may see, by the fields with a PermissionFilter. It takes api-version
	// 2026-10-01 or a preview that has it.
	PermissionFilterOption string `json:"permissionFilterOption,omitzero"`
	// SharePointApp is the application that asks SharePoint for permissions. It takes
	// api-version 2026-10-01 or a preview that has it.
	SharePointApp *SharePointApp `json:"sharePointConnectorAppRegistration,omitzero"`
	// ETag is the version of the definition, quotes included, as the service wrote
	// it. search.IndexClient.CreateOrUpdateIndex writes only over this version,
	// unless its options say otherwise.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The values of SearchIndex.PermissionFilterOption.
const (
	PermissionFilterEnabled  = "enabled"
	PermissionFilterDisabled = "disabled"
)

// SharePointApp is an application registered with Entra ID.
type SharePointApp struct {
	// ApplicationID is the application.
	ApplicationID string `json:"applicationId"`
	// FederatedCredentialID is the credential by which the service acts as it.
	FederatedCredentialID string `json:"federatedCredentialId"`
	// TenantID is its tenant.
	TenantID string `json:"tenantId,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// KeyField returns the key of the index, a top-level field. It is false if
// there is none.
func (x SearchIndex) KeyField() (SearchField, bool) {
	for _, f := range x.Fields {
		if f.Key != nil && *f.Key {
			return f, true
		}
	}
	return SearchField{}, false
}

// CORSOptions lets scripts of other origins query an index.
type CORSOptions struct {
	// AllowedOrigins are origins such as "https://example.com:8080", or "*" alone.
	AllowedOrigins []string `json:"allowedOrigins"`
	// MaxAgeInSeconds is how long browsers may cache the answer to a preflight
	// request. The service defaults to 300.
	MaxAgeInSeconds *int64 `json:"maxAgeInSeconds,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnalyzingInfixMatching is the only search mode of suggesters.
const AnalyzingInfixMatching = "analyzingInfixMatching"

// Suggester names the fields to complete and suggest from.
type Suggester struct {
	// Name is what requests refer to it by: 1 to 128 letters, digits, underscores.
	Name string `json:"name"`
	// SearchMode is AnalyzingInfixMatching, which is also what "" is written as.
	SearchMode string `json:"searchMode" empty:"\"analyzingInfixMatching\""`
	// SourceFields are paths of searchable strings with a standard or language
	// analyzer: "hotelName", "address/city". A suggester added to an existing index
	// may only use fields added with it.
	SourceFields []string `json:"sourceFields"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EncryptionKey is a key in Azure Key Vault.
type EncryptionKey struct {
	// KeyVaultURI is the vault, such as "https://name.vault.azure.net".
	KeyVaultURI string `json:"keyVaultUri"`
	// KeyVaultKeyName is the name of the key.
	KeyVaultKeyName string `json:"keyVaultKeyName"`
	// KeyVaultKeyVersion is its version. Defaults to the newest, followed as keys
	// rotate, from api-version 2026-04-01 on; required before.
	KeyVaultKeyVersion string `json:"keyVaultKeyVersion,omitzero"`
	// AccessCredentials open the vault, where the service's managed identity does
	// not.
	AccessCredentials *ApplicationCredentials `json:"accessCredentials,omitzero"`
	// Identity is the managed identity that opens the vault. Defaults to the
	// system-assigned one. It takes api-version 2026-04-01.
	Identity *DataIdentity `json:"identity,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ApplicationCredentials are those of an application registered with Entra ID.
type ApplicationCredentials struct {
	// ApplicationID is the application.
	ApplicationID string `json:"applicationId"`
	// ApplicationSecret is its secret. The service does not return it.
	ApplicationSecret string `json:"applicationSecret,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The types of DataIdentity.
const (
	DataIdentityNone         = "#Microsoft.Azure.Search.DataNoneIdentity"
	DataIdentityUserAssigned = "#Microsoft.Azure.Search.DataUserAssignedIdentity"
)

// DataIdentity is the identity with which the service connects to something
// else.
type DataIdentity struct {
	// Type is DataIdentityNone, which clears an identity set before, or
	// DataIdentityUserAssigned.
	Type string `json:"@odata.type"`
	// UserAssignedIdentity is the resource id of a user-assigned managed identity.
	UserAssignedIdentity string `json:"userAssignedIdentity,omitzero"`
	// FederatedIdentityClientID is the client id of a multi-tenant application
	// that trusts this identity. It takes api-version 2026-04-01.
	FederatedIdentityClientID string `json:"federatedIdentityClientId,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// The types of Similarity.
const (
	SimilarityBM25    = "#Microsoft.Azure.Search.BM25Similarity"
	SimilarityClassic = "#Microsoft.Azure.Search.ClassicSimilarity"
)

// Similarity is the algorithm that ranks text matches.
type Similarity struct {
	// Type is SimilarityBM25, or SimilarityClassic (TF-IDF) for indexes as old as
	// 2020.
	Type string `json:"@odata.type"`
	// K1 says how fast more matches of one term stop to count, for BM25; 0 makes
	// the first the only one. The service defaults to 1.2.
	K1 *float64 `json:"k1,omitzero"`
	// B says how much longer fields count less, from 0 to 1, for BM25. The service
	// defaults to 0.75.
	B *float64 `json:"b,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
