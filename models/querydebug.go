package models

import "encoding/json"

// DocumentDebugInfo says how a result came to its score. A query asks for it
// with a QueryDebugMode.
type DocumentDebugInfo struct {
	// Vectors is about vector and hybrid search.
	Vectors *VectorsDebugInfo `json:"vectors,omitzero"`
	// AdditionalProperties are the members this library does not know: "semantic"
	// and "innerHits" of preview versions, for example.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VectorsDebugInfo is what DocumentDebugInfo says about vector and hybrid
// search.
type VectorsDebugInfo struct {
	// Subscores are the scores before they were fused into one.
	Subscores *QueryResultDocumentSubscores `json:"subscores,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// QueryResultDocumentSubscores are the scores of a result before they were fused
// into one.
type QueryResultDocumentSubscores struct {
	// Text is the score of the text of the query.
	Text *TextSubscore `json:"text,omitzero"`
	// Vectors are those of the vector queries, in their order, each by the name of
	// the vector field.
	Vectors []map[string]VectorSubscore `json:"vectors,omitzero"`
	// DocumentBoost is what a scoring profile multiplied the score with.
	DocumentBoost *float64 `json:"documentBoost,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TextSubscore is the score of the text of a query.
type TextSubscore struct {
	// SearchScore is the BM25 or classic score.
	SearchScore *float64 `json:"searchScore,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VectorSubscore is the score of a vector query in one field.
type VectorSubscore struct {
	// SearchScore is what VectorSimilarity became as a score.
	SearchScore *float64 `json:"searchScore,omitzero"`
	// VectorSimilarity is the similarity by the metric of the field: the cosine,
	// for example, not the distance.
	VectorSimilarity *float64 `json:"vectorSimilarity,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
