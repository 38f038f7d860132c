package schema

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// Components of text analysis that a definition can configure, by @odata.type. Names,
// parameters and defaults come from the service's published description. The order of the
// parameters is the recorded one.

// ComponentType is the prefix of the type of a component.
const ComponentType = "#Microsoft.Azure.Search."

// maxToken is the maximum token length that a component may have, in characters.
const maxToken = 300

// components returns the shapes of one kind of component. Each begins with the @odata.type
// and the name.
func components(parameters map[string][]shape.Property) map[string]*shape.Shape {
	shapes := make(map[string]*shape.Shape, len(parameters))
	for name, members := range parameters {
		shapes[ComponentType+name] = &shape.Shape{
			TypeName: name,
			Members:  append([]shape.Property{shape.Text("@odata.type"), shape.Text("name").Must()}, members...),
		}
	}
	return shapes
}

func tokenLength(def string) shape.Property {
	return shape.Whole("maxTokenLength").Or(json.Number(def)).Within(1, maxToken)
}

func grams() []shape.Property {
	return []shape.Property{
		shape.Whole("minGram").Or(json.Number("1")).Within(1, maxToken),
		shape.Whole("maxGram").Or(json.Number("2")).Within(1, maxToken),
	}
}

func unboundedGrams() []shape.Property {
	return []shape.Property{shape.Whole("minGram").Or(json.Number("1")), shape.Whole("maxGram").Or(json.Number("2"))}
}

var (
	regexFlags = []string{"CANON_EQ", "CASE_INSENSITIVE", "COMMENTS", "DOTALL", "LITERAL", "MULTILINE", "UNICODE_CASE", "UNIX_LINES"}
	tokenChars = []string{"letter", "digit", "whitespace", "punctuation", "symbol"}
	sides      = shape.Text("side").Or("front").Among("front", "back")
)

// The flags of a pattern are names joined by |, which validate checks.

var analyzerShapes = components(map[string][]shape.Property{
	"CustomAnalyzer":   {shape.Text("tokenizer").Must(), shape.Texts("tokenFilters"), shape.Texts("charFilters")},
	"PatternAnalyzer":  {shape.Flag("lowercase").Or(true), shape.Text("pattern").Or(`\W+`), shape.Text("flags"), shape.Texts("stopwords")},
	"StandardAnalyzer": {tokenLength("255"), shape.Texts("stopwords")},
	"StopAnalyzer":     {shape.Texts("stopwords")},
})

var normalizerShapes = components(map[string][]shape.Property{
	"CustomNormalizer": {shape.Texts("tokenFilters"), shape.Texts("charFilters")},
})

var charFilterShapes = components(map[string][]shape.Property{
	"MappingCharFilter":        {shape.Texts("mappings").Must()},
	"PatternReplaceCharFilter": {shape.Text("pattern").Must(), shape.Text("replacement").Must()},
})

var tokenizerShapes = components(map[string][]shape.Property{
	"ClassicTokenizer":                   {tokenLength("255")},
	"EdgeNGramTokenizer":                 append(grams(), shape.Texts("tokenChars").Among(tokenChars...)),
	"KeywordTokenizer":                   {shape.Whole("bufferSize").Or(json.Number("256"))},
	"KeywordTokenizerV2":                 {tokenLength("256")},
	"MicrosoftLanguageTokenizer":         {tokenLength("255"), shape.Flag("isSearchTokenizer").Or(false), shape.Text("language").Or("english").Among(microsoftLanguages...)},
	"MicrosoftLanguageStemmingTokenizer": {tokenLength("255"), shape.Flag("isSearchTokenizer").Or(false), shape.Text("language").Or("english").Among(microsoftStemmingLanguages...)},
	"NGramTokenizer":                     append(grams(), shape.Texts("tokenChars").Among(tokenChars...)),
	"PathHierarchyTokenizerV2": {
		shape.Text("delimiter").Or("/"), shape.Text("replacement").Or("/"),
		shape.Whole("maxTokenLength").Or(json.Number("300")).Within(1, maxToken),
		shape.Flag("reverse").Or(false), shape.Whole("skip").Or(json.Number("0")).Within(0, 1<<31-1),
	},
	"PatternTokenizer":     {shape.Text("pattern").Or(`\W+`), shape.Text("flags"), shape.Whole("group").Or(json.Number("-1"))},
	"StandardTokenizer":    {shape.Whole("maxTokenLength").Or(json.Number("255"))},
	"StandardTokenizerV2":  {tokenLength("255")},
	"UaxUrlEmailTokenizer": {tokenLength("255")},
})

var tokenFilterShapes = components(map[string][]shape.Property{
	"AsciiFoldingTokenFilter": {shape.Flag("preserveOriginal").Or(false)},
	"CjkBigramTokenFilter":    {shape.Texts("ignoreScripts").Among("han", "hiragana", "katakana", "hangul"), shape.Flag("outputUnigrams").Or(false)},
	"CommonGramTokenFilter":   {shape.Texts("commonWords").Must(), shape.Flag("ignoreCase").Or(false), shape.Flag("queryMode").Or(false)},
	"DictionaryDecompounderTokenFilter": {
		shape.Texts("wordList").Must(),
		shape.Whole("minWordSize").Or(json.Number("5")).Within(1, maxToken),
		shape.Whole("minSubwordSize").Or(json.Number("2")).Within(1, maxToken),
		shape.Whole("maxSubwordSize").Or(json.Number("15")).Within(1, maxToken),
		shape.Flag("onlyLongestMatch").Or(false),
	},
	"EdgeNGramTokenFilter":      append(unboundedGrams(), sides),
	"EdgeNGramTokenFilterV2":    append(grams(), sides),
	"ElisionTokenFilter":        {shape.Texts("articles")},
	"KeepTokenFilter":           {shape.Texts("keepWords").Must(), shape.Flag("keepWordsCase").Or(false)},
	"KeywordMarkerTokenFilter":  {shape.Texts("keywords").Must(), shape.Flag("ignoreCase").Or(false)},
	"LengthTokenFilter":         {shape.Whole("min").Or(json.Number("0")).Within(0, maxToken), shape.Whole("max").Or(json.Number("300")).Within(1, maxToken)},
	"LimitTokenFilter":          {shape.Whole("maxTokenCount").Or(json.Number("1")), shape.Flag("consumeAllTokens").Or(false)},
	"NGramTokenFilter":          unboundedGrams(),
	"NGramTokenFilterV2":        grams(),
	"PatternCaptureTokenFilter": {shape.Texts("patterns").Must(), shape.Flag("preserveOriginal").Or(true)},
	"PatternReplaceTokenFilter": {shape.Text("pattern").Must(), shape.Text("replacement").Must()},
	"PhoneticTokenFilter": {
		shape.Text("encoder").Or("metaphone").Among("metaphone", "doubleMetaphone", "soundex", "refinedSoundex", "caverphone1", "caverphone2",
			"cologne", "nysiis", "koelnerPhonetik", "haasePhonetik", "beiderMorse"),
		shape.Flag("replace").Or(true),
	},
	"ShingleTokenFilter": {
		shape.Whole("maxShingleSize").Or(json.Number("2")).Within(2, 1<<31-1),
		shape.Whole("minShingleSize").Or(json.Number("2")).Within(2, 1<<31-1),
		shape.Flag("outputUnigrams").Or(true), shape.Flag("outputUnigramsIfNoShingles").Or(false),
		shape.Text("tokenSeparator").Or(" "), shape.Text("filterToken").Or("_"),
	},
	"SnowballTokenFilter":        {shape.Text("language").Must().Among(snowballLanguages...)},
	"StemmerTokenFilter":         {shape.Text("language").Must().Among(stemmerLanguages...)},
	"StemmerOverrideTokenFilter": {shape.Texts("rules").Must()},
	// The default is "english" only if there are no stopwords either: see complete.
	"StopwordsTokenFilter": {
		shape.Texts("stopwords"), shape.Text("stopwordsList").Among(stopwordsLists...),
		shape.Flag("ignoreCase").Or(false), shape.Flag("removeTrailing").Or(true),
	},
	"SynonymTokenFilter":  {shape.Texts("synonyms").Must(), shape.Flag("ignoreCase").Or(false), shape.Flag("expand").Or(true)},
	"TruncateTokenFilter": {shape.Whole("length").Or(json.Number("300")).Within(1, maxToken)},
	"UniqueTokenFilter":   {shape.Flag("onlyOnSamePosition").Or(false)},
	"WordDelimiterTokenFilter": {
		shape.Flag("generateWordParts").Or(true), shape.Flag("generateNumberParts").Or(true),
		shape.Flag("catenateWords").Or(false), shape.Flag("catenateNumbers").Or(false), shape.Flag("catenateAll").Or(false),
		shape.Flag("splitOnCaseChange").Or(true), shape.Flag("preserveOriginal").Or(false), shape.Flag("splitOnNumerics").Or(true),
		shape.Flag("stemEnglishPossessive").Or(true), shape.Texts("protectedWords"),
	},
})
