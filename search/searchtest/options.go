package searchtest

import (
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

// The keys that a server accepts when its Options name none.
const (
	AdminKey = "searchtest-admin-key"
	QueryKey = "searchtest-query-key"
)

// maxActionsLimit is the most that MaxBatchActions can be: what the service
// enforces today.
const maxActionsLimit = 32_000

// Options says how a Server behaves. The zero value and nil work.
type Options struct {
	// ServiceName is the name of the service in addresses and messages.
	// Defaults to "searchtest".
	ServiceName string

	// AdminKeys may do everything. Defaults to AdminKey alone.
	AdminKeys []string
	// QueryKeys may read documents and nothing else. Defaults to QueryKey alone.
	QueryKeys []string
	// Token judges the bearer token of a request without a key; true lets it do
	// everything. It may be called from many goroutines. Defaults to refusing
	// every token.
	Token func(bearer string) bool

	// Reader resolves the token of x-ms-query-source-authorization to the user, the
	// groups and the scopes whose documents a query of an index with permission filters
	// may see. An error is answered with 503. It may be called from many goroutines.
	// Defaults to the claims oid and groups of a JSON Web Token, whose signature is not
	// checked, and no scopes.
	Reader func(token string) (user string, groups, scopes []string, err error)

	// MaxBatchActions is the most actions in one request; more are refused with
	// 400. Defaults to 1000, the documented limit; values above 32 000, the limit
	// that the service enforces, mean 32 000. Negative means 32 000 as well, which
	// is the default of azsearch emulator.
	MaxBatchActions int
	// MaxBatchBytes is the largest body of one request, in bytes after
	// decompression; larger ones are refused with 413. Defaults to 16 MiB;
	// negative turns it off.
	MaxBatchBytes int64

	// VisibilityLag is how long after a write lookups, counts and statistics
	// begin to see it. Merges always see every earlier write, as in the service.
	// Defaults to 0, at once.
	VisibilityLag time.Duration
	// Latency is how long a reply is held back after the request was carried
	// out. Defaults to 0.
	Latency time.Duration
	// DocumentQuota is how many documents an index may hold; actions that would
	// add more fail with a per-document 429. Defaults to no quota.
	DocumentQuota int64
	// Capacity limits how fast documents are taken. Defaults to no limit. A
	// faults script can set another one.
	Capacity *Capacity

	// StrictVersions refuses api-versions that are newer than the emulator. Defaults to
	// answering them as the newest version that it knows of their kind, stable or
	// preview, with a Warning header and one log line for each of them.
	StrictVersions bool

	// StrictAnalysis refuses the definition of an index with 501 if a part of text
	// analysis that it names is not emulated: most analyzers of Microsoft's, for
	// example. Defaults to accepting it, because such an index can be written to
	// and looked up in all the same; the first request that needs the part is
	// refused then.
	StrictAnalysis bool

	// SemanticStandIn answers semantic queries by a rule that anyone can work out,
	// so that programs can be tested that use reranker scores, captions and answers:
	//
	//   - the first 50 results are ranked again by the words of the query that their
	//     title, keywords and content have, as the semantic configuration names these;
	//   - a document with all the words scores 3 to 4, one with half of them less than 3,
	//     one with none 0;
	//   - a caption is the part of the document that has most of the words, which are
	//     marked in it;
	//   - a question is answered by the captions that have enough of its words.
	//
	// The package documentation has the whole rule. It says nothing about what the
	// models of the service find relevant. Defaults to refusing such queries with 501.
	SemanticStandIn bool

	// KeepRequests is how many of the latest requests Requests returns. Defaults
	// to 10 000; negative keeps none.
	KeepRequests int
	// KeepBodies is how many bytes of the body of each of those are kept.
	// Defaults to none.
	KeepBodies int
	// KeepChanges is how many of the latest actions History and Changes know, in
	// each index. Defaults to 100 000; negative keeps none.
	KeepChanges int
	// KeepContents keeps with each of those what was sent: Change.Document. It
	// costs as much memory as the documents take. Defaults to off.
	KeepContents bool
	// DiscardDocuments keeps the keys of documents but not their contents, for
	// runs with more documents than memory: everything is checked and answered
	// as usual, statuses and counts are right, and lookups find documents of
	// nothing but a key.
	DiscardDocuments bool

	// Logger gets one line a request at debug level, without contents or keys, and
	// warnings.
	// Defaults to none.
	Logger *slog.Logger
}

// withDefaults returns a copy of o, which may be nil, with every default in.
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

// limits are what a batch is read with.
func (o *Options) limits() batch.Limits {
	return batch.Limits{MaxActions: o.MaxBatchActions, KeysOnly: o.DiscardDocuments}
}

// stored are the options of an index.
func (o *Options) stored() store.Options {
	return store.Options{DocumentQuota: o.DocumentQuota, VisibilityLag: o.VisibilityLag, KeepChanges: o.KeepChanges, KeepContents: o.KeepContents}
}
