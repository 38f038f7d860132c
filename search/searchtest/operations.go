package searchtest

import (
	"net/http"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
)

// Operation is the name of an operation of the service. Faults scripts match it and a
// RequestRecord contains it. If Faults.Validate refuses a name it lists all names; those
// without a constant are written as text, such as "createIndexer".
type Operation string

// OpOther is the operation of requests for anything that the emulator does not know.
const OpOther Operation = "other"

// operation is one operation of the service. The file with its handler registers it in an init function. Routing,
// authorization and faults scripts use this single registry. Constants name only some of the operations.
type operation struct {
	name   Operation
	routes []string              // see routing.Operation
	needs  apiversion.Capability // capability of the version, 0 for all versions
	reads  bool                  // it reads the documents of an index, so query keys allow it
	serve  handler
}

// handler answers the requests for an operation.
type handler func(s *Server, w http.ResponseWriter, r *http.Request, rt routing.Route, x *exchange)

// operations are the registered operations, and handlers their functions.
var (
	operations = routing.NewTable()
	handlers   = map[Operation]handler{OpOther: serveNothing}
)

// register adds an operation. Only init functions call it. A new operation needs no constant: its name can be written
// as text.
func register(op operation) {
	operations.Add(routing.Operation{Name: string(op.name), Routes: op.routes, Needs: op.needs, Reads: op.reads})
	handlers[op.name] = op.serve
}

// needsAdmin reports whether the operation needs an admin key or a token. Query keys allow
// only reading the documents of an index.
func needsAdmin(operation string) bool { return !operations.Operation(operation).Reads }

// serveNothing refuses a feature that routing knows and the emulator does not have.
func serveNothing(_ *Server, w http.ResponseWriter, r *http.Request, rt routing.Route, _ *exchange) {
	reply.WriteError(w, r, reply.NotImplemented("searchtest does not emulate "+rt.Feature+" yet."))
}
