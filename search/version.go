package search

import "github.com/go-azsearch/azsearch/internal/apiversion"

// What the user agent and the tracer of every client say about us.
const (
	moduleName    = "github.com/go-azsearch/azsearch"
	moduleVersion = "v0.1.0"
)

// DefaultAPIVersion is the version of the service's REST API that clients ask for unless
// ClientOptions.APIVersion names another, 2026-04-01. What only a newer stable version has is asked
// for in 2026-10-01: knowledge sources and bases, retrieval, definitions and readers with permissions
// (WithUserToken), SearchOptions.MoreLikeThis, ListIndexStatistics, prefixes and page sizes of lists,
// ResyncIndexer. Every region has the older one; a service that lacks the newer one refuses only
// those requests, with 400. The versions change only with a release of this module.
const DefaultAPIVersion = apiversion.Default
