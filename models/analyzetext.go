package models

import "encoding/json"

// AnalyzeTextRequest is a text and what to break it into tokens with: exactly
// one of Analyzer, Tokenizer and Normalizer.
type AnalyzeTextRequest struct {
	// Text is the text.
	Text string `json:"text"`
	// Analyzer is an analyzer of the service or of the index.
	Analyzer AnalyzerName `json:"analyzer,omitzero"`
	// Tokenizer is a tokenizer of the service or of the index.
	Tokenizer TokenizerName `json:"tokenizer,omitzero"`
	// Normalizer is a normalizer of the service or of the index. It takes
	// api-version 2025-09-01.
	Normalizer NormalizerName `json:"normalizer,omitzero"`
	// TokenFilters are applied to the tokens of Tokenizer, in this order.
	TokenFilters []TokenFilterName `json:"tokenFilters,omitzero"`
	// CharFilters are applied to the text before Tokenizer, in this order.
	CharFilters []CharFilterName `json:"charFilters,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnalyzeTextResult is what a text was broken into.
type AnalyzeTextResult struct {
	// Tokens are in the order of the text.
	Tokens []AnalyzedToken `json:"tokens"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnalyzedToken is a token of a text, as the index would hold it.
type AnalyzedToken struct {
	// Token is the token.
	Token string `json:"token"`
	// StartOffset is where in the text as it was sent the token began before
	// filters changed it, EndOffset where it ended, the first character behind it.
	// They count from 0.
	StartOffset int `json:"startOffset"`
	EndOffset   int `json:"endOffset"`
	// Position counts the tokens from 0. Tokens that stand for the same piece of
	// text, synonyms for example, may have the same.
	Position int `json:"position"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
