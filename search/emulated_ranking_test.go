package search_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func TestFacetsHaveTheTypesOfTheirFields(t *testing.T) {
	noon := time.Date(2018, 5, 3, 12, 0, 0, 0, time.UTC)
	_, client := emulatingEverything(t,
		models.Document{"id": "1", "text": "a,b", "texts": []string{"x", "y"}, "flag": true, "long": int64(math.MaxInt64), "double": 0.5, "time": noon, "int": 7},
		models.Document{"id": "2", "text": "a,b", "texts": []string{"x", "x"}, "flag": false, "long": int64(math.MaxInt64 - 1), "double": 0.5, "time": noon.AddDate(0, 7, 0), "int": 19},
		models.Document{"id": "3", "text": "it's", "flag": true, "long": int64(math.MaxInt64), "double": -3, "time": noon.AddDate(2, 0, 0), "int": 23},
		models.Document{"id": "4"},
	)
	opts := &search.SearchOptions{Top: to.Ptr(0), Facets: []search.Facet{
		search.FacetByValue("text", nil), search.FacetByValue("texts", nil), search.FacetByValue("flag", nil),
		search.FacetByValue("long", &search.FacetByValueOptions{Sort: search.FacetSortValueAscending}),
		search.FacetByRange("double", -3.0, 0.5), search.FacetByPeriod("time", search.FacetPeriodYear, 0), search.FacetByInterval("int", 10),
	}}
	page, err := search.NewSearchPager[models.Document](client, "", opts).NextPage(t.Context())
	require.NoError(t, err)
	assert.Empty(t, page.Results)
	assert.Len(t, page.Facets, len(opts.Facets))

	text, err := models.ValueFacets[string](page.Facets["text"])
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[string]{{Value: "a,b", Count: 2}, {Value: "it's", Count: 1}}, text, "null is not a value")
	texts, err := models.ValueFacets[string](page.Facets["texts"])
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[string]{{Value: "x", Count: 2}, {Value: "y", Count: 1}}, texts, "documents are counted, not elements")
	flag, err := models.ValueFacets[bool](page.Facets["flag"])
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[bool]{{Value: true, Count: 2}, {Value: false, Count: 1}}, flag)
	long, err := models.ValueFacets[int64](page.Facets["long"])
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[int64]{{Value: math.MaxInt64 - 1, Count: 1}, {Value: math.MaxInt64, Count: 2}}, long, "all digits")
	double, err := models.RangeFacets[float64](page.Facets["double"])
	require.NoError(t, err)
	assert.Equal(t, []models.RangeFacet[float64]{{To: to.Ptr(-3.0)}, {From: to.Ptr(-3.0), To: to.Ptr(0.5), Count: 1}, {From: to.Ptr(0.5), Count: 2}}, double)
	years, err := models.ValueFacets[time.Time](page.Facets["time"])
	require.NoError(t, err)
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	assert.Equal(t, []models.ValueFacet[time.Time]{{Value: year(2018), Count: 2}, {Value: year(2020), Count: 1}}, years)
	tens, err := models.ValueFacets[int64](page.Facets["int"])
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[int64]{{Value: 0, Count: 1}, {Value: 10, Count: 1}, {Value: 20, Count: 1}}, tens)
}

// Facets count all matches, not only the returned page.
func TestFacetsAreOfAllThatMatches(t *testing.T) {
	_, client := emulatingEverything(t, numbered(300)...)
	by := func(opts *search.FacetByValueOptions) int {
		page, err := search.NewSearchPager[models.Document](client, "", &search.SearchOptions{Facets: []search.Facet{search.FacetByValue("int", opts)}, Top: to.Ptr(3), Filter: search.Ge("int", 50)}).NextPage(t.Context())
		require.NoError(t, err)
		assert.Len(t, page.Results, 3)
		return len(page.Facets["int"])
	}
	assert.Equal(t, 10, by(nil))
	assert.Equal(t, 37, by(&search.FacetByValueOptions{Count: 37}))
	assert.Equal(t, 250, by(&search.FacetByValueOptions{Count: -1}))
}

// hotelTexts is an index with texts for full-text search.
func hotelTexts(t testing.TB) *search.Client {
	t.Helper()
	_, client := emulatingEverything(t,
		models.Document{"id": "1", "text": "Harbour view hotel", "texts": []string{"roof pool", "spa"}, "single": []float32{1, 0}},
		models.Document{"id": "2", "text": "Hotel in the old harbour, close to the harbour museum", "texts": []string{"museum"}, "single": []float32{0, 1}},
		models.Document{"id": "3", "text": "Mountain lodge", "texts": []string{"sauna", "harsh weather"}, "single": []float32{0.8, 0.6}},
	)
	return client
}

// Only requested fields are highlighted.
func TestHighlightsShowWhatMatched(t *testing.T) {
	client := hotelTexts(t)
	highlights := func(text string, opts *search.SearchOptions) map[string][]string {
		t.Helper()
		page, err := search.NewSearchPager[models.Document](client, text, opts).NextPage(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, page.Results)
		return page.Results[0].Highlights
	}
	assert.Equal(t, map[string][]string{"texts": {"roof <em>pool</em>"}}, highlights("pool", &search.SearchOptions{HighlightFields: []string{"texts", "text"}}))
	assert.Equal(t, map[string][]string{"text": {"Hotel in the old [harbour], close to the [harbour] [museum]"}, "texts": {"[museum]"}},
		highlights("harbour museum", &search.SearchOptions{HighlightFields: []string{"text", "texts-1"}, HighlightPreTag: "[", HighlightPostTag: "]"}))
	assert.Nil(t, highlights("pool", &search.SearchOptions{HighlightFields: []string{"text"}}), "the match is elsewhere")
	assert.Nil(t, highlights("pool", nil), "no highlights were requested")
}

// Results are ordered by score unless the query has OrderBy.
func TestScoresDecideTheOrder(t *testing.T) {
	client := hotelTexts(t)
	for name, c := range map[string]struct {
		text string
		opts search.SearchOptions
		ids  string
	}{
		"any of the words":             {"harbour museum", search.SearchOptions{}, "2 1"},
		"all of the words":             {"harbour museum", search.SearchOptions{SearchMode: models.SearchModeAll}, "2"},
		"a word in one field":          {"museum", search.SearchOptions{SearchFields: []string{"text"}}, "2"},
		"a phrase":                     {`"old harbour"`, search.SearchOptions{}, "2"},
		"a beginning":                  {"muse*", search.SearchOptions{}, "2"},
		"an excluded word":             {"harbour -museum", search.SearchOptions{SearchMode: models.SearchModeAll}, "1"},
		"a wrong letter":               {"lodge~ OR texts:sauma~1", search.SearchOptions{QueryType: models.QueryTypeFull}, "3"},
		"words near each other":        {`"harbour hotel"~3`, search.SearchOptions{QueryType: models.QueryTypeFull}, "1"},
		"a word that counts more":      {"lodge^20 harbour", search.SearchOptions{QueryType: models.QueryTypeFull, Top: to.Ptr(1)}, "3"},
		"a regular expression":         {"/m[ou].*/", search.SearchOptions{QueryType: models.QueryTypeFull, OrderBy: []string{"id"}}, "2 3"},
		"an order of the query's own":  {"harbour museum", search.SearchOptions{OrderBy: []string{"id"}}, "1 2"},
		"an order by the score itself": {"harbour museum", search.SearchOptions{OrderBy: []string{"search.score() asc"}}, "1 2"},
	} {
		t.Run(name, func(t *testing.T) {
			last, ids := math.Inf(1), []string{}
			for result, err := range search.Search[struct{ ID string }](t.Context(), client, c.text, &c.opts) {
				require.NoError(t, err)
				if c.opts.OrderBy == nil {
					assert.LessOrEqual(t, result.Score, last)
				}
				assert.Positive(t, result.Score)
				last = result.Score
				ids = append(ids, result.Document.ID)
			}
			assert.Equal(t, c.ids, strings.Join(ids, " "))
		})
	}
}

// Each vector type uses the metric of its field.
func TestVectorsOfEachTypeFindTheirNeighbours(t *testing.T) {
	_, client := emulatingEverything(t,
		models.Document{"id": "1", "single": []float32{1, 0}, "half": []float32{1, 1}, "int16": []int16{300, -300}, "sbyte": []int8{127, 0}, "byte": models.PackedBits{0b11110000, 0}},
		models.Document{"id": "2", "single": []float32{0.6, 0.8}, "half": []float32{9, 9}, "int16": []int16{10, 10}, "sbyte": []int8{-128, 1}, "byte": []int{0, 0b11}},
		models.Document{"id": "3", "single": []float32{0, 1}, "half": []float32{-1, 2}, "int16": []int16{-1, 300}, "sbyte": []int8{1, 127}, "byte": []int{255, 255}},
		models.Document{"id": "4"},
	)
	for field, c := range map[string]struct {
		vector models.Vector
		ids    string
	}{
		"single": {models.VectorOf([]float64{0.1, 1}), "3 2 1"},
		"half":   {models.VectorOf([]float32{8, 8}), "2 1 3"},
		"int16":  {models.VectorOf([]int16{0, 300}), "3 2 1"},
		"sbyte":  {models.VectorOf([]int8{-100, 0}), "2 3 1"},
		"byte":   {models.VectorOf([]uint8{0b11110000, 1}), "1 2 3"},
	} {
		opts := &search.SearchOptions{VectorQueries: []search.VectorQuery{{Vector: c.vector, Fields: []string{field}}}}
		ids, err := found(t, client, "", opts)
		require.NoError(t, err, field)
		assert.Equal(t, c.ids, strings.Join(ids, " "), field)
		opts.VectorQueries[0].K, opts.VectorQueries[0].Exhaustive = 1, true
		ids, err = found(t, client, "", opts)
		require.NoError(t, err, field)
		assert.Equal(t, c.ids[:1], strings.Join(ids, " "), field)
	}
	page, err := search.NewSearchPager[models.Document](client, "", &search.SearchOptions{VectorQueries: []search.VectorQuery{
		{Vector: models.VectorOf([]float32{2, 0}), Fields: []string{"single"}},
	}}).NextPage(t.Context())
	require.NoError(t, err)
	require.Len(t, page.Results, 3)
	for i, cosine := range []float64{1, 0.6, 0} {
		assert.InDelta(t, 1/(1+(1-cosine)), page.Results[i].Score, 1e-6)
	}
}

// Hybrid queries fuse text and vector results by rank.
func TestHybridQueryFusesTextAndVectors(t *testing.T) {
	client := hotelTexts(t)
	query := func(weight float64, filter search.Filter, mode models.VectorFilterMode) (ids string, scores []float64) {
		t.Helper()
		opts := &search.SearchOptions{
			SearchFields: []string{"text"}, Filter: filter, VectorFilterMode: mode,
			VectorQueries: []search.VectorQuery{{Vector: models.VectorOf([]float32{1, 0.1}), Fields: []string{"single"}, K: 2, Weight: weight}},
		}
		for result, err := range search.Search[struct{ ID string }](t.Context(), client, "harbour hotel museum", opts) {
			require.NoError(t, err)
			ids += result.Document.ID
			scores = append(scores, result.Score)
		}
		return ids, scores
	}
	const first, second = 1. / 60, 1. / 61 // scores of the first and second rank in reciprocal rank fusion
	ids, scores := query(0, search.Filter{}, "")
	assert.Equal(t, "123", ids, "by the text 2 1, by the vector 1 3")
	assert.InDeltaSlice(t, []float64{first + second, first, second}, scores, 1e-6)
	ids, scores = query(3, search.Filter{}, "")
	assert.Equal(t, "132", ids)
	assert.InDeltaSlice(t, []float64{3*first + second, 3 * second, first}, scores, 1e-6)
	ids, scores = query(0, search.Ne("id", "1"), models.VectorFilterModePreFilter)
	assert.Equal(t, "23", ids, "by the text 2, by the vector 3 2")
	assert.InDeltaSlice(t, []float64{first + second, first}, scores, 1e-6)
	ids, scores = query(0, search.Ne("id", "1"), models.VectorFilterModePostFilter)
	assert.Equal(t, "23", ids, "by text 2, by vector the rest of 1 3")
	assert.Less(t, scores[0], first+second)
}

func TestSuggestionsAreForWhatIsTyped(t *testing.T) {
	client := hotelTexts(t)
	for name, c := range map[string]struct {
		typed string
		opts  search.SuggestOptions
		texts string
	}{
		"a beginning":          {"mount", search.SuggestOptions{}, "3: Mountain lodge"},
		"a word in the middle": {"old har", search.SuggestOptions{}, "2: Hotel in the old harbour, close to the harbour museum"},
		"an element":           {"roo", search.SuggestOptions{}, "1: roof pool"},
		"tags":                 {"mount", search.SuggestOptions{HighlightPreTag: "<b>", HighlightPostTag: "</b>"}, "3: <b>Mountain</b> lodge"},
		"a wrong letter":       {"moumtain", search.SuggestOptions{}, ""},
		"a detected typo":      {"moumtain", search.SuggestOptions{Fuzzy: true}, "3: Mountain lodge"},
		"a filter":             {"har", search.SuggestOptions{Filter: search.Eq("id", "3")}, "3: harsh weather"},
		"one field":            {"har", search.SuggestOptions{SearchFields: []string{"text"}, OrderBy: []string{"id desc"}, Top: 1}, "2: Hotel in the old harbour, close to the harbour museum"},
	} {
		t.Run(name, func(t *testing.T) {
			suggestions, err := search.Suggest[struct{ ID, Text string }](t.Context(), client, c.typed, "sg", &c.opts)
			require.NoError(t, err)
			var texts []string
			for _, s := range suggestions.Results {
				texts = append(texts, s.Document.ID+": "+s.Text)
				assert.Empty(t, s.Document.Text, "only the key by default")
			}
			assert.Equal(t, c.texts, strings.Join(texts, "; "))
			assert.NotEmpty(t, suggestions.RequestID)
			assert.Nil(t, suggestions.Coverage)
		})
	}
}

func TestCompletionsAreOfTheModeAskedFor(t *testing.T) {
	client := hotelTexts(t)
	for name, c := range map[string]struct {
		typed string
		opts  search.AutocompleteOptions
		texts string
	}{
		"a term":                   {"mus", search.AutocompleteOptions{}, "museum=museum"},
		"a term after others":      {"old har", search.AutocompleteOptions{Mode: models.AutocompleteModeOneTerm}, "harbour=old harbour; harsh=old harsh"},
		"a term in its context":    {"old har", search.AutocompleteOptions{Mode: models.AutocompleteModeOneTermWithContext}, "old harbour=old harbour"},
		"two terms":                {"mount", search.AutocompleteOptions{Mode: models.AutocompleteModeTwoTerms}, "mountain lodge=mountain lodge"},
		"a wrong letter":           {"muz", search.AutocompleteOptions{Fuzzy: true, SearchFields: []string{"texts"}}, "museum=museum"},
		"tags":                     {"old har", search.AutocompleteOptions{Top: 1, HighlightPreTag: "<b>", HighlightPostTag: "</b>"}, "harbour=old <b>harbour</b>"},
		"a filter":                 {"har", search.AutocompleteOptions{Filter: search.Eq("id", "3")}, "harsh=harsh"},
		"a field of the two":       {"har", search.AutocompleteOptions{SearchFields: []string{"text"}}, "harbour=harbour"},
		"as many as are asked for": {"h", search.AutocompleteOptions{Top: 2}, "harbour=harbour; harsh=harsh"},
	} {
		t.Run(name, func(t *testing.T) {
			completions, err := client.Autocomplete(t.Context(), c.typed, "sg", &c.opts)
			require.NoError(t, err)
			var texts []string
			for _, item := range completions.Results {
				texts = append(texts, item.Text+"="+item.QueryPlusText)
			}
			assert.Equal(t, c.texts, strings.Join(texts, "; "))
		})
	}
}
