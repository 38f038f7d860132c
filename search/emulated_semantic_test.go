package search_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// manual is an index of questions and answers about a boat.
const manual = `{"name":"manual","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"title","type":"Edm.String"},
	{"name":"body","type":"Edm.String","analyzer":"en.lucene"},
	{"name":"age","type":"Edm.Int32"},
	{"name":"v","type":"Collection(Edm.Single)","searchable":true,"dimensions":2,"vectorSearchProfile":"p"}],
	"scoringProfiles":[{"name":"old","functions":[{"type":"magnitude","fieldName":"age","boost":4,"interpolation":"constant","magnitude":{"boostingRangeStart":10,"boostingRangeEnd":99}}]}],
	"semantic":{"defaultConfiguration":"c","configurations":[{"name":"c","prioritizedFields":{"titleField":{"fieldName":"title"},"prioritizedContentFields":[{"fieldName":"body"}]}}]},
	"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a"}]}}`

// ranking returns a server that emulates semantic ranking, and a client of its index.
func ranking(t testing.TB, docs ...models.Document) (*searchtest.Server, *search.Client) {
	t.Helper()
	srv := searchtest.NewServer(&searchtest.Options{SemanticStandIn: true})
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	require.NoError(t, srv.CreateIndex(manual))
	client, err := search.NewClientWithKey(srv.URL(), "manual", azcore.NewKeyCredential(searchtest.AdminKey), impatient(srv))
	require.NoError(t, err)
	if docs == nil {
		docs = []models.Document{
			{"id": "anchor", "title": "Anchoring", "body": "Lower the anchor where the ground is sand. Let out five times the depth in chain.", "age": 3, "v": []float32{1, 0}},
			{"id": "reef", "title": "When to reef the sail", "body": "Reef the sail before the wind is strong.", "age": 20, "v": []float32{0, 1}},
			{"id": "sail", "title": "Sails", "body": "A sail is made of cloth.", "age": 30, "v": []float32{0.6, 0.8}},
		}
	}
	_, err = search.UploadDocuments(t.Context(), client, docs, &search.IndexDocumentsOptions{KeyField: "id"})
	require.NoError(t, err)
	return srv, client
}

// A reply has scores, captions and answers.
func TestSemanticRepliesAreReadInFull(t *testing.T) {
	_, client := ranking(t)
	page, err := search.NewSearchPager[struct{ ID string }](client, "when should I reef the sail?", &search.SearchOptions{
		QueryType: models.QueryTypeSemantic, IncludeTotalCount: true, ScoringProfile: "old", Select: []string{"id"}, HighlightPreTag: "[", HighlightPostTag: "]",
		Semantic: &search.SemanticOptions{
			ConfigurationName: "c", ErrorHandling: models.SemanticErrorHandlingFail, MaxWait: time.Second,
			Answers: &search.AnswerOptions{Count: 3, Threshold: to.Ptr(0.5)}, Captions: &search.CaptionOptions{},
		},
	}).NextPage(t.Context())
	require.NoError(t, err)
	assert.False(t, page.Partial())
	assert.Equal(t, int64(2), *page.Count)
	assert.Empty(t, page.AdditionalProperties)
	reef := models.QueryCaption{Text: "Reef the sail before the wind is strong.", Highlights: "[Reef ]the[ sail ]before the wind is strong."}
	assert.Equal(t, []models.QueryAnswer{{Key: "reef", Score: 1, Text: reef.Text, Highlights: reef.Highlights}}, page.Answers)
	require.Len(t, page.Results, 2)
	for i, want := range []models.SearchResult[struct{ ID string }]{
		{RerankerScore: to.Ptr(4.0), RerankerBoostedScore: to.Ptr(16.0), Captions: []models.QueryCaption{reef}},
		{RerankerScore: to.Ptr(1.280029296875), RerankerBoostedScore: to.Ptr(5.1201171875), Captions: []models.QueryCaption{{Text: "A sail is made of cloth.", Highlights: "A[ sail ]is made of cloth."}}},
	} {
		got := page.Results[i]
		want.Document.ID, want.Score = []string{"reef", "sail"}[i], got.Score
		assert.Equal(t, want, got)
		assert.Positive(t, got.Score)
	}
}

// Each option changes the reply.
func TestSemanticOptionsReachTheServer(t *testing.T) {
	_, client := ranking(t)
	first := func(text string, opts *search.SearchOptions) *models.SearchDocumentsResult[struct{ ID string }] {
		t.Helper()
		page, err := search.NewSearchPager[struct{ ID string }](client, text, opts).NextPage(t.Context())
		require.NoError(t, err)
		return &page
	}
	page := first("", &search.SearchOptions{Semantic: &search.SemanticOptions{Query: "anchor chain", Captions: &search.CaptionOptions{NoHighlights: true, MaxLength: 16}}})
	assert.Equal(t, "anchor", page.Results[0].Document.ID)
	assert.Equal(t, []models.QueryCaption{{Text: "Lower the anchor"}}, page.Results[0].Captions)
	assert.Empty(t, page.Answers)
	assert.Nil(t, page.Results[0].RerankerBoostedScore)

	page = first("", &search.SearchOptions{
		VectorQueries: []search.VectorQuery{{Vector: models.VectorOf([]float32{1, 0}), Fields: []string{"v"}, K: 2}},
		Semantic:      &search.SemanticOptions{Query: "cloth of a sail?", Answers: &search.AnswerOptions{MaxLength: 6}},
	})
	require.Len(t, page.Results, 2)
	assert.Equal(t, "sail", page.Results[0].Document.ID, "the second nearest")
	assert.Empty(t, page.Answers, "six characters have not enough of the words")
	assert.Nil(t, page.Results[0].Captions)
}

// The ranker reorders only the top results; the rest must follow.
func TestRankingDoesNotLoseResults(t *testing.T) {
	var docs []models.Document
	for i := range 120 {
		docs = append(docs, models.Document{"id": numberedID(i), "title": "sail" + strings.Repeat(" x", i%7)})
	}
	_, client := ranking(t, docs...)
	seen := make(map[string]bool)
	ranked := 0
	for result, err := range search.Search[struct{ ID string }](t.Context(), client, "sail", &search.SearchOptions{QueryType: models.QueryTypeSemantic}) {
		require.NoError(t, err)
		assert.False(t, seen[result.Document.ID], result.Document.ID)
		seen[result.Document.ID] = true
		if result.RerankerScore != nil {
			ranked++
			assert.Equal(t, ranked, len(seen), "the ranked results come first")
		}
	}
	assert.Len(t, seen, 120)
	assert.Equal(t, 50, ranked)
}

// A partial reply is an error only if the caller asks for that.
func TestPartialRepliesAreResults(t *testing.T) {
	srv, client := ranking(t)
	opts := &search.SearchOptions{QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{Answers: &search.AnswerOptions{}, Captions: &search.CaptionOptions{}}}
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSearch, Semantic: searchtest.SemanticCapacityOverloaded}}})
	page, err := search.NewSearchPager[models.Document](client, "sail", opts).NextPage(t.Context())
	require.NoError(t, err)
	assert.True(t, page.Partial())
	assert.Equal(t, 206, page.StatusCode)
	assert.True(t, strings.EqualFold(string(models.SemanticPartialResponseCapacityOverloaded), string(page.SemanticPartialResponseReason)), page.SemanticPartialResponseReason)
	assert.True(t, strings.EqualFold(string(models.SemanticPartialResponseBaseResults), string(page.SemanticPartialResponseType)), page.SemanticPartialResponseType)
	require.Len(t, page.Results, 2)
	assert.Nil(t, page.Results[0].RerankerScore)
	assert.Nil(t, page.Results[0].Captions)
	assert.Empty(t, page.Answers)

	opts.Semantic.ErrorHandling = models.SemanticErrorHandlingFail
	_, err = search.NewSearchPager[models.Document](client, "sail", opts).NextPage(t.Context())
	var failed *azcore.ResponseError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 503, failed.StatusCode)
}
