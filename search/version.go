package search

import "github.com/go-azsearch/azsearch/internal/apiversion"

// The identification of the module in the user agent and the tracer of every client.
const (
	moduleName    = "github.com/go-azsearch/azsearch"
	moduleVersion = "v0.1.0"
)

// DefaultAPIVersion is the api-version of clients without ClientOptions.APIVersion: 2026-10-01. A service that does
// not support it, for example in a sovereign cloud, replies 400 to every request; set ClientOptions.APIVersion to
// 2026-04-01 there. That version omits permission filters from definitions, so an index that is read and written back
// in it may lose them. The default changes only with a release of this module.
const DefaultAPIVersion = apiversion.Default
