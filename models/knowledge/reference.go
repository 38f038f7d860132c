package knowledge

import (
	"encoding/json"
)

// Reference is a document that an answer cites: one type for each kind of source, or UnknownReference for an unknown
// type. Common returns the members of all references.
type Reference interface{ Common() Citation }

// Citation holds the members of all references.
type Citation struct {
	// ID is the name by which an answer cites the reference.
	ID string `json:"id"`
	// ActivitySource is the ID of the activity that found the document.
	ActivitySource int `json:"activitySource"`
	// SourceData are the fields of the document, if the request asked for them.
	SourceData json.RawMessage `json:"sourceData,omitzero"`
	// RerankerScore is the score of the document by the semantic ranker.
	RerankerScore *float64 `json:"rerankerScore,omitzero"`
}

// SearchIndexReference is a document of an index.
type SearchIndexReference struct {
	Citation
	// DocKey is the key of the document.
	DocKey string `json:"docKey,omitzero"`
	// CitationURL is the URL that looks up the document. Set since api-version 2026-10-01.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AzureBlobReference is a blob.
type AzureBlobReference struct {
	Citation
	// BlobURL is the URL of the blob.
	BlobURL string `json:"blobUrl,omitzero"`
	// CitationURL is the URL that looks up the document. Set since api-version 2026-10-01.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// OneLakeReference is a file of a lakehouse.
type OneLakeReference struct {
	Citation
	// DocURL is the URL of the file.
	DocURL string `json:"docUrl,omitzero"`
	// CitationURL is the URL that looks up the document. Set since api-version 2026-10-01.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebReference is a web page.
type WebReference struct {
	Citation
	// URL is the URL of the page.
	URL string `json:"url,omitzero"`
	// Title is the title of the page.
	Title string `json:"title,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SharePointReference is a document of SharePoint.
type SharePointReference struct {
	Citation
	// DocURL is the URL of the document.
	DocURL string `json:"docUrl,omitzero"`
	// CitationURL is the URL that looks up the document.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SQLReference is a row of a table or view.
type SQLReference struct {
	Citation
	// DocURL is the URL of the row.
	DocURL string `json:"docUrl,omitzero"`
	// CitationURL is the URL that looks up the document.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// FileReference is an uploaded file.
type FileReference struct {
	Citation
	// DocName is the name of the file.
	DocName string `json:"docName,omitzero"`
	// CitationURL is the URL that looks up the document.
	CitationURL string `json:"citationUrl,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownReference is a reference of an unknown type.
type UnknownReference struct {
	Citation
	// Type is the type of the reference.
	Type string `json:"type"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Common returns the members of all references.
func (c Citation) Common() Citation { return c }
