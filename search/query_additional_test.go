package search_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

type members = map[string]json.RawMessage

// Options can carry members that programs of other SDKs send or that future versions add.
func TestQueriesTakeMembersThatNoOptionStandsFor(t *testing.T) {
	body, err := sent(t, "2025-11-01-preview", "x", &search.SearchOptions{
		Top:                  new(3),
		VectorQueries:        []search.VectorQuery{{Text: "x", Fields: []string{"v"}, AdditionalProperties: members{"queryRewrites": json.RawMessage(`"generative|count-3"`)}}},
		AdditionalProperties: members{"speller": json.RawMessage(`"lexicon"`), "queryLanguage": json.RawMessage(`"en-us"`), "to\"morrow": json.RawMessage(`{"a":[1]}`)},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"search":"x","top":3,"vectorQueries":[{"kind":"text","text":"x","fields":"v","queryRewrites":"generative|count-3"}],
		"queryLanguage":"en-us","speller":"lexicon","to\"morrow":{"a":[1]}}`, body)

	for text, additional := range map[string]members{
		`AdditionalProperties["speller"]: "lexicon" is not JSON: a string takes quotes`:   {"speller": json.RawMessage(`lexicon`)},
		`AdditionalProperties["speller"]: "" is not JSON: a string takes quotes`:          {"speller": nil},
		`AdditionalProperties["search"]: an option has written "search": set one of them`: {"search": json.RawMessage(`"y"`)},
		`AdditionalProperties["x"]: is not valid UTF-8`:                                   {"x": json.RawMessage("\"\xff\"")},
	} {
		_, err := sent(t, "", "x", &search.SearchOptions{AdditionalProperties: additional})
		require.ErrorContains(t, err, text)
	}
	_, err = sent(t, "", "x", &search.SearchOptions{VectorQueries: []search.VectorQuery{
		{Text: "x", Fields: []string{"v"}, AdditionalProperties: members{"kind": json.RawMessage(`"vector"`)}}}})
	require.ErrorContains(t, err, `VectorQueries[0].AdditionalProperties["kind"]: an option has written "kind"`)
}

func TestSuggestionsTakeMembersThatNoOptionStandsFor(t *testing.T) {
	w := reply(200, `{"value":[]}`)
	client := newClient(t, w)
	more := members{"tomorrow": json.RawMessage(`true`)}
	_, err := search.Suggest[models.Document](t.Context(), client, "x", "s", &search.SuggestOptions{Top: 1, AdditionalProperties: more})
	require.NoError(t, err)
	_, err = client.Autocomplete(t.Context(), "x", "s", &search.AutocompleteOptions{Top: 1, AdditionalProperties: more})
	require.NoError(t, err)
	for _, body := range w.bodies {
		assert.JSONEq(t, `{"search":"x","suggesterName":"s","top":1,"tomorrow":true}`, body)
	}
	assert.Len(t, w.bodies, 2)
}
