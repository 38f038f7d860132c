package search_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// The requests and replies are recordings of the JavaScript SDK 13.0.0.
func TestSuggestionsAreThoseOfTheOfficialSDK(t *testing.T) {
	w := reply(200, `{"@search.coverage":100,"value":[{"@search.text":"<b>Lazy</b> dog's life","id":"2","title":"Lazy dog's life"}]}`)
	type doc struct{ ID, Title string }
	got, err := search.Suggest[doc](t.Context(), newClient(t, w), "laz", "sg", &search.SuggestOptions{
		Filter: search.Ge("n", 0), Fuzzy: true, HighlightPreTag: "<b>", HighlightPostTag: "</b>", MinimumCoverage: to.Ptr(50.),
		OrderBy: []string{"id"}, SearchFields: []string{"title"}, Select: []string{"id", "title"}, Top: 4,
	})
	require.NoError(t, err)
	assert.Equal(t, testEndpoint+"/indexes('hotels')/docs/search.post.suggest"+version, w.requests[0].URL.String())
	assert.JSONEq(t, `{"filter":"n ge 0","fuzzy":true,"highlightPostTag":"</b>","highlightPreTag":"<b>","minimumCoverage":50,"orderby":"id","search":"laz","searchFields":"title","select":"id,title","suggesterName":"sg","top":4}`, w.bodies[0])
	assert.Equal(t, models.SuggestDocumentsResult[doc]{
		Results:   []models.SuggestResult[doc]{{Text: "<b>Lazy</b> dog's life", Document: doc{"2", "Lazy dog's life"}}},
		Coverage:  to.Ptr(100.),
		RequestID: "11111111-2222-3333-4444-555555555555",
	}, got)
}

func TestCompletionsAreThoseOfTheOfficialSDK(t *testing.T) {
	w := reply(200, `{"value":[{"text":"quick brown","queryPlusText":"quick brown"}]}`)
	got, err := newClient(t, w).Autocomplete(t.Context(), "qui", "sg", &search.AutocompleteOptions{
		Mode: models.AutocompleteModeTwoTerms, Filter: search.Ge("n", 0), SearchFields: []string{"title"}, Top: 3,
	})
	require.NoError(t, err)
	assert.Equal(t, testEndpoint+"/indexes('hotels')/docs/search.post.autocomplete"+version, w.requests[0].URL.String())
	// The SDK also sends "fuzzy":false, which is the default.
	assert.JSONEq(t, `{"search":"qui","autocompleteMode":"twoTerms","filter":"n ge 0","searchFields":"title","suggesterName":"sg","top":3}`, w.bodies[0])
	assert.Equal(t, []models.AutocompleteItem{{Text: "quick brown", QueryPlusText: "quick brown"}}, got.Results)
	assert.Equal(t, "11111111-2222-3333-4444-555555555555", got.RequestID)

	_, err = newClient(t, w).Autocomplete(t.Context(), "qui", "sg", &search.AutocompleteOptions{Fuzzy: true, HighlightPreTag: "[", HighlightPostTag: "]", MinimumCoverage: to.Ptr(1.)})
	require.NoError(t, err)
	assert.JSONEq(t, `{"search":"qui","suggesterName":"sg","fuzzy":true,"highlightPreTag":"[","highlightPostTag":"]","minimumCoverage":1}`, w.bodies[1])
}

func TestSuggestionsThatCannotBeAreRefused(t *testing.T) {
	w := reply(200, emptyOK)
	client := newClient(t, w)
	_, err := search.Suggest[hotel](t.Context(), client, "", "", &search.SuggestOptions{
		Filter: search.Eq("", 1), HighlightPreTag: "<b>", MinimumCoverage: to.Ptr(-1.), OrderBy: []string{""}, SearchFields: []string{"?"}, Select: []string{"?"}, Top: 101,
	})
	var invalid *search.InvalidQueryError
	require.ErrorAs(t, err, &invalid)
	assert.Len(t, invalid.Problems, 9, "%v", invalid.Problems)
	require.ErrorContains(t, err, `search: Suggest of index "hotels": nothing was sent, because the query is not valid: the search text: it is 0 characters long, not 1 to 100; the suggester: its name is empty; `)

	_, err = client.Autocomplete(t.Context(), strings.Repeat("é", 101), "sg", &search.AutocompleteOptions{
		Mode: "threeTerms", Filter: search.Eq("", 1), HighlightPostTag: "</b>", MinimumCoverage: to.Ptr(101.), SearchFields: []string{"?"}, Top: -1,
	})
	require.ErrorAs(t, err, &invalid)
	assert.Len(t, invalid.Problems, 7, "%v", invalid.Problems)
	require.ErrorContains(t, err, `the search text: it is 101 characters long, not 1 to 100; Mode: "threeTerms" is none of "oneTerm", "twoTerms", "oneTermWithContext"; `)
	assert.Empty(t, w.requests)

	_, err = client.Autocomplete(t.Context(), strings.Repeat("é", 100), "sg", nil)
	require.NoError(t, err, "characters, not bytes")
}

func TestRefusedSuggestionsSayWhy(t *testing.T) {
	const refusal = `{"error":{"code":"","message":"The specified suggester name 'sg' does not exist in this index definition.\r\nParameter name: name"}}`
	_, err := search.Suggest[hotel](t.Context(), newClient(t, reply(400, refusal)), "x", "sg", nil)
	require.ErrorContains(t, err, "The specified suggester name 'sg' does not exist in this index definition. Parameter name: name (Suggest of index")
	_, err = newClient(t, reply(400, refusal)).Autocomplete(t.Context(), "x", "sg", nil)
	require.ErrorContains(t, err, "(Autocomplete of index")
	_, err = newClient(t, reply(206, emptyOK)).Autocomplete(t.Context(), "x", "sg", nil)
	require.Error(t, err, "only searches can be partial")
}
