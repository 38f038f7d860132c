package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/go-azsearch/azsearch/models"
)

// IndexClient manages the indexes of a service. It is safe for concurrent use
// and holds nothing that must be closed. It needs an admin key, or the role
// "Search Service Contributor".
type IndexClient struct {
	conn *connection
}

// NewIndexClient returns a client for a service that authenticates with Entra
// ID. For endpoint and opts see NewClient. It sends nothing, and reports every
// problem with its arguments at once.
func NewIndexClient(endpoint string, cred azcore.TokenCredential, opts *ClientOptions) (*IndexClient, error) {
	return newIndexClient(endpoint, authentication{token: cred}, opts)
}

// NewIndexClientWithKey is NewIndexClient with an admin API key, which can be
// rotated while the client is in use.
func NewIndexClientWithKey(endpoint string, cred *azcore.KeyCredential, opts *ClientOptions) (*IndexClient, error) {
	return newIndexClient(endpoint, authentication{key: cred}, opts)
}

func newIndexClient(endpoint string, auth authentication, opts *ClientOptions) (*IndexClient, error) {
	conn, err := newConnection(endpoint, auth, opts)
	if err != nil {
		return nil, fmt.Errorf("search: new index client: %w", err)
	}
	return &IndexClient{conn: conn}, nil
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
func (c *IndexClient) CreateIndex(ctx context.Context, index models.SearchIndex, _ *CreateIndexOptions) (_ models.SearchIndex, err error) {
	const operation = "CreateIndex"
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	call := c.call(operation, index.Name)
	if err := validateIndexName(index.Name); err != nil {
		return models.SearchIndex{}, call.wrap(err)
	}
	return c.sendDefinition(ctx, call, http.MethodPost, c.conn.url("/indexes"), index, nil, http.StatusCreated)
}

// CreateOrUpdateIndexOptions are the options of IndexClient.CreateOrUpdateIndex.
// nil and the zero value are ready to use.
type CreateOrUpdateIndexOptions struct {
	// IfMatch changes the index only if its ETag is this one: the ETag of a
	// models.SearchIndex, verbatim (its quotes are part of it), or azcore.ETagAny
	// for any index that exists. Defaults to no condition.
	IfMatch *azcore.ETag
	// IfNoneMatch changes the index only if its ETag is not this one. With
	// azcore.ETagAny the index is created, never updated. Defaults to no
	// condition.
	IfNoneMatch *azcore.ETag
	// AllowIndexDowntime permits changes, of analyzers for example, for which the
	// service takes the index offline for some seconds; documents sent meanwhile
	// get the status 422. Defaults to false, and such changes are refused.
	AllowIndexDowntime bool
}

// CreateOrUpdateIndex creates an index or changes the one that exists, and
// returns its definition as the service has it. A condition that does not hold
// is ErrPreconditionFailed.
func (c *IndexClient) CreateOrUpdateIndex(ctx context.Context, index models.SearchIndex, opts *CreateOrUpdateIndexOptions) (_ models.SearchIndex, err error) {
	const operation = "CreateOrUpdateIndex"
	if opts == nil {
		opts = &CreateOrUpdateIndexOptions{}
	}
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	call := c.call(operation, index.Name)
	header, err := conditions(opts.IfMatch, opts.IfNoneMatch)
	if err := errors.Join(validateIndexName(index.Name), err); err != nil {
		return models.SearchIndex{}, call.wrap(err)
	}
	header.Set("Prefer", "return=representation")
	url := c.conn.url("/indexes" + quoted(index.Name))
	if opts.AllowIndexDowntime {
		url = c.conn.url("/indexes"+quoted(index.Name), "allowIndexDowntime", strconv.FormatBool(true))
	}
	return c.sendDefinition(ctx, call, http.MethodPut, url, index, header, http.StatusOK, http.StatusCreated)
}

// GetIndexOptions are the options of IndexClient.GetIndex. There are none yet.
type GetIndexOptions struct{}

// GetIndex returns the definition of an index. If there is none of that name
// the error is ErrIndexNotFound.
func (c *IndexClient) GetIndex(ctx context.Context, name string, _ *GetIndexOptions) (_ models.SearchIndex, err error) {
	const operation = "GetIndex"
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	var index models.SearchIndex
	if err := c.getNamed(ctx, c.call(operation, name), "", &index); err != nil {
		return models.SearchIndex{}, err
	}
	return index, nil
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
func (c *IndexClient) DeleteIndex(ctx context.Context, name string, opts *DeleteIndexOptions) (err error) {
	const operation = "DeleteIndex"
	if opts == nil {
		opts = &DeleteIndexOptions{}
	}
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	call := c.call(operation, name)
	header, err := conditions(opts.IfMatch, nil)
	if err := errors.Join(validateIndexName(name), err); err != nil {
		return call.wrap(err)
	}
	req, err := c.conn.newRequest(ctx, http.MethodDelete, c.conn.url("/indexes"+quoted(name)), acceptMinimal)
	if err != nil {
		return call.wrap(err)
	}
	for name, values := range header {
		req.Raw().Header[name] = values
	}
	_, err = c.conn.send(req, call, http.StatusNoContent, http.StatusOK)
	return err
}

func (c *IndexClient) call(operation, index string) call {
	return call{operation: operation, index: index, needs: manageIndexes}
}

// conditions returns the headers for ETag conditions.
func conditions(ifMatch, ifNoneMatch *azcore.ETag) (http.Header, error) {
	header := http.Header{}
	return header, errors.Join(
		condition(header, "If-Match", ifMatch),
		condition(header, "If-None-Match", ifNoneMatch),
	)
}

func condition(header http.Header, name string, etag *azcore.ETag) error {
	switch {
	case etag == nil:
		return nil
	case *etag == "":
		// Sent like this it would be no condition at all.
		return fmt.Errorf("the ETag for %s is empty: take it from an index that the service has returned", name)
	}
	header.Set(name, string(*etag))
	return nil
}

// sendDefinition sends the definition of an index and returns the service's.
func (c *IndexClient) sendDefinition(ctx context.Context, call call, method, url string, index models.SearchIndex, header http.Header, expected ...int) (models.SearchIndex, error) {
	var created models.SearchIndex
	body, err := json.Marshal(index)
	if err != nil {
		return created, call.wrap(err)
	}
	req, err := c.conn.newRequest(ctx, method, url, acceptMinimal)
	if err != nil {
		return created, call.wrap(err)
	}
	for name, values := range header {
		req.Raw().Header[name] = values
	}
	if err := req.SetBody(streaming.NopCloser(bytes.NewReader(body)), "application/json"); err != nil {
		return created, call.wrap(err)
	}
	resp, err := c.conn.send(req, call, expected...)
	if err != nil {
		return created, err
	}
	reply, err := runtime.Payload(resp)
	if err == nil {
		err = json.Unmarshal(trimBOM(reply), &created)
	}
	if err != nil {
		return models.SearchIndex{}, call.wrap(malformed(err, resp))
	}
	return created, nil
}

// getNamed gets something about one index into v.
func (c *IndexClient) getNamed(ctx context.Context, call call, suffix string, v any) error {
	if err := validateIndexName(call.index); err != nil {
		return call.wrap(err)
	}
	body, resp, err := c.conn.getURL(ctx, c.conn.url("/indexes"+quoted(call.index)+suffix), call)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return call.wrap(malformed(err, resp))
	}
	return nil
}
