package textindex_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

func TestPhrasesAndPatterns(t *testing.T) {
	x := small(t, "en.lucene", "", // en.lucene stems and removes stop words
		"the luxury of a hotel", "luxury hotel", "hotel luxury", "luxury grand hotels", "wi-fi", "roach motel")
	for _, test := range []struct {
		query string
		want  []uint32
	}{
		{`"luxury hotel"`, []uint32{2}},
		{`"luxury of the hotels"`, []uint32{1}}, // removed words leave gaps
		{`"luxury hotel"~1`, []uint32{2, 4}},
		{`"luxury hotel"~2`, []uint32{1, 2, 3, 4}}, // swapping two words takes two moves
		{`"hotel"`, []uint32{1, 2, 3, 4}},
		{`"the"`, []uint32{}},
		{"the", []uint32{}},
		{"the roach", []uint32{6}},
		{"wi-fi", []uint32{5}},
		{`"hotel missing"`, []uint32{}},
		{"MOT*", []uint32{6}},
		{"m?te*", []uint32{6}},
		{"/RO.CH/", []uint32{6}},
		{"reach~1", []uint32{6}},
		{"raoch~1", []uint32{6}}, // two swapped neighbours are one edit
		{"-roach", []uint32{}},
		{"motel -roach", []uint32{}},
		{"* -roach", []uint32{1, 2, 3, 4, 5}},
		{"+hotel grand", []uint32{1, 2, 3, 4}},
		{"t:roach", []uint32{6}},
	} {
		assert.Equal(t, test.want, found(t, x, test.query, lucene.Or), test.query)
	}
	assert.Equal(t, []uint32{6}, found(t, x, "the roach", lucene.And), "a word that is removed asks for nothing")
	assert.Equal(t, []uint32{}, found(t, x, "wi-hotel", lucene.And), "terms made of one word are joined like words")
	assert.Equal(t, []uint32{1, 2, 3, 4, 5}, found(t, x, "wi-hotel", lucene.Or))
}

func TestPhrasesDoNotRunFromValueToValue(t *testing.T) {
	x := textindex.New(textindex.Config{Fields: fieldsOf(t, []string{"tags"})})
	x.Put(1, textindex.Document{Values: [][]string{{"air conditioning", "pool view"}}})
	for query, want := range map[string]int{`"conditioning pool"`: 0, `"conditioning pool"~99`: 0, `"conditioning pool"~100`: 1, `"pool view"`: 1} {
		assert.Len(t, found(t, x, query, lucene.Or), want, query)
	}
}

func TestFieldsAndWeights(t *testing.T) {
	x := textindex.New(textindex.Config{Fields: fieldsOf(t, []string{"a", "b/c"})})
	x.Put(1, textindex.Document{Values: [][]string{{"x"}, {"y"}}})
	x.Put(2, textindex.Document{Values: [][]string{{"y"}, {"x"}}})
	score := func(query string, o textindex.Options, id uint32) float32 {
		n, err := lucene.ParseFull(query, o.Operator)
		require.NoError(t, err)
		m, err := x.Search(n, o)
		require.NoError(t, err)
		s, _ := m.Score(id)
		return s
	}
	both := score("x", textindex.Options{}, 1)
	assert.Positive(t, both)
	assert.Zero(t, score("x", textindex.Options{Fields: []string{"a"}}, 2))
	assert.Equal(t, both, score("b/c:x", textindex.Options{Fields: []string{"a"}}, 2), "a clause's own field counts")
	assert.InEpsilon(t, 3*both, score("x", textindex.Options{Weights: map[string]float64{"b/c": 3}}, 2), 1e-6)
	assert.InEpsilon(t, both, score("x", textindex.Options{Weights: map[string]float64{"b/c": 3}}, 1), 1e-6)
	assert.InEpsilon(t, 2*both, score("x^2", textindex.Options{}, 1), 1e-6)
	assert.InEpsilon(t, 4*both, score("(x^2)^2", textindex.Options{}, 1), 1e-6)
	assert.InDelta(t, 2, score("x*^2", textindex.Options{Fields: []string{"a"}}, 1), 1e-6)
	// Both words are required, each in any field.
	assert.Positive(t, score("x y", textindex.Options{Operator: lucene.And}, 1))
	assert.True(t, x.Has("b/c"))
	assert.False(t, x.Has("c"))
}

func TestUnknownFieldsAreRefused(t *testing.T) {
	x := small(t, "standard.lucene", "", "a")
	for _, test := range []struct {
		node   lucene.Node
		fields []string
	}{
		{lucene.Term{Field: "u", Text: "a"}, nil},
		{lucene.Boolean{Clauses: []lucene.Clause{{Node: lucene.Prefix{Field: "u", Text: "a"}}}}, nil},
		{lucene.Boost{Node: lucene.Wildcard{Field: "u", Pattern: "*"}, Factor: 2}, nil},
		{lucene.Term{Text: "a"}, []string{"u"}},
	} {
		var unknown *textindex.UnknownFieldError
		_, err := x.Search(test.node, textindex.Options{Fields: test.fields})
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, "u", unknown.Path)
		_, err = x.Highlighter(test.node, textindex.Options{Fields: test.fields})
		require.ErrorAs(t, err, &unknown)
	}
	s := textindex.NewSuggester([]string{"t"}, analyzer(t, "standard.lucene"))
	var unknown *textindex.UnknownFieldError
	_, err := s.Suggest(textindex.TypedText{Text: "a", Fields: []string{"u"}})
	require.ErrorAs(t, err, &unknown)
	_, err = s.Autocomplete(textindex.TypedText{Text: "a", Fields: []string{"u"}}, textindex.OneTerm, textindex.Tags{})
	require.ErrorAs(t, err, &unknown)
}

func TestLimitsAreRefused(t *testing.T) {
	x := small(t, "standard.lucene", "", "a")
	_, err := x.Search(lucene.ParseSimple(strings.Repeat("a ", 3000), lucene.Or), textindex.Options{})
	require.NoError(t, err)
	var limit *textindex.LimitError
	_, err = x.Search(lucene.ParseSimple(strings.Repeat("a ", 3001), lucene.Or), textindex.Options{})
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, 3000, limit.Limit)
	_, err = x.Search(lucene.ParseSimple(strings.Repeat("a|b+", 50_000), lucene.Or), textindex.Options{})
	require.ErrorAs(t, err, &limit, "deep queries are refused before recursion")
	_, err = x.Highlighter(lucene.ParseSimple(strings.Repeat("a|b+", 50_000), lucene.Or), textindex.Options{})
	require.ErrorAs(t, err, &limit)
	long := strings.Repeat("a", 1001)
	for _, n := range []lucene.Node{lucene.Regexp{Pattern: "(a"}, lucene.Regexp{Pattern: long}, lucene.Prefix{Text: long}, lucene.Wildcard{Pattern: long + "?"}} {
		var pattern *textindex.PatternError
		_, err = x.Search(n, textindex.Options{})
		require.ErrorAs(t, err, &pattern)
		_, err = x.Highlighter(n, textindex.Options{})
		require.ErrorAs(t, err, &pattern)
	}
	_, err = x.Search(lucene.Prefix{Text: long[:1000]}, textindex.Options{})
	require.NoError(t, err)
}

func TestIdsMustGrow(t *testing.T) {
	x := small(t, "standard.lucene", "", "a", "b")
	assert.Panics(t, func() { x.Put(2, textindex.Document{Values: [][]string{{"c"}}}) })
}

func TestFieldsMayBeAddedAndChanged(t *testing.T) {
	x := textindex.New(textindex.Config{Fields: fieldsOf(t, []string{"a"})})
	x.Put(1, textindex.Document{Values: [][]string{{"Luxury"}}})
	x.SetFields(fieldsOf(t, []string{"a:keyword", "b"}))
	x.Put(2, textindex.Document{Values: [][]string{{"luxury"}, {"fancy"}}})
	assert.Equal(t, []uint32{2}, found(t, x, "fancy", lucene.Or))
	assert.Equal(t, []uint32{}, found(t, x, "Luxury", lucene.Or), "queries are analyzed with the field's current analyzer")
	assert.Equal(t, []uint32{1, 2}, found(t, x, "luxury", lucene.Or))
	require.True(t, x.Delete(1))
	assert.Equal(t, []uint32{2}, found(t, x, "luxury", lucene.Or))
}

// Readers enumerate the terms for the first time concurrently; the first of them sorts the terms.
func TestReadersConcurrentSafe(t *testing.T) {
	x, _ := hotelIndex(t, "HotelsDataArray.json", hotelFields, nil)
	s, _ := suggester(t, "HotelsDataArray.json", "Description", "HotelName")
	n := lucene.ParseSimple("lux* hotel", lucene.Or)
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			m, err := x.Search(n, textindex.Options{})
			assert.NoError(t, err)
			assert.Len(t, m.Top(50), 7)
			h, err := x.Highlighter(n, textindex.Options{})
			assert.NoError(t, err)
			assert.Equal(t, []string{"<Luxury>"}, h.Fragments("Category", []string{"Luxury"}, 5, textindex.Tags{Pre: "<", Post: ">"}))
			_, err = s.Suggest(textindex.TypedText{Text: "ho", Fuzzy: true})
			assert.NoError(t, err)
			_, err = s.Autocomplete(textindex.TypedText{Text: "ho"}, textindex.TwoTerms, textindex.Tags{})
			assert.NoError(t, err)
		})
	}
	readers.Wait()
}
