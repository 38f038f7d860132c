// Package query answers queries about the documents of an index: searches, suggestions, completions, lookups and text
// analysis.
//
// A [Request] is first checked against the index definition, then carried out on a [View] of the documents.
package query

import (
	"net/http"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// Request is one query or lookup, with access to the index and the service.
type Request struct {
	HTTP  *http.Request
	Route routing.Route
	Body  []byte // of a POST

	// Read runs search on a view of the index: see [View.Read].
	Read func(prepare func(*View) *reply.Error, search func(*View)) *reply.Error
	// Synonyms returns the current rules of a synonym map and their version.
	Synonyms func(name string) (rules *textindex.Synonyms, version string, found bool)
	// Resolve is Options.Reader, nil for the default.
	Resolve func(token string) (user string, groups, scopes []string, err error)

	StandIn bool   // enables the stand-in for semantic ranking, which is otherwise refused
	Failure string // reason of a faults script to fail the ranking, "" for none
}

// Lookup answers GET …/docs('key'). document is in stored form, nil if it does not exist.
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
		// Recorded with all versions up to 2026-04-01: no body at all. The JavaScript SDK 13
		// then throws a TypeError instead of its own error, with the service as well.
		return nil, &reply.Error{Status: http.StatusNotFound, Empty: true}
	}
	body := append(make([]byte, 0, 256+2*len(document)), '{')
	body = reply.AppendContext(body, rq.HTTP, "/indexes('"+rq.Route.Index+"')/$metadata#docs(*)/$entity")
	return append(appendMembers(body, sc.Fields, document, chosen), '}'), nil
}
