package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The test runs each filter by its name in the service.
func TestBuiltInFiltersHaveTheirDefaults(t *testing.T) {
	for _, c := range []struct{ filter, tokenizer, text, want string }{
		{"apostrophe", "whitespace", "Türkiye'de O\u2019Neil x", "Türkiye@0 O@1 x@2"},
		{"arabic_normalization", "whitespace", "آجن", "اجن@0"},
		{"asciifolding", "whitespace", "Crème œuf", "Creme@0 oeuf@1"},
		{"cjk_bigram", "standard_v2", "東京都 ok 多 カタ ひら한국", "東京@0 京都@1 ok@2 多@3 カタ@4 ひら@5 ら한@6 한국@7"},
		{"cjk_width", "whitespace", "Ｔｅｓｔ ｶﾞ", "Test@0 ガ@1"},
		{"classic", "classic", "I.B.M. O'Neil's x's", "IBM@0 O'Neil@1 x@2"},
		{"common_grams", "whitespace", "the quick fox", "the@0 the_quick@0 quick@1 fox@2"},
		{"edgeNGram_v2", "whitespace", "abc é", "a@0 ab@0 é@1"},
		{"elision", "whitespace", "l'avion L\u2019été x'y", "avion@0 été@1 x'y@2"},
		{"german_normalization", "whitespace", "weißbier Häuser Goethe", "weissbier@0 Hauser@1 Gothe@2"},
		{"hindi_normalization", "whitespace", "अँगरेज़ी", "अंगरेजि@0"},
		{"keyword_repeat", "whitespace", "cats", "cats@0 cats@0"},
		{"length", "whitespace", "a abc", "a@0 abc@1"},
		{"limit", "whitespace", "a b c", "a@0"},
		{"lowercase", "whitespace", "ABC É", "abc@0 é@1"},
		{"nGram_v2", "whitespace", "abc x", "a@0 ab@0 b@0 bc@0 c@0 x@1"},
		{"persian_normalization", "whitespace", "های", "هاي@0"},
		{"phonetic", "whitespace", "testing Smith 42 é", "TSTN@0 SM0@1 42@2 é@3"},
		{"porter_stem", "whitespace", "running as relational", "run@0 as@1 relat@2"},
		{"reverse", "whitespace", "añb", "bña@0"},
		{"scandinavian_folding", "whitespace", "blåbærsyltetøj blaabaarsyltetoej BLAABÆR räksmörgås", "blabarsyltetoj@0 blabarsyltetoj@1 BLABAR@2 raksmorgas@3"},
		{"scandinavian_normalization", "whitespace", "räksmörgås blåbærsyltetöj blaabaersyltetoej", "ræksmørgås@0 blåbærsyltetøj@1 blåbærsyltetøj@2"},
		{"shingle", "whitespace", "a b c", "a@0 a b@0 b@1 b c@1 c@2"},
		{"snowball", "whitespace", "generously", "generous@0"},
		{"sorani_normalization", "whitespace", "ي", "ی@0"},
		{"stemmer", "whitespace", "generously", "gener@0"},
		{"stopwords", "whitespace", "the fox The", "fox@1 The@2"},
		{"trim", "keyword_v2", " a b ", "a b@0"},
		{"truncate", "whitespace", "abc", "abc@0"},
		{"unique", "whitespace", "a b a c", "a@0 b@1 c@2"},
		{"uppercase", "whitespace", "straße é", "STRAßE@0 É@1"},
		{"word_delimiter", "whitespace", "Wi-Fi PowerShot500 O'Neil's", "Wi@0 Fi@1 Power@2 Shot@3 500@4 O@5 Neil@6"},
	} {
		assert.Equal(t, c.want, show(chained(t, c.tokenizer, c.filter).Analyze(c.text)), c.filter)
	}
}

// Each configurable parameter of each filter has at least one row.
func TestFiltersObeyTheirParameters(t *testing.T) {
	for _, c := range []struct{ filter, members, text, want string }{
		{"AsciiFolding", `"preserveOriginal":true`, "été x", "ete@0 été@0 x@1"},
		{"CjkBigram", `"outputUnigrams":true`, "東京 a", "東@0 東京@0 京@1 a@2"},
		{"CjkBigram", `"ignoreScripts":["han"]`, "東京 ひら", "東@0 京@1 ひら@2"},
		{"CommonGram", `"commonWords":["the"]`, "the quick The fox", "the@0 the_quick@0 quick@1 The@2 fox@3"},
		{"CommonGram", `"commonWords":["the"],"ignoreCase":true`, "quick The", "quick@0 quick_The@0 The@1"},
		{"CommonGram", `"commonWords":["the","is"],"queryMode":true`, "the fox is red and blue", "the_fox@0 fox_is@1 is_red@2 red@3 and@4 blue@5"},
		{"CommonGram", `"commonWords":["the"],"queryMode":true`, "see the", "see_the@0"},
		{"DictionaryDecompounder", `"wordList":["Bahn","Hof","hof","Bahnhof"]`, "Bahnhof Hof", "Bahnhof@0 Bahn@0 Bahnhof@0 hof@0 Hof@1"},
		{"DictionaryDecompounder", `"wordList":["Bahn","Bahnhof"],"onlyLongestMatch":true`, "Bahnhofs", "Bahnhofs@0 Bahnhof@0"},
		{"DictionaryDecompounder", `"wordList":["ab","abc","abcd"],"minWordSize":6,"minSubwordSize":3,"maxSubwordSize":3`, "abcde abcdef", "abcde@0 abcdef@1 abc@1"},
		{"EdgeNGram", `"minGram":2,"maxGram":3,"side":"back"`, "abcd a", "cd@0 bcd@0"},
		{"EdgeNGram", ``, "abc", "a@0 ab@0"},
		{"EdgeNGram", `"minGram":2,"maxGram":400`, "abc", "ab@0 abc@0"},
		{"Elision", `"articles":["x"]`, "l'avion X'avion", "l'avion@0 avion@1"},
		{"Keep", `"keepWords":["One","two"]`, "One Two two", "One@0 two@2"},
		{"Keep", `"keepWords":["One"],"keepWordsCase":true`, "One one", "one@1"},
		{"KeywordMarker", `"keywords":["Cats"]`, "Cats cats", "Cats@0 cats@1"},
		{"Length", `"min":2,"max":3`, "a ab abc abcd 𝒂 é", "ab@1 abc@2 𝒂@4"},
		{"Limit", `"maxTokenCount":2,"consumeAllTokens":true`, "a b c", "a@0 b@1"},
		{"NGram", `"minGram":2,"maxGram":2`, "abc a", "ab@0 bc@0"},
		{"PatternCapture", `"patterns":["(([a-z]+)(\\d*))"]`, "abc123def456", "abc123def456@0 abc123@0 abc@0 123@0 def456@0 def@0 456@0"},
		{"PatternCapture", `"patterns":["#(\\w+)","@(\\w+)"],"preserveOriginal":false`, "@a#b x", "a@0 b@0 x@1"},
		{"PatternReplace", `"pattern":"(a)(b)","replacement":"$2\\$$1"`, "xab b", "xb$a@0 b@1"},
		{"Phonetic", `"replace":false`, "Smith", "Smith@0 SM0@0"},
		{"Phonetic", `"encoder":"soundex"`, "Robert Rupert Ashcraft Tymczak Pfister", "R163@0 R163@1 A261@2 T522@3 P236@4"},
		{"Phonetic", `"encoder":"refinedSoundex"`, "testing Braz", "T6036084@0 B1905@1"},
		{"Shingle", `"minShingleSize":2,"maxShingleSize":3,"outputUnigrams":false`, "a b c", "a b@0 a b c@0 b c@1"},
		{"Shingle", `"outputUnigrams":false,"outputUnigramsIfNoShingles":true`, "a", "a@0"},
		{"Shingle", `"outputUnigrams":false`, "a", ""},
		{"Shingle", `"tokenSeparator":"+","outputUnigrams":false`, "a b", "a+b@0"},
		{"Snowball", `"language":"german"`, "häuser", "haus@0"},
		{"Stemmer", `"language":"lightFrench"`, "chevaux", "cheval@0"},
		{"Stemmer", `"language":"minimalEnglish"`, "ponies bus queries mess boys shoes trees", "pony@0 bus@1 query@2 mess@3 boy@4 shoes@5 trees@6"},
		{"Stemmer", `"language":"possessiveEnglish"`, "dog's", "dog@0"},
		{"Stemmer", `"language":"porter2"`, "generously", "generous@0"},
		{"StemmerOverride", `"rules":["ran => run","mice, mouses=>mouse"]`, "ran mice mouses", "run@0 mouse@1 mouse@2"},
		{"Stopwords", `"stopwords":["x"]`, "x X the", "X@1 the@2"},
		{"Stopwords", `"stopwords":["x"],"ignoreCase":true`, "x X the", "the@2"},
		{"Stopwords", `"stopwordsList":"german"`, "der Hund the", "Hund@1 the@2"},
		{"Stopwords", `"stopwords":[]`, "the fox", "fox@1"},
		{"Stopwords", `"removeTrailing":false`, "the fox the", "fox@1 the@2"},
		{"Stopwords", `"removeTrailing":false`, "the fox the ", "fox@1"},
		{"Truncate", `"length":3`, "abcd é𝒂b", "abc@0 é𝒂@1"},
		{"Unique", `"onlyOnSamePosition":true`, "a b a", "a@0 b@1 a@2"},
	} {
		tokenizer := "whitespace"
		if c.filter == "CjkBigram" {
			tokenizer = "standard_v2" // which knows scripts
		}
		a := with(t, tokenizer, c.filter+"TokenFilter", c.members)
		assert.Equal(t, c.want, show(a.Analyze(c.text)), "%s %s %s", c.filter, c.members, c.text)
	}
}

// The cases come from Lucene's documentation and tests.
func TestWordDelimiterIsLucenes(t *testing.T) {
	const none = `"generateWordParts":false,"generateNumberParts":false`
	for _, c := range []struct{ members, text, want string }{
		{"", "j2se 2-3 -- 'hello' Wi-Fi", "j@0[0-1] 2@1[1-2] se@2[2-4] 2@3[5-6] 3@4[7-8] hello@5[13-18] Wi@6[20-22] Fi@7[23-25]"},
		{"", "-- a", "a@1[3-4]"},
		{"", "O'Neil's a's-b", "O@0[0-1] Neil@1[2-6] a@2[9-10] b@3[13-14]"},
		{`"stemEnglishPossessive":false`, "Neil's", "Neil@0[0-4] s@1[5-6]"},
		{`"splitOnCaseChange":false`, "PowerShot SD500", "PowerShot@0[0-9] SD@1[10-12] 500@2[12-15]"},
		{`"splitOnNumerics":false`, "j2se a-1", "j2se@0[0-4] a@1[5-6] 1@2[7-8]"},
		{`"generateWordParts":false`, "Wi-500", "500@0[3-6]"},
		{`"generateNumberParts":false`, "Wi-500", "Wi@0[0-2]"},
		{`"preserveOriginal":true`, "Wi-Fi x", "Wi-Fi@0[0-5] Wi@0[0-2] Fi@1[3-5] x@2[6-7]"},
		{`"preserveOriginal":true`, "'a' --", "'a'@0[0-3] a@0[1-2] --@1[4-6]"},
		{`"catenateWords":true`, "Wi-Fi-4", "Wi@0[0-2] WiFi@0[0-5] Fi@1[3-5] 4@2[6-7]"},
		{`"catenateWords":true`, "a-1", "a@0[0-1] 1@1[2-3]"},
		{`"catenateWords":true,` + none, "Wi-Fi-500-42", "WiFi@0[0-5]"},
		{`"catenateWords":true,"catenateNumbers":true,` + none, "Wi-Fi-500-42 x", "WiFi@0[0-5] 50042@1[6-12] x@2[13-14]"},
		{`"catenateNumbers":true`, "500-42", "500@0[0-3] 50042@0[0-6] 42@1[4-6]"},
		{`"catenateAll":true`, "Wi-Fi-4000", "Wi@0[0-2] WiFi4000@0[0-10] Fi@1[3-5] 4000@2[6-10]"},
		{`"catenateAll":true,"catenateWords":true`, "Wi-Fi", "Wi@0[0-2] WiFi@0[0-5] Fi@1[3-5]"},
		{`"protectedWords":["Wi-Fi"]`, "Wi-Fi wi-fi", "Wi-Fi@0[0-5] wi@1[6-8] fi@2[9-11]"},
	} {
		assert.Equal(t, c.want, showAll(with(t, "whitespace", "WordDelimiterTokenFilter", c.members).Analyze(c.text)), "%s %s", c.members, c.text)
	}
}

func TestStemmersLeaveKeywordsAlone(t *testing.T) {
	c, err := New(Definition{
		TokenFilters: one("KeywordMarkerTokenFilter", `"keywords":["running"],"ignoreCase":true`),
	})
	assert.NoError(t, err)
	a, err := c.Chain("whitespace", []string{"x", "porter_stem"}, nil)
	assert.NoError(t, err)
	assert.Equal(t, "run@0 running@1 Running@2", show(a.Analyze("runs running Running")))

	c, err = New(Definition{TokenFilters: one("StemmerOverrideTokenFilter", `"rules":["ponies=>ponies"]`)})
	assert.NoError(t, err)
	a, err = c.Chain("whitespace", []string{"x", "porter_stem"}, nil)
	assert.NoError(t, err)
	assert.Equal(t, "ponies@0 cat@1", show(a.Analyze("ponies cats")))

	assert.Equal(t, "cats@0 cat@0", show(chained(t, "whitespace", "keyword_repeat", "porter_stem").Analyze("cats")))
	assert.Equal(t, "cat@0", show(chained(t, "whitespace", "keyword_repeat", "porter_stem", "unique", "limit").Analyze("cat")))
}

// Fillers replace removed stop words.
func TestShinglesFillGaps(t *testing.T) {
	for _, c := range []struct{ members, text, want string }{
		{"", "please divide the sentence", "please@0 please divide@0 divide@1 divide _@1 _ sentence@2 sentence@3"},
		{"", "divide the", "divide@0 divide _@0"},
		{"", "the cat", "_ cat@0 cat@1"},
		{"", "a of the b", "_ b@0 b@1"},
		{`"filterToken":""`, "x the y", "x@0 x @0  y@1 y@2"},
		{`"maxShingleSize":3,"outputUnigrams":false`, "x the of a y", "x _@0 x _ _@0 _ _ y@1 _ y@2"},
	} {
		c2, err := New(Definition{TokenFilters: one("ShingleTokenFilter", c.members)})
		assert.NoError(t, err)
		a, err := c2.Chain("whitespace", []string{"stopwords", "x"}, nil)
		assert.NoError(t, err)
		assert.Equal(t, c.want, show(a.Analyze(c.text)), c.text)
	}
}

func TestSynonymsFollowSolrsRules(t *testing.T) {
	for _, c := range []struct{ members, text, want string }{
		{`"synonyms":["usa, united states"]`, "the usa", "the@0[0-3] usa@1[4-7] united@1[4-7] states@2[4-7]"},
		{`"synonyms":["usa, united states"]`, "united states x", "united@0[0-6] usa@0[0-6] states@1[7-13] x@2[14-15]"},
		{`"synonyms":["tv, television, telly"]`, "tv", "tv@0[0-2] television@0[0-2] telly@0[0-2]"},
		{`"synonyms":["tv, television"],"expand":false`, "television tv", "tv@0[0-10] tv@1[11-13]"},
		{`"synonyms":["a, b => c d"]`, "a x b", "c@0[0-1] d@1[0-1] x@1[2-3] c@2[4-5] d@3[4-5]"},
		{`"synonyms":["a b=>c","a=>d"]`, "a b a", "c@0[0-3] d@1[4-5]"},
		{`"synonyms":["A=>c"],"ignoreCase":true`, "a A", "c@0[0-1] c@1[2-3]"},
		{`"synonyms":["A=>c"]`, "a", "a@0[0-1]"},
		{`"synonyms":["# a=>b","","x\\,y=>z"]`, "x,y", "z@0[0-3]"},
	} {
		assert.Equal(t, c.want, showAll(with(t, "whitespace", "SynonymTokenFilter", c.members).Analyze(c.text)), "%s %s", c.members, c.text)
	}
}

// The words come from the tests of Commons Codec.
func TestMetaphoneIsThatOfCommonsCodec(t *testing.T) {
	for text, want := range map[string]string{
		"howl": "HL", "testing": "TSTN", "The": "0", "quick": "KK", "brown": "BRN", "fox": "FKS", "jumped": "JMPT", "over": "OFR", "lazy": "LS",
		"dogs": "TKS", "COMB": "KM", "TOMB": "TM", "WOMB": "WM", "SCIENCE": "SNS", "SCENE": "SN", "SCY": "S", "WHY": "", "CIAPO": "XP",
		"SCHEDULE": "SKTL", "SCHEMATIC": "SKMT", "CHARACTER": "KRKT", "TEACH": "TX", "DODGY": "TJ", "DODGE": "TJ", "ADGIEMTI": "AJMT",
		"GHENT": "KNT", "BAUGH": "B", "GNU": "N", "SIGNED": "SNT", "PHISH": "FX", "SHOT": "XT", "ODSIAN": "OTXN", "PULSION": "PLXN",
		"OTIA": "OX", "PORTION": "PRXN", "RETCH": "RX", "WATCH": "WX", "AXEAXE": "AKSK", "x": "X", "Knuth": "N0", "aero": "ER", "Xalan": "SLN",
		"wright": "RT",
	} {
		assert.Equal(t, want, metaphone(text), text)
	}
}
