package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
)

// IndexClient manages the indexes of a service, its synonym maps and aliases, and
// the sources and bases of knowledge. Indexers are managed by an IndexerClient. It
// is safe for concurrent use and holds nothing that must be closed. It needs an
// admin key, or the role "Search Service Contributor".
type IndexClient struct {
	manager
}

// NewIndexClient returns a client for a service that authenticates with Entra
// ID. For endpoint and opts see NewClient. It sends nothing, and reports every
// problem with its arguments at once, joined with errors.Join.
func NewIndexClient(endpoint string, cred azcore.TokenCredential, opts *ClientOptions) (*IndexClient, error) {
	return newIndexClient(endpoint, authentication{token: cred}, opts)
}

// NewIndexClientWithKey is NewIndexClient with an admin API key, which can be
// rotated while the client is in use.
func NewIndexClientWithKey(endpoint string, cred *azcore.KeyCredential, opts *ClientOptions) (*IndexClient, error) {
	return newIndexClient(endpoint, authentication{withKey: true, key: cred}, opts)
}

func newIndexClient(endpoint string, auth authentication, opts *ClientOptions) (*IndexClient, error) {
	conn, err := newConnection(endpoint, auth, opts)
	if err != nil {
		return nil, fmt.Errorf("search: new index client: %w", err)
	}
	return &IndexClient{manager{conn, "IndexClient"}}, nil
}

// Endpoint returns the address of the service, without a trailing slash.
func (c *IndexClient) Endpoint() string { return c.conn.root }

// Client returns a client for the documents of an index of the same service,
// with the same credential, options and connections. The index need not exist.
func (c *IndexClient) Client(indexName string) (*Client, error) {
	if err := validateIndexName(indexName); err != nil {
		return nil, fmt.Errorf("search: new client: %w", err)
	}
	return c.conn.client(indexName), nil
}

// CreateIndexOptions are the options of IndexClient.CreateIndex. There are none
// yet.
type CreateIndexOptions struct{}

// CreateIndex creates an index and returns its definition as the service has
// it, with its defaults and its ETag. An index of that name that exists is an
// *Error with status 409; a retry after a lost answer gets it as well, for the
// index that it has created itself.
func (c *IndexClient) CreateIndex(ctx context.Context, index models.SearchIndex, _ *CreateIndexOptions) (models.SearchIndex, error) {
	return indexKind.create(ctx, c.manager, "CreateIndex", index)
}

// CreateIndexIfMissingOptions are the options of IndexClient.CreateIndexIfMissing. There are
// none yet.
type CreateIndexIfMissingOptions struct{}

// CreateIndexIfMissing creates an index unless one of that name exists, which stays as it is:
// what others have given it, scoring profiles for example, would be gone after
// CreateOrUpdateIndex. It may be called at each start of a program and from any number of
// processes.
//
// The definition is that of the service, and created reports whether it is the one that was
// given; it is false also for an index that was created by an attempt whose answer was lost.
// DiffIndex says how an index that exists differs from the one that is wanted, and UpdateIndex
// changes it.
func (c *IndexClient) CreateIndexIfMissing(ctx context.Context, index models.SearchIndex, _ *CreateIndexIfMissingOptions) (_ models.SearchIndex, created bool, err error) {
	const operation = "CreateIndexIfMissing"
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	anyETag := azcore.ETagAny
	definition, err := indexKind.put(ctx, c.manager, operation, index, nil, &anyETag)
	if !errors.Is(err, ErrPreconditionFailed) {
		return definition, err == nil, err
	}
	definition, err = indexKind.get(ctx, c.manager, operation, index.Name)
	return definition, false, err
}

// CreateOrUpdateIndexOptions are the options of IndexClient.CreateOrUpdateIndex.
// nil and the zero value are ready to use.
type CreateOrUpdateIndexOptions struct {
	// IfMatch changes the index only if its ETag is this one: the ETag of a
	// models.SearchIndex, verbatim (its quotes are part of it), or azcore.ETagAny
	// for any index that exists. Defaults to the ETag of the definition if that
	// has one and IfNoneMatch is not given, and to no condition otherwise.
	IfMatch *azcore.ETag
	// IfNoneMatch changes the index only if its ETag is not this one. With
	// azcore.ETagAny the index is created, never updated. Defaults to no
	// condition.
	IfNoneMatch *azcore.ETag
	// AllowIndexDowntime permits changes, of analyzers for example, for which the
	// service takes the index offline for some seconds; documents sent meanwhile
	// get the status 422. Defaults to false, and such changes are refused.
	// DiffIndex says which changes these are.
	AllowIndexDowntime bool
}

// CreateOrUpdateIndex creates an index or changes the one that exists, and
// returns its definition as the service has it. A condition that does not hold
// is ErrPreconditionFailed.
//
// A definition that was read from a service has an ETag and is written only over
// the version it was read from, so that the changes of others are not undone
// without a word. UpdateIndex reads it again in that case. A definition without
// an ETag, written by hand or with the ETag cleared, is written over whatever is
// there.
func (c *IndexClient) CreateOrUpdateIndex(ctx context.Context, index models.SearchIndex, opts *CreateOrUpdateIndexOptions) (models.SearchIndex, error) {
	if opts == nil {
		opts = &CreateOrUpdateIndexOptions{}
	}
	return indexKind.put(ctx, c.manager, "CreateOrUpdateIndex", index, opts.IfMatch, opts.IfNoneMatch, downtime(opts.AllowIndexDowntime)...)
}

// GetIndexOptions are the options of IndexClient.GetIndex. There are none yet.
type GetIndexOptions struct{}

// GetIndex returns the definition of an index. If there is none of that name
// the error is ErrIndexNotFound.
func (c *IndexClient) GetIndex(ctx context.Context, name string, _ *GetIndexOptions) (models.SearchIndex, error) {
	return indexKind.get(ctx, c.manager, "GetIndex", name)
}

// DeleteIndexOptions are the options of IndexClient.DeleteIndex. nil and the
// zero value are ready to use.
type DeleteIndexOptions struct {
	// IfMatch deletes the index only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteIndex deletes an index and all of its documents. If there is none of
// that name the error is ErrIndexNotFound; a retry after a lost answer gets it
// as well.
func (c *IndexClient) DeleteIndex(ctx context.Context, name string, opts *DeleteIndexOptions) error {
	if opts == nil {
		opts = &DeleteIndexOptions{}
	}
	return indexKind.delete(ctx, c.manager, "DeleteIndex", name, opts.IfMatch)
}

func (c *IndexClient) call(operation, index string) call {
	return call{operation: operation, index: index, needs: manageIndexes}
}

// downtime returns the query of a request that may take an index offline.
func downtime(allowed bool) []string {
	if !allowed {
		return nil
	}
	return []string{"allowIndexDowntime", strconv.FormatBool(true)}
}

// getNamed gets something about one index into v.
func (c *IndexClient) getNamed(ctx context.Context, call call, suffix string, v any, members ...string) error {
	if err := validateIndexName(call.index); err != nil {
		return call.wrap(err)
	}
	body, resp, err := c.conn.getURL(ctx, c.conn.url("/indexes"+quoted(call.index)+suffix), call)
	if err != nil {
		return err
	}
	if err := decodeInto(v, body, members...); err != nil {
		return call.wrap(malformed(err, resp))
	}
	return nil
}

// ListIndexesOptions are the options of IndexClient.ListIndexes. nil
// and the zero value are ready to use.
type ListIndexesOptions struct {
	// Prefix lists only those whose names begin so. It needs api-version
	// 2026-10-01, or 2026-08-01-preview. Defaults to all.
	Prefix string
	// PageSize is how many come in one reply, 1 to 3000; all pages are read anyway. It
	// needs api-version 2026-10-01, or 2026-08-01-preview. Defaults to the service's choice.
	PageSize int
}

// ListIndexes returns the definitions of all indexes of the service. The
// request is made when the iteration starts, and again for every iteration. An
// error is the last thing that is yielded, with a zero index.
func (c *IndexClient) ListIndexes(ctx context.Context, opts *ListIndexesOptions) iter.Seq2[models.SearchIndex, error] {
	return listDefinitions(ctx, c.manager, indexKind, "ListIndexes", listed(opts), indexKind.name)
}

// ListIndexNamesOptions are the options of IndexClient.ListIndexNames. nil
// and the zero value are ready to use.
type ListIndexNamesOptions ListIndexesOptions

// ListIndexNames is ListIndexes without all but the names, which is much less
// for the service to send.
func (c *IndexClient) ListIndexNames(ctx context.Context, opts *ListIndexNamesOptions) iter.Seq2[string, error] {
	return listNames(ctx, c.manager, indexKind, "ListIndexNames", listed((*ListIndexesOptions)(opts)))
}

// UpdateIndexOptions are the options of IndexClient.UpdateIndex. nil and the
// zero value are ready to use.
type UpdateIndexOptions struct {
	// AllowIndexDowntime is that of CreateOrUpdateIndexOptions.
	AllowIndexDowntime bool
	// MaxAttempts is how often the index is read and written in all. Defaults to
	// 5; negative is once.
	MaxAttempts int
}

// UpdateIndex reads the definition of an index, lets change change it, and
// writes it back over the version that was read. If somebody else was faster it
// begins again, and nobody's change is lost; if others were faster in the last
// attempt too, the error is ErrPreconditionFailed. It returns the definition as
// the service has it. If there is no index of that name the error is
// ErrIndexNotFound.
//
// change is called once in each attempt, with what the service has then, which
// may hold a change that an attempt before has made (its answer was lost): it
// should set rather than append. If it leaves the definition as it is, nothing
// is written. Its error is returned, wrapped, and nothing is written either. It
// must not change the name.
func (c *IndexClient) UpdateIndex(ctx context.Context, name string, change func(*models.SearchIndex) error, opts *UpdateIndexOptions) (models.SearchIndex, error) {
	if opts == nil {
		opts = &UpdateIndexOptions{}
	}
	return update[models.SearchIndex]{
		kind:      indexKind,
		operation: "UpdateIndex",
		change:    change,
		same:      sameIndex,
		attempts:  opts.MaxAttempts,
		query:     downtime(opts.AllowIndexDowntime),
	}.run(ctx, c.manager, name)
}

// sameIndex reports whether the definition that was wanted is the one that is
// there, as far as can be told: a secret that was to be set cannot be seen.
func sameIndex(wanted, current models.SearchIndex) bool {
	changes, err := DiffIndex(wanted, current)
	return err == nil && len(changes) == 0 && !setsSecrets(wanted)
}

// setsSecrets reports whether a definition has a secret in it, and not what the
// service shows instead of one.
func setsSecrets(index models.SearchIndex) bool {
	var members any
	encoded, err := json.Marshal(index)
	if err != nil || json.Unmarshal(encoded, &members) != nil {
		return true // it cannot be ruled out
	}
	return hasSecrets("", members)
}

func hasSecrets(name string, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for member, inner := range v {
			if wire.SecretObject(name) && inner != redacted || hasSecrets(member, inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if hasSecrets("", inner) {
				return true
			}
		}
	}
	return isSecret(name, value) && value != redacted && value != ""
}
