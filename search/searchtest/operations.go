package searchtest

import (
	"net/http"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
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
// there what they need. The constants only name some of the operations.
type operation struct {
	name   Operation
	routes []string              // see routing.Operation
	needs  apiversion.Capability // of the version, 0 for all versions
	reads  bool                  // query keys may do it: it reads the documents of an index
	serve  handler
}

// handler answers the requests for an operation.
type handler func(s *Server, w http.ResponseWriter, r *http.Request, rt routing.Route, x *exchange)

// operations are the registered operations, and handlers what answers them.
var (
	operations = routing.NewTable()
	handlers   = map[Operation]handler{OpOther: serveNothing}
)

// register makes an operation known. It is called by init functions only. A new operation needs no constant: its name
// can be written as text.
func register(op operation) {
	operations.Add(routing.Operation{Name: string(op.name), Routes: op.routes, Needs: op.needs, Reads: op.reads})
	handlers[op.name] = op.serve
}

// needsAdmin reports whether only an admin key (or a token) may do it: query
// keys may read the documents of an index and nothing else.
func needsAdmin(operation string) bool { return !operations.Operation(operation).Reads }

// serveNothing refuses what routing has recognised as a feature without operations.
func serveNothing(_ *Server, w http.ResponseWriter, r *http.Request, rt routing.Route, _ *exchange) {
	reply.WriteError(w, r, reply.NotImplemented("searchtest does not emulate "+rt.Feature+" yet."))
}
