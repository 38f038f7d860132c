package textindex_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

func newTestSuggester(t *testing.T) *textindex.Suggester {
	s := textindex.NewSuggester([]string{"title", "tags"}, analyzer(t, "standard.lucene"))
	s.Put(1, [][]string{{"The quick brown fox"}, {"red fur", "long tail"}})
	s.Put(2, [][]string{{"Quick bread"}, {"food"}})
	s.Put(3, [][]string{{"Brown quilt"}, nil})
	return s
}

func TestSuggestNeedsAllWordsInOneValue(t *testing.T) {
	s := newTestSuggester(t)
	for _, test := range []struct {
		text  string
		fuzzy bool
		want  []uint32
	}{
		{"", false, nil},
		{"qui", false, []uint32{2, 3, 1}}, // shorter texts rank higher
		{"quick br", false, []uint32{2, 1}},
		{"QUICK BR", false, []uint32{2, 1}},
		{"qui br", false, nil}, // only the last word may be incomplete
		{"red fur", false, []uint32{1}},
		{"red tail", false, nil}, // in two values
		{"ick", false, nil},
		{"quick bx", true, []uint32{2, 1}},
		{"quack bx", true, nil}, // two words differ
		{"qucik", true, []uint32{2, 1}},
	} {
		found, err := s.Suggest(textindex.TypedText{Text: test.text, Fuzzy: test.fuzzy})
		require.NoError(t, err)
		var got []uint32
		for _, suggestion := range found.List {
			got = append(got, suggestion.ID)
		}
		assert.Equal(t, test.want, got, "%q", test.text)
	}
	found, err := s.Suggest(textindex.TypedText{Text: "long"})
	require.NoError(t, err)
	require.Len(t, found.List, 1)
	assert.Equal(t, "tags", found.List[0].Path)
	assert.Equal(t, 1, found.List[0].Value)
	assert.Equal(t, "a [long] [longer] way", found.Mark("a long longer way", textindex.Tags{Pre: "[", Post: "]"}))
	assert.Equal(t, 3, s.Len())
}

func TestAutocompleteModes(t *testing.T) {
	s := newTestSuggester(t)
	for _, test := range []struct {
		text  string
		mode  textindex.AutocompleteMode
		fuzzy bool
		want  []string
	}{
		{"", textindex.OneTerm, false, []string{}},
		{"br", textindex.OneTerm, false, []string{"bread", "brown"}},
		{"no such br", textindex.OneTerm, false, []string{"bread", "brown"}},
		{"br", textindex.TwoTerms, false, []string{"bread", "brown fox", "brown quilt"}},
		{"fu", textindex.TwoTerms, false, []string{"fur"}}, // the next value does not follow it
		{"br", textindex.OneTermWithContext, false, []string{}},
		{"quick br", textindex.OneTermWithContext, false, []string{"quick bread", "quick brown"}},
		{"the Quick b", textindex.OneTermWithContext, false, []string{"quick bread", "quick brown"}},
		{"quick qu", textindex.OneTermWithContext, false, []string{}},
		{"quack br", textindex.OneTermWithContext, true, []string{"quick bread", "quick brown"}},
		{"quack bx", textindex.OneTermWithContext, true, []string{}},
		{"brx", textindex.OneTerm, true, []string{"bread", "brown"}},
		{"thx", textindex.OneTerm, true, []string{}}, // fuzzy completion returns no common words
		{"the", textindex.OneTerm, true, []string{"the"}},
	} {
		completions, err := s.Autocomplete(textindex.TypedText{Text: test.text, Fuzzy: test.fuzzy}, test.mode, textindex.Tags{})
		require.NoError(t, err)
		got := []string{}
		for _, c := range completions {
			got = append(got, c.Text)
		}
		assert.Equal(t, test.want, got, "%q", test.text)
	}
	completions, err := s.Autocomplete(textindex.TypedText{Text: "see the Quick bre"}, textindex.OneTermWithContext, textindex.Tags{Pre: "<", Post: ">"})
	require.NoError(t, err)
	assert.Equal(t, []textindex.Completion{{Text: "quick bread", QueryPlusText: "see the <quick bread>"}}, completions)
}

func TestCompletionsComeFromDocumentsThatLiveAndAreAllowed(t *testing.T) {
	s := newTestSuggester(t)
	only := new(textindex.IDs)
	only.Add(3)
	for _, mode := range []textindex.AutocompleteMode{textindex.OneTerm, textindex.TwoTerms} {
		completions, err := s.Autocomplete(textindex.TypedText{Text: "qui", Filter: only}, mode, textindex.Tags{})
		require.NoError(t, err)
		assert.Equal(t, []textindex.Completion{{Text: "quilt", QueryPlusText: "quilt"}}, completions)
	}
	require.True(t, s.Delete(3))
	for _, mode := range []textindex.AutocompleteMode{textindex.OneTerm, textindex.TwoTerms} {
		completions, err := s.Autocomplete(textindex.TypedText{Text: "quil"}, mode, textindex.Tags{})
		require.NoError(t, err)
		assert.Empty(t, completions)
	}
}
