package searchtest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// If ranking fails, the query returns its results without ranking.
func TestRankingCanFail(t *testing.T) {
	p := semanticProbe(t)
	const query = `{"search":"cloud","queryType":"semantic","semanticQuery":"is it rain?","answers":"extractive","captions":"extractive","select":"id"`
	plain := p.articles(`{"search":"cloud","select":"id"}`)
	results := plain.body[1:]
	for failure, reason := range map[SemanticFault]string{SemanticCapacityOverloaded: "CapacityOverloaded", SemanticMaxWaitExceeded: "MaxWaitExceeded", SemanticTransient: "Transient"} {
		p.SetFaults(&Faults{Rules: []Fault{{Semantic: failure}}})
		a := p.articles(query + `}`)
		assert.Equal(t, http.StatusPartialContent, a.status)
		assert.Equal(t, `{"@search.answers":[],"@search.semanticPartialResponseReason":"`+reason+`","@search.semanticPartialResponseType":"BaseResults",`+results, a.body)
		assert.Equal(t, a.body, p.articles(query+`,"semanticErrorHandling":"partial"}`).body)
		a = p.articles(query + `,"semanticErrorHandling":"fail"}`)
		assert.Equal(t, http.StatusServiceUnavailable, a.status)
		assert.Contains(t, a.message(), string(failure))
		assert.Equal(t, plain.body, p.articles(`{"search":"cloud","select":"id"}`).body, "nothing else fails")
		assert.Equal(t, http.StatusOK, p.articles(query+`,"skip":50}`).status, "a page that is not ranked")
		assert.Equal(t, http.StatusOK, p.articles(`{"search":"*","queryType":"semantic","semanticErrorHandling":"fail"}`).status)
	}
	p.SetFaults(&Faults{Rules: []Fault{{Operation: OpSearch, Semantic: SemanticTransientAnswers, Count: 1}}})
	a := p.articles(query + `,"top":1}`)
	assert.Equal(t, http.StatusPartialContent, a.status)
	assert.Equal(t, `{"@search.answers":[],"@search.semanticPartialResponseReason":"Transient","@search.semanticPartialResponseType":"RerankedResults",`+
		`"value":[{"@search.score":0.4073985,"@search.rerankerScore":4.0,"@search.captions":[{"text":"Rain falls from a cloud.","highlights":""}],"id":"rain"}]}`, a.body)
	a = p.articles(query + `,"top":1}`)
	assert.Equal(t, http.StatusOK, a.status, "the fault applies once")
	assert.Contains(t, a.body, "<em>Rain </em>falls")
}

// Other queries do not count.
func TestFaultsOfRankingCountSemanticQueries(t *testing.T) {
	p := semanticProbe(t)
	p.SetFaults(&Faults{Rules: []Fault{{Semantic: SemanticTransient, Count: 2}}})
	p.articles(`{"search":"cloud"}`)
	p.articles(`{`)
	p.send(http.MethodGet, "/indexes('articles')/docs('fog')", "")
	p.send(http.MethodPost, "/indexes('articles')/docs/search.index", `{"value":[]}`)
	for _, record := range p.Requests() {
		assert.False(t, record.Fault, record.URL)
	}
	assert.Equal(t, http.StatusPartialContent, p.articles(`{"semanticQuery":"rain"}`).status)
	assert.Equal(t, http.StatusPartialContent, p.send(http.MethodGet, "/indexes('articles')/docs?search=rain&queryType=semantic", "").status)
	assert.Equal(t, http.StatusOK, p.articles(`{"semanticQuery":"rain"}`).status)
}

func TestFaultsOfRankingAreForSearches(t *testing.T) {
	for want, rule := range map[string]Fault{
		`semantic: "lazy" is unknown`:                                   {Semantic: "lazy"},
		"semantic: does nothing, because only searches are ranked":      {Operation: OpSuggest, Semantic: SemanticTransient},
		"semantic: does nothing with a status":                          {Status: 500, Semantic: SemanticTransient},
		"semantic: does nothing when the connection is cut":             {Cut: CutAfterCommit, Semantic: SemanticTransient},
		"body, results, semantic, documents, overBytes and overActions": {},
	} {
		assert.ErrorContains(t, (&Faults{Rules: []Fault{rule}}).Validate(), want)
	}
	assert.NoError(t, (&Faults{Rules: []Fault{{Operation: OpSearch, OverBytes: 10, Semantic: SemanticTransient}}}).Validate())
	assert.NoError(t, (&Faults{Rules: []Fault{{Semantic: SemanticTransient, ReplyDelay: 1, Body: BodyEmpty}}}).Validate())
}
