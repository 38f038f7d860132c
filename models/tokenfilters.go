package models

import (
	"encoding/json"
)

// TokenFilter is a token filter defined in an index: one of the types whose name ends in TokenFilter or
// TokenFilterV2, or UnknownComponent for an unknown type. Decoded token filters are values, not pointers.
type TokenFilter interface{ tokenFilter() }

// ASCIIFoldingTokenFilter replaces accented characters with plain ASCII characters.
type ASCIIFoldingTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// PreserveOriginal also emits the unchanged token. The service defaults to false.
	PreserveOriginal *bool `json:"preserveOriginal,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CJKBigramTokenFilter forms bigrams of Chinese, Japanese and Korean text.
type CJKBigramTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// IgnoreScripts are scripts to skip: han, hiragana, katakana, hangul.
	IgnoreScripts []string `json:"ignoreScripts,omitzero"`
	// OutputUnigrams also emits single characters. The service defaults to false.
	OutputUnigrams *bool `json:"outputUnigrams,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CommonGramTokenFilter joins frequent words with their neighbours, and also emits the words.
type CommonGramTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// CommonWords are the frequent words.
	CommonWords []string `json:"commonWords"`
	// IgnoreCase compares case-insensitively. The service defaults to false.
	IgnoreCase *bool `json:"ignoreCase,omitzero"`
	// QueryMode omits the frequent words themselves, for queries. The service defaults to false.
	QueryMode *bool `json:"queryMode,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// DictionaryDecompounderTokenFilter splits compound words of Germanic languages.
type DictionaryDecompounderTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// WordList are the words that can be parts.
	WordList []string `json:"wordList"`
	// MinWordSize is the length of the shortest word to split, at most 300. The service defaults to 5.
	MinWordSize *int `json:"minWordSize,omitzero"`
	// MinSubwordSize is the length of the shortest part, at most 300. The
	// service defaults to 2.
	MinSubwordSize *int `json:"minSubwordSize,omitzero"`
	// MaxSubwordSize is the length of the longest part, at most 300. The service
	// defaults to 15.
	MaxSubwordSize *int `json:"maxSubwordSize,omitzero"`
	// OnlyLongestMatch emits only the longest matching part. The service defaults to false.
	OnlyLongestMatch *bool `json:"onlyLongestMatch,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EdgeNGramTokenFilter forms n-grams at one edge of each token. For new indexes use EdgeNGramTokenFilterV2.
type EdgeNGramTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, less than MaxGram. The
	// service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram. The service defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// Side is the edge, "front" or "back". The service defaults to "front".
	Side string `json:"side,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EdgeNGramTokenFilterV2 forms n-grams at one edge of each token.
type EdgeNGramTokenFilterV2 struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, at most 300 and less than
	// MaxGram. The service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram, at most 300. The service
	// defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// Side is the edge, "front" or "back". The service defaults to "front".
	Side string `json:"side,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ElisionTokenFilter removes elided articles, as in l'avion.
type ElisionTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Articles are the articles to remove.
	Articles []string `json:"articles,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// KeepTokenFilter keeps only the words of a list.
type KeepTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// KeepWords are the words to keep.
	KeepWords []string `json:"keepWords"`
	// LowerCaseKeepWords first converts KeepWords to lower case. The service defaults to false.
	LowerCaseKeepWords *bool `json:"keepWordsCase,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// KeywordMarkerTokenFilter marks words that stemmers must not change.
type KeywordMarkerTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Keywords are the words to mark.
	Keywords []string `json:"keywords"`
	// IgnoreCase compares case-insensitively. The service defaults to false.
	IgnoreCase *bool `json:"ignoreCase,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// LengthTokenFilter removes words that are too short or too long.
type LengthTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Min is the least length, at most 300. The service defaults to 0.
	Min *int `json:"min,omitzero"`
	// Max is the greatest length, at most 300. The service defaults to 300.
	Max *int `json:"max,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// LimitTokenFilter limits the number of tokens.
type LimitTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxTokenCount is the largest number of tokens. The service defaults to 1.
	MaxTokenCount *int `json:"maxTokenCount,omitzero"`
	// ConsumeAllTokens reads the whole input even after MaxTokenCount is reached. The service defaults to false.
	ConsumeAllTokens *bool `json:"consumeAllTokens,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NGramTokenFilter forms n-grams of each token. For new indexes use NGramTokenFilterV2.
type NGramTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, less than MaxGram. The
	// service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram. The service defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NGramTokenFilterV2 forms n-grams of each token.
type NGramTokenFilterV2 struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, at most 300 and less than
	// MaxGram. The service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram, at most 300. The service
	// defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternCaptureTokenFilter emits a token for each match of a group in regular expressions.
type PatternCaptureTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Patterns are the regular expressions, in the syntax of Java.
	Patterns []string `json:"patterns"`
	// PreserveOriginal also emits the unchanged token. The service defaults to true.
	PreserveOriginal *bool `json:"preserveOriginal,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternReplaceTokenFilter replaces the matches of a regular expression in each token.
type PatternReplaceTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Pattern is the regular expression, in the syntax of Java.
	Pattern string `json:"pattern"`
	// Replacement is the text that replaces a match; $1 is the first group.
	Replacement string `json:"replacement"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PhoneticTokenFilter converts words to a code of their pronunciation.
type PhoneticTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Encoder is the algorithm: metaphone, doubleMetaphone, soundex, refinedSoundex, caverphone1, caverphone2, cologne,
	// nysiis, koelnerPhonetik, haasePhonetik or beiderMorse. The service defaults to metaphone.
	Encoder string `json:"encoder,omitzero"`
	// Replace emits only the code; false also emits the word. The service defaults to true.
	Replace *bool `json:"replace,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ShingleTokenFilter joins neighbouring words into one token.
type ShingleTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// MaxShingleSize is the greatest number of words to join, at least 2. The
	// service defaults to 2.
	MaxShingleSize *int `json:"maxShingleSize,omitzero"`
	// MinShingleSize is the least number of words to join, at least 2. The
	// service defaults to 2.
	MinShingleSize *int `json:"minShingleSize,omitzero"`
	// OutputUnigrams also emits the single words. The service defaults to true.
	OutputUnigrams *bool `json:"outputUnigrams,omitzero"`
	// OutputUnigramsIfNoShingles emits single words if no words can be joined, even if OutputUnigrams is false. The
	// service defaults to false.
	OutputUnigramsIfNoShingles *bool `json:"outputUnigramsIfNoShingles,omitzero"`
	// TokenSeparator is the text between joined words. The service defaults to a space.
	TokenSeparator *string `json:"tokenSeparator,omitzero"`
	// FilterToken is the placeholder for a missing word. The service defaults to "_".
	FilterToken *string `json:"filterToken,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SnowballTokenFilter reduces words to their stems with a Snowball stemmer.
type SnowballTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Language is the name of the stemmer, such as "english" or "german2".
	Language string `json:"language"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StemmerTokenFilter reduces words to their stems by the rules of a language.
type StemmerTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Language is the name of the stemmer, such as "lightEnglish" or "portugueseRslp".
	Language string `json:"language"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StemmerOverrideTokenFilter gives words fixed stems, which later stemmers do not change.
type StemmerOverrideTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Rules are lines of the form "word => stem".
	Rules []string `json:"rules"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StopwordsTokenFilter removes stop words.
type StopwordsTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Stopwords are the words to remove, instead of StopwordsList.
	Stopwords []string `json:"stopwords,omitzero"`
	// StopwordsList is the name of a built-in list, which is a language. The service defaults to "english".
	StopwordsList string `json:"stopwordsList,omitzero"`
	// IgnoreCase compares case-insensitively. The service defaults to false.
	IgnoreCase *bool `json:"ignoreCase,omitzero"`
	// RemoveTrailing also removes a stop word that is the last word of a query. The service defaults to true.
	RemoveTrailing *bool `json:"removeTrailing,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SynonymTokenFilter matches words and phrases with their synonyms.
type SynonymTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Synonyms are rules: "a, b => c" replaces a and b with c, "a, b, c" makes all three equal.
	Synonyms []string `json:"synonyms"`
	// IgnoreCase compares case-insensitively. The service defaults to false.
	IgnoreCase *bool `json:"ignoreCase,omitzero"`
	// Expand maps every word of "a, b, c" to all others; false maps them to the first one. The service defaults to true.
	Expand *bool `json:"expand,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TruncateTokenFilter truncates tokens.
type TruncateTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// Length is the largest length, at most 300. The service defaults to 300.
	Length *int `json:"length,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UniqueTokenFilter removes tokens that equal their predecessor.
type UniqueTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// OnlyOnSamePosition removes only tokens at the same position. The service defaults to false.
	OnlyOnSamePosition *bool `json:"onlyOnSamePosition,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WordDelimiterTokenFilter splits words at punctuation, digits and changes of case, and may join the parts.
type WordDelimiterTokenFilter struct {
	// Name is the name of the component: up to 128 letters, digits, spaces, dashes and underscores, alphanumeric at
	// both ends.
	Name string `json:"name"`
	// GenerateWordParts emits the parts that are words. The service defaults to true.
	GenerateWordParts *bool `json:"generateWordParts,omitzero"`
	// GenerateNumberParts emits the parts that are numbers. The service defaults to true.
	GenerateNumberParts *bool `json:"generateNumberParts,omitzero"`
	// CatenateWords joins neighbouring words: Azure-Search gives AzureSearch.
	// The service defaults to false.
	CatenateWords *bool `json:"catenateWords,omitzero"`
	// CatenateNumbers joins neighbouring numbers: 1-2 gives 12. The service
	// defaults to false.
	CatenateNumbers *bool `json:"catenateNumbers,omitzero"`
	// CatenateAll joins all parts: Azure-Search-1 gives AzureSearch1. The
	// service defaults to false.
	CatenateAll *bool `json:"catenateAll,omitzero"`
	// SplitOnCaseChange splits AzureSearch into Azure and Search. The service defaults to true.
	SplitOnCaseChange *bool `json:"splitOnCaseChange,omitzero"`
	// PreserveOriginal also emits the unchanged token. The service defaults to false.
	PreserveOriginal *bool `json:"preserveOriginal,omitzero"`
	// SplitOnNumerics splits Azure1Search at the digit. The service defaults to true.
	SplitOnNumerics *bool `json:"splitOnNumerics,omitzero"`
	// StemEnglishPossessive removes a trailing 's. The service defaults to true.
	StemEnglishPossessive *bool `json:"stemEnglishPossessive,omitzero"`
	// ProtectedWords are words that are not split.
	ProtectedWords []string `json:"protectedWords,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
