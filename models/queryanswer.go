package models

import "encoding/json"

// QueryAnswer is a passage of a document that answers a semantic query.
type QueryAnswer struct {
	// Score is the relative quality of the answer.
	Score float64 `json:"score"`
	// Key is the key of the document.
	Key string `json:"key"`
	// Text is the passage.
	Text string `json:"text"`
	// Highlights is the passage with its most relevant phrases in <em>. It is "" if highlights were not requested.
	Highlights string `json:"highlights,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// QueryCaption is the most relevant passage of a document for a semantic query.
type QueryCaption struct {
	// Text is the passage.
	Text string `json:"text"`
	// Highlights is the passage with its most relevant phrases in <em>. It is "" if highlights were not requested.
	Highlights string `json:"highlights,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
