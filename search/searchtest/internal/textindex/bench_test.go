package textindex_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

const benchmarkHotels = 100_000

// manyHotels returns documents like the recorded ones: a name of two or three words, two descriptions of about 30
// words, most of them rare, a category, tags and an address. The documents depend only on n.
func manyHotels(n int) [][][]string {
	r := rand.New(rand.NewPCG(6, 2026))
	words := make([]string, 20_000)
	for i := range words {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteString([]string{"ba", "de", "ki", "lo", "mu", "ren", "sta", "tor", "ving", "ple", "sh", "on"}[r.IntN(12)])
		}
		words[i] = b.String()
	}
	copy(words, []string{"hotel", "the", "room", "luxury", "pool", "city", "near", "wifi", "view", "beach"})
	zipf := rand.NewZipf(r, 1.1, 4, uint64(len(words)-1))
	text := func(least, most int) string {
		all := make([]string, least+r.IntN(most-least+1))
		for i := range all {
			all[i] = words[zipf.Uint64()]
		}
		return strings.Join(all, " ")
	}
	documents := make([][][]string, n)
	for i := range documents {
		documents[i] = [][]string{
			{fmt.Sprint(i)}, {text(2, 3)}, {text(15, 45)}, {text(15, 45)}, {text(1, 1)}, {text(1, 1), text(1, 2), text(1, 1)},
			{text(2, 4)}, {text(1, 2)}, {text(1, 1)}, {fmt.Sprint(10_000 + r.IntN(90_000))}, {"usa"},
			{text(3, 8), text(3, 8)}, {text(3, 8), text(3, 8)}, {text(1, 2), text(1, 2)}, {text(1, 3), text(1, 3)}, {text(1, 2)},
		}
	}
	return documents
}

func buildBenchmark(b *testing.B) *textindex.Index {
	x := textindex.New(textindex.Config{Fields: fieldsOf(b, hotelFields)})
	for i, values := range manyHotels(benchmarkHotels) {
		x.Put(uint32(i), textindex.Document{Values: values, Nested: 2})
	}
	return x
}

// benchmarkIndex is built once for all benchmarks.
var (
	buildOnce      sync.Once
	benchmarkIndex *textindex.Index
)

func sharedIndex(b *testing.B) *textindex.Index {
	buildOnce.Do(func() { benchmarkIndex = buildBenchmark(b) })
	return benchmarkIndex
}

func BenchmarkBuild(b *testing.B) {
	documents := manyHotels(benchmarkHotels)
	b.ReportAllocs()
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		x := textindex.New(textindex.Config{Fields: fieldsOf(b, hotelFields)})
		for i, values := range documents {
			x.Put(uint32(i), textindex.Document{Values: values, Nested: 2})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
		runtime.KeepAlive(x)
	}
}

func BenchmarkSearch(b *testing.B) {
	half := new(textindex.IDs)
	for i := range uint32(benchmarkHotels) {
		if i%2 == 0 {
			half.Add(i)
		}
	}
	for _, test := range []struct {
		name, query string
		full        bool
		op          lucene.Operator
		filter      *textindex.IDs
	}{
		{name: "two common words", query: "luxury hotel"},
		{name: "two common words, all", query: "luxury hotel", op: lucene.And},
		{name: "two common words, filtered", query: "luxury hotel", filter: half},
		{name: "rare word", query: "starenving"},
		{name: "phrase", query: `"luxury hotel"`},
		{name: "near", query: `"luxury hotel"~5`, full: true},
		{name: "prefix", query: "sta*"},
		{name: "fuzzy", query: "hotle~1", full: true},
		{name: "regular expression", query: "/.*ving/", full: true},
		{name: "everything", query: "*"},
	} {
		b.Run(test.name, func(b *testing.B) {
			x := sharedIndex(b)
			n := parse(b, test.query, test.full, test.op)
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				m, err := x.Search(n, textindex.Options{Operator: test.op, Filter: test.filter})
				if err != nil {
					b.Fatal(err)
				}
				m.Top(50)
				found = m.Len()
			}
			b.ReportMetric(float64(found), "hits")
		})
	}
}

func BenchmarkHighlight(b *testing.B) {
	x := sharedIndex(b)
	text := manyHotels(1)[0][2]
	h, err := x.Highlighter(lucene.ParseSimple("luxury hotel", lucene.Or), textindex.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Fragments("Description", text, 5, textindex.Tags{Pre: "<b>", Post: "</b>"})
	}
}

func BenchmarkSuggester(b *testing.B) {
	s := textindex.NewSuggester([]string{"HotelName", "Description"}, analyzer(b, "standard.lucene"))
	for i, values := range manyHotels(benchmarkHotels) {
		s.Put(uint32(i), [][]string{values[1], values[2]})
	}
	for _, fuzzy := range []bool{false, true} {
		typed := textindex.TypedText{Text: "luxury hot", Fuzzy: fuzzy}
		b.Run(fmt.Sprintf("suggest fuzzy=%t", fuzzy), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Suggest(typed); err != nil {
					b.Fatal(err)
				}
			}
		})
		for mode, name := range []string{"oneTerm", "twoTerms", "oneTermWithContext"} {
			b.Run(fmt.Sprintf("%s fuzzy=%t", name, fuzzy), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Autocomplete(typed, textindex.AutocompleteMode(mode), textindex.Tags{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
