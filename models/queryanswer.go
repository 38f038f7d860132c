package models

import "encoding/json"

// QueryAnswer is a passage of a document that answers the question of a semantic
// query.
type QueryAnswer struct {
	// Score says how good an answer it is, compared with the others.
	Score float64 `json:"score"`
	// Key is the key of the document.
	Key string `json:"key"`
	// Text is the passage.
	Text string `json:"text"`
	// Highlights is the passage with its most relevant phrases in <em>. It is ""
	// if highlights were not asked for.
	Highlights string `json:"highlights,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// QueryCaption is the passage of a document that says most about a semantic
// query.
type QueryCaption struct {
	// Text is the passage.
	Text string `json:"text"`
	// Highlights is the passage with its most relevant phrases in <em>. It is ""
	// if highlights were not asked for.
	Highlights string `json:"highlights,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
