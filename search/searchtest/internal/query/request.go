// Package query is for what is asked of the documents of an index: searches, suggestions, completions, lookups and the
// analysis of a text.
//
// A [Request] is checked against the definition of the index first, and then carried out on a [View] of its documents.
package query

import (
	"net/http"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// Request is one query, or the lookup of a document, with what it needs of the index and of the service.
type Request struct {
	HTTP  *http.Request
	Route routing.Route
	Body  []byte // of a POST

	// Read runs search on a view of the index: see [View.Read].
	Read func(prepare func(*View) *reply.Error, search func(*View)) *reply.Error
	// Synonyms returns the rules of a synonym map, and the version of it that they are.
	Synonyms func(name string) (rules *textindex.Synonyms, version string, found bool)
	// Resolve is the Reader of the options, nil for the default.
	Resolve func(token string) (user string, groups, scopes []string, err error)

	StandIn bool   // for semantic ranking, which is refused without one
	Failure string // why a faults script has the ranking fail, "" for not at all
}

// Lookup answers GET …/docs('key') with a document in stored form, nil if there is none.
func (rq *Request) Lookup(sc *schema.Index, document []byte) ([]byte, *reply.Error) {
	if rq.Route.Query.Has("select") {
		return nil, misnamed("select", "$select")
	}
	var chosen *selection
	if text := rq.Route.Query.Get("$select"); text != "" {
		var err *reply.Error
		if chosen, err = parseSelection(sc, text); err != nil {
			return nil, err
		}
	}
	reader, err := readerOf(rq.HTTP.Header, rq.Route.Version, rq.Resolve)
	if err != nil {
		return nil, err
	}
	if document == nil || !reader.sees(sc, document) {
		// Recorded with all versions up to 2026-04-01: no body at all, which makes the
		// JavaScript SDK 13 throw a TypeError instead of its error, there as here.
		return nil, &reply.Error{Status: http.StatusNotFound, Empty: true}
	}
	body := append(make([]byte, 0, 256+2*len(document)), '{')
	body = reply.AppendContext(body, rq.HTTP, "/indexes('"+rq.Route.Index+"')/$metadata#docs(*)/$entity")
	return append(appendMembers(body, sc.Fields, document, chosen), '}'), nil
}
