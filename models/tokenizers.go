package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// Tokenizer is a tokenizer defined in an index: one of the types whose name ends in Tokenizer or TokenizerV2, or
// UnknownComponent for an unknown type. Decoded tokenizers are values, not pointers.
type Tokenizer interface{ tokenizer() }

// TokenCharacterKind is a class of characters for the n-gram tokenizers.
type TokenCharacterKind string

// The classes of characters.
const (
	TokenCharacterLetter      TokenCharacterKind = "letter"
	TokenCharacterDigit       TokenCharacterKind = "digit"
	TokenCharacterWhitespace  TokenCharacterKind = "whitespace"
	TokenCharacterPunctuation TokenCharacterKind = "punctuation"
	TokenCharacterSymbol      TokenCharacterKind = "symbol"
)

// ClassicTokenizer splits text by the grammar of European languages.
type ClassicTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenLength is the length at which longer tokens are split, at most 300. The service
	// defaults to 255.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EdgeNGramTokenizer forms n-grams at the start of the input.
type EdgeNGramTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, at most 300 and less than
	// MaxGram. The service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram, at most 300. The service
	// defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// TokenChars are the classes of characters in tokens. The service defaults to all.
	TokenChars []TokenCharacterKind `json:"tokenChars,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// KeywordTokenizer emits the whole input as one token. For new indexes use KeywordTokenizerV2.
type KeywordTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// BufferSize is the size of the read buffer. The service defaults to 256.
	BufferSize *int `json:"bufferSize,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// KeywordTokenizerV2 emits the whole input as one token.
type KeywordTokenizerV2 struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenLength is the length at which longer tokens are split, at most 300. The service
	// defaults to 256.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MicrosoftLanguageTokenizer splits text by the rules of a language.
type MicrosoftLanguageTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenLength is the length at which longer tokens are split, at most 300. The service
	// defaults to 255.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// IsSearchTokenizer means that the tokenizer is for queries, not for documents. The service defaults to false.
	IsSearchTokenizer *bool `json:"isSearchTokenizer,omitzero"`
	// Language is the language of the text, such as "english". The service defaults to English.
	Language string `json:"language,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MicrosoftLanguageStemmingTokenizer splits text by the rules of a language and reduces words to their base forms.
type MicrosoftLanguageStemmingTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenLength is the length at which longer tokens are split, at most 300. The service
	// defaults to 255.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// IsSearchTokenizer means that the tokenizer is for queries, not for documents. The service defaults to false.
	IsSearchTokenizer *bool `json:"isSearchTokenizer,omitzero"`
	// Language is the language of the text, such as "english". The service defaults to English.
	Language string `json:"language,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NGramTokenizer forms n-grams of the input.
type NGramTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, at most 300 and less than
	// MaxGram. The service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram, at most 300. The service
	// defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// TokenChars are the classes of characters in tokens. The service defaults to all.
	TokenChars []TokenCharacterKind `json:"tokenChars,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PathHierarchyTokenizerV2 emits a path and each of its parents.
type PathHierarchyTokenizerV2 struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Delimiter is the character between the parts. The service defaults to "/".
	Delimiter string `json:"delimiter,omitzero"`
	// Replacement is the character that replaces Delimiter. The service defaults to "/".
	Replacement string `json:"replacement,omitzero"`
	// MaxTokenLength is the length at which longer tokens are split, at most 300. The service
	// defaults to 300.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// Reverse builds the hierarchy from the end, for example for domain names. The service defaults to false.
	Reverse *bool `json:"reverse,omitzero"`
	// Skip is the number of leading tokens to omit. The service defaults to 0.
	Skip *int `json:"skip,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternTokenizer splits text at a regular expression.
type PatternTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Pattern is the regular expression that separates tokens, in the syntax of
	// Java. The service defaults to \W+.
	Pattern string `json:"pattern,omitzero"`
	// Flags are regular expression flags joined with "|", such as
	// "CASE_INSENSITIVE|COMMENTS".
	Flags string `json:"flags,omitzero"`
	// Group is the group of Pattern that becomes the token; -1 splits at the matches. The service defaults to -1.
	Group *int `json:"group,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StandardTokenizer splits text at the word boundaries of Unicode. For new indexes use StandardTokenizerV2.
type StandardTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenLength is the length at which longer tokens are split. The service defaults to 255.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StandardTokenizerV2 splits text at the word boundaries of Unicode.
type StandardTokenizerV2 struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenLength is the length at which longer tokens are split, at most 300. The service
	// defaults to 255.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UaxURLEmailTokenizer splits text like StandardTokenizerV2, but keeps each URL and e-mail address in one token.
type UaxURLEmailTokenizer struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenLength is the length at which longer tokens are split, at most 300. The service
	// defaults to 255.
	MaxTokenLength *int `json:"maxTokenLength,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

func (ClassicTokenizer) tokenizer()                   {}
func (EdgeNGramTokenizer) tokenizer()                 {}
func (KeywordTokenizer) tokenizer()                   {}
func (KeywordTokenizerV2) tokenizer()                 {}
func (MicrosoftLanguageTokenizer) tokenizer()         {}
func (MicrosoftLanguageStemmingTokenizer) tokenizer() {}
func (NGramTokenizer) tokenizer()                     {}
func (PathHierarchyTokenizerV2) tokenizer()           {}
func (PatternTokenizer) tokenizer()                   {}
func (StandardTokenizer) tokenizer()                  {}
func (StandardTokenizerV2) tokenizer()                {}
func (UaxURLEmailTokenizer) tokenizer()               {}

var tokenizerTypes = []object.Type{
	component[ClassicTokenizer]("ClassicTokenizer"),
	component[EdgeNGramTokenizer]("EdgeNGramTokenizer"),
	component[KeywordTokenizer]("KeywordTokenizer"),
	component[KeywordTokenizerV2]("KeywordTokenizerV2"),
	component[MicrosoftLanguageTokenizer]("MicrosoftLanguageTokenizer"),
	component[MicrosoftLanguageStemmingTokenizer]("MicrosoftLanguageStemmingTokenizer"),
	component[NGramTokenizer]("NGramTokenizer"),
	component[PathHierarchyTokenizerV2]("PathHierarchyTokenizerV2"),
	component[PatternTokenizer]("PatternTokenizer"),
	component[StandardTokenizer]("StandardTokenizer"),
	component[StandardTokenizerV2]("StandardTokenizerV2"),
	component[UaxURLEmailTokenizer]("UaxUrlEmailTokenizer"),
}
