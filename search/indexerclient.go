package search

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models/indexers"
)

// IndexerClient manages the indexers of a service, their data sources and skillsets. It is safe for concurrent use
// and needs no closing. It needs an admin key, or the role "Search Service Contributor".
type IndexerClient struct {
	manager
}

// NewIndexerClient returns a client for a service that authenticates with Entra ID. For endpoint and opts see
// NewClient. It sends nothing, and joins all problems with its arguments in one error.
func NewIndexerClient(endpoint string, cred azcore.TokenCredential, opts *ClientOptions) (*IndexerClient, error) {
	return newIndexerClient(endpoint, authentication{token: cred}, opts)
}

// NewIndexerClientWithKey is NewIndexerClient with an admin API key, which can be rotated while the client is in use.
func NewIndexerClientWithKey(endpoint string, cred *azcore.KeyCredential, opts *ClientOptions) (*IndexerClient, error) {
	return newIndexerClient(endpoint, authentication{withKey: true, key: cred}, opts)
}

func newIndexerClient(endpoint string, auth authentication, opts *ClientOptions) (*IndexerClient, error) {
	conn, err := newConnection(endpoint, auth, opts)
	if err != nil {
		return nil, fmt.Errorf("search: new indexer client: %w", err)
	}
	return &IndexerClient{manager{conn, "IndexerClient"}}, nil
}

// Endpoint returns the address of the service, without a trailing slash.
func (c *IndexerClient) Endpoint() string { return c.conn.root }

// RunIndexerOptions are the options of IndexerClient.RunIndexer. There are none yet.
type RunIndexerOptions struct{}

// RunIndexer starts an execution of an indexer and does not wait for its end, which GetIndexerStatus shows. To run and
// wait, call WaitForIndexer alone: it starts an execution itself. While an execution runs, the service refuses another
// with an *Error with status 409 or 429. A retry after a lost reply can get it too, because the first attempt started
// the execution.
func (c *IndexerClient) RunIndexer(ctx context.Context, name string, _ *RunIndexerOptions) error {
	return indexerKind().act(ctx, c.manager, "RunIndexer", name, "/search.run", 0, nil, http.StatusAccepted)
}

// ResetIndexerOptions are the options of IndexerClient.ResetIndexer. There are none
// yet.
type ResetIndexerOptions struct{}

// ResetIndexer clears the high-water mark of an indexer, so that its next execution reads all documents again. It
// starts no execution and deletes nothing.
func (c *IndexerClient) ResetIndexer(ctx context.Context, name string, _ *ResetIndexerOptions) error {
	return indexerKind().act(ctx, c.manager, "ResetIndexer", name, "/search.reset", 0, nil, http.StatusNoContent)
}

// ResyncPermissions selects permissions for IndexerClient.ResyncIndexer.
const ResyncPermissions = "permissions"

// ResyncIndexerOptions are the options of IndexerClient.ResyncIndexer. There are none
// yet.
type ResyncIndexerOptions struct{}

// ResyncIndexer makes the next execution of an indexer read parts of every document again; the only part is
// ResyncPermissions. It needs api-version 2026-10-01, or 2025-05-01-preview or a newer preview.
func (c *IndexerClient) ResyncIndexer(ctx context.Context, name string, what []string, _ *ResyncIndexerOptions) error {
	return indexerKind().act(ctx, c.manager, "ResyncIndexer", name, "/search.resync", apiversion.Resync, map[string]any{"options": what}, http.StatusNoContent)
}

// ResetDocumentsOptions are the options of IndexerClient.ResetDocuments. nil and the
// zero value are ready to use.
type ResetDocumentsOptions struct {
	// DataSourceDocumentIDs are further documents to reset, by their ids in the data source.
	DataSourceDocumentIDs []string
	// Overwrite replaces the documents of earlier calls. Defaults to adding to them. Overwrite without any document
	// clears the list.
	Overwrite bool
}

// ResetDocuments makes the next execution of an indexer read only the documents with the given keys again. It needs a
// preview api-version, 2020-06-30-preview or later.
func (c *IndexerClient) ResetDocuments(ctx context.Context, name string, keys []string, opts *ResetDocumentsOptions) error {
	if opts == nil {
		opts = &ResetDocumentsOptions{}
	}
	body := map[string]any{}
	if keys != nil {
		body["documentKeys"] = keys
	}
	if opts.DataSourceDocumentIDs != nil {
		body["datasourceDocumentIds"] = opts.DataSourceDocumentIDs
	}
	var query []string
	if opts.Overwrite {
		query = []string{"overwrite", strconv.FormatBool(true)}
	}
	return indexerKind().act(ctx, c.manager, "ResetDocuments", name, "/search.resetdocs", apiversion.ResetDocuments, body, http.StatusNoContent, query...)
}

// ResetSkillsOptions are the options of IndexerClient.ResetSkills. There are none yet.
type ResetSkillsOptions struct{}

// ResetSkills makes the next execution run the named skills of a skillset again, although their results are cached.
// It needs a preview api-version, 2020-06-30-preview or later.
func (c *IndexerClient) ResetSkills(ctx context.Context, skillset string, names []string, _ *ResetSkillsOptions) error {
	return skillsetKind().act(ctx, c.manager, "ResetSkills", skillset, "/search.resetskills", apiversion.ResetSkills, map[string]any{"skillNames": names}, http.StatusNoContent)
}

// GetIndexerStatusOptions are the options of IndexerClient.GetIndexerStatus. There
// are none yet.
type GetIndexerStatusOptions struct{}

// GetIndexerStatus returns the state of an indexer and its last executions. An execution may be missing for some
// moments after RunIndexer has started it.
func (c *IndexerClient) GetIndexerStatus(ctx context.Context, name string, _ *GetIndexerStatusOptions) (indexers.Status, error) {
	return getPart[indexers.Status](ctx, c.manager, indexerKind(), "GetIndexerStatus", name, "/search.status")
}

// act posts an action on a definition.
func (k *definitionKind[T]) act(ctx context.Context, c manager, operation, name, suffix string, needs apiversion.Capability, body any, status int, query ...string) (err error) {
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	call := k.call(operation, name)
	if err := errors.Join(k.check(name), missing(c.conn.apiVersion, needs)); err != nil {
		return call.wrap(err)
	}
	req, err := c.conn.newRequest(ctx, http.MethodPost, c.conn.url(k.path+quoted(name)+suffix, query...), acceptMinimal)
	if err != nil {
		return call.wrap(err)
	}
	if body != nil {
		encoded, err := encodeBody(body)
		if err == nil {
			err = lend(req, encoded)
		}
		if err != nil {
			return call.wrap(err)
		}
	}
	_, err = c.conn.send(req, call, status)
	return err
}
