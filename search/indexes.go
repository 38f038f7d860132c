package search

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
)

// IndexClient manages the indexes, synonym maps, aliases, knowledge sources and knowledge bases of a service. For
// indexers see IndexerClient. It is safe for concurrent use and needs no closing. It needs an admin key, or the role
// "Search Service Contributor".
type IndexClient struct {
	manager
}

// NewIndexClient returns a client for a service that authenticates with Entra ID. For endpoint and opts see
// NewClient. It sends nothing, and joins all problems with its arguments in one error.
func NewIndexClient(endpoint string, cred azcore.TokenCredential, opts *ClientOptions) (*IndexClient, error) {
	return newIndexClient(endpoint, authentication{token: cred}, opts)
}

// NewIndexClientWithKey is NewIndexClient with an admin API key, which can be rotated while the client is in use.
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

// IndexerClient returns a client for the indexers of the same service, with the same credential, options and
// connections.
func (c *IndexClient) IndexerClient() *IndexerClient {
	return &IndexerClient{manager{c.conn, "IndexerClient"}}
}

// KnowledgeBaseClient returns a client for a knowledge base of the same service, with the same credential, options and
// connections. The knowledge base need not exist.
func (c *IndexClient) KnowledgeBaseClient(knowledgeBase string) (*KnowledgeBaseClient, error) {
	return knowledgeBaseClient(c.conn, nil, knowledgeBase)
}

// CreateIndexOptions are the options of IndexClient.CreateIndex. There are none
// yet.
type CreateIndexOptions struct{}

// CreateIndex creates an index and returns the stored definition, with the service's defaults and its ETag. If the
// index exists, the error is an *Error with status 409. A retry after a lost reply can get it too, because the first
// attempt created the index.
func (c *IndexClient) CreateIndex(ctx context.Context, index models.SearchIndex, _ *CreateIndexOptions) (models.SearchIndex, error) {
	return indexKind.create(ctx, c.manager, "CreateIndex", index)
}

// CreateIndexIfMissingOptions are the options of IndexClient.CreateIndexIfMissing. There are
// none yet.
type CreateIndexIfMissingOptions struct{}

// CreateIndexIfMissing creates an index unless it exists. It never changes an existing index, while
// CreateOrUpdateIndex would remove parts that others have added, scoring profiles for example. It may be called at
// each start of a program and from any number of processes.
//
// It returns the stored definition. created reports whether this call created the index; it is false if an attempt
// created it but the reply was lost. DiffIndex lists how an existing index differs from the wanted definition, and
// UpdateIndex changes it.
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
	// IfMatch changes the index only if its ETag is this one: the ETag of a models.SearchIndex including its quotes, or
	// azcore.ETagAny for any existing index. Defaults to the ETag of the definition if that has one and IfNoneMatch is
	// not given, otherwise to no condition.
	IfMatch *azcore.ETag
	// IfNoneMatch changes the index only if its ETag is not this one. With azcore.ETagAny the index is created, but never
	// updated. Defaults to no condition.
	IfNoneMatch *azcore.ETag
	// AllowIndexDowntime permits changes for which the service takes the index offline for some seconds, for example of
	// analyzers. Documents that are sent meanwhile get the status 422. DiffIndex reports which changes need it. Defaults
	// to false: such changes are refused.
	AllowIndexDowntime bool
}

// CreateOrUpdateIndex creates an index or changes an existing one, and returns the stored definition. If a condition
// does not hold, the error is ErrPreconditionFailed.
//
// A definition that was read from a service carries an ETag and is written only over that version, so that it cannot
// silently undo another writer's change. UpdateIndex reads the definition again in that case. A definition without an
// ETag, because it was written by hand or the ETag was cleared, overwrites any version.
func (c *IndexClient) CreateOrUpdateIndex(ctx context.Context, index models.SearchIndex, opts *CreateOrUpdateIndexOptions) (models.SearchIndex, error) {
	if opts == nil {
		opts = &CreateOrUpdateIndexOptions{}
	}
	return indexKind.put(ctx, c.manager, "CreateOrUpdateIndex", index, opts.IfMatch, opts.IfNoneMatch, downtime(opts.AllowIndexDowntime)...)
}

// GetIndexOptions are the options of IndexClient.GetIndex. There are none yet.
type GetIndexOptions struct{}

// GetIndex returns the definition of an index. If it does not exist, or name is that of an alias, which the message
// then says, the error is ErrIndexNotFound.
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

// DeleteIndex deletes an index and all of its documents. If the index does not exist, the error is ErrIndexNotFound;
// a retry after a lost reply can get it too.
func (c *IndexClient) DeleteIndex(ctx context.Context, name string, opts *DeleteIndexOptions) error {
	if opts == nil {
		opts = &DeleteIndexOptions{}
	}
	return indexKind.delete(ctx, c.manager, "DeleteIndex", name, opts.IfMatch)
}

func (c *IndexClient) call(operation, index string) call {
	return call{operation: operation, index: index, needs: manageIndexes}
}

// downtime returns the query of a request that may take an index offline, nil if that is not allowed.
func downtime(allowed bool) []string {
	if !allowed {
		return nil
	}
	return []string{"allowIndexDowntime", strconv.FormatBool(true)}
}

// getNamed reads a resource below an index into v.
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
	// Prefix lists only definitions whose names begin with it. It needs api-version 2026-10-01 or 2026-08-01-preview.
	// Defaults to all.
	Prefix string
	// PageSize is the number of definitions in one reply, 1 to 3000; all pages are read in any case. It needs api-version
	// 2026-10-01 or 2026-08-01-preview. Defaults to the service's choice.
	PageSize int
}

// ListIndexes returns the definitions of all indexes of the service. Each iteration makes the request again when it
// starts. An error ends the iteration and is yielded with a zero index.
func (c *IndexClient) ListIndexes(ctx context.Context, opts *ListIndexesOptions) iter.Seq2[models.SearchIndex, error] {
	return listDefinitions(ctx, c.manager, indexKind, "ListIndexes", listed(opts), indexKind.name)
}

// ListIndexNamesOptions are the options of IndexClient.ListIndexNames. nil
// and the zero value are ready to use.
type ListIndexNamesOptions ListIndexesOptions

// ListIndexNames is ListIndexes for the names only, which makes the replies much smaller.
func (c *IndexClient) ListIndexNames(ctx context.Context, opts *ListIndexNamesOptions) iter.Seq2[string, error] {
	return listNames(ctx, c.manager, indexKind, "ListIndexNames", listed((*ListIndexesOptions)(opts)))
}

// UpdateIndexOptions are the options of IndexClient.UpdateIndex. nil and the
// zero value are ready to use.
type UpdateIndexOptions struct {
	// AllowIndexDowntime has the meaning of CreateOrUpdateIndexOptions.AllowIndexDowntime.
	AllowIndexDowntime bool
	// MaxAttempts is the total number of times that the index is read and written. Defaults to 5; a negative value means
	// once.
	MaxAttempts int
}

// UpdateIndex reads the definition of an index, calls change with it, and writes the result back over the version
// that was read. If another writer has changed the index meanwhile, UpdateIndex starts again with the new version, so
// that no change is lost. If that happens in the last attempt too, the error is ErrPreconditionFailed. UpdateIndex
// returns the stored definition. If the index does not exist, the error is ErrIndexNotFound.
//
// change is called once in each attempt, with the current definition. That may already contain the change of an
// earlier attempt whose reply was lost, so change should set values rather than append them. If it modifies nothing,
// nothing is written. If it returns an error, nothing is written and UpdateIndex returns that error, wrapped. It must
// not modify the name.
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

// sameIndex reports whether the current definition equals the wanted one. It is false if the wanted one sets a
// secret, because the service does not return secrets.
func sameIndex(wanted, current models.SearchIndex) bool {
	changes, err := DiffIndex(wanted, current)
	return err == nil && len(changes) == 0 && !setsSecrets(wanted)
}

// setsSecrets reports whether a definition contains a secret rather than the service's replacement for one.
func setsSecrets(index models.SearchIndex) (sets bool) {
	err := eachText(index, func(_ string, secret bool, text string) {
		sets = sets || secret && text != redacted && text != ""
	})
	return sets || err != nil // assume secrets if the definition cannot be encoded
}
