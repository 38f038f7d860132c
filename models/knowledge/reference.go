package knowledge

import (
	"encoding/json"
)

// Reference is a source of an answer: one type for each kind of source, or UnknownReference for what a
// newer service has. Common returns what all have in common.
type Reference interface{ Common() Citation }

// Citation holds the members that all references have.
type Citation struct {
	// ID is the name by which an answer cites it.
	ID string `json:"id"`
	// ActivitySource is the ID of the activity that found it.
	ActivitySource int `json:"activitySource"`
	// SourceData are the fields of the document, if they were asked for.
	SourceData json.RawMessage `json:"sourceData,omitzero"`
	// RerankerScore is the rank of the document.
	RerankerScore *float64 `json:"rerankerScore,omitzero"`
}

// SearchIndexReference is a document of an index.
type SearchIndexReference struct {
	Citation
	// DocKey is the key of the document.
	DocKey string `json:"docKey,omitzero"`
	// CitationURL looks it up. From api-version 2026-10-01 on.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AzureBlobReference is a blob.
type AzureBlobReference struct {
	Citation
	// BlobURL is its address.
	BlobURL string `json:"blobUrl,omitzero"`
	// CitationURL looks it up. From api-version 2026-10-01 on.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// OneLakeReference is a file of a lakehouse.
type OneLakeReference struct {
	Citation
	// DocURL is its address.
	DocURL string `json:"docUrl,omitzero"`
	// CitationURL looks it up. From api-version 2026-10-01 on.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebReference is a page.
type WebReference struct {
	Citation
	// URL is its address.
	URL string `json:"url,omitzero"`
	// Title is its title.
	Title string `json:"title,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SharePointReference is a document of SharePoint.
type SharePointReference struct {
	Citation
	// DocURL is its address.
	DocURL string `json:"docUrl,omitzero"`
	// CitationURL looks it up.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SQLReference is a row.
type SQLReference struct {
	Citation
	// DocURL is its address.
	DocURL string `json:"docUrl,omitzero"`
	// CitationURL looks it up.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileReference is an uploaded file.
type FileReference struct {
	Citation
	// DocName is its name.
	DocName string `json:"docName,omitzero"`
	// CitationURL looks it up.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownReference is a reference of a type that this library does not know.
type UnknownReference struct {
	Citation
	// Type is its type.
	Type string `json:"type"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Common returns what all references have in common.
func (c Citation) Common() Citation { return c }
