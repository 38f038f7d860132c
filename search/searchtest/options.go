package searchtest

import (
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

// The keys that a server accepts if Options has none.
const (
	AdminKey = "searchtest-admin-key"
	QueryKey = "searchtest-query-key"
)

// maxActionsLimit is the largest MaxBatchActions: the limit that the service enforces today.
const maxActionsLimit = 32_000

// Options configures a Server. The zero value and nil mean the defaults.
type Options struct {
	// ServiceName is the name of the service in addresses and messages.
	// Defaults to "searchtest".
	ServiceName string

	// AdminKeys allow everything. Defaults to AdminKey alone.
	AdminKeys []string
	// QueryKeys allow only reading documents. Defaults to QueryKey alone.
	QueryKeys []string
	// Token reports whether the bearer token of a request without a key allows everything. It
	// may be called concurrently. Defaults to refusing every token.
	Token func(bearer string) bool

	// Reader returns the user, the groups and the scopes for a token of
	// x-ms-query-source-authorization. In an index with permission filters, a query shows the
	// documents that these may see. An error is answered with 503. Reader may be called
	// concurrently. Defaults to the claims oid and groups of a JSON Web Token, without checking
	// its signature, and no scopes.
	Reader func(token string) (user string, groups, scopes []string, err error)

	// MaxBatchActions is the maximum number of actions in a request; more are refused with 400.
	// Defaults to 1000, the documented limit. Negative and values above 32 000 mean 32 000, the
	// limit that the service enforces and the default of azsearch emulator.
	MaxBatchActions int
	// MaxBatchBytes is the maximum size of a body in bytes, after decompression; larger bodies
	// are refused with 413. Defaults to 16 MiB; negative means no limit.
	MaxBatchBytes int64

	// VisibilityLag is the time until a write appears in lookups, counts and statistics. Merges
	// always see every earlier write, as in the service. Defaults to 0.
	VisibilityLag time.Duration
	// Latency is the time between carrying out a request and its reply. Defaults to 0.
	Latency time.Duration
	// DocumentQuota is the maximum number of documents in an index; an action that would add
	// one more fails with a per-document 429. Defaults to no quota.
	DocumentQuota int64
	// Capacity limits the rate at which documents are accepted. A faults script can replace it.
	// Defaults to no limit.
	Capacity *Capacity

	// StrictVersions refuses api-versions that are newer than the emulator. Defaults to
	// answering as the newest known version of the same kind, stable or preview, with a Warning
	// header and one log line for each version.
	StrictVersions bool

	// StrictAnalysis refuses an index definition with 501 if it names a component of text
	// analysis that is not emulated, such as most Microsoft analyzers. Defaults to accepting
	// the definition: documents can be written and looked up, and the first request that needs
	// the component is refused.
	StrictAnalysis bool

	// SemanticStandIn answers semantic queries by a rule simple enough to work out by hand, to
	// test programs that use reranker scores, captions and answers:
	//
	//   - the first 50 results are ranked again by the words of the query in their title,
	//     keywords and content, as the semantic configuration names them;
	//   - a document with all the words scores 3 to 4, one with half of them less than 3, one
	//     without any 0;
	//   - a caption is the passage with most of the words, which are highlighted;
	//   - a question is answered by the captions with enough of its words.
	//
	// The package documentation has the whole rule. It does not predict what the models of the
	// service find relevant. Defaults to refusing semantic queries with 501.
	SemanticStandIn bool

	// KeepRequests is the number of requests that Requests returns, the latest. Defaults to
	// 10 000; negative keeps none.
	KeepRequests int
	// KeepBodies is the number of bytes kept of each of their bodies. Defaults to 0.
	KeepBodies int
	// KeepChanges is the number of actions that History and Changes keep for each index, the
	// latest. Defaults to 100 000; negative keeps none.
	KeepChanges int
	// KeepContents keeps the document of each of these actions: Change.Document. It costs as
	// much memory as the documents. Defaults to off.
	KeepContents bool
	// DiscardDocuments keeps the keys of documents and drops their contents, for runs with more
	// documents than memory. The checks of each request, statuses and counts stay the same,
	// except that no merge is refused for more than 3000 objects together with the stored ones.
	// Sizes count only keys, and a lookup returns only the key.
	DiscardDocuments bool

	// Logger gets warnings, and one line per request at debug level, without contents or keys.
	// Defaults to none.
	Logger *slog.Logger
}

// withDefaults returns a copy of o, which may be nil, with all defaults set.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.ServiceName == "" {
		out.ServiceName = "searchtest"
	}
	if len(out.AdminKeys) == 0 {
		out.AdminKeys = []string{AdminKey}
	}
	if len(out.QueryKeys) == 0 {
		out.QueryKeys = []string{QueryKey}
	}
	if out.MaxBatchActions == 0 {
		out.MaxBatchActions = 1000
	} else if out.MaxBatchActions < 0 || out.MaxBatchActions > maxActionsLimit {
		out.MaxBatchActions = maxActionsLimit
	}
	if out.MaxBatchBytes == 0 {
		out.MaxBatchBytes = 16 << 20
	}
	if out.KeepRequests == 0 {
		out.KeepRequests = 10_000
	}
	if out.KeepChanges == 0 {
		out.KeepChanges = 100_000
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}

// limits returns the limits for reading a batch.
func (o *Options) limits() batch.Limits {
	return batch.Limits{MaxActions: o.MaxBatchActions, KeysOnly: o.DiscardDocuments}
}

// stored returns the options of an index.
func (o *Options) stored() store.Options {
	return store.Options{DocumentQuota: o.DocumentQuota, VisibilityLag: o.VisibilityLag, KeepChanges: o.KeepChanges, KeepContents: o.KeepContents}
}
