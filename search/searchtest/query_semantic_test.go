package searchtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// articles is an index with a semantic configuration.
const articles = `{"name":"articles","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"title","type":"Edm.String"},
	{"name":"tags","type":"Collection(Edm.String)"},
	{"name":"body","type":"Edm.String","analyzer":"en.lucene"},
	{"name":"notes","type":"Edm.String"},
	{"name":"year","type":"Edm.Int32"},
	{"name":"v","type":"Collection(Edm.Single)","searchable":true,"dimensions":2,"vectorSearchProfile":"p"}],
	"scoringProfiles":[
		{"name":"recent","functions":[{"type":"magnitude","fieldName":"year","boost":3,"interpolation":"constant","magnitude":{"boostingRangeStart":2020,"boostingRangeEnd":2030}}]},
		{"name":"weights","text":{"weights":{"title":2}}}],
	"semantic":{"defaultConfiguration":"all","configurations":[
		{"name":"all","prioritizedFields":{"titleField":{"fieldName":"title"},"prioritizedContentFields":[{"fieldName":"body"},{"fieldName":"notes"}],"prioritizedKeywordsFields":[{"fieldName":"tags"}]}},
		{"name":"plain","rankingOrder":"RerankerScore","prioritizedFields":{"prioritizedContentFields":[{"fieldName":"body"}]}}]},
	"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a"}]}}`

// semanticProbe has the index articles with documents about the weather.
func semanticProbe(t testing.TB, documents ...string) probe {
	p := probe{TB: t, Server: NewServer(&Options{SemanticStandIn: true})}
	require.NoError(t, p.CreateIndex(articles))
	if documents == nil {
		documents = []string{
			`{"id":"fog","title":"Fog","tags":["weather","water"],"body":"Fog is a cloud on the ground. It hides the hills.","year":2021,"v":[1,0]}`,
			`{"id":"clouds","title":"How clouds form","tags":["weather"],"body":"Moist air rises and cools. A cloud forms where the air reaches its dew point.","year":2001,"v":[0,1]}`,
			`{"id":"rain","title":"Rain","body":"Rain falls from a cloud.","year":2022,"v":[0.6,0.8]}`,
			`{"id":"stone","title":"Stones","body":"They lie on the ground.","v":[0.8,0.6]}`,
		}
	}
	a := p.send(http.MethodPost, "/indexes('articles')/docs/search.index", `{"value":[`+strings.Join(documents, ",")+`]}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	return p
}

// semanticReply has the parts of a reply that tests check.
type semanticReply struct {
	Count   int              `json:"@odata.count"`
	Answers []semanticText   `json:"@search.answers"`
	Value   []semanticResult `json:"value"`
	Next    json.RawMessage  `json:"@search.nextPageParameters"`
}

type semanticText struct {
	Key              string
	Text, Highlights string
	Score            float64
}

type semanticResult struct {
	ID       string
	Score    float64        `json:"@search.score"`
	Reranked *float64       `json:"@search.rerankerScore"`
	Boosted  *float64       `json:"@search.rerankerBoostedScore"`
	Captions []semanticText `json:"@search.captions"`
}

func (p probe) articles(body string) answered {
	p.Helper()
	return p.send(http.MethodPost, "/indexes('articles')/docs/search.post.search", body)
}

// semantic makes a query that must succeed.
func (p probe) semantic(body string) (r semanticReply) {
	p.Helper()
	a := p.articles(body)
	require.Equal(p, http.StatusOK, a.status, a.body)
	require.NoError(p, json.Unmarshal([]byte(a.body), &r))
	return r
}

func (r semanticReply) ids() string {
	var ids []string
	for _, v := range r.Value {
		ids = append(ids, v.ID)
	}
	return strings.Join(ids, " ")
}

// Members and their order are those of recorded replies.
func TestSemanticRepliesHaveTheShapeOfTheService(t *testing.T) {
	p := semanticProbe(t)
	a := p.articles(`{"search":"how do clouds form","queryType":"semantic","answers":"extractive","captions":"extractive|highlight-True","select":"id","count":true,"facets":["year"],"top":2}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	const text = `"text":"Moist air rises and cools. A cloud forms where the air reaches its dew point.","highlights":"Moist air rises and cools. A<em> cloud forms </em>where the air reaches its dew point."`
	assert.Equal(t, `{"@odata.count":3,"@search.facets":{"year":[{"value":2001,"count":1},{"value":2021,"count":1},{"value":2022,"count":1}]},`+
		`"@search.answers":[{"key":"clouds",`+text+`,"score":1.0}],`+
		`"value":[{"@search.score":4.2541003,"@search.rerankerScore":4.0,"@search.captions":[{`+text+`}],"id":"clouds"},`+
		`{"@search.score":0.4073985,"@search.rerankerScore":1.1953125,"@search.captions":[{"text":"Rain falls from a cloud.","highlights":"Rain falls from a<em> cloud.</em>"}],"id":"rain"}]}`,
		a.body)
	a = p.articles(`{"search":"rain","queryType":"semantic","select":"id"}`)
	assert.Equal(t, `{"@search.answers":[],"value":[{"@search.score":3.973239,"@search.rerankerScore":4.0,"id":"rain"}]}`, a.body, "more was not requested")
	a = p.articles(`{"search":"clouds","queryType":"semantic","answers":"extractive|threshold-0","semanticQuery":"rain falls on cloudy nights?","select":"id","top":0}`)
	assert.Equal(t, `{"@search.answers":[{"key":"rain","text":"Rain falls from a cloud.","highlights":"<em>Rain falls </em>from a cloud.","score":0.45500001311302185}],"value":[]}`, a.body, "a thousandth in 32 bits")
}

func TestSemanticRankingIsNamedWhereItIsNotOn(t *testing.T) {
	p := probe{TB: t, Server: NewServer(nil)}
	require.NoError(t, p.CreateIndex(articles))
	a := p.articles(`{"search":"x","queryType":"semantic"}`)
	assert.Equal(t, http.StatusNotImplemented, a.status)
	assert.Contains(t, a.message(), "searchtest does not emulate semantic ranking. Options.SemanticStandIn")
	a = p.articles(`{"search":"x","queryType":"semantic","answers":"generative"}`)
	assert.Equal(t, http.StatusBadRequest, a.status, "refusals are those of the service")
}

func TestDocumentsWithMoreOfTheWordsScoreMore(t *testing.T) {
	var documents []string
	for i, body := range []string{"red green blue violet", "red. Green. Blue. Violet.", "red green blue", "red green", "red", "grey"} {
		documents = append(documents, fmt.Sprintf(`{"id":"%d","body":"%s"}`, i, body))
	}
	documents = append(documents, `{"id":"title","title":"red green blue violet"}`, `{"id":"empty"}`)
	p := semanticProbe(t, documents...)
	r := p.semantic(`{"search":"red green blue violet grey~","queryType":"full","semanticQuery":"red, green; blue? VIOLET!","captions":"extractive"}`)
	assert.Equal(t, "title 0 1 2 3 4 5", r.ids())
	last := 4.1
	for _, v := range r.Value {
		require.NotNil(t, v.Reranked, v.ID)
		assert.Less(t, *v.Reranked, last, v.ID)
		last = *v.Reranked
	}
	assert.Equal(t, 4.0, *r.Value[0].Reranked, "the title and one sentence have all words")
	assert.Equal(t, 3.5, *r.Value[1].Reranked, "a sentence has all")
	assert.GreaterOrEqual(t, *r.Value[2].Reranked, 3.0, "the document has all")
	assert.Less(t, *r.Value[4].Reranked, 3.0, "the document has half of them")
	assert.Zero(t, *r.Value[6].Reranked)
}

func TestRareWordsCountMore(t *testing.T) {
	p := semanticProbe(t, `{"id":"often","body":"pool and spa"}`, `{"id":"a","body":"pool"}`, `{"id":"rare","body":"sauna and spa"}`)
	r := p.semantic(`{"search":"pool sauna spa","queryType":"semantic"}`)
	assert.Equal(t, "rare often a", r.ids())
	assert.Greater(t, *r.Value[0].Reranked, *r.Value[1].Reranked, "both documents have two of the words")
}

func TestEqualsKeepTheOrderOfTheirScores(t *testing.T) {
	p := semanticProbe(t, `{"id":"long","notes":"pool, and a great many other words","body":"x"}`, `{"id":"short","notes":"pool"}`, `{"id":"twice","notes":"pool pool"}`)
	r := p.semantic(`{"search":"pool","queryType":"semantic"}`)
	plain := p.semantic(`{"search":"pool"}`)
	assert.Equal(t, plain.ids(), r.ids())
	assert.Equal(t, "twice short long", r.ids())
	assert.Equal(t, *r.Value[0].Reranked, *r.Value[2].Reranked)
}

// Words are the tokens of the fields' analyzers, without stop words and duplicates.
func TestWordsAreThoseOfTheFields(t *testing.T) {
	p := semanticProbe(t, `{"id":"stem","body":"clouds forming"}`, `{"id":"exact","notes":"clouds forming"}`)
	for query, want := range map[string]string{
		"a form of the cloud": "stem:3.5 exact:0",
		"forming forming":     "stem:3.5 exact:3.5",
		"what is the cloud":   "stem:3.5 exact:0",
	} {
		r := p.semantic(`{"search":"forming|clouds","queryType":"full","semanticQuery":"` + query + `"}`)
		got := make(map[string]string)
		for _, v := range r.Value {
			got[v.ID] = fmt.Sprint(*v.Reranked)
		}
		assert.Equal(t, want, "stem:"+got["stem"]+" exact:"+got["exact"], query)
	}
}

func TestOnlySmallWordsAreWordsAllTheSame(t *testing.T) {
	p := semanticProbe(t, `{"id":"band","title":"The Who"}`, `{"id":"other","title":"The What"}`)
	assert.Equal(t, "band other", p.semantic(`{"search":"the who","queryType":"semantic"}`).ids())
	assert.Equal(t, 4.0, *p.semantic(`{"search":"the who","queryType":"semantic"}`).Value[0].Reranked)
}

// Only the first 50 results are ranked; the others keep their order.
func TestFiftyResultsAreRanked(t *testing.T) {
	var documents []string
	for i := range 60 {
		// Shorter texts score higher; the last of the 50 has both words.
		body := "pool" + strings.Repeat(" x", i)
		if i == 49 || i == 55 {
			body += " spa"
		}
		documents = append(documents, fmt.Sprintf(`{"id":"%02d","notes":"%s"}`, i, body))
	}
	p := semanticProbe(t, documents...)
	query := func(page string) semanticReply {
		return p.semantic(`{"search":"pool","queryType":"semantic","semanticQuery":"is there a pool, a spa?","answers":"extractive","captions":"extractive","count":true` + page + `}`)
	}
	all := query(`,"top":100`)
	require.Len(t, all.Value, 60)
	assert.Equal(t, 60, all.Count)
	assert.Equal(t, "49", all.Value[0].ID)
	assert.Equal(t, "00", all.Value[1].ID)
	for i, v := range all.Value {
		assert.Equal(t, i < 50, v.Reranked != nil, i)
		assert.Equal(t, i < 50, len(v.Captions) == 1, i)
		if i >= 50 {
			assert.Equal(t, fmt.Sprintf("%02d", i), v.ID)
		}
	}
	require.Len(t, all.Answers, 1)
	assert.Equal(t, "49", all.Answers[0].Key)

	var paged []semanticResult
	for skip := 0; skip < 60; skip += 7 {
		r := query(fmt.Sprintf(`,"top":7,"skip":%d`, skip))
		paged = append(paged, r.Value...)
		assert.Equal(t, skip < 50, len(r.Answers) == 1, skip)
		assert.NotNil(t, r.Answers, "the answers of an unranked page are empty")
	}
	assert.Equal(t, all.Value, paged, "pages together are the whole")

	none := query(`,"top":0`)
	assert.Empty(t, none.Value)
	assert.Len(t, none.Answers, 1)
}

func TestWithoutATextNothingIsRanked(t *testing.T) {
	p := semanticProbe(t)
	for _, body := range []string{
		`{"search":"*","queryType":"semantic","answers":"extractive","captions":"extractive"}`,
		`{"queryType":"semantic","answers":"extractive","captions":"extractive"}`,
		`{"search":"cloud","semanticQuery":" * ","answers":"extractive","captions":"extractive"}`,
	} {
		r := p.semantic(body)
		assert.Empty(t, r.Answers)
		assert.NotNil(t, r.Answers)
		require.NotEmpty(t, r.Value)
		for _, v := range r.Value {
			assert.Nil(t, v.Reranked)
			assert.Nil(t, v.Captions)
		}
	}
}

func TestWhateverFindsDocumentsCanBeRanked(t *testing.T) {
	p := semanticProbe(t)
	for body, want := range map[string]string{
		`{"semanticQuery":"rain"}`:                         "rain fog clouds stone",
		`{"semanticQuery":"rain","filter":"year gt 2000"}`: "rain fog clouds",
		`{"semanticQuery":"stones","vectorQueries":[{"kind":"vector","vector":[1,0],"fields":"v","k":2}]}`:                                                 "stone fog",
		`{"search":"cloud","queryType":"semantic","vectorQueries":[{"kind":"vector","vector":[1,0],"fields":"v","k":2}]}`:                                  "fog rain clouds stone",
		`{"search":"fog","semanticQuery":"ground","vectorQueries":[{"kind":"vector","vector":[1,0],"fields":"v","k":2}],"filter":"id ne 'fog'","top":100}`: "stone rain",
		`{"search":"cl*","queryType":"simple","semanticQuery":"fog"}`:                                                                                      "fog clouds rain",
		`{"search":"body:/cl.*/ AND title:rain","queryType":"full","semanticQuery":"fog"}`:                                                                 "rain",
	} {
		assert.Equal(t, want, p.semantic(body).ids(), body)
	}
}

func TestFunctionsBoostTheScoreOfTheRanking(t *testing.T) {
	p := semanticProbe(t)
	const query = `{"search":"how do clouds form","queryType":"semantic"`
	r := p.semantic(query + `,"scoringProfile":"recent"}`)
	assert.Equal(t, "clouds rain fog", p.semantic(query+`}`).ids())
	require.NotNil(t, r.Value[0].Boosted)
	for _, v := range r.Value {
		boost := 3.0
		if v.ID == "clouds" {
			boost = 1
		}
		assert.Equal(t, boost**v.Reranked, *v.Boosted, v.ID)
	}
	assert.Equal(t, "clouds rain fog", r.ids(), "4 is more than 3 times 1.3125")
	r = p.semantic(`{"search":"cloud ground air","queryType":"semantic","scoringProfile":"recent"}`)
	assert.Equal(t, "fog rain clouds stone", r.ids())
	r = p.semantic(`{"search":"cloud ground air","queryType":"semantic","scoringProfile":"recent","semanticConfiguration":"plain"}`)
	assert.Equal(t, "clouds fog stone rain", r.ids(), "the configuration asks for the order of the other score")
	assert.NotNil(t, r.Value[0].Boosted, "the boosted score is present anyway")
	r = p.semantic(query + `,"scoringProfile":"weights"}`)
	assert.Nil(t, r.Value[0].Boosted, "weights are about text")
	older := p.send(http.MethodPost, "/indexes('articles')/docs/search?api-version=2024-07-01", query+`,"scoringProfile":"recent"}`)
	require.Equal(t, http.StatusOK, older.status, older.body)
	assert.NotContains(t, older.body, "Boosted")
}

func TestAnswersAreForQuestions(t *testing.T) {
	p := semanticProbe(t)
	for query, want := range map[string]int{
		"how do clouds form":             1,
		"Where is fog":                   1,
		"is fog a cloud":                 1,
		"what's fog":                     1,
		"fog?":                           1,
		"雾？ fog？":                        0, // no document has the other word
		"clouds form":                    0,
		"show fog":                       0,
		"how do purple clouds dance far": 0, // too few of the words match
	} {
		r := p.semantic(`{"search":"fog clouds","queryType":"semantic","semanticQuery":"` + query + `","answers":"extractive"}`)
		assert.Len(t, r.Answers, want, query)
		assert.NotNil(t, r.Answers, query)
	}
	assert.Empty(t, p.semantic(`{"search":"how do clouds form","queryType":"semantic"}`).Answers, "no answers were requested")
}

func TestAnswersAreTheBestThatReachTheThreshold(t *testing.T) {
	p := semanticProbe(t, `{"id":"3","body":"red green blue"}`, `{"id":"2","body":"red green"}`, `{"id":"1","body":"red"}`, `{"id":"0","title":"grey","body":"brown"}`)
	answers := func(setting string) string {
		t.Helper()
		var keys []string
		last := 1.0
		for _, a := range p.semantic(`{"queryType":"semantic","search":"red green blue grey","semanticQuery":"what is red green blue?","answers":"extractive` + setting + `"}`).Answers {
			assert.LessOrEqual(t, a.Score, last)
			last = a.Score
			keys = append(keys, a.Key)
		}
		return strings.Join(keys, " ")
	}
	assert.Equal(t, "3", answers(""))
	assert.Equal(t, "3", answers("|count-10"), "0.7 is asked for")
	assert.Equal(t, "3", answers("|threshold-0.5"), "one answer is requested")
	assert.Equal(t, "3 2", answers("|count-10,threshold-0.5"))
	assert.Equal(t, "3 2", answers("|threshold-0, count-2"))
	assert.Equal(t, "3 2 1", answers("|threshold-0,count-10"), "an answer has something of the question")
	assert.Equal(t, "3", answers("|threshold-1,count-10"))
}

func TestAGetRanksAsAPostDoes(t *testing.T) {
	p := semanticProbe(t)
	query := url.Values{"search": {"how do clouds form"}, "queryType": {"semantic"}, "semanticConfiguration": {"all"}, "answers": {"extractive|count-3"}, "captions": {"extractive"},
		"semanticErrorHandling": {"partial"}, "semanticMaxWaitInMilliseconds": {"780"}, "semanticQuery": {"where do clouds form"}}
	get := p.send(http.MethodGet, "/indexes/articles/docs?"+query.Encode(), "")
	require.Equal(t, http.StatusOK, get.status, get.body)
	assert.Equal(t, p.articles(`{"search":"how do clouds form","queryType":"semantic","answers":"extractive|count-3","captions":"extractive","semanticQuery":"where do clouds form"}`).body, get.body)
}

// Recorded from previews.
func TestDebugTellsWhatWasRead(t *testing.T) {
	p := semanticProbe(t, `{"id":"1","title":"Fog","tags":["weather","water  vapour"],"body":"`+strings.Repeat("fog ", 2100)+`","notes":"More."}`)
	const path = "/indexes('articles')/docs/search?api-version=2025-11-01-preview"
	const query = `"search":"fog","queryType":"semantic","queryLanguage":"en-us","select":"id","debug":"semantic"`
	a := p.send(http.MethodPost, path, `{`+query+`}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.Contains(t, a.body, `"@search.rerankerScore":4.0,"@search.documentDebugInfo":{"semantic":{"titleField":{"name":"title","state":"used"},`+
		`"contentFields":[{"name":"body","state":"partial"},{"name":"notes","state":"unused"}],"keywordFields":[{"name":"tags","state":"used"}],`+
		`"rerankerInput":{"title":"Fog","content":"`+strings.Repeat("fog ", 1995)+`fog","keywords":"weather\r\nwater vapour"}},"vectors":null},"id":"1"}`)
	a = p.send(http.MethodPost, path, `{`+query+`,"semanticConfiguration":"plain"}`)
	assert.Contains(t, a.body, `{"titleField":null,"contentFields":[{"name":"body","state":"partial"}],"keywordFields":[],"rerankerInput":{"title":"",`)
	assert.Equal(t, http.StatusNotImplemented, p.articles(`{"search":"fog","queryType":"semantic","debug":"semantic"}`).status, "stable versions do not have it")
	assert.Equal(t, http.StatusNotImplemented, p.send(http.MethodPost, path, `{"search":"fog","debug":"semantic"}`).status)
}

func TestFieldsThatAreNotAnalyzedAreNamed(t *testing.T) {
	p := probe{TB: t, Server: NewServer(&Options{SemanticStandIn: true})}
	require.NoError(t, p.CreateIndex(`{"name":"articles","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"body","type":"Edm.String","analyzer":"en.microsoft"}],
		"semantic":{"configurations":[{"name":"c","prioritizedFields":{"prioritizedContentFields":[{"fieldName":"body"}]}}]}}`))
	a := p.articles(`{"semanticQuery":"x","semanticConfiguration":"c"}`)
	assert.Equal(t, http.StatusNotImplemented, a.status, a.body)
	assert.Contains(t, a.message(), "en.microsoft")
}

// In Microsoft's retrieval demo the title is the page name, which is only filterable.
func TestFieldsThatAreNotSearchableAreReadForSemanticRanking(t *testing.T) {
	p := probe{TB: t, Server: NewServer(&Options{SemanticStandIn: true})}
	require.NoError(t, p.CreateIndex(`{"name":"articles","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"body","type":"Edm.String","analyzer":"en.lucene"},
		{"name":"page","type":"Edm.String","searchable":false,"filterable":true},{"name":"tags","type":"Collection(Edm.String)","searchable":false}],
		"semantic":{"configurations":[{"name":"all","prioritizedFields":{"titleField":{"fieldName":"page"},"prioritizedContentFields":[{"fieldName":"body"}],"prioritizedKeywordsFields":[{"fieldName":"tags"}]}}]}}`))
	a := p.send(http.MethodPost, "/indexes('articles')/docs/search.index", `{"value":[{"id":"1","body":"cloud","page":"rain"},{"id":"2","body":"cloud rains","page":"sun"},{"id":"3","body":"cloud","tags":["Rain"]}]}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	r := p.semantic(`{"search":"cloud rain","queryType":"semantic","semanticConfiguration":"all","searchFields":"body"}`)
	require.Len(t, r.Value, 3)
	for _, v := range r.Value {
		require.NotNil(t, v.Reranked)
		assert.GreaterOrEqual(t, *v.Reranked, 3.0, "%s has both words", v.ID)
	}
}
