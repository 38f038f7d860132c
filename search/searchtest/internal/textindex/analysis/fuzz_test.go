package analysis

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/blevesearch/segment"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// everything has one analyzer of each kind: the service's own, and chains of each tokenizer and filter behind a char
// filter.
func everything(t testing.TB) map[string]Analyzer {
	all := map[string]Analyzer{}
	for _, name := range Analyzers() {
		all[name] = analyzer(t, name)
	}
	for name, spec := range builtInTokenizers {
		if _, err := spec.tokenizer(); err == nil {
			all["tokenizer "+name] = chained(t, name)
		}
	}
	c, err := New(Definition{
		CharFilters: one("MappingCharFilter", `"mappings":["a=>","b=>éé","é=>e","c =>ddd"]`),
		TokenFilters: one("SynonymTokenFilter",
			`"synonyms":["a b, c","x=>y z","the quick => fast"]`),
	})
	require.NoError(t, err)
	for _, filter := range append(names(builtInFilters), "x") {
		for _, tokenizer := range []string{"standard_v2", "whitespace", "classic"} {
			if a, err := c.Chain(tokenizer, []string{"stopwords", filter}, []string{"html_strip", "x"}); err == nil {
				all["filter "+filter+" "+tokenizer] = a
			}
		}
	}
	for i, members := range []string{
		`"catenateAll":true,"preserveOriginal":true`, `"catenateWords":true,"catenateNumbers":true`,
		`"catenateWords":true,"generateWordParts":false,"preserveOriginal":true`, `"generateNumberParts":false,"splitOnCaseChange":false`,
	} {
		all["word delimiter "+string(rune('0'+i))] = with(t, "whitespace", "WordDelimiterTokenFilter", members)
	}
	return all
}

// check checks the properties that every analyzer has for every text.
func check(t assertT, name, text string, tokens []Token) {
	position, start, valid := 0, 0, utf8.ValidString(text)
	for i, token := range tokens {
		if token.Start < 0 || token.Start > token.End || token.End > len(text) {
			t.Fatalf("%s: token %d of %q is %+v: offsets outside of the text", name, i, text, token)
		}
		if token.Position < position {
			t.Fatalf("%s: token %d of %q is %+v: before position %d", name, i, text, token, position)
		}
		if token.Start < start && !overlapping(name) {
			t.Fatalf("%s: token %d of %q is %+v: starts before %d", name, i, text, token, start)
		}
		if valid {
			if !onBoundary(text, token.Start) || !onBoundary(text, token.End) {
				t.Fatalf("%s: token %d of %q is %+v: inside of a character", name, i, text, token)
			}
			if !utf8.ValidString(token.Text) {
				t.Fatalf("%s: token %d of %q is %+v: not UTF-8", name, i, text, token)
			}
		}
		position, start = token.Position, token.Start
	}
}

type assertT interface {
	Fatalf(format string, args ...any)
}

// overlapping reports whether an analyzer's tokens can start before the end of the previous token, as with synonyms
// of several words.
func overlapping(name string) bool { return strings.HasPrefix(name, "filter x ") }

func onBoundary(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

func FuzzAnalyze(f *testing.F) {
	for _, seed := range []string{
		"", "The quick brown fox's 3.14 wi-fi PowerShot500", "<p>a<b>c &amp; &#x1F600;</p><script>x", "a b c x the quick", "東京都カタカナﾞ한국어ภาษา",
		"l'été m'appelle nAthair I\u0307STANBUL", "a\u0301\u200d\u200cb\xff\xfe", "\u0640\u0651كتاب हिन्दी", "'s--'S--a's", "bob@example.com http://x.org/a?b",
	} {
		f.Add(seed)
	}
	all := everything(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		for name, a := range all {
			check(t, name, text, a.Analyze(text))
		}
	})
}

// No definition causes a panic when it is read or used.
func FuzzDefinition(f *testing.F) {
	f.Add("WordDelimiterTokenFilter", `"catenateAll":true`, "Wi-Fi")
	f.Add("PatternReplaceTokenFilter", `"pattern":"(a)\\b","replacement":"${1}$1"`, "ab")
	f.Add("ShingleTokenFilter", `"maxShingleSize":4`, "a the b")
	f.Add("SynonymTokenFilter", `"synonyms":["a b=>c"]`, "a b")
	f.Add("DictionaryDecompounderTokenFilter", `"wordList":["a"],"minSubwordSize":1`, "aaaaaa")
	f.Add("PathHierarchyTokenizerV2", `"skip":1,"reverse":true`, "a/b")
	f.Add("PatternTokenizer", `"pattern":"\\p{Alpha}","group":0`, "a/b")
	f.Add("MappingCharFilter", `"mappings":["a=>bc"]`, "a/b")
	f.Add("PatternAnalyzer", `"pattern":"[^a-z]","flags":"COMMENTS|LITERAL"`, "a/b")
	f.Fuzz(func(t *testing.T, typeName, members, text string) {
		component := one(typeName, members)
		if !json.Valid(component[0]) || len(text) > 500 || len(members) > 300 {
			return
		}
		for _, d := range []Definition{{Analyzers: component}, {Tokenizers: component}, {TokenFilters: component}, {CharFilters: component}, {Normalizers: component}} {
			c, err := New(d)
			if err != nil {
				continue
			}
			name := "x"
			if a, err := c.Analyzer(name); err == nil {
				a.Analyze(text)
			}
			if n, err := c.Normalizer(name); err == nil {
				n.Normalize(text)
			}
			if a, err := c.Chain(name, nil, nil); err == nil {
				a.Analyze(text)
			}
			if a, err := c.Chain("whitespace", []string{name}, nil); err == nil {
				a.Analyze(text)
			}
			if a, err := c.Chain("whitespace", nil, []string{name}); err == nil {
				a.Analyze(text)
			}
		}
	})
}

func FuzzJavaRegexp(f *testing.F) {
	for _, seed := range []string{`a+`, `\Qa\E`, `[^\]a-z\s]`, `(?<n>a)|(?i:b)`, `\p{Alpha}\u0041\012`, `a{1,2}?`, `\`, `[`, `(?`} {
		f.Add(seed, "COMMENTS", "text")
	}
	f.Fuzz(func(t *testing.T, pattern, flags, text string) {
		if re, err := javaRegexp(pattern, flags); err == nil {
			re.MatchString(text)
		}
	})
}

// The test compares with blevesearch/segment, an implementation of the annex with Lucene's grammar, for scripts where
// Lucene follows the annex.
func TestWordsAreThoseOfTheAnnex(t *testing.T) {
	alphabet := []rune("abZé1٣27 _.,:;'\"-\u2019/\t\n\u0301\u00ad\u200dא漢カひб$😀٫\u00b7")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 30, -1).Draw(t, "text")
		var want []string
		s := segment.NewWordSegmenterDirect([]byte(text))
		for s.Segment() {
			if s.Type() != segment.None && strings.Trim(s.Text(), "_\u0301\u00ad\u200d") != "" { // Lucene drops bare underscores
				want = append(want, s.Text())
			}
		}
		var got []string
		for _, token := range (standardTokenizer{1 << 20}).tokenize(nil, text) {
			got = append(got, token.text)
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%q: the annex has %q, the tokenizer %q", text, want, got)
		}
	})
}

// The test compares the offsets of a char filter with a walk over its replacements.
func TestEditsLeadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abcé ]{0,20}`).Draw(t, "text")
		f, err := (&mappingCharFilter{Mappings: []string{"a=>", "b=>xyz", "cc=>c"}}).charFilter()
		if err != nil {
			t.Fatalf("%v", err)
		}
		out, e := f.apply(text)
		// Unchanged text must keep its position.
		for i := 0; i < len(out); i++ {
			if out[i] == ' ' || out[i] >= 0x80 {
				if at := e.original(i); at >= len(text) || text[at] != out[i] {
					t.Fatalf("%q -> %q: offset %d leads to %d", text, out, i, at)
				}
			}
		}
		if e.original(len(out)) != len(text) {
			t.Fatalf("%q -> %q: the end leads to %d", text, out, e.original(len(out)))
		}
	})
}

// Long texts exceed the memory that chains keep between calls.
func TestLongTextsAreAnalyzed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range 4_000 {
		b.WriteString([]string{"a", "b c", " ", "-", "'s", "<b>", "the ", ".", "é"}[random.IntN(9)])
	}
	text := b.String()
	for name, a := range everything(t) {
		check(t, name, text, a.Analyze(text))
	}
}
