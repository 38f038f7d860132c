package search_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

type room struct {
	Text string `json:"text"`
	Int  int    `json:"int"`
}

type house struct {
	ID      string   `json:"id"`
	Flag    bool     `json:"flag"`
	Texts   []string `json:"texts"`
	Objects []room   `json:"objects"`
}

// condition is a filter with the predicate that it should express.
type condition[T any] struct {
	filter search.Filter
	holds  func(T) bool
}

// A random filter with possibly empty lists is accepted by the service and finds the documents of its predicate.
func TestFiltersOfEmptyListsAreAcceptedAndMeanWhatTheySay(t *testing.T) {
	houses := []house{
		{ID: "1", Flag: true, Texts: []string{"a"}, Objects: []room{{"x", 1}, {"y", 2}}},
		{ID: "2", Texts: []string{"a", "b"}, Objects: []room{{"x", 2}}},
		{ID: "3", Flag: true, Texts: []string{}, Objects: []room{}},
		{ID: "4", Texts: []string{"c"}, Objects: []room{{"z", 3}}},
	}
	var documents []models.Document
	for _, h := range houses {
		objects := []models.Document{}
		for _, r := range h.Objects {
			objects = append(objects, models.Document{"text": r.Text, "int": r.Int})
		}
		documents = append(documents, models.Document{"id": h.ID, "flag": h.Flag, "texts": h.Texts, "objects": objects})
	}
	_, client := emulatingEverything(t, documents...)
	rapid.Check(t, func(r *rapid.T) {
		c := drawJoined(r, 3, func() condition[house] { return drawOfHouse(r) })
		var want, got []string
		for _, h := range houses {
			if c.holds(h) {
				want = append(want, h.ID)
			}
		}
		for found, err := range search.Search[house](t.Context(), client, "", &search.SearchOptions{Filter: c.filter}) {
			require.NoError(r, err, c.filter)
			got = append(got, found.Document.ID)
		}
		slices.Sort(got)
		require.Equal(r, strings.Join(want, " "), strings.Join(got, " "), c.filter)
	})
}

func drawList[V any](t *rapid.T, values ...V) []V {
	return rapid.SliceOfN(rapid.SampledFrom(values), 0, 2).Draw(t, "list")
}

func drawJoined[T any](t *rapid.T, depth int, leaf func() condition[T]) condition[T] {
	kind := rapid.SampledFrom([]string{"leaf", "not", "and", "or"}).Draw(t, "kind")
	if kind == "leaf" || depth == 0 {
		return leaf()
	}
	a, b := drawJoined(t, depth-1, leaf), drawJoined(t, depth-1, leaf)
	switch kind {
	case "not":
		return condition[T]{search.Not(a.filter), func(v T) bool { return !a.holds(v) }}
	case "and":
		return condition[T]{search.And(a.filter, b.filter), func(v T) bool { return a.holds(v) && b.holds(v) }}
	}
	return condition[T]{search.Or(a.filter, b.filter), func(v T) bool { return a.holds(v) || b.holds(v) }}
}

func drawOfHouse(t *rapid.T) condition[house] {
	texts := drawList(t, "a", "b", "c")
	all := rapid.Bool().Draw(t, "all")
	switch rapid.IntRange(0, 3).Draw(t, "leaf") {
	case 0: // the service takes no other conditions on simple collections
		if all {
			return condition[house]{search.All("texts", "x", search.Not(search.In("x", texts...))), func(h house) bool {
				return !slices.ContainsFunc(h.Texts, func(s string) bool { return slices.Contains(texts, s) })
			}}
		}
		return condition[house]{search.Any("texts", "x", search.In("x", texts...)), func(h house) bool {
			return slices.ContainsFunc(h.Texts, func(s string) bool { return slices.Contains(texts, s) })
		}}
	case 1:
		in := drawJoined(t, 2, func() condition[room] { return drawOfRoom(t) })
		if all {
			return condition[house]{search.All("objects", "o", in.filter), func(h house) bool {
				return !slices.ContainsFunc(h.Objects, func(r room) bool { return !in.holds(r) })
			}}
		}
		return condition[house]{search.Any("objects", "o", in.filter), func(h house) bool { return slices.ContainsFunc(h.Objects, in.holds) }}
	case 2:
		ids := drawList(t, "1", "2", "9")
		return condition[house]{search.In("id", ids...), func(h house) bool { return slices.Contains(ids, h.ID) }}
	}
	return condition[house]{search.IsTrue("flag"), func(h house) bool { return h.Flag }}
}

func drawOfRoom(t *rapid.T) condition[room] {
	if rapid.Bool().Draw(t, "text") {
		texts := drawList(t, "x", "y", "z")
		return condition[room]{search.In("o/text", texts...), func(r room) bool { return slices.Contains(texts, r.Text) }}
	}
	numbers := drawList(t, 1, 2, 3)
	return condition[room]{search.In("o/int", numbers...), func(r room) bool { return slices.Contains(numbers, r.Int) }}
}
