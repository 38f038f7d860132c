package textindex_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// small is an index of one field t with documents 1, 2, …
func small(t testing.TB, analyzer string, synonyms string, documents ...string) *textindex.Index {
	s, err := textindex.ParseSynonyms(synonyms)
	require.NoError(t, err)
	fields := fieldsOf(t, []string{"t:" + analyzer})
	fields[0].Synonyms = s
	x := textindex.New(textindex.Config{Fields: fields})
	for i, text := range documents {
		x.Put(uint32(i+1), textindex.Document{Values: [][]string{{text}}})
	}
	return x
}

// found returns the ids that a query of the full syntax finds, in order.
func found(t testing.TB, x *textindex.Index, query string, op lucene.Operator) []uint32 {
	n, err := lucene.ParseFull(query, op)
	require.NoError(t, err)
	m, err := x.Search(n, textindex.Options{Operator: op})
	require.NoError(t, err)
	out := []uint32{}
	for id := range m.All() {
		out = append(out, id)
	}
	return out
}

func TestSynonymsWidenQueries(t *testing.T) {
	const rules = `
# comments are skipped
dog, puppy, canine
Washington, Wash., WA => WA
USA, United States, United States of America
a\,b, comma
wild\=>west, arrow
tiny => small, little bit
tiny => wee
`
	x := small(t, "standard.lucene", rules,
		"a dog", "a puppy", "wa", "washington", "usa", "the united states", "united states of america", "states united",
		"small", "little bit", "bit little", "wee", "tiny", "a b", "dogs")
	for _, test := range []struct {
		query string
		want  []uint32
	}{
		{"puppy", []uint32{1, 2}},
		{"PUPPY", []uint32{1, 2}},
		{"washington", []uint32{3}},
		{"wa", []uint32{3}},
		{"usa", []uint32{5, 6, 7}},
		{`"united states"`, []uint32{5, 6, 7}},
		{`"united states of america"`, []uint32{5, 6, 7}},
		{"united", []uint32{6, 7, 8}}, // one word alone is not the phrase
		{`"the usa"`, []uint32{6}},
		{"tiny", []uint32{9, 10, 12}},
		{"comma", []uint32{14}},
		{"pup*", []uint32{2}},
		{"puppy~1", []uint32{2}},
	} {
		assert.Equal(t, test.want, found(t, x, test.query, lucene.Or), test.query)
	}
}

func TestSynonymsSayWhichLineIsWrong(t *testing.T) {
	for _, test := range []struct {
		text string
		line int
		want string
	}{
		{"a => b => c", 1, "Syntax error in line 1: 'a => b => c'. Only one explicit mapping (=>) can be specified in a synonym rule."},
		{"a,b\n\n# c\n => d", 4, "Syntax error in line 4: '=> d'. A synonym rule needs at least one term on each side."},
		{"a =>", 1, "Syntax error in line 1: 'a =>'. A synonym rule needs at least one term on each side."},
		{strings.Repeat("a,", 21), 1, "Syntax error in line 1: '" + strings.Repeat("a,", 21) + "'. A synonym rule can have at most 20 terms."},
	} {
		_, err := textindex.ParseSynonyms(test.text)
		var syntax *textindex.SynonymError
		if assert.ErrorAs(t, err, &syntax) {
			assert.Equal(t, test.line, syntax.Line)
			assert.EqualError(t, err, test.want)
		}
	}
	s, err := textindex.ParseSynonyms("a,b\n , ,\nc=>d", "e,f")
	require.NoError(t, err)
	assert.Equal(t, 3, s.Len())
	assert.Zero(t, (*textindex.Synonyms)(nil).Len())
}

func TestTooManySynonymsInAPhraseAreRefused(t *testing.T) {
	x := small(t, "standard.lucene", "a, b, c, d, e", "a b")
	n, err := lucene.ParseFull(`"a a a a a a"`, lucene.Or)
	require.NoError(t, err)
	_, err = x.Search(n, textindex.Options{})
	var limit *textindex.LimitError
	require.ErrorAs(t, err, &limit)
	_, err = x.Highlighter(n, textindex.Options{})
	require.ErrorAs(t, err, &limit)
}

func TestRuleThatAnalysisLeavesNothingOfIsLeftOut(t *testing.T) {
	x := small(t, "standard.lucene", "a0, b => !\nc, ! => d", "a0", "b", "d")
	for query, want := range map[string][]uint32{"a0": {1}, "a0 b": {1, 2}, "c": {3}, `"a0"`: {1}} {
		assert.ElementsMatch(t, want, found(t, x, query, lucene.Or), query)
	}
}

func FuzzParseSynonyms(f *testing.F) {
	for _, seed := range []string{"a,b,c", "a => b", "a => b => c", `a\,b, c`, "# x\n\n=>", `\`, "000,A0=>!"} {
		f.Add(seed)
	}
	a := analyzer(f, "standard.lucene")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := textindex.ParseSynonyms(text)
		if err != nil {
			var syntax *textindex.SynonymError
			require.ErrorAs(t, err, &syntax)
			require.Positive(t, syntax.Line)
			return
		}
		x := textindex.New(textindex.Config{Fields: []textindex.Field{{Path: "t", Index: a, Search: a, Synonyms: s}}})
		x.Put(1, textindex.Document{Values: [][]string{{text}}})
		for _, query := range []lucene.Node{lucene.Term{Text: text}, lucene.Phrase{Text: text}} {
			if _, err := x.Search(query, textindex.Options{}); err != nil {
				var limit *textindex.LimitError
				require.ErrorAs(t, err, &limit)
			}
		}
	})
}
