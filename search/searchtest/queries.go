package searchtest

import (
	"net/http"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

// The queries.
const (
	OpSearch       Operation = "search"
	OpSuggest      Operation = "suggest"      // finds documents for an incomplete text
	OpAutocomplete Operation = "autocomplete" // completes an incomplete text
	OpAnalyze      Operation = "analyze"      // breaks a text into terms
)

func init() {
	register(operation{name: OpSearch, reads: true, serve: queried((*query.Request).Search), routes: []string{
		"GET /indexes/{index}/docs", "POST /indexes/{index}/docs/search.post.search", "POST /indexes/{index}/docs/search",
	}})
	register(operation{name: OpSuggest, reads: true, serve: queried((*query.Request).Suggest), routes: []string{
		"GET /indexes/{index}/docs/search.suggest", "POST /indexes/{index}/docs/search.post.suggest",
		"GET /indexes/{index}/docs/suggest?suggesterName", "POST /indexes/{index}/docs/suggest",
	}})
	register(operation{name: OpAutocomplete, reads: true, serve: queried((*query.Request).Autocomplete), routes: []string{
		"GET /indexes/{index}/docs/search.autocomplete", "POST /indexes/{index}/docs/search.post.autocomplete",
		"GET /indexes/{index}/docs/autocomplete?suggesterName", "POST /indexes/{index}/docs/autocomplete",
	}})
	register(operation{name: OpAnalyze, serve: (*Server).analyzeText, routes: []string{"POST /indexes/{index}/search.analyze", "POST /indexes/{index}/analyze"}})
}

// queried returns the handler of a kind of query.
func queried(answer func(*query.Request) (status int, body []byte, err *reply.Error)) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request, rt routing.Route, x *exchange) {
		ix, err := s.kept.RequestedIndex(rt)
		if err != nil {
			reply.WriteError(w, r, err)
			return
		}
		status, body, err := answer(s.asked(ix, r, rt, x))
		if err != nil {
			reply.WriteError(w, r, err)
			return
		}
		reply.WriteJSON(w, r, status, body)
	}
}

// asked returns the request for a query of ix.
func (s *Server) asked(ix *store.Index, r *http.Request, rt routing.Route, x *exchange) *query.Request {
	return &query.Request{
		HTTP: r, Route: rt, Body: x.body,
		Read: ix.Read, Synonyms: s.kept.Synonyms, Resolve: s.opts.Reader,
		StandIn: s.opts.SemanticStandIn, Failure: x.fault.FailsRanking(),
	}
}

// analyzeText answers POST /indexes('x')/search.analyze.
func (s *Server) analyzeText(w http.ResponseWriter, r *http.Request, rt routing.Route, x *exchange) {
	// The documentation excludes names of aliases.
	ix, ok := s.kept.LookupIndex(rt.Index)
	if !ok {
		reply.WriteError(w, r, s.kept.NoSuchIndex(rt.Index))
		return
	}
	context := reply.AppendContext([]byte{'{'}, r, "/$metadata#"+shape.ResourceType(rt.Version, "AnalyzeResult"))
	body, err := query.Analyze(ix.Definition(), x.body, context, rt.Version)
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	reply.WriteJSON(w, r, http.StatusOK, body)
}
