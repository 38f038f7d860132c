package models

// AnalyzerName names an analyzer: one of the constants, or one that the index
// defines.
type AnalyzerName string

// The analyzers that the service has. Those named after a language, such as
// AnalyzerEnLucene, can only be the Analyzer of a field, not its IndexAnalyzer or
// SearchAnalyzer.
const (
	AnalyzerArLucene                   AnalyzerName = "ar.lucene"
	AnalyzerArMicrosoft                AnalyzerName = "ar.microsoft"
	AnalyzerBgLucene                   AnalyzerName = "bg.lucene"
	AnalyzerBgMicrosoft                AnalyzerName = "bg.microsoft"
	AnalyzerBnMicrosoft                AnalyzerName = "bn.microsoft"
	AnalyzerCaLucene                   AnalyzerName = "ca.lucene"
	AnalyzerCaMicrosoft                AnalyzerName = "ca.microsoft"
	AnalyzerCsLucene                   AnalyzerName = "cs.lucene"
	AnalyzerCsMicrosoft                AnalyzerName = "cs.microsoft"
	AnalyzerDaLucene                   AnalyzerName = "da.lucene"
	AnalyzerDaMicrosoft                AnalyzerName = "da.microsoft"
	AnalyzerDeLucene                   AnalyzerName = "de.lucene"
	AnalyzerDeMicrosoft                AnalyzerName = "de.microsoft"
	AnalyzerElLucene                   AnalyzerName = "el.lucene"
	AnalyzerElMicrosoft                AnalyzerName = "el.microsoft"
	AnalyzerEnLucene                   AnalyzerName = "en.lucene"
	AnalyzerEnMicrosoft                AnalyzerName = "en.microsoft"
	AnalyzerEsLucene                   AnalyzerName = "es.lucene"
	AnalyzerEsMicrosoft                AnalyzerName = "es.microsoft"
	AnalyzerEtMicrosoft                AnalyzerName = "et.microsoft"
	AnalyzerEuLucene                   AnalyzerName = "eu.lucene"
	AnalyzerFaLucene                   AnalyzerName = "fa.lucene"
	AnalyzerFiLucene                   AnalyzerName = "fi.lucene"
	AnalyzerFiMicrosoft                AnalyzerName = "fi.microsoft"
	AnalyzerFrLucene                   AnalyzerName = "fr.lucene"
	AnalyzerFrMicrosoft                AnalyzerName = "fr.microsoft"
	AnalyzerGaLucene                   AnalyzerName = "ga.lucene"
	AnalyzerGlLucene                   AnalyzerName = "gl.lucene"
	AnalyzerGuMicrosoft                AnalyzerName = "gu.microsoft"
	AnalyzerHeMicrosoft                AnalyzerName = "he.microsoft"
	AnalyzerHiLucene                   AnalyzerName = "hi.lucene"
	AnalyzerHiMicrosoft                AnalyzerName = "hi.microsoft"
	AnalyzerHrMicrosoft                AnalyzerName = "hr.microsoft"
	AnalyzerHuLucene                   AnalyzerName = "hu.lucene"
	AnalyzerHuMicrosoft                AnalyzerName = "hu.microsoft"
	AnalyzerHyLucene                   AnalyzerName = "hy.lucene"
	AnalyzerIdLucene                   AnalyzerName = "id.lucene"
	AnalyzerIdMicrosoft                AnalyzerName = "id.microsoft"
	AnalyzerIsMicrosoft                AnalyzerName = "is.microsoft"
	AnalyzerItLucene                   AnalyzerName = "it.lucene"
	AnalyzerItMicrosoft                AnalyzerName = "it.microsoft"
	AnalyzerJaLucene                   AnalyzerName = "ja.lucene"
	AnalyzerJaMicrosoft                AnalyzerName = "ja.microsoft"
	AnalyzerKeyword                    AnalyzerName = "keyword"
	AnalyzerKnMicrosoft                AnalyzerName = "kn.microsoft"
	AnalyzerKoLucene                   AnalyzerName = "ko.lucene"
	AnalyzerKoMicrosoft                AnalyzerName = "ko.microsoft"
	AnalyzerLtMicrosoft                AnalyzerName = "lt.microsoft"
	AnalyzerLvLucene                   AnalyzerName = "lv.lucene"
	AnalyzerLvMicrosoft                AnalyzerName = "lv.microsoft"
	AnalyzerMlMicrosoft                AnalyzerName = "ml.microsoft"
	AnalyzerMrMicrosoft                AnalyzerName = "mr.microsoft"
	AnalyzerMsMicrosoft                AnalyzerName = "ms.microsoft"
	AnalyzerNbMicrosoft                AnalyzerName = "nb.microsoft"
	AnalyzerNlLucene                   AnalyzerName = "nl.lucene"
	AnalyzerNlMicrosoft                AnalyzerName = "nl.microsoft"
	AnalyzerNoLucene                   AnalyzerName = "no.lucene"
	AnalyzerPaMicrosoft                AnalyzerName = "pa.microsoft"
	AnalyzerPattern                    AnalyzerName = "pattern"
	AnalyzerPlLucene                   AnalyzerName = "pl.lucene"
	AnalyzerPlMicrosoft                AnalyzerName = "pl.microsoft"
	AnalyzerPtBRLucene                 AnalyzerName = "pt-BR.lucene"
	AnalyzerPtBRMicrosoft              AnalyzerName = "pt-BR.microsoft"
	AnalyzerPtPTLucene                 AnalyzerName = "pt-PT.lucene"
	AnalyzerPtPTMicrosoft              AnalyzerName = "pt-PT.microsoft"
	AnalyzerRoLucene                   AnalyzerName = "ro.lucene"
	AnalyzerRoMicrosoft                AnalyzerName = "ro.microsoft"
	AnalyzerRuLucene                   AnalyzerName = "ru.lucene"
	AnalyzerRuMicrosoft                AnalyzerName = "ru.microsoft"
	AnalyzerSimple                     AnalyzerName = "simple"
	AnalyzerSkMicrosoft                AnalyzerName = "sk.microsoft"
	AnalyzerSlMicrosoft                AnalyzerName = "sl.microsoft"
	AnalyzerSrCyrillicMicrosoft        AnalyzerName = "sr-cyrillic.microsoft"
	AnalyzerSrLatinMicrosoft           AnalyzerName = "sr-latin.microsoft"
	AnalyzerStandardLucene             AnalyzerName = "standard.lucene"
	AnalyzerStandardASCIIFoldingLucene AnalyzerName = "standardasciifolding.lucene"
	AnalyzerStop                       AnalyzerName = "stop"
	AnalyzerSvLucene                   AnalyzerName = "sv.lucene"
	AnalyzerSvMicrosoft                AnalyzerName = "sv.microsoft"
	AnalyzerTaMicrosoft                AnalyzerName = "ta.microsoft"
	AnalyzerTeMicrosoft                AnalyzerName = "te.microsoft"
	AnalyzerThLucene                   AnalyzerName = "th.lucene"
	AnalyzerThMicrosoft                AnalyzerName = "th.microsoft"
	AnalyzerTrLucene                   AnalyzerName = "tr.lucene"
	AnalyzerTrMicrosoft                AnalyzerName = "tr.microsoft"
	AnalyzerUkMicrosoft                AnalyzerName = "uk.microsoft"
	AnalyzerUrMicrosoft                AnalyzerName = "ur.microsoft"
	AnalyzerViMicrosoft                AnalyzerName = "vi.microsoft"
	AnalyzerWhitespace                 AnalyzerName = "whitespace"
	AnalyzerZhHansLucene               AnalyzerName = "zh-Hans.lucene"
	AnalyzerZhHansMicrosoft            AnalyzerName = "zh-Hans.microsoft"
	AnalyzerZhHantLucene               AnalyzerName = "zh-Hant.lucene"
	AnalyzerZhHantMicrosoft            AnalyzerName = "zh-Hant.microsoft"
)

// TokenizerName names a tokenizer: one of the constants, or one that the index
// defines.
type TokenizerName string

// The tokenizers that the service has.
const (
	TokenizerClassic                   TokenizerName = "classic"
	TokenizerEdgeNGram                 TokenizerName = "edgeNGram"
	TokenizerKeywordV2                 TokenizerName = "keyword_v2"
	TokenizerLetter                    TokenizerName = "letter"
	TokenizerLowercase                 TokenizerName = "lowercase"
	TokenizerMicrosoftLanguageStemming TokenizerName = "microsoft_language_stemming_tokenizer"
	TokenizerMicrosoftLanguage         TokenizerName = "microsoft_language_tokenizer"
	TokenizerNGram                     TokenizerName = "nGram"
	TokenizerPathHierarchyV2           TokenizerName = "path_hierarchy_v2"
	TokenizerPattern                   TokenizerName = "pattern"
	TokenizerStandardV2                TokenizerName = "standard_v2"
	TokenizerUAXURLEmail               TokenizerName = "uax_url_email"
	TokenizerWhitespace                TokenizerName = "whitespace"
)

// TokenFilterName names a token filter: one of the constants, or one that the
// index defines.
type TokenFilterName string

// The token filters that the service has.
const (
	TokenFilterApostrophe                TokenFilterName = "apostrophe"
	TokenFilterArabicNormalization       TokenFilterName = "arabic_normalization"
	TokenFilterASCIIFolding              TokenFilterName = "asciifolding"
	TokenFilterCJKBigram                 TokenFilterName = "cjk_bigram"
	TokenFilterCJKWidth                  TokenFilterName = "cjk_width"
	TokenFilterClassic                   TokenFilterName = "classic"
	TokenFilterCommonGrams               TokenFilterName = "common_grams"
	TokenFilterEdgeNGramV2               TokenFilterName = "edgeNGram_v2"
	TokenFilterElision                   TokenFilterName = "elision"
	TokenFilterGermanNormalization       TokenFilterName = "german_normalization"
	TokenFilterHindiNormalization        TokenFilterName = "hindi_normalization"
	TokenFilterIndicNormalization        TokenFilterName = "indic_normalization"
	TokenFilterKeywordRepeat             TokenFilterName = "keyword_repeat"
	TokenFilterKStem                     TokenFilterName = "kstem"
	TokenFilterLength                    TokenFilterName = "length"
	TokenFilterLimit                     TokenFilterName = "limit"
	TokenFilterLowercase                 TokenFilterName = "lowercase"
	TokenFilterNGramV2                   TokenFilterName = "nGram_v2"
	TokenFilterPersianNormalization      TokenFilterName = "persian_normalization"
	TokenFilterPhonetic                  TokenFilterName = "phonetic"
	TokenFilterPorterStem                TokenFilterName = "porter_stem"
	TokenFilterReverse                   TokenFilterName = "reverse"
	TokenFilterScandinavianFolding       TokenFilterName = "scandinavian_folding"
	TokenFilterScandinavianNormalization TokenFilterName = "scandinavian_normalization"
	TokenFilterShingle                   TokenFilterName = "shingle"
	TokenFilterSnowball                  TokenFilterName = "snowball"
	TokenFilterSoraniNormalization       TokenFilterName = "sorani_normalization"
	TokenFilterStemmer                   TokenFilterName = "stemmer"
	TokenFilterStopwords                 TokenFilterName = "stopwords"
	TokenFilterTrim                      TokenFilterName = "trim"
	TokenFilterTruncate                  TokenFilterName = "truncate"
	TokenFilterUnique                    TokenFilterName = "unique"
	TokenFilterUppercase                 TokenFilterName = "uppercase"
	TokenFilterWordDelimiter             TokenFilterName = "word_delimiter"
)

// CharFilterName names a character filter: the constant, or one that the index
// defines.
type CharFilterName string

// CharFilterHTMLStrip removes HTML tags.
const CharFilterHTMLStrip CharFilterName = "html_strip"

// NormalizerName names a normalizer: one of the constants, or one that the index
// defines.
type NormalizerName string

// The normalizers that the service has, from api-version 2025-09-01 on.
const (
	NormalizerASCIIFolding NormalizerName = "asciifolding"
	NormalizerElision      NormalizerName = "elision"
	NormalizerLowercase    NormalizerName = "lowercase"
	NormalizerStandard     NormalizerName = "standard"
	NormalizerUppercase    NormalizerName = "uppercase"
)
