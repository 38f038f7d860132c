package models

import "encoding/json"

// SemanticSearch configures the semantic ranker.
type SemanticSearch struct {
	// DefaultConfiguration is the configuration of queries that name none.
	DefaultConfiguration string `json:"defaultConfiguration,omitzero"`
	// Configurations are the configurations that queries can name. At most 100.
	Configurations []SemanticConfiguration `json:"configurations,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// RankingOrder selects the score that orders reranked results.
type RankingOrder string

// The ranking orders. RankingOrderRerankerScore ignores scoring profiles.
const (
	RankingOrderBoostedRerankerScore RankingOrder = "BoostedRerankerScore"
	RankingOrderRerankerScore        RankingOrder = "RerankerScore"
)

// SemanticConfiguration selects the fields that the semantic ranker reads.
type SemanticConfiguration struct {
	// Name is the name by which queries refer to the configuration.
	Name string `json:"name"`
	// PrioritizedFields are the fields. At least one of the three kinds must be set.
	PrioritizedFields SemanticPrioritizedFields `json:"prioritizedFields"`
	// RankingOrder selects the score that orders the results. It needs api-version 2025-09-01.
	RankingOrder RankingOrder `json:"rankingOrder,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SemanticPrioritizedFields are searchable and retrievable strings, the most important first.
type SemanticPrioritizedFields struct {
	// TitleField is the field with the title.
	TitleField *SemanticField `json:"titleField,omitzero"`
	// ContentFields are fields with text. If the text is too long, the service cuts it, starting with the last field.
	ContentFields []SemanticField `json:"prioritizedContentFields,omitzero"`
	// KeywordsFields are fields with keywords.
	KeywordsFields []SemanticField `json:"prioritizedKeywordsFields,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SemanticField is a field that the semantic ranker reads.
type SemanticField struct {
	// FieldName is the path of the field.
	FieldName string `json:"fieldName"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
