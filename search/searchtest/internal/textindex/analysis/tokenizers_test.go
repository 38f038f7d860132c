package analysis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBuiltInTokenizersHaveTheirDefaults(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ tokenizer, text, want string }{
		{"classic", "Foo b-1_c@example.com I.B.M. O'Neil AT&T 12-34/b x.org wi-fi 京都",
			"Foo@0[0-3] b-1_c@example.com@1[4-21] I.B.M.@2[22-28] O'Neil@3[29-35] AT&T@4[36-40] 12-34/b@5[41-48] x.org@6[49-54] wi@7[55-57] fi@8[58-60] 京@9[61-64] 都@10[64-67]"},
		{"edgeNGram", "abc d", "a@0[0-1] ab@1[0-2]"},
		{"keyword_v2", "New York", "New York@0[0-8]"},
		{"keyword_v2", long, long[:256] + "@0[0-256] " + long[256:] + "@1[256-300]"},
		{"letter", "R2D2's é", "R@0[0-1] D@1[2-3] s@2[5-6] é@3[7-9]"},
		{"letter", long, long[:255] + "@0[0-255] " + long[255:] + "@1[255-300]"},
		{"lowercase", "R2D É", "r@0[0-1] d@1[2-3] é@2[4-6]"},
		{"nGram", "abé", "a@0[0-1] ab@1[0-2] b@2[1-2] bé@3[1-4] é@4[2-4]"},
		{"path_hierarchy_v2", "/one/two/three", "/one@0[0-4] /one/two@0[0-8] /one/two/three@0[0-14]"},
		{"path_hierarchy_v2", "one//x/", "one@0[0-3] one/@0[0-4] one//x@0[0-6] one//x/@0[0-7]"},
		{"path_hierarchy_v2", "a/" + long, "a@0[0-1]"},
		{"pattern", "foo-bar  baz", "foo@0[0-3] bar@1[4-7] baz@2[9-12]"},
		{"standard_v2", "One's x", "One's@0[0-5] x@1[6-7]"},
		{"uax_url_email", "mail bob@example.com, see http://x.org/a?b=c. Or x.org/y and wi-fi bob@ www.example.com",
			"mail@0[0-4] bob@example.com@1[5-20] see@2[22-25] http://x.org/a?b=c@3[26-44] Or@4[46-48] x.org/y@5[49-56] and@6[57-60] wi@7[61-63] fi@8[64-66] bob@9[67-70] www.example.com@10[72-87]"},
		{"whitespace", "a-b c\u00a0d", "a-b@0[0-3] c\u00a0d@1[4-8]"},
	} {
		assert.Equal(t, c.want, showAll(chained(t, c.tokenizer).Analyze(c.text)), "%s %s", c.tokenizer, c.text)
	}
}

// Each parameter has at least one row.
func TestTokenizersObeyTheirParameters(t *testing.T) {
	for _, c := range []struct{ tokenizer, members, text, want string }{
		{"ClassicTokenizer", `"maxTokenLength":3`, "ab abcd x", "ab@0 x@2"},
		{"EdgeNGramTokenizer", `"minGram":2,"maxGram":3,"tokenChars":["letter"]`, "abcd-e1fg", "ab@0 abc@1 fg@2"},
		{"EdgeNGramTokenizer", `"minGram":1,"maxGram":1,"tokenChars":["digit","symbol"]`, "a1b+c", "1@0 +@1"},
		{"KeywordTokenizer", `"bufferSize":10`, strings.Repeat("x", 20), strings.Repeat("x", 20) + "@0"},
		{"KeywordTokenizerV2", `"maxTokenLength":3`, "abcdé", "abc@0 dé@1"},
		{"NGramTokenizer", `"minGram":2,"maxGram":2,"tokenChars":["letter","whitespace"]`, "ab c1d", "ab@0 b @1  c@2"},
		{"NGramTokenizer", `"minGram":1,"maxGram":1,"tokenChars":["punctuation"]`, "a.b!", ".@0 !@1"},
		{"PathHierarchyTokenizerV2", `"delimiter":"-","replacement":"/"`, "one-two-three", "one@0 one/two@0 one/two/three@0"},
		{"PathHierarchyTokenizerV2", `"reverse":true,"delimiter":".","replacement":"."`, "www.x.org", "www.x.org@0 x.org@0 org@0"},
		{"PathHierarchyTokenizerV2", `"reverse":true`, "/a/b/", "/a/b/@0 a/b/@0 b/@0"},
		{"PathHierarchyTokenizerV2", `"skip":1`, "a/b/c", "/b@0 /b/c@0"},
		{"PathHierarchyTokenizerV2", `"skip":1`, "/a/b/c", "/b@0 /b/c@0"},
		{"PathHierarchyTokenizerV2", `"skip":3`, "a/b", ""},
		{"PathHierarchyTokenizerV2", `"skip":1,"reverse":true`, "a/b/c", "a/b/@0 b/@0"},
		{"PathHierarchyTokenizerV2", `"skip":9,"reverse":true`, "a/b/c", ""},
		{"PathHierarchyTokenizerV2", `"maxTokenLength":3`, "a/b/c", "a@0 a/b@0"},
		{"PatternTokenizer", `"pattern":","`, "a,,b,", "a@0 b@1"},
		{"PatternTokenizer", `"pattern":"'([^']+)'","group":1`, "aaa 'bbb' 'ccc'", "bbb@0 ccc@1"},
		{"PatternTokenizer", `"pattern":"[A-Z]+","group":0`, "aB CDe", "B@0 CD@1"},
		{"PatternTokenizer", `"pattern":"x","flags":"CASE_INSENSITIVE"`, "aXbxc", "a@0 b@1 c@2"},
		{"StandardTokenizer", `"maxTokenLength":400`, strings.Repeat("x", 350), strings.Repeat("x", 350) + "@0"},
		{"StandardTokenizerV2", `"maxTokenLength":2`, "abcde a.b", "ab@0 cd@1 e@2 a@3 b@4"},
		{"StandardTokenizerV2", `"maxTokenLength":1`, "a𝒂 \U00011700\U00011701b", "a@0 𝒂@1 \U00011700@2 \U00011701@3 b@4"}, // a character is never split
		{"UaxUrlEmailTokenizer", `"maxTokenLength":8`, "a@bcd.org ab@c.de", "a@0 bcd.org@1 ab@c.de@2"},
	} {
		d, err := New(Definition{Tokenizers: one(c.tokenizer, c.members)})
		require.NoError(t, err, "%s %s", c.tokenizer, c.members)
		a, err := d.Chain("x", nil, nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, show(a.Analyze(c.text)), "%s %s %s", c.tokenizer, c.members, c.text)
	}
}

// Each parameter has at least one row.
func TestConfiguredAnalyzersObeyTheirParameters(t *testing.T) {
	for _, c := range []struct{ analyzer, members, text, want string }{
		{"PatternAnalyzer", "", "Foo-Bar", "foo@0 bar@1"},
		{"PatternAnalyzer", `"lowercase":false,"pattern":"X","flags":"CASE_INSENSITIVE|DOTALL","stopwords":["b"]`, "AxbXc", "A@0 c@2"},
		{"StandardAnalyzer", `"maxTokenLength":3,"stopwords":["the"]`, "The FOXES", "fox@1 es@2"},
		{"StandardAnalyzer", "", "The fox", "the@0 fox@1"},
		{"StopAnalyzer", "", "The fox", "fox@1"},
		{"StopAnalyzer", `"stopwords":["fox"]`, "The FOX ran", "the@0 ran@2"},
		{"CustomAnalyzer", `"tokenizer":"keyword_v2","tokenFilters":["lowercase","reverse"],"charFilters":["html_strip"]`, "A<b>B</b>", "ba@0"},
	} {
		d, err := New(Definition{Analyzers: one(c.analyzer, c.members)})
		require.NoError(t, err, "%s %s", c.analyzer, c.members)
		a, err := d.Analyzer("x")
		require.NoError(t, err)
		assert.Equal(t, c.want, show(a.Analyze(c.text)), "%s %s", c.analyzer, c.members)
	}
}

// Tokens are mapped to the text before its length changed.
func TestOffsetsLeadBackThroughCharFilters(t *testing.T) {
	for _, c := range []struct{ filter, members, text, want string }{
		{"", "", "One's <two/>", "One's@0[0-5]"},
		{"", "", "<p>a<b>c</b>d</p>e &amp; &eacute;t&#xe9; &bogus; 1 < 2 <!-- x --> z", "acd@0[3-13] e@1[17-18] &@2[19-24] été@3[25-40] &bogus;@4[41-48] 1@5[49-50] <@6[51-52] 2@7[53-54] z@8[66-67]"},
		{"", "", "a<script>if (x<y) {}</script>b <br>c", "a@0[0-1] b@1[29-30] c@2[35-36]"},
		{"", "", `<a href="x>y">l</a> <![CDATA[in]]> <?xml?>`, "l@0[14-19] in@1[20-34]"},
		{"Mapping", `"mappings":["ph=>f","qu => q","\\u00e9=>ee","- =>"]`, "ph-one qué", "fone@0[0-6] qee@1[7-11]"},
		{"Mapping", `"mappings":["a=>x","aa=>yyyy"]`, "aab a", "yyyyb@0[0-3] x@1[4-5]"},
		{"PatternReplace", `"pattern":"(\\d+)-(?=\\d)","replacement":"$1"`, "", ""},
		{"PatternReplace", `"pattern":"(\\d+)-(\\d)","replacement":"$1$2"`, "x 123-456 y", "x@0[0-1] 123456@1[2-9] y@2[10-11]"},
		{"PatternReplace", `"pattern":"@","replacement":"_"`, "someone@somewhere.something", "someone_somewhere.something@0[0-27]"},
	} {
		d := Definition{}
		name := "html_strip"
		if c.filter != "" {
			name = "x"
			d.CharFilters = one(c.filter+"CharFilter", c.members)
		}
		components, err := New(d)
		require.NoError(t, err)
		a, err := components.Chain("whitespace", nil, []string{name})
		if c.text == "" {
			assert.ErrorContains(t, err, "look-around")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.want, showAll(a.Analyze(c.text)), "%s %s", c.filter, c.text)
	}
}

// The filters' corrections apply in reverse order.
func TestOffsetsPassTwoCharFilters(t *testing.T) {
	c, err := New(Definition{CharFilters: one("MappingCharFilter", `"mappings":["b=>BBB"]`)})
	require.NoError(t, err)
	a, err := c.Chain("whitespace", nil, []string{"html_strip", "x"})
	require.NoError(t, err)
	assert.Equal(t, "aBBB@0[3-5] c@1[10-11]", showAll(a.Analyze("<i>ab <b> c")))
}

func TestUTF16CountsCodeUnits(t *testing.T) {
	text := "aé𝒂z"
	u := NewUTF16(text)
	for offset, want := range map[int]int{0: 0, 1: 1, 3: 2, 7: 4, 8: 5, 99: 5} {
		assert.Equal(t, want, u.Offset(offset), offset)
	}
	assert.Equal(t, 2, u.Offset(3), "asked for again")
	assert.Equal(t, 2, NewUTF16("abc").Offset(2))
}

// The test splits words whose bytes differ from the original, because of a char filter or an earlier token filter.
func TestPartsOfChangedWordsHaveThePlaceOfTheWord(t *testing.T) {
	c, err := New(Definition{CharFilters: one("MappingCharFilter", `"mappings":["a=>bb","cc=>d"]`)})
	require.NoError(t, err)
	a, err := c.Chain("whitespace", []string{"word_delimiter"}, []string{"x"})
	require.NoError(t, err)
	assert.Equal(t, "bb@0[0-4] d@1[0-4] x@2[5-6] y@3[7-8]", showAll(a.Analyze("a-cc x-y")), "the text keeps its length")

	assert.Equal(t, "ae@0[0-2] x@1[3-4]", showAll(chained(t, "whitespace", "asciifolding", "word_delimiter").Analyze("æ-x")))

	// A synonym with as many bytes as the original, split inside an original character.
	c, err = New(Definition{TokenFilters: one("SynonymTokenFilter", `"synonyms":["éé=>a-bc"]`)})
	require.NoError(t, err)
	a, err = c.Chain("whitespace", []string{"x", "word_delimiter"}, nil)
	require.NoError(t, err)
	assert.Equal(t, "a@0[0-0] bc@1[2-4]", showAll(a.Analyze("éé")))
}
