// Package routing is for the addresses of the service: which operation a request asks for, and of what.
package routing

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// Route is what the address of a request means.
type Route struct {
	Operation string // its name
	Index     string // decoded name, "" for operations on the service
	Key       string // decoded key of a document
	Name      string // decoded name of a definition that is not an index
	Version   apiversion.Version
	Query     url.Values // parameters, names with their $, percent-decoded once

	Feature string // of an operation that is not emulated: its name for the 501
}

// Find finds out what r asks for. It understands both spellings of every
// path: the OData function form that SDKs use, /indexes('hotels')/docs('1'),
// and the slash form of the documentation, /indexes/hotels/docs/1.
func (t *Table) Find(r *http.Request) (Route, *reply.Error) {
	rt := Route{Operation: Other, Query: parseQuery(r.URL.RawQuery)}
	rt.Version = apiversion.Of(rt.Query.Get("api-version"))
	segments, ok := splitPath(r.URL.EscapedPath())
	if !ok {
		return rt, &reply.Error{Status: http.StatusBadRequest, Message: "The request URL is invalid: malformed percent-encoding."}
	}
	if len(segments) == 0 {
		return rt, noSuchResource()
	}
	if slices.Contains(withoutOperations, segments[0]) {
		rt.Feature = segments[0]
		return rt, nil
	}
	// In the slash form the short names of actions and the keys of documents share
	// one place, so an address may fit and its method not, while another one has both.
	known := false
	for _, a := range t.addresses[segments[0]] {
		if !rt.Version.Has(a.operation.Needs) || !t.fits(a, segments) {
			continue
		}
		known = true
		rt.fill(a, segments)
		if a.method == r.Method && (a.parameter == "" || rt.Query.Has(a.parameter)) {
			rt.Operation = a.operation.Name
			return rt, nil
		}
	}
	if !known {
		return rt, noSuchResource()
	}
	return rt, &reply.Error{
		Status:  http.StatusMethodNotAllowed,
		Message: "The requested resource does not support http method '" + r.Method + "'.",
	}
}

// withoutOperations are the first segments of features that have no operation here.
var withoutOperations = []string{"agents"}

// fill takes the names out of segments that fit a.
func (rt *Route) fill(a *address, segments []string) {
	rt.Index, rt.Key, rt.Name = "", "", ""
	for i, segment := range a.segments {
		switch segment {
		case "{index}":
			rt.Index = segments[i]
		case "{key}":
			rt.Key = strings.TrimPrefix(segments[i], quotedMark)
		case "{name}":
			rt.Name = segments[i]
		}
	}
}

func noSuchResource() *reply.Error {
	return &reply.Error{Status: http.StatusNotFound, Message: "Resource not found for the request URL."}
}

// quotedMark stands before a key that was written as docs('key'), so that a
// document whose key is "$count" or "search.index" is not taken for an action.
// It cannot occur in a decoded segment: NUL is not allowed in addresses.
const quotedMark = "\x00"

// splitPath cuts an escaped path into decoded segments, taking name('value')
// apart into two. It cuts before it decodes, so that an encoded slash stays
// part of a value.
func splitPath(escaped string) ([]string, bool) {
	var out []string
	for segment := range strings.SplitSeq(strings.Trim(escaped, "/"), "/") {
		decoded, err := url.PathUnescape(segment)
		if err != nil || strings.Contains(decoded, quotedMark) {
			return nil, false
		}
		name, value, found := strings.Cut(decoded, "('")
		if !found || !strings.HasSuffix(value, "')") {
			if decoded != "" {
				out = append(out, decoded)
			}
			continue
		}
		value, ok := undoubleQuotes(strings.TrimSuffix(value, "')"))
		if !ok {
			return nil, false
		}
		if name == "docs" {
			value = quotedMark + value
		}
		out = append(out, name, value)
	}
	return out, true
}

// undoubleQuotes turns the doubled single quotes of an OData literal into
// single ones; a single quote on its own is an error.
func undoubleQuotes(s string) (string, bool) {
	if !strings.Contains(s, "'") {
		return s, true
	}
	plain := strings.ReplaceAll(s, "''", "")
	return strings.ReplaceAll(s, "''", "'"), !strings.Contains(plain, "'")
}

// parseQuery decodes a query string once. Parameters that cannot be decoded are
// dropped, and unknown ones are the business of nobody: the service ignores
// them too.
func parseQuery(raw string) url.Values {
	values, _ := url.ParseQuery(raw)
	return values
}
