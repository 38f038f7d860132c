package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// Analyzer is an analyzer defined in an index: CustomAnalyzer, PatternAnalyzer, StandardAnalyzer, StopAnalyzer, or
// UnknownComponent for an unknown type. Decoded analyzers are values, not pointers.
type Analyzer interface{ analyzer() }

// CustomAnalyzer combines a tokenizer with any number of filters, built-in or defined in the index.
type CustomAnalyzer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Tokenizer splits the text.
	Tokenizer TokenizerName `json:"tokenizer"`
	// TokenFilters modify the tokens, in this order.
	TokenFilters []TokenFilterName `json:"tokenFilters,omitzero"`
	// CharFilters modify the text before it is split, in this order.
	CharFilters []CharFilterName `json:"charFilters,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternAnalyzer splits text at a regular expression.
type PatternAnalyzer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// LowerCase converts tokens to lower case. The service defaults to true.
	LowerCase *bool `json:"lowercase,omitzero"`
	// Pattern is the regular expression that separates tokens, in the syntax of
	// Java. The service defaults to \W+.
	Pattern string `json:"pattern,omitzero"`
	// Flags are regular expression flags joined with "|", such as
	// "CASE_INSENSITIVE|COMMENTS".
	Flags string `json:"flags,omitzero"`
	// Stopwords are the words to remove.
	Stopwords []string `json:"stopwords,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StandardAnalyzer splits text at the word boundaries of Unicode and converts it to lower case.
type StandardAnalyzer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenLength is the length at which longer tokens are split, at most 300. The service defaults to 255.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// Stopwords are the words to remove.
	Stopwords []string `json:"stopwords,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StopAnalyzer splits text at non-alphabetic characters, converts it to lower case and removes stop words.
type StopAnalyzer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Stopwords are the words to remove. The service defaults to a list of English words.
	Stopwords []string `json:"stopwords,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

func (CustomAnalyzer) analyzer()   {}
func (PatternAnalyzer) analyzer()  {}
func (StandardAnalyzer) analyzer() {}
func (StopAnalyzer) analyzer()     {}

var analyzerTypes = []object.Type{
	component[CustomAnalyzer]("CustomAnalyzer"),
	component[PatternAnalyzer]("PatternAnalyzer"),
	component[StandardAnalyzer]("StandardAnalyzer"),
	component[StopAnalyzer]("StopAnalyzer"),
}
