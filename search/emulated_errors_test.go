package search_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A refusal is not retried, and its error quotes the service.
func TestWhatTheServiceRefusesIsSaidInItsWords(t *testing.T) {
	srv, client := emulatingEverything(t, models.Document{"id": "1"})
	ask := func(text string, opts search.SearchOptions) func() error {
		return func() error { _, err := found(t, client, text, &opts); return err }
	}
	for name, c := range map[string]struct {
		ask     func() error
		message string
	}{
		"an invalid filter":        {ask("", search.SearchOptions{Filter: search.RawFilter("This is not a valid filter.")}), "Invalid expression: Syntax error at position 7 in 'This is not a valid filter.'.\r\nParameter name: $filter"},
		"a filter of no field":     {ask("", search.SearchOptions{Filter: search.Eq("nope", 1)}), "Invalid expression: Could not find a property named 'nope' on type 'search.document'.\r\nParameter name: $filter"},
		"a filter of another type": {ask("", search.SearchOptions{Filter: search.Eq("int", "x")}), "incompatible types"},
		"a field not to filter by": {ask("", search.SearchOptions{Filter: search.Eq("plain", "x")}), "'plain' is not a filterable field"},
		"a field not to order by":  {ask("", search.SearchOptions{OrderBy: []string{"texts"}}), "Parameter name: $orderby"},
		"a field not to select":    {ask("", search.SearchOptions{Select: []string{"nope"}}), "Could not find a property named 'nope' on type 'search.document'.\r\nParameter name: $select"},
		"a field not to count by":  {ask("", search.SearchOptions{Facets: []search.Facet{search.FacetByValue("plain", nil)}}), "Parameter name: facet"},
		"a field not to search in": {ask("x", search.SearchOptions{SearchFields: []string{"int"}}), "Parameter name: searchFields"},
		"a field not to highlight": {ask("x", search.SearchOptions{HighlightFields: []string{"int"}}), "Only searchable fields can be used in the highlight list."},
		"an invalid query text":    {ask("/.*/.*/", search.SearchOptions{QueryType: models.QueryTypeFull}), "Failed to parse query string at line 1, column 8. See https://aka.ms/azure-search-full-query for supported syntax."},
		"an unknown profile":       {ask("", search.SearchOptions{ScoringProfile: "nope"}), "nope"},
		"a vector of other length": {ask("", search.SearchOptions{VectorQueries: []search.VectorQuery{{Vector: models.VectorOf([]float32{1, 2, 3}), Fields: []string{"single"}}}}), "expects a length of '2'. However, the provided vector has a length of '3'."},
		"a field without vectors":  {ask("", search.SearchOptions{VectorQueries: []search.VectorQuery{{Vector: models.VectorOf([]float32{1}), Fields: []string{"int"}}}}), "is not a vector field"},
		"a search in a lambda":     {ask("", search.SearchOptions{Filter: search.Any("objects", "o", search.IsMatch("x", nil))}), "Parameter name: $filter"},
		"an unknown suggester":     {func() error { _, err := search.Suggest[hotel](t.Context(), client, "x", "nope", nil); return err }, "The specified suggester name 'nope' does not exist in this index definition.\r\nParameter name: name"},
		"a search in a completion": {func() error {
			_, err := client.Autocomplete(t.Context(), "x", "sg", &search.AutocompleteOptions{Filter: search.IsMatch("x", nil)})
			return err
		}, "Parameter name: $filter"},
		"a suggestion of a field": {func() error {
			_, err := search.Suggest[hotel](t.Context(), client, "x", "sg", &search.SuggestOptions{SearchFields: []string{"object/text"}})
			return err
		}, "object/text"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(srv.Requests())
			err := c.ask()
			var e *search.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, http.StatusBadRequest, e.StatusCode)
			assert.Contains(t, e.Message, c.message)
			assert.Equal(t, "everything", e.IndexName)
			assert.NotEmpty(t, e.RequestID)
			var azure *azcore.ResponseError
			require.ErrorAs(t, err, &azure)
			assert.Equal(t, http.StatusBadRequest, azure.StatusCode)
			assert.Len(t, srv.Requests(), before+1)
		})
	}
}

// Every operation reports a missing resource by its own sentinel.
func TestWhatIsNotThereIsToldApart(t *testing.T) {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	client, err := indexes.Client("motels")
	require.NoError(t, err)
	ctx := t.Context()
	_, ofSearch := found(t, client, "", nil)
	_, ofScan := scanned(t, client, nil)
	_, ofSuggest := search.Suggest[hotel](ctx, client, "x", "sg", nil)
	_, ofAutocomplete := client.Autocomplete(ctx, "x", "sg", nil)
	_, ofAnalyze := indexes.AnalyzeText(ctx, "motels", models.AnalyzeTextRequest{Text: "x", Analyzer: models.AnalyzerEnLucene}, nil)
	_, ofUpdate := indexes.UpdateIndex(ctx, "motels", func(*models.SearchIndex) error { return nil }, nil)
	for operation, err := range map[string]error{"Search": ofSearch, "Scan": ofScan, "Suggest": ofSuggest, "Autocomplete": ofAutocomplete, "AnalyzeText": ofAnalyze, "UpdateIndex": ofUpdate} {
		require.ErrorIs(t, err, search.ErrIndexNotFound, operation)
		require.ErrorContains(t, err, operation+" of index")
	}
	_, err = indexes.GetSynonymMap(ctx, "nope", nil)
	require.ErrorIs(t, err, search.ErrSynonymMapNotFound)
	_, err = indexes.UpdateSynonymMap(ctx, "nope", func(*models.SynonymMap) error { return nil }, nil)
	require.ErrorIs(t, err, search.ErrSynonymMapNotFound)
	_, err = indexes.GetAlias(ctx, "nope", nil)
	require.ErrorIs(t, err, search.ErrAliasNotFound)
	require.NotErrorIs(t, err, search.ErrIndexNotFound)
}

func TestQueryKeyQueriesAndManagesNothing(t *testing.T) {
	srv, _ := emulatingEverything(t, models.Document{"id": "1", "text": "harbour"})
	reader, err := search.NewClientWithKey(srv.URL(), "everything", azcore.NewKeyCredential(searchtest.QueryKey), impatient(srv))
	require.NoError(t, err)
	ids, err := found(t, reader, "harbour", nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"1"}, ids)
	_, err = search.Suggest[hotel](t.Context(), reader, "har", "sg", nil)
	require.NoError(t, err)
	_, err = reader.Autocomplete(t.Context(), "har", "sg", nil)
	require.NoError(t, err)

	manager, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.QueryKey), impatient(srv))
	require.NoError(t, err)
	ctx := t.Context()
	_, ofIndex := manager.UpdateIndex(ctx, "everything", func(*models.SearchIndex) error { return nil }, nil)
	_, ofMap := manager.CreateSynonymMap(ctx, models.SynonymMap{Name: "m", Synonyms: []string{"a, b"}}, nil)
	_, ofAlias := manager.CreateAlias(ctx, models.Alias{Name: "all", Indexes: []string{"everything"}}, nil)
	_, ofAnalyze := manager.AnalyzeText(ctx, "everything", models.AnalyzeTextRequest{Text: "x", Analyzer: models.AnalyzerEnLucene}, nil)
	for operation, err := range map[string]error{"UpdateIndex": ofIndex, "CreateSynonymMap": ofMap, "CreateAlias": ofAlias, "AnalyzeText": ofAnalyze} {
		var e *search.Error
		require.ErrorAs(t, err, &e, operation)
		assert.Equal(t, http.StatusForbidden, e.StatusCode, operation)
		assert.Contains(t, e.Hint, operation+" needs an admin key", operation)
	}
}

// The client sends nothing that the version of the service lacks. The emulator executes what it receives, or refuses
// it as not emulated.
func TestNothingIsAcceptedAndIgnored(t *testing.T) {
	srv, _ := emulatingEverything(t, models.Document{"id": "1", "single": []float32{1, 0}})
	vector := search.VectorQuery{Vector: models.VectorOf([]float32{1, 0}), Fields: []string{"single"}}
	with := func(change func(*search.VectorQuery)) search.SearchOptions {
		v := vector
		change(&v)
		return search.SearchOptions{VectorQueries: []search.VectorQuery{v}}
	}
	threshold := search.VectorThreshold{Kind: search.VectorThresholdSimilarity, Value: 0.1}
	for name, c := range map[string]struct {
		opts    search.SearchOptions
		since   availability
		refused string // what the emulator says that it does not have, "" if it does
	}{
		"the session":             {search.SearchOptions{SessionID: "s"}, availability{stable: "2020-06-30"}, ""},
		"the statistics":          {search.SearchOptions{ScoringStatistics: models.ScoringStatisticsGlobal}, availability{stable: "2020-06-30"}, ""},
		"a vector":                {with(func(*search.VectorQuery) {}), availability{stable: "2023-11-01"}, ""},
		"all vectors":             {with(func(v *search.VectorQuery) { v.Exhaustive = true }), availability{stable: "2023-11-01"}, ""},
		"a filter afterwards":     {search.SearchOptions{VectorQueries: []search.VectorQuery{vector}, VectorFilterMode: models.VectorFilterModePostFilter}, availability{stable: "2023-11-01"}, ""},
		"a weight":                {with(func(v *search.VectorQuery) { v.Weight = 2 }), availability{stable: "2024-07-01"}, ""},
		"a text to make it of":    {search.SearchOptions{VectorQueries: []search.VectorQuery{{Text: "x", Fields: []string{"single"}}}}, availability{stable: "2024-07-01"}, "vector"},
		"debugging":               {search.SearchOptions{Debug: models.QueryDebugModeVector}, availability{stable: "2025-09-01"}, "'debug'"},
		"a threshold":             {with(func(v *search.VectorQuery) { v.Threshold = &threshold }), availability{preview: true}, ""},
		"a filter for one vector": {with(func(v *search.VectorQuery) { v.FilterOverride = search.Eq("id", "1") }), availability{preview: true}, "filterOverride"},
		"the recall of the text":  {search.SearchOptions{VectorQueries: []search.VectorQuery{vector}, HybridSearch: &search.HybridSearch{MaxTextRecallSize: 5}}, availability{preview: true}, "hybridSearch"},
		"a strict filter":         {search.SearchOptions{VectorQueries: []search.VectorQuery{vector}, VectorFilterMode: models.VectorFilterModeStrictPostFilter}, availability{stable: "2026-04-01", preview: true}, "strictPostFilter"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []string{"2019-05-06", "2020-06-30", "2023-11-01", "2024-07-01", "2025-09-01", "2025-11-01-preview", "2026-04-01"} {
				opts := impatient(srv)
				opts.APIVersion = version
				client, err := search.NewClientWithKey(srv.URL(), "everything", azcore.NewKeyCredential(searchtest.QueryKey), opts)
				require.NoError(t, err)
				before := searches(srv)
				_, err = found(t, client, "", &c.opts)
				if !c.since.in(version) {
					var invalid *search.InvalidQueryError
					require.ErrorAs(t, err, &invalid, version)
					require.ErrorContains(t, err, "api-version "+version+" does not have it")
					assert.Equal(t, before, searches(srv), version)
					continue
				}
				assert.Equal(t, before+1, searches(srv), version)
				if c.refused == "" {
					require.NoError(t, err, version)
					continue
				}
				var e *search.Error
				require.ErrorAs(t, err, &e, version)
				assert.Contains(t, []int{http.StatusBadRequest, http.StatusNotImplemented}, e.StatusCode, version)
				assert.Contains(t, e.Message, c.refused, version)
			}
		})
	}
}

// availability has the versions of the service with a feature: from a stable version on, in the tested preview, or
// both.
type availability struct {
	stable  string
	preview bool
}

func (a availability) in(version string) bool {
	if strings.HasSuffix(version, "-preview") && a.preview {
		return true
	}
	return a.stable != "" && version >= a.stable
}
