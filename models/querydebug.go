package models

import "encoding/json"

// DocumentDebugInfo explains the score of a result. A QueryDebugMode requests it.
type DocumentDebugInfo struct {
	// Vectors explains vector and hybrid search.
	Vectors *VectorsDebugInfo `json:"vectors,omitzero"`
	// AdditionalProperties are the JSON members that have no field, for example "semantic" and "innerHits" of previews.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VectorsDebugInfo is the part of DocumentDebugInfo about vector and hybrid search.
type VectorsDebugInfo struct {
	// Subscores are the scores before they were fused.
	Subscores *QueryResultDocumentSubscores `json:"subscores,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// QueryResultDocumentSubscores are the scores of a result before they were fused.
type QueryResultDocumentSubscores struct {
	// Text is the score of the text of the query.
	Text *TextSubscore `json:"text,omitzero"`
	// Vectors are the scores of the vector queries, in their order, each by the name of the vector field.
	Vectors []map[string]VectorSubscore `json:"vectors,omitzero"`
	// DocumentBoost is the factor of a scoring profile.
	DocumentBoost *float64 `json:"documentBoost,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TextSubscore is the score of the text of a query.
type TextSubscore struct {
	// SearchScore is the BM25 or classic score.
	SearchScore *float64 `json:"searchScore,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// VectorSubscore is the score of a vector query in one field.
type VectorSubscore struct {
	// SearchScore is the score computed from VectorSimilarity.
	SearchScore *float64 `json:"searchScore,omitzero"`
	// VectorSimilarity is the similarity by the metric of the field, for example the cosine, not the distance.
	VectorSimilarity *float64 `json:"vectorSimilarity,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
