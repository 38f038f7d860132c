package models_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// fullPage has every member that api-version 2026-04-01 documents.
const fullPage = `{
	"@odata.count": 9007199254740993,
	"@search.coverage": 66.5,
	"@search.facets": {"tags":[{"count":2,"value":"pool"}],"rating":[{"count":0,"to":3},{"count":9007199254740993,"from":3}]},
	"@search.answers": [{"score":0.9,"key":"1","text":"Yes.","highlights":"<em>Yes</em>."},{"score":0.8,"key":"2","text":"No."}],
	"@search.semanticPartialResponseReason": "maxWaitExceeded",
	"@search.semanticPartialResponseType": "baseResults",
	"@search.nextPageParameters": {"search":"*","skip":50},
	"value": [{
		"@search.score": 0.033,
		"@search.rerankerScore": 3.5,
		"@search.rerankerBoostedScore": 7.25,
		"@search.captions": [{"text":"A pool.","highlights":"A <em>pool</em>."},{"text":"A pond."}],
		"@search.highlights": {"description":["a <em>pool</em>","b"]},
		"@search.documentDebugInfo": {"vectors":{"subscores":{"text":{"searchScore":1.5},"vectors":[{"a":{"searchScore":0.5,"vectorSimilarity":0.25}},{}],"documentBoost":2}}},
		"hotelId": "1",
		"visits": 9007199254740993
	}],
	"@odata.nextLink": "https://svc.search.windows.net/indexes('hotels')/docs/search.post.search?api-version=2026-04-01"
}`

// The specification uses camel case, the service answers in Pascal case.
func TestPartialResponsesAreKnownInAnyCase(t *testing.T) {
	read := func(reason, kind string) models.SearchDocumentsResult[models.Document] {
		var page models.SearchDocumentsResult[models.Document]
		require.NoError(t, json.Unmarshal([]byte(`{"@search.semanticPartialResponseReason":`+reason+`,"@search.semanticPartialResponseType":`+kind+`,"value":[]}`), &page))
		return page
	}
	for reason, want := range map[string]models.SemanticPartialResponseReason{
		`"Transient"`: models.SemanticPartialResponseTransient, `"CapacityOverloaded"`: models.SemanticPartialResponseCapacityOverloaded,
		`"MaxWaitExceeded"`: models.SemanticPartialResponseMaxWaitExceeded, `"maxWaitExceeded"`: models.SemanticPartialResponseMaxWaitExceeded,
		`"NewOne"`: "NewOne", "null": "",
	} {
		assert.Equal(t, want, read(reason, "null").SemanticPartialResponseReason)
	}
	assert.Equal(t, models.SemanticPartialResponseBaseResults, read("null", `"BaseResults"`).SemanticPartialResponseType)
	assert.Equal(t, models.SemanticPartialResponseRerankedResults, read("null", `"RerankedResults"`).SemanticPartialResponseType)
	assert.Equal(t, models.SemanticPartialResponseType("Half"), read("null", `"Half"`).SemanticPartialResponseType)
}

func TestPageIsReadCompletely(t *testing.T) {
	type hotel struct {
		ID     string `json:"hotelId"`
		Visits int64  `json:"visits"`
	}
	var page models.SearchDocumentsResult[hotel]
	require.NoError(t, json.Unmarshal([]byte(fullPage), &page))
	assert.EqualValues(t, int64(9007199254740993), *page.Count)
	assert.InDelta(t, 66.5, *page.Coverage, 0)
	assert.Equal(t, models.SemanticPartialResponseMaxWaitExceeded, page.SemanticPartialResponseReason)
	assert.Equal(t, models.SemanticPartialResponseBaseResults, page.SemanticPartialResponseType)
	assert.True(t, page.Partial())
	assert.JSONEq(t, `{"search":"*","skip":50}`, string(page.NextPageParameters))
	assert.Contains(t, page.NextLink, "search.post.search")
	assert.Equal(t, []models.QueryAnswer{{Score: .9, Key: "1", Text: "Yes.", Highlights: "<em>Yes</em>."}, {Score: .8, Key: "2", Text: "No."}}, page.Answers)
	tags, err := models.ValueFacets[string](page.Facets["tags"])
	require.NoError(t, err)
	assert.Equal(t, []models.ValueFacet[string]{{Value: "pool", Count: 2}}, tags)
	require.Len(t, page.Results, 1)
	r := page.Results[0]
	assert.Equal(t, hotel{"1", 9007199254740993}, r.Document, "no digit is lost")
	assert.InDelta(t, .033, r.Score, 0)
	assert.InDelta(t, 3.5, *r.RerankerScore, 0)
	assert.InDelta(t, 7.25, *r.RerankerBoostedScore, 0)
	assert.Equal(t, map[string][]string{"description": {"a <em>pool</em>", "b"}}, r.Highlights)
	assert.Equal(t, "A <em>pool</em>.", r.Captions[0].Highlights)
	scores := r.DebugInfo.Vectors.Subscores
	assert.InDelta(t, 1.5, *scores.Text.SearchScore, 0)
	assert.InDelta(t, .25, *scores.Vectors[0]["a"].VectorSimilarity, 0)
	assert.InDelta(t, 2, *scores.DocumentBoost, 0)
	assert.Empty(t, page.AdditionalProperties)
	assert.Empty(t, r.AdditionalProperties)
}

func TestPageSurvivesReadingAndWriting(t *testing.T) {
	var page models.SearchDocumentsResult[models.Document]
	require.NoError(t, json.Unmarshal([]byte(fullPage), &page))
	got, err := json.Marshal(page)
	require.NoError(t, err)
	assert.JSONEq(t, fullPage, string(got))
	assert.Contains(t, string(got), `"visits":9007199254740993`)
	assert.Contains(t, string(got), `{"@search.score":0.033,`, "members about the document come first")
}

// Absent and null are the same.
func TestWhatWasNotAskedForIsNil(t *testing.T) {
	for _, reply := range []string{
		`{"value":[{"@search.score":1}]}`,
		`{"@odata.count":null,"@search.coverage":null,"@search.facets":null,"@search.answers":null,"@search.semanticPartialResponseReason":null,
		"@search.nextPageParameters":null,"@odata.nextLink":null,"value":[{"@search.score":1,"@search.rerankerScore":null,"@search.captions":null,"@search.highlights":null,"@search.documentDebugInfo":null}]}`,
	} {
		var page models.SearchDocumentsResult[models.Document]
		require.NoError(t, json.Unmarshal([]byte(reply), &page))
		assert.Equal(t, models.SearchDocumentsResult[models.Document]{
			Results: []models.SearchResult[models.Document]{{Score: 1, Document: models.Document{}}},
		}, page)
		assert.False(t, page.Partial())
	}
	assert.True(t, (&models.SearchDocumentsResult[any]{StatusCode: 206}).Partial())
}

// This holds for any position and spelling of the service's own members.
func TestDocumentHoldsItsOwnMembersOnly(t *testing.T) {
	for name, reply := range map[string]string{
		"first":         `{"@search.score":2.5,"@search.new":[1],"@odata.etag":"x","a":1,"b":"\"@search.score\":3"}`,
		"last":          `{"a":1,"b":"\"@search.score\":3","@search.score":2.5,"@search.new":[1],"@odata.etag":"x"}`,
		"between":       `{"@search.new":[1],"a":1,"@search.score":2.5,"b":"\"@search.score\":3","@odata.etag":"x"}`,
		"escaped":       `{"\u0040search.score":2.5,"a":1,"\u0040search.new":[1],"b":"\"@search.score\":3","@odata.\u0065tag":"x"}`,
		"escaped first": `{"@search.\u0073core":2.5,"@search.new":[1],"@odata.etag":"x","a":1,"b":"\"@search.score\":3"}`,
		"white space":   " {\n\t\"@search.score\" : 2.5 , \"@search.new\":[1],\"@odata.etag\":\"x\" , \"a\" : 1 , \"b\":\"\\\"@search.score\\\":3\" } ",
	} {
		t.Run(name, func(t *testing.T) {
			var r models.SearchResult[json.RawMessage]
			require.NoError(t, json.Unmarshal([]byte(reply), &r))
			assert.JSONEq(t, `{"a":1,"b":"\"@search.score\":3"}`, string(r.Document))
			if !strings.HasPrefix(name, "escaped") { // an escaped name may be unknown
				assert.InDelta(t, 2.5, r.Score, 0)
				assert.Len(t, r.AdditionalProperties, 2)
			}
			assert.JSONEq(t, `[1]`, string(r.AdditionalProperties["@search.new"]))
			got, err := json.Marshal(r)
			require.NoError(t, err)
			assert.Contains(t, string(got), `"a":1`)
		})
	}
}

func TestEscapedNameBehindTheDocumentIsSeen(t *testing.T) {
	var r models.SearchResult[models.Document]
	require.NoError(t, json.Unmarshal([]byte(`{"a":1,"\u0040search.new":2}`), &r))
	assert.Equal(t, models.Document{"a": json.Number("1")}, r.Document)
	assert.Contains(t, r.AdditionalProperties, "@search.new")
}

func TestAnnotationsOfFieldsBelongToTheDocument(t *testing.T) {
	var r models.SearchResult[models.Document]
	require.NoError(t, json.Unmarshal([]byte(`{"@search.score":1,"rating@odata.type":"#Int32","rating":5,"@other":1}`), &r))
	assert.Len(t, r.Document, 3)
	assert.Empty(t, r.AdditionalProperties)
}

func TestResultsOfAnyTypeAreRead(t *testing.T) {
	type hotel struct {
		ID string `json:"id"`
	}
	const reply = `{"value":[{"@search.score":1,"id":"1"},{"@search.score":2,"id":"2"}]}`
	var pointers models.SearchDocumentsResult[*hotel]
	require.NoError(t, json.Unmarshal([]byte(reply), &pointers))
	assert.Equal(t, &hotel{"2"}, pointers.Results[1].Document)
	got, err := json.Marshal(pointers)
	require.NoError(t, err)
	assert.JSONEq(t, reply, string(got))
	pointers.Results[0].Document = nil
	got, err = json.Marshal(pointers.Results[0])
	require.NoError(t, err)
	assert.JSONEq(t, `{"@search.score":1}`, string(got))
	var anything models.SearchDocumentsResult[any]
	require.NoError(t, json.Unmarshal([]byte(reply), &anything))
	assert.Equal(t, map[string]any{"id": "1"}, anything.Results[0].Document)
	var empty models.SearchDocumentsResult[hotel]
	got, err = json.Marshal(empty)
	require.NoError(t, err)
	assert.JSONEq(t, `{"value":[]}`, string(got))
}

// Otherwise a document that keeps its input would show the next one.
func TestResultsShareNoMemory(t *testing.T) {
	var page models.SearchDocumentsResult[json.RawMessage]
	require.NoError(t, json.Unmarshal([]byte(`{"value":[{"@search.score":1,"id":"1"},{"@search.score":1,"id":"2"},{"id":"3","@search.score":1}]}`), &page))
	for i, want := range []string{`{"id":"1"}`, `{"id":"2"}`, `{"id":"3"}`} {
		assert.JSONEq(t, want, string(page.Results[i].Document))
	}
}

func TestDocumentThatDoesNotFitIsNamedByItsPosition(t *testing.T) {
	type small struct {
		N int8 `json:"n"`
	}
	var page models.SearchDocumentsResult[small]
	err := json.Unmarshal([]byte(`{"value":[{"@search.score":1,"n":1},{"@search.score":1,"n":300}]}`), &page)
	var misfit *models.ResultError
	require.ErrorAs(t, err, &misfit)
	assert.Equal(t, 1, misfit.Position)
	require.NotErrorIs(t, err, models.ErrMalformedReply)
	var overflow *json.UnmarshalTypeError
	require.ErrorAs(t, err, &overflow)

	var suggestions models.SuggestDocumentsResult[small]
	err = json.Unmarshal([]byte(`{"value":[{"@search.text":"a","n":"x"}]}`), &suggestions)
	require.ErrorAs(t, err, &misfit)
	assert.Equal(t, 0, misfit.Position)
}

func TestSomethingElseInsteadOfAPageIsMalformed(t *testing.T) {
	for _, reply := range []string{
		`[]`, `"x"`, `1`, `{}`, `{"@odata.count":1}`, `{"value":null}`, `{"value":{}}`, `{"value":[1]}`, `{"value":[null]}`, `{"value":[[]]}`,
		`{"@odata.count":"x","value":[]}`, `{"@search.facets":[],"value":[]}`, `{"value":[{"@search.score":"x"}]}`, `{"@odata.nextLink":1,"value":[]}`,
		`{"value":[{"@search.highlights":[]}]}`, `{"@search.facets":{"a":[{"value":{}}]},"value":[]}`,
	} {
		var page models.SearchDocumentsResult[models.Document]
		require.ErrorIs(t, json.Unmarshal([]byte(reply), &page), models.ErrMalformedReply, reply)
	}
	for _, reply := range []string{`[]`, `{}`, `{"value":null}`, `{"value":[null]}`, `{"@search.coverage":"x","value":[]}`, `{"value":[{"@search.text":1}]}`} {
		var suggestions models.SuggestDocumentsResult[models.Document]
		require.ErrorIs(t, json.Unmarshal([]byte(reply), &suggestions), models.ErrMalformedReply, reply)
	}
	for _, reply := range []string{`[]`, `{}`, `{"value":null}`, `{"value":[1]}`} {
		var completions models.AutocompleteResult
		require.ErrorIs(t, json.Unmarshal([]byte(reply), &completions), models.ErrMalformedReply, reply)
	}
}

func TestSuggestionsSurviveReadingAndWriting(t *testing.T) {
	const reply = `{"@search.coverage":50.5,"@search.new":1,"value":[{"@search.text":"Roach <b>Motel</b>","@search.new":{},"hotelId":"2","visits":9007199254740993},{"@search.text":"x"}]}`
	var suggestions models.SuggestDocumentsResult[models.Document]
	require.NoError(t, json.Unmarshal([]byte(reply), &suggestions))
	assert.Equal(t, "Roach <b>Motel</b>", suggestions.Results[0].Text)
	assert.Equal(t, models.Document{"hotelId": "2", "visits": json.Number("9007199254740993")}, suggestions.Results[0].Document)
	got, err := json.Marshal(suggestions)
	require.NoError(t, err)
	assert.JSONEq(t, reply, string(got))
}

func TestCompletionsSurviveReadingAndWriting(t *testing.T) {
	const reply = `{"@search.coverage":50.5,"@search.new":1,"value":[{"text":"motel","queryPlusText":"roach motel","new":null}]}`
	var completions models.AutocompleteResult
	require.NoError(t, json.Unmarshal([]byte(reply), &completions))
	assert.Equal(t, "roach motel", completions.Results[0].QueryPlusText)
	got, err := json.Marshal(completions)
	require.NoError(t, err)
	assert.JSONEq(t, reply, string(got))
}
