package search

import "github.com/go-azsearch/azsearch/internal/apiversion"

// What the user agent and the tracer of every client say about us.
const (
	moduleName    = "github.com/go-azsearch/azsearch"
	moduleVersion = "v0.1.0"
)

// DefaultAPIVersion is the version of the service's REST API that clients ask for unless
// ClientOptions.APIVersion names another: 2026-10-01. A service that does not know it, in a sovereign
// cloud for example, answers every request with 400; set ClientOptions.APIVersion to 2026-04-01 there.
// That version does not show permission filters, so an index that was read in it and is written back
// may lose them. The default changes only with a release of this module.
const DefaultAPIVersion = apiversion.Default
