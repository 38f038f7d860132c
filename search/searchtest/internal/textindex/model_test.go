package textindex_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// model evaluates queries document by document, slowly and simply.
type model struct {
	fields    []string
	documents map[uint32][]([][]string) // words of each value of each field, by id
	nested    map[uint32]int            // objects that count as documents, by id
}

// rows is the number of documents for scoring.
func (m *model) rows() float64 {
	n := len(m.documents)
	for id := range m.documents {
		n += m.nested[id]
	}
	return float64(n)
}

// words returns the words of a field by position.
func (m *model) words(id uint32, field int) map[int]string {
	at, words := 0, make(map[int]string)
	for _, value := range m.documents[id][field] {
		for _, w := range value {
			words[at] = w
			at++
		}
		at += 100
	}
	return words
}

func (m *model) score(id uint32, field int, term string) float64 {
	df, total, f := 0.0, 0.0, 0.0
	for other := range m.documents {
		n := 0.0
		for _, w := range m.words(other, field) {
			total++
			if w == term {
				n++
			}
		}
		if n > 0 {
			df++
		}
		if other == id {
			f = n
		}
	}
	if f == 0 {
		return 0
	}
	idf := math.Log(1 + (m.rows()-df+0.5)/(df+0.5))
	length := rounded(len(m.words(id, field)))
	return idf * f * 2.2 / (f + 1.2*(0.25+0.75*length/(total/m.rows())))
}

// rounded is the length as stored in one byte: the mantissa of 1/sqrt(n) has three bits, the first of which is always
// set.
func rounded(n int) float64 {
	f, e := math.Frexp(1 / math.Sqrt(float64(n)))
	f = math.Ldexp(math.Floor(f*8)/8, e)
	return 1 / (f * f)
}

func (m *model) phrase(id uint32, field int, terms []string, slop int) bool {
	words := m.words(id, field)
	var place func(i int, low, high int, used []int) bool
	place = func(i int, low, high int, used []int) bool {
		if i == len(terms) {
			return true
		}
		for at, w := range words {
			if w != terms[i] || slices.Contains(used, at) {
				continue
			}
			l, h := min(low, at-i), max(high, at-i)
			if i == 0 {
				l, h = at, at
			}
			if h-l <= slop && place(i+1, l, h, append(used[:len(used):len(used)], at)) {
				return true
			}
		}
		return false
	}
	return place(0, 0, 0, nil)
}

// eval returns whether a document matches, and its score; scored is false if the model cannot compute the score.
func (m *model) eval(n lucene.Node, id uint32) (match bool, score float64, scored bool) {
	switch n := n.(type) {
	case lucene.MatchAll:
		return true, 1, true
	case lucene.Boost:
		match, score, scored = m.eval(n.Node, id)
		return match, score * n.Factor, scored
	case lucene.Boolean:
		return m.boolean(n, id)
	}
	scored = true
	for i, field := range m.fields {
		s := 0.0
		switch n := n.(type) {
		case lucene.Term:
			if n.Field == "" || n.Field == field {
				s = m.score(id, i, n.Text)
			}
		case lucene.Prefix:
			for _, w := range m.words(id, i) {
				if strings.HasPrefix(w, n.Text) {
					s = 1
				}
			}
		case lucene.Phrase:
			if m.phrase(id, i, strings.Fields(n.Text), n.Slop) {
				scored, match = false, true
			}
		}
		match = match || s > 0
		score += s
	}
	return match, score, scored
}

func (m *model) boolean(n lucene.Boolean, id uint32) (bool, float64, bool) {
	sum, any, needed, scored := 0.0, false, false, true
	for _, c := range n.Clauses {
		match, score, known := m.eval(c.Node, id)
		switch {
		case c.Occur == lucene.MustNot && match, c.Occur == lucene.Must && !match:
			return false, 0, true
		case c.Occur == lucene.MustNot:
			continue
		case match:
			sum += score
			scored = scored && known
			any = true
		}
		needed = needed || c.Occur == lucene.Must
	}
	return any || needed, sum, scored
}

func drawWords(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "b", "c", "d"}), 0, 6).Draw(t, "words")
}

func drawQuery(t *rapid.T, depth int) lucene.Node {
	word := rapid.SampledFrom([]string{"a", "ab", "b", "c", "d", "x"})
	kinds := 4
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return lucene.Term{Field: rapid.SampledFrom([]string{"f", "g"}).Draw(t, "field"), Text: word.Draw(t, "word")}
	case 1:
		return lucene.Prefix{Text: word.Draw(t, "word")}
	case 2:
		terms := rapid.SliceOfN(word, 2, 3).Draw(t, "terms")
		return lucene.Phrase{Text: strings.Join(terms, " "), Slop: rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "slop")}
	case 3:
		return lucene.MatchAll{}
	case 5:
		return lucene.Boost{Node: drawQuery(t, depth-1), Factor: 2}
	case 6, 7:
		var b lucene.Boolean
		for range rapid.IntRange(1, 4).Draw(t, "clauses") {
			b.Clauses = append(b.Clauses, lucene.Clause{
				Occur: rapid.SampledFrom([]lucene.Occur{lucene.Should, lucene.Must, lucene.MustNot}).Draw(t, "occur"),
				Node:  drawQuery(t, depth-1),
			})
		}
		return b
	}
	return lucene.Term{Text: word.Draw(t, "word")}
}

func TestSearchAgreesWithTheModel(t *testing.T) {
	fields := fieldsOf(t, []string{"f:whitespace", "g:whitespace"})
	rapid.Check(t, func(t *rapid.T) {
		x := textindex.New(textindex.Config{Fields: fields})
		m := &model{fields: []string{"f", "g"}, documents: make(map[uint32][][][]string), nested: make(map[uint32]int)}
		nested := rapid.Bool().Draw(t, "nested objects count")
		id := uint32(0)
		for range rapid.IntRange(0, 12).Draw(t, "writes") {
			if len(m.documents) > 0 && rapid.IntRange(0, 3).Draw(t, "write") == 0 {
				gone := rapid.Uint32Range(1, id).Draw(t, "delete")
				_, want := m.documents[gone]
				require.Equal(t, want, x.Delete(gone))
				delete(m.documents, gone)
				continue
			}
			id += rapid.Uint32Range(1, 3).Draw(t, "step")
			document := make([][][]string, 2)
			values := make([][]string, 2)
			for f := range document {
				for range rapid.IntRange(0, 2).Draw(t, "values") {
					words := drawWords(t)
					document[f] = append(document[f], words)
					values[f] = append(values[f], strings.Join(words, " "))
				}
			}
			m.documents[id] = document
			objects := rapid.IntRange(0, 2).Draw(t, "nested")
			if nested {
				m.nested[id] = objects
			}
			x.Put(id, textindex.Document{Values: values, Nested: objects})
		}
		require.Equal(t, len(m.documents), x.Len())

		var filter *textindex.IDs
		if rapid.Bool().Draw(t, "filtered") {
			filter = new(textindex.IDs)
			for id := range m.documents {
				if rapid.Bool().Draw(t, "allowed") {
					filter.Add(id)
				}
			}
		}
		n := drawQuery(t, 3)
		found, err := x.Search(n, textindex.Options{Filter: filter, Nested: nested})
		require.NoError(t, err)
		count := 0
		for id := range m.documents {
			match, score, scored := m.eval(n, id)
			got, ok := found.Score(id)
			match = match && filter.Has(id)
			require.Equal(t, match, ok, "document %d, query %s", id, lucene.Format(n))
			if match {
				count++
				if scored {
					require.InDelta(t, score, got, 1e-4, "document %d, query %s", id, lucene.Format(n))
				}
			}
		}
		require.Equal(t, count, found.Len())
		require.Equal(t, count, found.IDs().Len())
		checkTop(t, found)
	})
}

// checkTop compares the best hits with all hits, sorted.
func checkTop(t *rapid.T, found *textindex.Matches) {
	var all []textindex.Hit
	for id, score := range found.All() {
		all = append(all, textindex.Hit{ID: id, Score: score})
	}
	slices.SortStableFunc(all, func(a, b textindex.Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	for _, k := range []int{0, 1, 3, 100} {
		require.Equal(t, append([]textindex.Hit{}, all[:min(k, len(all))]...), append([]textindex.Hit{}, found.Top(k)...))
	}
}

// The test deletes enough documents to compact the index several times.
func TestDeletedDocumentsLeaveNoTrace(t *testing.T) {
	fields := fieldsOf(t, hotelFields)
	hotels := readHotels(t, "HotelsDataArray.json")
	document := func(h hotel) textindex.Document {
		d := textindex.Document{Nested: nestedIn(h)}
		for _, f := range fields {
			d.Values = append(d.Values, texts(h, f.Path))
		}
		return d
	}
	x := textindex.New(textindex.Config{Fields: fields})
	suggestions := textindex.NewSuggester([]string{"Description", "Tags"}, analyzer(t, "standard.lucene"))
	fresh := textindex.New(textindex.Config{Fields: fields})
	freshSuggestions := textindex.NewSuggester([]string{"Description", "Tags"}, analyzer(t, "standard.lucene"))
	const rounds = 40
	last := make(map[int]uint32)
	id := uint32(0)
	for round := range rounds {
		for i, h := range hotels {
			id++
			x.Put(id, document(h))
			suggestions.Put(id, [][]string{texts(h, "Description"), texts(h, "Tags")})
			if old, ok := last[i]; ok {
				require.True(t, x.Delete(old))
				require.True(t, suggestions.Delete(old))
				require.False(t, x.Delete(old))
			}
			last[i] = id
			if round == rounds-1 {
				fresh.Put(id, document(h))
				freshSuggestions.Put(id, [][]string{texts(h, "Description"), texts(h, "Tags")})
			}
		}
		require.Equal(t, len(hotels), x.Len())
	}
	for _, query := range []string{"hotel", `"in town"`, "lux*", "hotle~1", "wifi pool -luxury", "*", "Rooms/Description:queen"} {
		n, err := lucene.ParseFull(query, lucene.Or)
		require.NoError(t, err)
		want, err := fresh.Search(n, textindex.Options{Nested: true})
		require.NoError(t, err)
		got, err := x.Search(n, textindex.Options{Nested: true})
		require.NoError(t, err)
		require.NotEmpty(t, want.Top(50), query)
		require.Equal(t, want.Top(50), got.Top(50), query)
	}
	for _, mode := range []textindex.AutocompleteMode{textindex.OneTerm, textindex.TwoTerms, textindex.OneTermWithContext} {
		for _, fuzzy := range []bool{false, true} {
			typed := textindex.TypedText{Text: "very po", Fuzzy: fuzzy}
			want, err := freshSuggestions.Autocomplete(typed, mode, textindex.Tags{})
			require.NoError(t, err)
			got, err := suggestions.Autocomplete(typed, mode, textindex.Tags{})
			require.NoError(t, err)
			require.NotEmpty(t, want)
			require.Equal(t, want, got)
		}
	}
	want, err := freshSuggestions.Suggest(textindex.TypedText{Text: "wif"})
	require.NoError(t, err)
	got, err := suggestions.Suggest(textindex.TypedText{Text: "wif"})
	require.NoError(t, err)
	require.NotEmpty(t, want.List)
	require.Equal(t, want.List, got.List)
}
