package models

import (
	"encoding/json"
)

// TokenFilter is a token filter that an index defines, one of the types whose
// name ends in TokenFilter or TokenFilterV2, or UnknownComponent for what a
// newer service has. Definitions that were read hold values, not pointers.
type TokenFilter interface{ tokenFilter() }

// ASCIIFoldingTokenFilter turns letters with accents into plain ASCII ones.
type ASCIIFoldingTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// PreserveOriginal keeps the token as it was beside what was made of it. The
	// service defaults to false.
	PreserveOriginal *bool `json:"preserveOriginal,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CJKBigramTokenFilter makes bigrams of Chinese, Japanese and Korean text.
type CJKBigramTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// IgnoreScripts are scripts to leave alone: han, hiragana, katakana, hangul.
	IgnoreScripts []string `json:"ignoreScripts,omitzero"`
	// OutputUnigrams emits single characters too. The service defaults to false.
	OutputUnigrams *bool `json:"outputUnigrams,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CommonGramTokenFilter joins frequent words with their neighbours, beside the
// words themselves.
type CommonGramTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// CommonWords are the frequent words.
	CommonWords []string `json:"commonWords"`
	// IgnoreCase compares without regard to case. The service defaults to false.
	IgnoreCase *bool `json:"ignoreCase,omitzero"`
	// QueryMode leaves out the frequent words themselves, for queries. The
	// service defaults to false.
	QueryMode *bool `json:"queryMode,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// DictionaryDecompounderTokenFilter takes compound words of Germanic languages
// apart.
type DictionaryDecompounderTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// WordList are the words to find.
	WordList []string `json:"wordList"`
	// MinWordSize is the length of the shortest word to take apart, at most 300.
	// The service defaults to 5.
	MinWordSize *int `json:"minWordSize,omitzero"`
	// MinSubwordSize is the length of the shortest part, at most 300. The
	// service defaults to 2.
	MinSubwordSize *int `json:"minSubwordSize,omitzero"`
	// MaxSubwordSize is the length of the longest part, at most 300. The service
	// defaults to 15.
	MaxSubwordSize *int `json:"maxSubwordSize,omitzero"`
	// OnlyLongestMatch emits only the longest part that matches. The service
	// defaults to false.
	OnlyLongestMatch *bool `json:"onlyLongestMatch,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EdgeNGramTokenFilter makes n-grams from an edge of each token. New indexes use
// EdgeNGramTokenFilterV2.
type EdgeNGramTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, less than MaxGram. The
	// service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram. The service defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// Side is the edge, "front" or "back". The service defaults to "front".
	Side string `json:"side,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// EdgeNGramTokenFilterV2 makes n-grams from an edge of each token.
type EdgeNGramTokenFilterV2 struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, at most 300 and less than
	// MaxGram. The service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram, at most 300. The service
	// defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// Side is the edge, "front" or "back". The service defaults to "front".
	Side string `json:"side,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ElisionTokenFilter removes elided articles, as in l'avion.
type ElisionTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Articles are the articles to remove.
	Articles []string `json:"articles,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// KeepTokenFilter keeps only the words of a list.
type KeepTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// KeepWords are the words to keep.
	KeepWords []string `json:"keepWords"`
	// LowerCaseKeepWords turns the list to lower case first. The service
	// defaults to false.
	LowerCaseKeepWords *bool `json:"keepWordsCase,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// KeywordMarkerTokenFilter marks words that stemming must leave alone.
type KeywordMarkerTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Keywords are the words to mark.
	Keywords []string `json:"keywords"`
	// IgnoreCase compares without regard to case. The service defaults to false.
	IgnoreCase *bool `json:"ignoreCase,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// LengthTokenFilter removes words that are too short or too long.
type LengthTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Min is the least length, at most 300. The service defaults to 0.
	Min *int `json:"min,omitzero"`
	// Max is the greatest length, at most 300. The service defaults to 300.
	Max *int `json:"max,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// LimitTokenFilter limits the number of tokens.
type LimitTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// MaxTokenCount is the number of tokens to keep. The service defaults to 1.
	MaxTokenCount *int `json:"maxTokenCount,omitzero"`
	// ConsumeAllTokens reads the whole input even after that number. The service
	// defaults to false.
	ConsumeAllTokens *bool `json:"consumeAllTokens,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NGramTokenFilter makes n-grams of each token. New indexes use
// NGramTokenFilterV2.
type NGramTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, less than MaxGram. The
	// service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram. The service defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// NGramTokenFilterV2 makes n-grams of each token.
type NGramTokenFilterV2 struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// MinGram is the length of the shortest n-gram, at most 300 and less than
	// MaxGram. The service defaults to 1.
	MinGram *int `json:"minGram,omitzero"`
	// MaxGram is the length of the longest n-gram, at most 300. The service
	// defaults to 2.
	MaxGram *int `json:"maxGram,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternCaptureTokenFilter emits what the groups of regular expressions match,
// one token each.
type PatternCaptureTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Patterns are the regular expressions, in the syntax of Java.
	Patterns []string `json:"patterns"`
	// PreserveOriginal keeps the token as it was beside what was made of it. The
	// service defaults to true.
	PreserveOriginal *bool `json:"preserveOriginal,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PatternReplaceTokenFilter replaces what a regular expression matches in each
// token.
type PatternReplaceTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Pattern is the regular expression, in the syntax of Java.
	Pattern string `json:"pattern"`
	// Replacement is the text to put in its place; $1 stands for the first
	// group.
	Replacement string `json:"replacement"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// PhoneticTokenFilter turns words into a code of how they sound.
type PhoneticTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Encoder is the code: metaphone, doubleMetaphone, soundex, refinedSoundex,
	// caverphone1, caverphone2, cologne, nysiis, koelnerPhonetik, haasePhonetik
	// or beiderMorse. The service defaults to metaphone.
	Encoder string `json:"encoder,omitzero"`
	// Replace puts the code in the place of the word; false adds it. The service
	// defaults to true.
	Replace *bool `json:"replace,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ShingleTokenFilter joins neighbouring words into single tokens.
type ShingleTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// MaxShingleSize is the greatest number of words to join, at least 2. The
	// service defaults to 2.
	MaxShingleSize *int `json:"maxShingleSize,omitzero"`
	// MinShingleSize is the least number of words to join, at least 2. The
	// service defaults to 2.
	MinShingleSize *int `json:"minShingleSize,omitzero"`
	// OutputUnigrams emits the words themselves too. The service defaults to
	// true.
	OutputUnigrams *bool `json:"outputUnigrams,omitzero"`
	// OutputUnigramsIfNoShingles emits the words where none could be joined, in
	// spite of OutputUnigrams being false. The service defaults to false.
	OutputUnigramsIfNoShingles *bool `json:"outputUnigramsIfNoShingles,omitzero"`
	// TokenSeparator is put between joined words. The service defaults to a
	// space.
	TokenSeparator *string `json:"tokenSeparator,omitzero"`
	// FilterToken stands where a word is missing. The service defaults to "_".
	FilterToken *string `json:"filterToken,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SnowballTokenFilter reduces words to their stems with a Snowball stemmer.
type SnowballTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Language is the stemmer, such as "english" or "german2".
	Language string `json:"language"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StemmerTokenFilter reduces words to their stems by the rules of a language.
type StemmerTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Language is the stemmer, such as "lightEnglish" or "portugueseRslp".
	Language string `json:"language"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StemmerOverrideTokenFilter gives words fixed stems, which later stemmers leave
// alone.
type StemmerOverrideTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Rules are lines of the form "word => stem".
	Rules []string `json:"rules"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// StopwordsTokenFilter removes stop words.
type StopwordsTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Stopwords are the words to remove, instead of StopwordsList.
	Stopwords []string `json:"stopwords,omitzero"`
	// StopwordsList is a list that the service has, named by its language. The
	// service defaults to "english".
	StopwordsList string `json:"stopwordsList,omitzero"`
	// IgnoreCase compares without regard to case. The service defaults to false.
	IgnoreCase *bool `json:"ignoreCase,omitzero"`
	// RemoveTrailing removes the last word of a query too if it is a stop word.
	// The service defaults to true.
	RemoveTrailing *bool `json:"removeTrailing,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// SynonymTokenFilter matches words, or groups of them, with their synonyms.
type SynonymTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Synonyms are rules: "a, b => c" replaces, "a, b, c" makes equal.
	Synonyms []string `json:"synonyms"`
	// IgnoreCase compares without regard to case. The service defaults to false.
	IgnoreCase *bool `json:"ignoreCase,omitzero"`
	// Expand maps every word of "a, b, c" to every other; false maps them all to
	// the first. The service defaults to true.
	Expand *bool `json:"expand,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// TruncateTokenFilter cuts tokens off.
type TruncateTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// Length is the greatest length, at most 300. The service defaults to 300.
	Length *int `json:"length,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UniqueTokenFilter removes tokens that equal the one before.
type UniqueTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// OnlyOnSamePosition removes only those at the same position. The service
	// defaults to false.
	OnlyOnSamePosition *bool `json:"onlyOnSamePosition,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WordDelimiterTokenFilter takes words apart at punctuation, changes of case and
// digits, and may join the parts again.
type WordDelimiterTokenFilter struct {
	// Name is what the definition refers to it by: letters, digits, spaces,
	// dashes and underscores, alphanumeric at both ends, at most 128.
	Name string `json:"name"`
	// GenerateWordParts emits the parts that are words. The service defaults to
	// true.
	GenerateWordParts *bool `json:"generateWordParts,omitzero"`
	// GenerateNumberParts emits the parts that are numbers. The service defaults
	// to true.
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
	// SplitOnCaseChange takes AzureSearch apart. The service defaults to true.
	SplitOnCaseChange *bool `json:"splitOnCaseChange,omitzero"`
	// PreserveOriginal keeps the token as it was beside what was made of it. The
	// service defaults to false.
	PreserveOriginal *bool `json:"preserveOriginal,omitzero"`
	// SplitOnNumerics takes Azure1Search apart. The service defaults to true.
	SplitOnNumerics *bool `json:"splitOnNumerics,omitzero"`
	// StemEnglishPossessive removes a trailing 's. The service defaults to true.
	StemEnglishPossessive *bool `json:"stemEnglishPossessive,omitzero"`
	// ProtectedWords are words to leave alone.
	ProtectedWords []string `json:"protectedWords,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
