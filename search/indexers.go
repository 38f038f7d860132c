package search

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/models/indexers"
)

func indexerKind() *definitionKind[indexers.Indexer] {
	return &definitionKind[indexers.Indexer]{
		path:     "/indexers",
		noun:     "indexer",
		notFound: ErrIndexerNotFound,
		check:    namedAtAll("indexer"),
		valid:    readable[indexers.Indexer](refusal.Indexer),
		named:    func(x *indexers.Indexer) (string, string) { return x.Name, x.ETag },
		diff:     DiffDefinition[indexers.Indexer],
	}
}

// CreateIndexerOptions are the options of IndexerClient.CreateIndexer. There are
// none yet.
type CreateIndexerOptions struct{}

// CreateIndexer creates an indexer and returns the stored definition with its ETag. The service runs the indexer at
// once, unless it is disabled: WaitForIndexer with NoRun waits for that run, and without NoRun starts another, which
// does not read again what has failed. If the indexer exists, the error is an *Error with status 409. A retry after a
// lost reply can get it too, because the first attempt created the indexer.
func (c *IndexerClient) CreateIndexer(ctx context.Context, indexer indexers.Indexer, _ *CreateIndexerOptions) (indexers.Indexer, error) {
	return indexerKind().create(ctx, c.manager, "CreateIndexer", indexer)
}

// CreateOrUpdateIndexerOptions are the options of IndexerClient.CreateOrUpdateIndexer.
// nil and the zero value are ready to use.
type CreateOrUpdateIndexerOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch defaults
	// to the ETag of the definition if that has one and IfNoneMatch is not given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateIndexer creates an indexer or replaces an existing one, and returns the stored definition. A new one
// runs, as with CreateIndexer; an existing one does not: see RunIndexer. If a condition does not hold, the error is
// ErrPreconditionFailed. A definition that was read from a service carries an ETag and is written only over that
// version; see CreateOrUpdateIndex.
func (c *IndexerClient) CreateOrUpdateIndexer(ctx context.Context, indexer indexers.Indexer, opts *CreateOrUpdateIndexerOptions) (indexers.Indexer, error) {
	if opts == nil {
		opts = &CreateOrUpdateIndexerOptions{}
	}
	return indexerKind().put(ctx, c.manager, "CreateOrUpdateIndexer", indexer, opts.IfMatch, opts.IfNoneMatch)
}

// GetIndexerOptions are the options of IndexerClient.GetIndexer. There are none
// yet.
type GetIndexerOptions struct{}

// GetIndexer returns an indexer. If it does not exist, the error is ErrIndexerNotFound.
func (c *IndexerClient) GetIndexer(ctx context.Context, name string, _ *GetIndexerOptions) (indexers.Indexer, error) {
	return indexerKind().get(ctx, c.manager, "GetIndexer", name)
}

// ListIndexersOptions are the options of IndexerClient.ListIndexers. nil and the
// zero value are ready to use.
type ListIndexersOptions ListIndexesOptions

// ListIndexers returns all indexers of the service. Each iteration makes the request again when it starts. An error
// ends the iteration and is yielded with a zero indexer.
func (c *IndexerClient) ListIndexers(ctx context.Context, opts *ListIndexersOptions) iter.Seq2[indexers.Indexer, error] {
	return listDefinitions(ctx, c.manager, indexerKind(), "ListIndexers", listed((*ListIndexesOptions)(opts)), indexerKind().name)
}

// ListIndexerNamesOptions are the options of IndexerClient.ListIndexerNames. nil and
// the zero value are ready to use.
type ListIndexerNamesOptions ListIndexesOptions

// ListIndexerNames is ListIndexers for the names only, which makes the replies much smaller.
func (c *IndexerClient) ListIndexerNames(ctx context.Context, opts *ListIndexerNamesOptions) iter.Seq2[string, error] {
	return listNames(ctx, c.manager, indexerKind(), "ListIndexerNames", listed((*ListIndexesOptions)(opts)))
}

// DeleteIndexerOptions are the options of IndexerClient.DeleteIndexer. nil and
// the zero value are ready to use.
type DeleteIndexerOptions struct {
	// IfMatch deletes the indexer only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteIndexer deletes an indexer, but not the documents that it has indexed. If the indexer does not exist, the
// error is ErrIndexerNotFound; a retry after a lost reply can get it too.
func (c *IndexerClient) DeleteIndexer(ctx context.Context, name string, opts *DeleteIndexerOptions) error {
	if opts == nil {
		opts = &DeleteIndexerOptions{}
	}
	return indexerKind().delete(ctx, c.manager, "DeleteIndexer", name, opts.IfMatch)
}
