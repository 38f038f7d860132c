package textindex_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

func TestHighlights(t *testing.T) {
	for _, test := range []struct {
		name, query, text string
		limit             int
		want              []string
	}{
		{"each word separately", "divine secrets", "Divine Secrets of the Ya-Ya Sisterhood", 5, []string{"<Divine> <Secrets> of the Ya-Ya Sisterhood"}},
		{"a phrase only where it is whole", `"super bowl"`, "The super bowl is super awesome with a bowl of chips", 5, []string{"The <super> <bowl> is super awesome with a bowl of chips"}},
		{"a phrase that is near", `"super awesome"~1`, "super very awesome. super", 5, []string{"<super> very <awesome>. super"}},
		{"each place of a phrase", `"a b"`, "a b c a b", 5, []string{"<a> <b> c <a> <b>"}},
		{"prefix, pattern, expression and fuzzy word", "div* s?cr* /sis.*/ yo~1", "divine secrets of ya sisterhood", 5, []string{"<divine> <secrets> of <ya> <sisterhood>"}},
		{"nothing of a prohibited clause", "divine -secrets", "Divine secrets", 5, []string{"<Divine> secrets"}},
		{"nothing of everything", "*", "Divine", 5, nil},
		{"nothing where nothing matches", "x", "Divine", 5, nil},
		{"nothing of another field", "u:divine", "Divine", 5, nil},
		{"the field's own clause", "t:divine", "Divine", 5, []string{"<Divine>"}},
		{"sentences that match", "hotel", "A hotel. No such thing. Hotel!", 5, []string{"A <hotel>.", "<Hotel>!"}},
		{"the best sentences, in the order of the text", "hotel pool", "Hotel one. Hotel two. The hotel has a pool. A pool.", 2, []string{"The <hotel> has a <pool>.", "A <pool>."}},
		{"whole characters", "日本 é", "日本 è é", 5, []string{"<日><本> è <é>"}},
		{"boosted words", "(divine)^3", "Divine", 5, []string{"<Divine>"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fields := fieldsOf(t, []string{"t", "u"})
			x := textindex.New(textindex.Config{Fields: fields})
			x.Put(1, textindex.Document{Values: [][]string{{test.text}}})
			n, err := lucene.ParseFull(test.query, lucene.Or)
			require.NoError(t, err)
			h, err := x.Highlighter(n, textindex.Options{})
			require.NoError(t, err)
			assert.Equal(t, test.want, h.Fragments("t", []string{test.text}, test.limit, textindex.Tags{Pre: "<", Post: ">"}))
		})
	}
}

func TestHighlightsOfSynonymsStemsAndValues(t *testing.T) {
	x := small(t, "en.lucene", "luxury, fancy stay", "x")
	h, err := x.Highlighter(lucene.ParseSimple("luxury hotel", lucene.Or), textindex.Options{})
	require.NoError(t, err)
	got := h.Fragments("t", []string{"Fancy stay", "a stay", "Hotels"}, 5, textindex.Tags{Pre: "<", Post: ">"})
	assert.Equal(t, []string{"<Fancy> <stay>", "<Hotels>"}, got)
	assert.Nil(t, h.Fragments("unknown", []string{"luxury"}, 5, textindex.Tags{}))
}

func TestHighlightingAddsNothingButTags(t *testing.T) {
	x := small(t, "standard.lucene", "", "x")
	query, err := lucene.ParseFull(`a* "b a"~2 ü b`, lucene.Or)
	require.NoError(t, err)
	h, err := x.Highlighter(query, textindex.Options{})
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abü. \n日'")), 0, 30, -1).Draw(t, "text")
		for _, fragment := range h.Fragments("t", []string{text}, 100, textindex.Tags{Pre: "<", Post: ">"}) {
			plain := strings.NewReplacer("<", "", ">", "").Replace(fragment)
			require.Contains(t, text, plain)
			require.Equal(t, strings.Count(fragment, "<"), strings.Count(fragment, ">"))
			require.NotZero(t, strings.Count(fragment, "<"))
			require.NotContains(t, fragment, "<>")
		}
	})
}
