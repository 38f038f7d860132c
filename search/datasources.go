package search

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models/indexers"
)

var dataSourceKind = &definitionKind[indexers.DataSource]{
	path:     "/datasources",
	noun:     "data source",
	notFound: ErrDataSourceNotFound,
	check:    namedAtAll("data source"),
	named:    func(x *indexers.DataSource) (string, string) { return x.Name, x.ETag },
	keep: func(x *indexers.DataSource) {
		if x.Credentials.ConnectionString == "" {
			x.Credentials.ConnectionString = indexers.Unchanged
		}
	},
	diff: DiffDefinition[indexers.DataSource],
}

// CreateDataSourceOptions are the options of IndexerClient.CreateDataSource. There are
// none yet.
type CreateDataSourceOptions struct{}

// CreateDataSource creates a data source and returns it as the service has it, with
// its ETag. The service does not try the connection. One of that name that exists is
// an *Error with status 409; a retry after a lost answer gets it as well, for the one
// that it has created itself.
func (c *IndexerClient) CreateDataSource(ctx context.Context, dataSource indexers.DataSource, _ *CreateDataSourceOptions) (indexers.DataSource, error) {
	return dataSourceKind.create(ctx, c.manager, "CreateDataSource", dataSource)
}

// CreateOrUpdateDataSourceOptions are the options of IndexerClient.CreateOrUpdateDataSource.
// nil and the zero value are ready to use.
type CreateOrUpdateDataSourceOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch defaults
	// to the ETag of the definition if that has one and IfNoneMatch is not given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateDataSource creates a data source or replaces the one that exists, and
// returns it as the service has it. Without a connection string, as it
// was read, the stored one stays. A condition that does not hold is
// ErrPreconditionFailed. A definition that was read from a service has an ETag and is
// written only over the version it was read from; see CreateOrUpdateIndex.
func (c *IndexerClient) CreateOrUpdateDataSource(ctx context.Context, dataSource indexers.DataSource, opts *CreateOrUpdateDataSourceOptions) (indexers.DataSource, error) {
	if opts == nil {
		opts = &CreateOrUpdateDataSourceOptions{}
	}
	return dataSourceKind.put(ctx, c.manager, "CreateOrUpdateDataSource", dataSource, opts.IfMatch, opts.IfNoneMatch)
}

// GetDataSourceOptions are the options of IndexerClient.GetDataSource. There are none
// yet.
type GetDataSourceOptions struct{}

// GetDataSource returns a data source. If there is none of that name the error is
// ErrDataSourceNotFound. The service does not return its connection string.
func (c *IndexerClient) GetDataSource(ctx context.Context, name string, _ *GetDataSourceOptions) (indexers.DataSource, error) {
	return dataSourceKind.get(ctx, c.manager, "GetDataSource", name)
}

// ListDataSourcesOptions are the options of IndexerClient.ListDataSources. nil and the
// zero value are ready to use.
type ListDataSourcesOptions ListIndexesOptions

// ListDataSources returns all data sources of the service. The request is made when the
// iteration starts, and again for every iteration. An error is the last thing that is
// yielded, with a zero data source.
func (c *IndexerClient) ListDataSources(ctx context.Context, opts *ListDataSourcesOptions) iter.Seq2[indexers.DataSource, error] {
	return listDefinitions(ctx, c.manager, dataSourceKind, "ListDataSources", listed((*ListIndexesOptions)(opts)), dataSourceKind.name)
}

// ListDataSourceNamesOptions are the options of IndexerClient.ListDataSourceNames. nil and
// the zero value are ready to use.
type ListDataSourceNamesOptions ListIndexesOptions

// ListDataSourceNames is ListDataSources without all but the names, which is much less for
// the service to send.
func (c *IndexerClient) ListDataSourceNames(ctx context.Context, opts *ListDataSourceNamesOptions) iter.Seq2[string, error] {
	return listNames(ctx, c.manager, dataSourceKind, "ListDataSourceNames", listed((*ListIndexesOptions)(opts)))
}

// DeleteDataSourceOptions are the options of IndexerClient.DeleteDataSource. nil and
// the zero value are ready to use.
type DeleteDataSourceOptions struct {
	// IfMatch deletes the data source only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteDataSource deletes a data source. Indexers that name it fail from then on. If
// there is none of that name the error is ErrDataSourceNotFound; a retry after a lost
// answer gets it as well.
func (c *IndexerClient) DeleteDataSource(ctx context.Context, name string, opts *DeleteDataSourceOptions) error {
	if opts == nil {
		opts = &DeleteDataSourceOptions{}
	}
	return dataSourceKind.delete(ctx, c.manager, "DeleteDataSource", name, opts.IfMatch)
}
