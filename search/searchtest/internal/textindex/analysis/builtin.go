package analysis

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/languages"
)

// The components of the service, by name and by @odata.type.

// Analyzers returns the sorted names of the service's analyzers that this package supports.
func Analyzers() []string {
	return slices.DeleteFunc(names(builtInAnalyzers), func(name string) bool {
		_, err := builtInAnalyzers[name]()
		return err != nil
	})
}

// The tables in this file are the only list of the names of components that an index can use without defining them.

// HasAnalyzer reports whether the service has an analyzer of that name.
func HasAnalyzer(name string) bool { return contains(builtInAnalyzers, name) }

// HasTokenizer reports whether the service has a tokenizer of that name.
func HasTokenizer(name string) bool { return contains(builtInTokenizers, name) }

// HasTokenFilter reports whether the service has a token filter of that name.
func HasTokenFilter(name string) bool { return contains(builtInFilters, name) }

// HasCharFilter reports whether the service has a character filter of that name.
func HasCharFilter(name string) bool { return contains(builtInCharFilters, name) }

// HasNormalizer reports whether the service has a normalizer of that name.
func HasNormalizer(name string) bool { return contains(builtInNormalizers, name) }

// HasLanguageAnalyzer reports whether the service has an analyzer of that name for a language.
func HasLanguageAnalyzer(name string) bool {
	return HasAnalyzer(name) && strings.Contains(name, ".") && !strings.HasPrefix(name, "standard")
}

func contains[V any](table map[string]V, name string) bool {
	_, ok := table[name]
	return ok
}

// builtInAnalyzers are all analyzers of the service. Each is built on first use.
var builtInAnalyzers = func() map[string]func() (*chain, error) {
	all := map[string]func() (*chain, error){}
	add := func(name string, build func() *chain) {
		all[name] = sync.OnceValues(func() (*chain, error) { return build(), nil })
	}
	refuse := func(name, reason string) {
		err := &UnsupportedError{"analyzer", name, reason}
		all[name] = func() (*chain, error) { return nil, err }
	}
	standard := standardTokenizer{defaultTokenLength}
	add("standard.lucene", func() *chain { return &chain{tokenizer: standard, filters: []filter{mapper(lower)}} })
	add("standardasciifolding.lucene", func() *chain {
		return &chain{tokenizer: standard, filters: []filter{mapper(lower), mapper(foldASCII)}}
	})
	add("keyword", func() *chain { return &chain{tokenizer: wholeTokenizer{}} })
	add("pattern", func() *chain {
		c, err := (&patternAnalyzer{LowerCase: true, Pattern: `\W+`}).chain(nil)
		if err != nil {
			panic(err)
		}
		return c
	})
	add("simple", func() *chain { return &chain{tokenizer: lowerLetters{}} })
	add("stop", func() *chain { return &chain{tokenizer: lowerLetters{}, filters: []filter{stops("english")}} })
	add("whitespace", func() *chain { return &chain{tokenizer: runTokenizer{notSpace, defaultTokenLength}} })

	for _, language := range luceneLanguages {
		name := language + ".lucene"
		filters, ok := languageChains[language]
		if !ok {
			refuse(name, "no library at hand has Lucene's stemmer or dictionary for the language")
			continue
		}
		add(name, func() *chain {
			c := &chain{tokenizer: standard, filters: filters()}
			if language == "fa" {
				c.charFilters = []charFilter{zeroWidthToSpace{}}
			}
			return c
		})
	}
	for _, language := range microsoftLanguages {
		refuse(language+".microsoft", "the linguistic analyzers of Microsoft are closed")
	}
	return all
}()

var (
	luceneLanguages = strings.Fields(`
ar bg ca cs da de el en es eu fa fi fr ga gl hi hu hy id it ja ko lv nl no pl pt-BR pt-PT ro ru sv th tr zh-Hans zh-Hant
`)
	microsoftLanguages = strings.Fields(`
ar bg bn ca cs da de el en es et fi fr gu he hi hr hu id is it ja kn ko lt lv ml mr ms nb nl pa pl pt-BR pt-PT ro ru sk sl sr-cyrillic
sr-latin sv ta te th tr uk ur vi zh-Hans zh-Hant
`)
)

// approximation returns the name of the Lucene analyzer that replaces a Microsoft analyzer, or name itself.
func approximation(name string) string {
	language, ok := strings.CutSuffix(name, ".microsoft")
	if !ok {
		return name
	}
	if language == "nb" { // Bokmål; Lucene calls it Norwegian
		language = "no"
	}
	if languageChains[language] == nil {
		return name
	}
	return language + ".lucene"
}

// The types of analyzers that a definition can configure.

type customAnalyzer struct {
	Tokenizer    string   `json:"tokenizer"`
	TokenFilters []string `json:"tokenFilters"`
	CharFilters  []string `json:"charFilters"`
}

func (p *customAnalyzer) chain(c *Components) (*chain, error) {
	return c.chain(p.Tokenizer, p.TokenFilters, p.CharFilters)
}

type patternAnalyzer struct {
	LowerCase bool     `json:"lowercase"`
	Pattern   string   `json:"pattern"`
	Flags     string   `json:"flags"`
	Stopwords []string `json:"stopwords"`
}

func (p *patternAnalyzer) chain(*Components) (*chain, error) {
	re, err := javaRegexp(p.Pattern, p.Flags)
	if err != nil {
		return nil, err
	}
	out := &chain{tokenizer: splitTokenizer{re, -1}}
	if p.LowerCase {
		out.filters = append(out.filters, mapper(lower))
	}
	if len(p.Stopwords) > 0 {
		out.filters = append(out.filters, stopFilter(newWordSet(p.Stopwords, false)))
	}
	return out, nil
}

type standardAnalyzer struct {
	MaxTokenLength int      `json:"maxTokenLength"`
	Stopwords      []string `json:"stopwords"`
}

func (p *standardAnalyzer) chain(*Components) (*chain, error) {
	if err := within("maxTokenLength", p.MaxTokenLength, 1, maxTokenLength); err != nil {
		return nil, err
	}
	out := &chain{tokenizer: standardTokenizer{p.MaxTokenLength}, filters: []filter{mapper(lower)}}
	if len(p.Stopwords) > 0 {
		out.filters = append(out.filters, stopFilter(newWordSet(p.Stopwords, false)))
	}
	return out, nil
}

type stopAnalyzer struct {
	Stopwords []string `json:"stopwords"`
}

func (p *stopAnalyzer) chain(*Components) (*chain, error) {
	words := p.Stopwords
	if len(words) == 0 {
		words = englishStopWords
	}
	return &chain{tokenizer: lowerLetters{}, filters: []filter{stopFilter(newWordSet(words, false))}}, nil
}

var analyzerTypes = map[string]func() analyzerSpec{
	"CustomAnalyzer":   func() analyzerSpec { return &customAnalyzer{} },
	"PatternAnalyzer":  func() analyzerSpec { return &patternAnalyzer{LowerCase: true, Pattern: `\W+`} },
	"StandardAnalyzer": func() analyzerSpec { return &standardAnalyzer{MaxTokenLength: defaultTokenLength} },
	"StopAnalyzer":     func() analyzerSpec { return &stopAnalyzer{} },
}

// microsoftTokenizer is a tokenizer of Microsoft. Its parameters are checked; using it is unsupported.
type microsoftTokenizer struct {
	MaxTokenLength    int    `json:"maxTokenLength"`
	IsSearchTokenizer bool   `json:"isSearchTokenizer"`
	Language          string `json:"language"`
}

func (p *microsoftTokenizer) tokenizer() (tokenizer, error) {
	if err := within("maxTokenLength", p.MaxTokenLength, 1, maxTokenLength); err != nil {
		return nil, err
	}
	return nil, unsupportedPart(noMicrosoft)
}

const noMicrosoft = "the linguistic tokenizers of Microsoft are closed"

var tokenizerTypes = map[string]func() tokenizerSpec{
	"ClassicTokenizer": func() tokenizerSpec { return &classicTokenizerSpec{defaultTokenLength} },
	"EdgeNGramTokenizer": func() tokenizerSpec {
		return &gramTokenizerSpec{gramSizes: gramSizes{1, 2}, edge: true}
	},
	"KeywordTokenizer":                   func() tokenizerSpec { return &keywordTokenizerSpec{256} },
	"KeywordTokenizerV2":                 func() tokenizerSpec { return &keywordTokenizerV2Spec{256} },
	"MicrosoftLanguageTokenizer":         func() tokenizerSpec { return &microsoftTokenizer{MaxTokenLength: defaultTokenLength} },
	"MicrosoftLanguageStemmingTokenizer": func() tokenizerSpec { return &microsoftTokenizer{MaxTokenLength: defaultTokenLength} },
	"NGramTokenizer":                     func() tokenizerSpec { return &gramTokenizerSpec{gramSizes: gramSizes{1, 2}} },
	"PathHierarchyTokenizerV2": func() tokenizerSpec {
		return &pathTokenizerSpec{Delimiter: "/", Replacement: "/", MaxTokenLength: maxTokenLength}
	},
	"PatternTokenizer":     func() tokenizerSpec { return &patternTokenizerSpec{Pattern: `\W+`, Group: -1} },
	"StandardTokenizer":    func() tokenizerSpec { return &standardTokenizerSpec{defaultTokenLength, true} },
	"StandardTokenizerV2":  func() tokenizerSpec { return &standardTokenizerSpec{defaultTokenLength, false} },
	"UaxUrlEmailTokenizer": func() tokenizerSpec { return &uaxURLEmailTokenizerSpec{defaultTokenLength} },
}

var builtInTokenizers = map[string]tokenizerSpec{
	"classic":                               tokenizerTypes["ClassicTokenizer"](),
	"edgeNGram":                             tokenizerTypes["EdgeNGramTokenizer"](),
	"keyword_v2":                            tokenizerTypes["KeywordTokenizerV2"](),
	"letter":                                ready{runTokenizer{unicode.IsLetter, defaultTokenLength}},
	"lowercase":                             ready{lowerLetters{}},
	"microsoft_language_tokenizer":          absent(noMicrosoft),
	"microsoft_language_stemming_tokenizer": absent(noMicrosoft),
	"nGram":                                 tokenizerTypes["NGramTokenizer"](),
	"path_hierarchy_v2":                     tokenizerTypes["PathHierarchyTokenizerV2"](),
	"pattern":                               tokenizerTypes["PatternTokenizer"](),
	"standard_v2":                           tokenizerTypes["StandardTokenizerV2"](),
	"uax_url_email":                         tokenizerTypes["UaxUrlEmailTokenizer"](),
	"whitespace":                            ready{runTokenizer{notSpace, defaultTokenLength}},
}

var charFilterTypes = map[string]func() charFilterSpec{
	"MappingCharFilter":        func() charFilterSpec { return &mappingCharFilter{} },
	"PatternReplaceCharFilter": func() charFilterSpec { return &patternReplaceCharFilter{} },
}

var builtInCharFilters = map[string]charFilterSpec{"html_strip": htmlStrip{}}

var filterTypes = map[string]func() filterSpec{
	"AsciiFoldingTokenFilter": func() filterSpec { return &asciiFoldingFilter{} },
	"CjkBigramTokenFilter":    func() filterSpec { return &cjkBigramFilter{} },
	"CommonGramTokenFilter":   func() filterSpec { return &commonGramFilter{} },
	"DictionaryDecompounderTokenFilter": func() filterSpec {
		return &dictionaryDecompounderFilter{MinWordSize: 5, MinSubwordSize: 2, MaxSubwordSize: 15}
	},
	"EdgeNGramTokenFilter": func() filterSpec {
		return &edgeGramFilterSpec{gramSizes: gramSizes{1, 2}, Side: "front"}
	},
	"EdgeNGramTokenFilterV2": func() filterSpec {
		return &edgeGramFilterSpec{gramSizes: gramSizes{1, 2}, Side: "front", limit: maxTokenLength}
	},
	"ElisionTokenFilter":        func() filterSpec { return &elisionFilter{} },
	"KeepTokenFilter":           func() filterSpec { return &keepFilter{} },
	"KeywordMarkerTokenFilter":  func() filterSpec { return &keywordMarkerFilter{} },
	"LengthTokenFilter":         func() filterSpec { return &lengthFilter{0, maxTokenLength} },
	"LimitTokenFilter":          func() filterSpec { return &limitFilter{MaxTokenCount: 1} },
	"NGramTokenFilter":          func() filterSpec { return &gramFilterSpec{gramSizes: gramSizes{1, 2}} },
	"NGramTokenFilterV2":        func() filterSpec { return &gramFilterSpec{gramSizes{1, 2}, maxTokenLength} },
	"PatternCaptureTokenFilter": func() filterSpec { return &patternCaptureFilter{PreserveOriginal: true} },
	"PatternReplaceTokenFilter": func() filterSpec { return &patternReplaceFilter{} },
	"PhoneticTokenFilter":       func() filterSpec { return &phoneticFilter{"metaphone", true} },
	"ShingleTokenFilter": func() filterSpec {
		return &shingleFilter{MaxShingleSize: 2, MinShingleSize: 2, OutputUnigrams: true, TokenSeparator: " ", FilterToken: "_"}
	},
	"SnowballTokenFilter":        func() filterSpec { return &snowballFilter{} },
	"StemmerTokenFilter":         func() filterSpec { return &stemmerFilter{} },
	"StemmerOverrideTokenFilter": func() filterSpec { return &stemmerOverrideFilter{} },
	"StopwordsTokenFilter":       func() filterSpec { return &stopwordsFilter{RemoveTrailing: true} },
	"SynonymTokenFilter":         func() filterSpec { return &synonymFilter{Expand: true} },
	"TruncateTokenFilter":        func() filterSpec { return &truncateFilter{maxTokenLength} },
	"UniqueTokenFilter":          func() filterSpec { return &uniqueFilter{} },
	"WordDelimiterTokenFilter": func() filterSpec {
		return &wordDelimiterFilter{
			GenerateWordParts: true, GenerateNumberParts: true, SplitOnCaseChange: true, SplitOnNumerics: true, StemEnglishPossessive: true,
		}
	},
}

// builtInFilters have the defaults of their types. Where a type has no default for a required parameter, it is that
// of Lucene's factory.
var builtInFilters = map[string]filterSpec{
	"apostrophe":                 readyFilter{mapper(cutApostrophe)},
	"arabic_normalization":       readyFilter{mapper(languages.NormalizeArabic)},
	"asciifolding":               filterTypes["AsciiFoldingTokenFilter"](),
	"cjk_bigram":                 filterTypes["CjkBigramTokenFilter"](),
	"cjk_width":                  readyFilter{mapper(languages.NormalizeWidth)},
	"classic":                    readyFilter{classicFilter{}},
	"common_grams":               &commonGramFilter{CommonWords: englishStopWords},
	"edgeNGram_v2":               filterTypes["EdgeNGramTokenFilterV2"](),
	"elision":                    filterTypes["ElisionTokenFilter"](),
	"german_normalization":       readyFilter{mapper(languages.NormalizeGerman)},
	"hindi_normalization":        readyFilter{mapper(languages.NormalizeHindi)},
	"indic_normalization":        readyFilter{mapper(languages.NormalizeIndic)},
	"keyword_repeat":             readyFilter{keywordRepeat{}},
	"kstem":                      absent("no library at hand has the dictionary of the stemmer"),
	"length":                     filterTypes["LengthTokenFilter"](),
	"limit":                      filterTypes["LimitTokenFilter"](),
	"lowercase":                  readyFilter{mapper(lower)},
	"nGram_v2":                   filterTypes["NGramTokenFilterV2"](),
	"persian_normalization":      readyFilter{mapper(languages.NormalizePersian)},
	"phonetic":                   filterTypes["PhoneticTokenFilter"](),
	"porter_stem":                readyFilter{stemmer(porterStem)},
	"reverse":                    readyFilter{mapper(reverse)},
	"scandinavian_folding":       readyFilter{mapper(foldScandinavian)},
	"scandinavian_normalization": readyFilter{mapper(normalizeScandinavian)},
	"shingle":                    filterTypes["ShingleTokenFilter"](),
	"snowball":                   &snowballFilter{"english"},
	"sorani_normalization":       readyFilter{mapper(languages.NormalizeSorani)},
	"stemmer":                    &stemmerFilter{"english"},
	"stopwords":                  filterTypes["StopwordsTokenFilter"](),
	"trim":                       readyFilter{mapper(trim)},
	"truncate":                   filterTypes["TruncateTokenFilter"](),
	"unique":                     filterTypes["UniqueTokenFilter"](),
	"uppercase":                  readyFilter{mapper(upper)},
	"word_delimiter":             filterTypes["WordDelimiterTokenFilter"](),
}
