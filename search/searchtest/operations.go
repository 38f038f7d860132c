package searchtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// Operation names what a request asks of the service. The names are what a
// faults script matches and what a RequestRecord shows. Faults.Validate lists them
// all when it refuses a name; those that no constant has are written as text:
// "createIndexer".
type Operation string

// OpOther is the operation of requests that ask for none that the emulator knows.
const OpOther Operation = "other"

// operation is one operation of the service. The file that answers it registers it
// in an init function, and routing, the check of keys, and faults scripts find
// there what they need: nothing else lists operations.
type operation struct {
	name Operation
	// routes are the addresses in the slash form, each with its method:
	// "GET /indexes/{index}/docs/{key}". The OData form is the same to routing.
	// {index}, {key} and {name} stand for one segment, the member of route of that
	// name. An address that ends in ?parameter needs that parameter.
	routes []string
	needs  apiversion.Capability // of the version, 0 for all versions
	reads  bool                  // query keys may do it: it reads the documents of an index
	serve  handler
}

// handler answers the requests for an operation.
type handler func(s *Server, w http.ResponseWriter, r *http.Request, rt route, x *exchange)

// operations are the registered operations by name.
var operations = map[Operation]*operation{OpOther: {name: OpOther, serve: serveNothing}}

// address is one of the routes of an operation.
type address struct {
	operation *operation
	method    string
	segments  []string
	wildcards int
	parameter string // that the request must have, "" for none
}

var (
	// addresses are the routes by their first segment, those with fewer wildcards
	// first: they are more exact.
	addresses = make(map[string][]*address)
	// longNames are the segments that cannot be keys in the slash form:
	// "search.index", "$count".
	longNames = make(map[string]bool)
)

// register makes an operation known. It is called by init functions only.
func register(op operation) {
	if operations[op.name] != nil {
		panic("searchtest: operation registered twice: " + string(op.name))
	}
	operations[op.name] = &op
	for _, text := range op.routes {
		method, path, _ := strings.Cut(text, " ")
		path, parameter, _ := strings.Cut(path, "?")
		a := &address{operation: &op, method: method, segments: strings.Split(path[1:], "/"), parameter: parameter}
		for _, segment := range a.segments {
			switch {
			case strings.HasPrefix(segment, "{"):
				a.wildcards++
			case strings.ContainsAny(segment, ".$"):
				longNames[segment] = true
			}
		}
		first := a.segments[0]
		addresses[first] = append(addresses[first], a)
		slices.SortStableFunc(addresses[first], func(a, b *address) int { return a.wildcards - b.wildcards })
	}
}

// fits reports whether segments are an address of a, whatever the method.
func (a *address) fits(segments []string) bool {
	return slices.EqualFunc(a.segments, segments, func(want, got string) bool {
		switch want {
		case "{key}":
			return !longNames[got]
		case "{index}", "{name}":
			return true
		}
		return want == got
	})
}

// needsAdmin reports whether only an admin key (or a token) may do it: query
// keys may read the documents of an index and nothing else.
func (o Operation) needsAdmin() bool { return !operations[o].reads }

// takes reports whether an address of the operation has that wildcard.
func (op *operation) takes(wildcard string) bool {
	return slices.ContainsFunc(op.routes, func(text string) bool { return strings.Contains(text, wildcard) })
}

// method is the only method of the operation, "" if it has more of them, or any.
func (op *operation) method() string {
	only := ""
	for _, text := range op.routes {
		method, _, _ := strings.Cut(text, " ")
		if only != "" && only != method {
			return ""
		}
		only = method
	}
	return only
}

// serveNothing refuses what routing has recognised as a feature without operations.
func serveNothing(_ *Server, w http.ResponseWriter, r *http.Request, rt route, _ *exchange) {
	reply.WriteError(w, r, reply.NotImplemented("searchtest does not emulate "+rt.feature+" yet."))
}
