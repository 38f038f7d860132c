package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// Analyzer is an analyzer that an index defines: CustomAnalyzer,
// PatternAnalyzer, StandardAnalyzer, StopAnalyzer, or UnknownComponent for what
// a newer service has. Definitions that were read hold values, not pointers.
type Analyzer interface{ analyzer() }

// CustomAnalyzer puts an analyzer together from one tokenizer and any number of
// filters, built-in or defined in the index.
type CustomAnalyzer struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Tokenizer splits the text.
	Tokenizer TokenizerName `json:"tokenizer"`
	// TokenFilters change the tokens, in this order.
	TokenFilters []TokenFilterName `json:"tokenFilters,omitzero"`
	// CharFilters change the text before it is split, in this order.
	CharFilters []CharFilterName `json:"charFilters,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternAnalyzer splits text with a regular expression.
type PatternAnalyzer struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// LowerCase turns the tokens to lower case. The service defaults to true.
	LowerCase *bool `json:"lowercase,omitzero"`
	// Pattern is the regular expression that separates tokens, in the syntax of
	// Java. The service defaults to \W+.
	Pattern string `json:"pattern,omitzero"`
	// Flags are regular expression flags joined with "|", such as
	// "CASE_INSENSITIVE|COMMENTS".
	Flags string `json:"flags,omitzero"`
	// Stopwords are words to remove.
	Stopwords []string `json:"stopwords,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StandardAnalyzer splits text at the word boundaries of Unicode and turns it to
// lower case.
type StandardAnalyzer struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// MaxTokenLength is where longer tokens are split, at most 300. The service
	// defaults to 255.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// Stopwords are words to remove.
	Stopwords []string `json:"stopwords,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StopAnalyzer splits text at everything but letters, turns it to lower case and
// removes stop words.
type StopAnalyzer struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Stopwords are the words to remove. The service defaults to English ones.
	Stopwords []string `json:"stopwords,omitzero"`
	// AdditionalProperties are the members this library does not know.
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
