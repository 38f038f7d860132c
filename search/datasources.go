package search

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models/indexers"
)

func dataSourceKind() *definitionKind[indexers.DataSource] {
	return &definitionKind[indexers.DataSource]{
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
}

// CreateDataSourceOptions are the options of IndexerClient.CreateDataSource. There are
// none yet.
type CreateDataSourceOptions struct{}

// CreateDataSource creates a data source and returns the stored definition with its ETag. The service does not try
// the connection. If the data source exists, the error is an *Error with status 409. A retry after a lost reply can
// get it too, because the first attempt created the data source.
func (c *IndexerClient) CreateDataSource(ctx context.Context, dataSource indexers.DataSource, _ *CreateDataSourceOptions) (indexers.DataSource, error) {
	return dataSourceKind().create(ctx, c.manager, "CreateDataSource", dataSource)
}

// CreateOrUpdateDataSourceOptions are the options of IndexerClient.CreateOrUpdateDataSource.
// nil and the zero value are ready to use.
type CreateOrUpdateDataSourceOptions struct {
	// IfMatch and IfNoneMatch are as in CreateOrUpdateIndexOptions: IfMatch defaults
	// to the ETag of the definition if that has one and IfNoneMatch is not given.
	IfMatch     *azcore.ETag
	IfNoneMatch *azcore.ETag
}

// CreateOrUpdateDataSource creates a data source or replaces an existing one, and returns the stored definition. If
// the connection string is empty, as after reading, the stored one stays. If a condition does not hold, the error is
// ErrPreconditionFailed. A definition that was read from a service carries an ETag and is written only over that
// version; see CreateOrUpdateIndex. The whole definition is replaced: to change one member, read it with
// GetDataSource, change it, and write it back.
func (c *IndexerClient) CreateOrUpdateDataSource(ctx context.Context, dataSource indexers.DataSource, opts *CreateOrUpdateDataSourceOptions) (indexers.DataSource, error) {
	if opts == nil {
		opts = &CreateOrUpdateDataSourceOptions{}
	}
	return dataSourceKind().put(ctx, c.manager, "CreateOrUpdateDataSource", dataSource, opts.IfMatch, opts.IfNoneMatch)
}

// GetDataSourceOptions are the options of IndexerClient.GetDataSource. There are none
// yet.
type GetDataSourceOptions struct{}

// GetDataSource returns a data source, without its connection string, which the service keeps secret. If the data
// source does not exist, the error is ErrDataSourceNotFound.
func (c *IndexerClient) GetDataSource(ctx context.Context, name string, _ *GetDataSourceOptions) (indexers.DataSource, error) {
	return dataSourceKind().get(ctx, c.manager, "GetDataSource", name)
}

// ListDataSourcesOptions are the options of IndexerClient.ListDataSources. nil and the
// zero value are ready to use.
type ListDataSourcesOptions ListIndexesOptions

// ListDataSources returns all data sources of the service. Each iteration makes the request again when it starts. An
// error ends the iteration and is yielded with a zero data source.
func (c *IndexerClient) ListDataSources(ctx context.Context, opts *ListDataSourcesOptions) iter.Seq2[indexers.DataSource, error] {
	return listDefinitions(ctx, c.manager, dataSourceKind(), "ListDataSources", listed((*ListIndexesOptions)(opts)), dataSourceKind().name)
}

// ListDataSourceNamesOptions are the options of IndexerClient.ListDataSourceNames. nil and
// the zero value are ready to use.
type ListDataSourceNamesOptions ListIndexesOptions

// ListDataSourceNames is ListDataSources for the names only, which makes the replies much smaller.
func (c *IndexerClient) ListDataSourceNames(ctx context.Context, opts *ListDataSourceNamesOptions) iter.Seq2[string, error] {
	return listNames(ctx, c.manager, dataSourceKind(), "ListDataSourceNames", listed((*ListIndexesOptions)(opts)))
}

// DeleteDataSourceOptions are the options of IndexerClient.DeleteDataSource. nil and
// the zero value are ready to use.
type DeleteDataSourceOptions struct {
	// IfMatch deletes the data source only if its ETag is this one. Defaults to no
	// condition.
	IfMatch *azcore.ETag
}

// DeleteDataSource deletes a data source. Indexers that use it fail from then on. If the data source does not exist,
// the error is ErrDataSourceNotFound; a retry after a lost reply can get it too.
func (c *IndexerClient) DeleteDataSource(ctx context.Context, name string, opts *DeleteDataSourceOptions) error {
	if opts == nil {
		opts = &DeleteDataSourceOptions{}
	}
	return dataSourceKind().delete(ctx, c.manager, "DeleteDataSource", name, opts.IfMatch)
}
