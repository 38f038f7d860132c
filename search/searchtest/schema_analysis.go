package searchtest

import "encoding/json"

// Components of text analysis that a definition can configure, by their
// @odata.type. Names, parameters and defaults are those of the service's
// published description; the order of the parameters is as recorded.

const componentType = "#Microsoft.Azure.Search."

// maxToken is the longest token that any component may be configured to make.
const maxToken = 300

// components builds the shapes of one kind of component. Each begins with the
// @odata.type and the name.
func components(parameters map[string][]property) map[string]*shape {
	shapes := make(map[string]*shape, len(parameters))
	for name, members := range parameters {
		shapes[componentType+name] = &shape{
			typeName: name,
			members:  append([]property{text("@odata.type"), text("name").must()}, members...),
		}
	}
	return shapes
}

func tokenLength(def string) property {
	return whole("maxTokenLength").or(json.Number(def)).within(1, maxToken)
}

func grams() []property {
	return []property{
		whole("minGram").or(json.Number("1")).within(1, maxToken),
		whole("maxGram").or(json.Number("2")).within(1, maxToken),
	}
}

func unboundedGrams() []property {
	return []property{whole("minGram").or(json.Number("1")), whole("maxGram").or(json.Number("2"))}
}

var (
	regexFlags = []string{"CANON_EQ", "CASE_INSENSITIVE", "COMMENTS", "DOTALL", "LITERAL", "MULTILINE", "UNICODE_CASE", "UNIX_LINES"}
	tokenChars = []string{"letter", "digit", "whitespace", "punctuation", "symbol"}
	sides      = text("side").or("front").among("front", "back")
)

// A pattern's flags are several names joined by |: validate looks at them.

var analyzerShapes = components(map[string][]property{
	"CustomAnalyzer":   {text("tokenizer").must(), texts("tokenFilters"), texts("charFilters")},
	"PatternAnalyzer":  {flag("lowercase").or(true), text("pattern").or(`\W+`), text("flags"), texts("stopwords")},
	"StandardAnalyzer": {tokenLength("255"), texts("stopwords")},
	"StopAnalyzer":     {texts("stopwords")},
})

var normalizerShapes = components(map[string][]property{
	"CustomNormalizer": {texts("tokenFilters"), texts("charFilters")},
})

var charFilterShapes = components(map[string][]property{
	"MappingCharFilter":        {texts("mappings").must()},
	"PatternReplaceCharFilter": {text("pattern").must(), text("replacement").must()},
})

var tokenizerShapes = components(map[string][]property{
	"ClassicTokenizer":                   {tokenLength("255")},
	"EdgeNGramTokenizer":                 append(grams(), texts("tokenChars").among(tokenChars...)),
	"KeywordTokenizer":                   {whole("bufferSize").or(json.Number("256"))},
	"KeywordTokenizerV2":                 {tokenLength("256")},
	"MicrosoftLanguageTokenizer":         {tokenLength("255"), flag("isSearchTokenizer").or(false), text("language").or("english").among(microsoftLanguages...)},
	"MicrosoftLanguageStemmingTokenizer": {tokenLength("255"), flag("isSearchTokenizer").or(false), text("language").or("english").among(microsoftStemmingLanguages...)},
	"NGramTokenizer":                     append(grams(), texts("tokenChars").among(tokenChars...)),
	"PathHierarchyTokenizerV2": {
		text("delimiter").or("/"), text("replacement").or("/"),
		whole("maxTokenLength").or(json.Number("300")).within(1, maxToken),
		flag("reverse").or(false), whole("skip").or(json.Number("0")).within(0, 1<<31-1),
	},
	"PatternTokenizer":     {text("pattern").or(`\W+`), text("flags"), whole("group").or(json.Number("-1"))},
	"StandardTokenizer":    {whole("maxTokenLength").or(json.Number("255"))},
	"StandardTokenizerV2":  {tokenLength("255")},
	"UaxUrlEmailTokenizer": {tokenLength("255")},
})

var tokenFilterShapes = components(map[string][]property{
	"AsciiFoldingTokenFilter": {flag("preserveOriginal").or(false)},
	"CjkBigramTokenFilter":    {texts("ignoreScripts").among("han", "hiragana", "katakana", "hangul"), flag("outputUnigrams").or(false)},
	"CommonGramTokenFilter":   {texts("commonWords").must(), flag("ignoreCase").or(false), flag("queryMode").or(false)},
	"DictionaryDecompounderTokenFilter": {
		texts("wordList").must(),
		whole("minWordSize").or(json.Number("5")).within(1, maxToken),
		whole("minSubwordSize").or(json.Number("2")).within(1, maxToken),
		whole("maxSubwordSize").or(json.Number("15")).within(1, maxToken),
		flag("onlyLongestMatch").or(false),
	},
	"EdgeNGramTokenFilter":      append(unboundedGrams(), sides),
	"EdgeNGramTokenFilterV2":    append(grams(), sides),
	"ElisionTokenFilter":        {texts("articles")},
	"KeepTokenFilter":           {texts("keepWords").must(), flag("keepWordsCase").or(false)},
	"KeywordMarkerTokenFilter":  {texts("keywords").must(), flag("ignoreCase").or(false)},
	"LengthTokenFilter":         {whole("min").or(json.Number("0")).within(0, maxToken), whole("max").or(json.Number("300")).within(1, maxToken)},
	"LimitTokenFilter":          {whole("maxTokenCount").or(json.Number("1")), flag("consumeAllTokens").or(false)},
	"NGramTokenFilter":          unboundedGrams(),
	"NGramTokenFilterV2":        grams(),
	"PatternCaptureTokenFilter": {texts("patterns").must(), flag("preserveOriginal").or(true)},
	"PatternReplaceTokenFilter": {text("pattern").must(), text("replacement").must()},
	"PhoneticTokenFilter": {
		text("encoder").or("metaphone").among("metaphone", "doubleMetaphone", "soundex", "refinedSoundex", "caverphone1", "caverphone2",
			"cologne", "nysiis", "koelnerPhonetik", "haasePhonetik", "beiderMorse"),
		flag("replace").or(true),
	},
	"ShingleTokenFilter": {
		whole("maxShingleSize").or(json.Number("2")).within(2, 1<<31-1),
		whole("minShingleSize").or(json.Number("2")).within(2, 1<<31-1),
		flag("outputUnigrams").or(true), flag("outputUnigramsIfNoShingles").or(false),
		text("tokenSeparator").or(" "), text("filterToken").or("_"),
	},
	"SnowballTokenFilter":        {text("language").must().among(snowballLanguages...)},
	"StemmerTokenFilter":         {text("language").must().among(stemmerLanguages...)},
	"StemmerOverrideTokenFilter": {texts("rules").must()},
	// The list is "english" only if there are no stop words of one's own either:
	// see completeComponent.
	"StopwordsTokenFilter": {
		texts("stopwords"), text("stopwordsList").among(stopwordsLists...),
		flag("ignoreCase").or(false), flag("removeTrailing").or(true),
	},
	"SynonymTokenFilter":  {texts("synonyms").must(), flag("ignoreCase").or(false), flag("expand").or(true)},
	"TruncateTokenFilter": {whole("length").or(json.Number("300")).within(1, maxToken)},
	"UniqueTokenFilter":   {flag("onlyOnSamePosition").or(false)},
	"WordDelimiterTokenFilter": {
		flag("generateWordParts").or(true), flag("generateNumberParts").or(true),
		flag("catenateWords").or(false), flag("catenateNumbers").or(false), flag("catenateAll").or(false),
		flag("splitOnCaseChange").or(true), flag("preserveOriginal").or(false), flag("splitOnNumerics").or(true),
		flag("stemEnglishPossessive").or(true), texts("protectedWords"),
	},
})
