package models

import "encoding/json"

// AnalyzeTextRequest is a text to analyze, with exactly one of Analyzer, Tokenizer and Normalizer.
type AnalyzeTextRequest struct {
	// Text is the text to analyze.
	Text string `json:"text"`
	// Analyzer is an analyzer of the service or of the index.
	Analyzer AnalyzerName `json:"analyzer,omitzero"`
	// Tokenizer is a tokenizer of the service or of the index.
	Tokenizer TokenizerName `json:"tokenizer,omitzero"`
	// Normalizer is a normalizer of the service or of the index. It needs api-version 2025-09-01.
	Normalizer NormalizerName `json:"normalizer,omitzero"`
	// TokenFilters are applied to the tokens of Tokenizer, in this order.
	TokenFilters []TokenFilterName `json:"tokenFilters,omitzero"`
	// CharFilters are applied to the text before Tokenizer, in this order.
	CharFilters []CharFilterName `json:"charFilters,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnalyzeTextResult is the analyzed text.
type AnalyzeTextResult struct {
	// Tokens are the tokens, in the order of the text.
	Tokens []AnalyzedToken `json:"tokens"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnalyzedToken is a token, in the form in which the index holds it.
type AnalyzedToken struct {
	// Token is the text of the token.
	Token string `json:"token"`
	// StartOffset and EndOffset delimit the origin of the token in the text that was sent. EndOffset is after its last
	// character. They count from 0.
	StartOffset int `json:"startOffset"`
	EndOffset   int `json:"endOffset"`
	// Position counts the tokens from 0. Tokens from the same piece of text, for example synonyms, may share a position.
	Position int `json:"position"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
