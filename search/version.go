package search

import "github.com/go-azsearch/azsearch/internal/apiversion"

// What the user agent and the tracer of every client say about us.
const (
	moduleName    = "github.com/go-azsearch/azsearch"
	moduleVersion = "v0.1.0"
)

// DefaultAPIVersion is the version of the service's REST API that the clients
// are written for and ask for, 2026-04-01. It changes only with a release of this
// module.
const DefaultAPIVersion = apiversion.Default
