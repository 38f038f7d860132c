package searchtest

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// Operation names what a request asks of the service. The names are what a
// faults script matches and what a RequestRecord shows.
type Operation string

// The operations that the emulator tells apart.
const (
	OpIndexDocuments      Operation = "indexDocuments"
	OpGetDocument         Operation = "getDocument"
	OpCountDocuments      Operation = "countDocuments"
	OpCreateIndex         Operation = "createIndex"
	OpCreateOrUpdateIndex Operation = "createOrUpdateIndex"
	OpGetIndex            Operation = "getIndex"
	OpListIndexes         Operation = "listIndexes"
	OpDeleteIndex         Operation = "deleteIndex"
	OpIndexStatistics     Operation = "indexStatistics"
	OpServiceStatistics   Operation = "serviceStatistics"
	OpAnalyze             Operation = "analyze"

	OpCreateSynonymMap         Operation = "createSynonymMap"
	OpCreateOrUpdateSynonymMap Operation = "createOrUpdateSynonymMap"
	OpGetSynonymMap            Operation = "getSynonymMap"
	OpListSynonymMaps          Operation = "listSynonymMaps"
	OpDeleteSynonymMap         Operation = "deleteSynonymMap"

	OpCreateAlias         Operation = "createAlias"
	OpCreateOrUpdateAlias Operation = "createOrUpdateAlias"
	OpGetAlias            Operation = "getAlias"
	OpListAliases         Operation = "listAliases"
	OpDeleteAlias         Operation = "deleteAlias"

	OpSearch       Operation = "search"
	OpSuggest      Operation = "suggest"
	OpAutocomplete Operation = "autocomplete"

	OpOther Operation = "other" // not emulated: answered with 501
)

// needsAdmin reports whether only an admin key (or a token) may do it: query
// keys may read the documents of an index and nothing else.
func (o Operation) needsAdmin() bool {
	switch o {
	case OpGetDocument, OpCountDocuments, OpSearch, OpSuggest, OpAutocomplete:
		return false
	}
	return true
}

// route is what the address of a request means.
type route struct {
	op      Operation
	index   string // decoded name, "" for operations on the service
	key     string // decoded key of OpGetDocument
	name    string // decoded name of the synonym map or the alias
	version apiversion.Version
	query   url.Values // parameters, names with their $, percent-decoded once

	feature string // of an operation that is not emulated: its name for the 501
}

// parseRoute finds out what r asks for. It understands both spellings of every
// path: the OData function form that SDKs use, /indexes('hotels')/docs('1'),
// and the slash form of the documentation, /indexes/hotels/docs/1.
func parseRoute(r *http.Request) (route, *serviceError) {
	rt := route{op: OpOther, query: parseQuery(r.URL.RawQuery)}
	rt.version = apiversion.Of(rt.query.Get("api-version"))
	segments, ok := splitPath(r.URL.EscapedPath())
	if !ok {
		return rt, &serviceError{status: http.StatusBadRequest, message: "The request URL is invalid: malformed percent-encoding."}
	}
	if len(segments) == 0 {
		return rt, noSuchResource()
	}
	method := r.Method
	switch segments[0] {
	case "servicestats":
		if len(segments) == 1 {
			return rt.choose(method, map[string]Operation{http.MethodGet: OpServiceStatistics})
		}
	case "synonymmaps":
		return rt.definitions(method, segments[1:], synonymMapOperations)
	case "aliases":
		if rt.version.Has(apiversion.Aliases) {
			return rt.definitions(method, segments[1:], aliasOperations)
		}
	case "indexers", "datasources", "skillsets", "knowledgebases", "knowledgesources", "agents", "indexstats":
		rt.feature = segments[0]
		return rt, nil
	case "indexes":
		return rt.indexes(method, segments[1:])
	}
	return rt, noSuchResource()
}

// definitionOperations are the operations on a kind of definitions by the method
// of the request: those on the collection and those on one of them.
type definitionOperations struct{ all, one map[string]Operation }

var (
	synonymMapOperations = definitionOperations{
		all: map[string]Operation{http.MethodGet: OpListSynonymMaps, http.MethodPost: OpCreateSynonymMap},
		one: map[string]Operation{
			http.MethodGet: OpGetSynonymMap, http.MethodPut: OpCreateOrUpdateSynonymMap, http.MethodDelete: OpDeleteSynonymMap,
		},
	}
	aliasOperations = definitionOperations{
		all: map[string]Operation{http.MethodGet: OpListAliases, http.MethodPost: OpCreateAlias},
		one: map[string]Operation{
			http.MethodGet: OpGetAlias, http.MethodPut: OpCreateOrUpdateAlias, http.MethodDelete: OpDeleteAlias,
		},
	}
)

// definitions resolves what follows /synonymmaps or /aliases.
func (rt route) definitions(method string, rest []string, ops definitionOperations) (route, *serviceError) {
	switch len(rest) {
	case 0:
		return rt.choose(method, ops.all)
	case 1:
		rt.name = rest[0]
		return rt.choose(method, ops.one)
	}
	return rt, noSuchResource()
}

// indexes resolves what follows /indexes.
func (rt route) indexes(method string, rest []string) (route, *serviceError) {
	if len(rest) == 0 {
		return rt.choose(method, map[string]Operation{http.MethodGet: OpListIndexes, http.MethodPost: OpCreateIndex})
	}
	rt.index = rest[0]
	if len(rest) == 1 {
		return rt.choose(method, map[string]Operation{
			http.MethodGet: OpGetIndex, http.MethodPut: OpCreateOrUpdateIndex, http.MethodDelete: OpDeleteIndex,
		})
	}
	switch rest[1] {
	case "search.stats", "stats":
		if len(rest) == 2 {
			return rt.choose(method, map[string]Operation{http.MethodGet: OpIndexStatistics})
		}
	case "search.analyze", "analyze":
		if len(rest) == 2 {
			return rt.choose(method, map[string]Operation{http.MethodPost: OpAnalyze})
		}
	case "docs":
		return rt.docs(method, rest[2:])
	}
	return rt, noSuchResource()
}

// docs resolves what follows /indexes('x')/docs.
func (rt route) docs(method string, rest []string) (route, *serviceError) {
	if len(rest) == 0 {
		return rt.choose(method, map[string]Operation{http.MethodGet: OpSearch})
	}
	if len(rest) > 1 {
		return rt, noSuchResource()
	}
	if by := documentOperations[rest[0]]; by != nil {
		return rt.choose(method, by)
	}
	// In the slash form the short names of the actions and the keys of documents
	// share one place. Actions are POSTs; a lookup is a GET, and so are
	// suggestions and autocompletion if they have what only these have.
	name := rest[0]
	if op, ok := shortOperations[name]; ok && (method == http.MethodPost || name != "index" && name != "search" && rt.query.Has("suggesterName")) {
		rt.op = op
		return rt, nil
	}
	rt.key = strings.TrimPrefix(name, quotedMark)
	return rt.choose(method, map[string]Operation{http.MethodGet: OpGetDocument})
}

// documentOperations are the operations on documents by their long names and the
// method of the request.
var documentOperations = map[string]map[string]Operation{
	"search.index":             {http.MethodPost: OpIndexDocuments},
	"$count":                   {http.MethodGet: OpCountDocuments},
	"search.post.search":       {http.MethodPost: OpSearch},
	"search.suggest":           {http.MethodGet: OpSuggest},
	"search.post.suggest":      {http.MethodPost: OpSuggest},
	"search.autocomplete":      {http.MethodGet: OpAutocomplete},
	"search.post.autocomplete": {http.MethodPost: OpAutocomplete},
}

// shortOperations are those that the slash form has short names for.
var shortOperations = map[string]Operation{
	"index": OpIndexDocuments, "search": OpSearch, "suggest": OpSuggest, "autocomplete": OpAutocomplete,
}

// choose picks the operation by the method of the request.
func (rt route) choose(method string, by map[string]Operation) (route, *serviceError) {
	op, ok := by[method]
	if !ok {
		return rt, &serviceError{
			status:  http.StatusMethodNotAllowed,
			message: "The requested resource does not support http method '" + method + "'.",
		}
	}
	rt.op = op
	return rt, nil
}

func noSuchResource() *serviceError {
	return &serviceError{status: http.StatusNotFound, message: "Resource not found for the request URL."}
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
