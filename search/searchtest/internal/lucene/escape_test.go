package lucene_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
)

// Both syntaxes read text that the client escaped as it was typed.
func TestEscapedTextIsWordsAndNothingElse(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{" ", "\t", "\n", "AND", "OR", "NOT", "ANDY", "to", "TO", "u0041", "&&", "||", "é", "日本", "\u3000"}),
		rapid.StringOfN(rapid.RuneFrom([]rune("ab1+-&|!(){}[]^\"~*?:\\/'<>=.,;@#$%_`")), 1, 3, -1),
	)
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(rt, "pieces"), "")
		escaped := search.EscapeText(text)
		simple := words(rt, lucene.ParseSimple(escaped, lucene.And))
		require.Equal(rt, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }), simple, escaped)
		full, err := lucene.ParseFull(escaped, lucene.And)
		if strings.Trim(text, " \t\r\n\u3000") == "" {
			return
		}
		require.NoError(rt, err, escaped)
		require.Equal(rt, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\u3000", r) }), words(rt, full), escaped)
	})
}

// words are the texts of a node that is nothing but words, all of which must be
// there.
func words(t *rapid.T, n lucene.Node) []string {
	switch n := n.(type) {
	case lucene.Term:
		require.Empty(t, n.Field)
		return []string{n.Text}
	case lucene.Boolean:
		all := []string{}
		for _, clause := range n.Clauses {
			require.Equal(t, lucene.Must, clause.Occur)
			all = append(all, words(t, clause.Node)...)
		}
		return all
	}
	t.Fatalf("%T is not a word", n)
	return nil
}
