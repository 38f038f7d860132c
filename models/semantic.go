package models

import "encoding/json"

// SemanticSearch configures the semantic ranker.
type SemanticSearch struct {
	// DefaultConfiguration is the one for queries that name none.
	DefaultConfiguration string `json:"defaultConfiguration,omitzero"`
	// Configurations are what queries can name. At most 100.
	Configurations []SemanticConfiguration `json:"configurations,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// RankingOrder says which score orders results that the semantic ranker ranked.
type RankingOrder string

// The ranking orders. The second ignores scoring profiles.
const (
	RankingOrderBoostedRerankerScore RankingOrder = "BoostedRerankerScore"
	RankingOrderRerankerScore        RankingOrder = "RerankerScore"
)

// SemanticConfiguration says which fields the semantic ranker reads.
type SemanticConfiguration struct {
	// Name is what queries refer to it by.
	Name string `json:"name"`
	// PrioritizedFields are the fields. At least one of the three kinds is set.
	PrioritizedFields SemanticPrioritizedFields `json:"prioritizedFields"`
	// RankingOrder says which score orders the results. It takes api-version
	// 2025-09-01.
	RankingOrder RankingOrder `json:"rankingOrder,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SemanticPrioritizedFields are searchable and retrievable strings, the most
// important first.
type SemanticPrioritizedFields struct {
	// TitleField is the title.
	TitleField *SemanticField `json:"titleField,omitzero"`
	// ContentFields are text. What is long may be cut, from the last field on.
	ContentFields []SemanticField `json:"prioritizedContentFields,omitzero"`
	// KeywordsFields are lists of keywords.
	KeywordsFields []SemanticField `json:"prioritizedKeywordsFields,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SemanticField is a field that the semantic ranker reads.
type SemanticField struct {
	// FieldName is the path of the field.
	FieldName string `json:"fieldName"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
