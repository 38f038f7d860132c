// Package routing finds the operation of a request, and the names in its address.
package routing

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// Route is the meaning of the address of a request.
type Route struct {
	Operation string // its name, see Operation
	Index     string // decoded name, "" for operations on the service
	Key       string // decoded key of a document
	Name      string // decoded name of a definition that is not an index
	Version   apiversion.Version
	Query     url.Values // parameters, names with their $, percent-decoded once

	Feature string // name of a feature that is not emulated, for the 501
}

// Find returns the route of r. It reads both spellings of every path: the OData function
// form of the SDKs, /indexes('hotels')/docs('1'), and the slash form of the documentation,
// /indexes/hotels/docs/1.
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
	// In the slash form, short names of actions and keys of documents have the same
	// position. So a path may fit a route with another method, and a second route fully.
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

// withoutOperations are the first segments of features that are not emulated.
var withoutOperations = []string{"agents"}

// fill sets the names in the segments of a path that fits a.
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

// quotedMark prefixes a key that was written as docs('key'), so that a document with the key
// "$count" or "search.index" is not mistaken for an action. A decoded segment cannot contain
// it, because addresses do not allow NUL.
const quotedMark = "\x00"

// splitPath splits an escaped path into decoded segments, and name('value') into two. It
// splits before it decodes, so an encoded slash stays part of a value.
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

// undoubleQuotes replaces the doubled single quotes of an OData literal by single ones. It
// returns false for a quote that is not doubled.
func undoubleQuotes(s string) (string, bool) {
	if !strings.Contains(s, "'") {
		return s, true
	}
	plain := strings.ReplaceAll(s, "''", "")
	return strings.ReplaceAll(s, "''", "'"), !strings.Contains(plain, "'")
}

// parseQuery decodes a query string once. It drops parameters that cannot be decoded, and
// keeps unknown ones, which the service ignores.
func parseQuery(raw string) url.Values {
	values, _ := url.ParseQuery(raw)
	return values
}
