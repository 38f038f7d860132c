package search

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// Client reads and writes the documents of one index. It is safe for concurrent use and needs no closing. It
// implements the interface that bufferedsender.New takes.
type Client struct {
	conn      *connection
	indexName string
	docs      string // the path of the documents, "/indexes('x')/docs"
	batchURL  string // batches are the hot path, so their URL is made once

	telemetry *telemetry

	keyField atomic.Pointer[string] // written once KeyFieldName has succeeded
	warned   sync.Once              // set when the log has warned that permissions may hide documents
}

// NewClient returns a client for the documents of one index that authenticates with Entra ID, for example with
// azidentity.NewDefaultAzureCredential. The identity needs the role "Search Index Data Contributor" to write
// documents and "Search Index Data Reader" to read them.
//
// endpoint is the address of the service, "https://NAME.search.windows.net". The scheme http is accepted for loopback
// addresses only. indexName may be the name of an alias. NewClient sends nothing, and joins all problems with its
// arguments in one error. Check asks the service whether the arguments are right.
func NewClient(endpoint, indexName string, cred azcore.TokenCredential, opts *ClientOptions) (*Client, error) {
	return newClient(endpoint, indexName, authentication{token: cred}, opts)
}

// NewClientWithKey is NewClient with an API key: an admin key to write documents, or a query key to read them only.
// The key can be rotated while the client is in use, with the Update method of the credential. A malformed key, for
// example one with the line end of its file, is an error of NewClientWithKey; after Update it is a *CredentialError
// of each request.
func NewClientWithKey(endpoint, indexName string, cred *azcore.KeyCredential, opts *ClientOptions) (*Client, error) {
	return newClient(endpoint, indexName, authentication{withKey: true, key: cred}, opts)
}

func newClient(endpoint, indexName string, auth authentication, opts *ClientOptions) (*Client, error) {
	conn, err := newConnection(endpoint, auth, opts)
	if err := errors.Join(err, validateIndexName(indexName)); err != nil {
		return nil, fmt.Errorf("search: new client: %w", err)
	}
	return conn.client(indexName), nil
}

// client returns a client for an index. The caller has validated the name.
func (c *connection) client(indexName string) *Client {
	docs := "/indexes" + quoted(indexName) + "/docs"
	return &Client{
		conn:      c,
		indexName: indexName,
		docs:      docs,
		batchURL:  c.url(docs + "/search.index"),
		telemetry: newTelemetry(c.instruments, c.endpoint, indexName),
	}
}

// IndexName returns the name of the index.
func (c *Client) IndexName() string { return c.indexName }

// Endpoint returns the address of the service, without a trailing slash.
func (c *Client) Endpoint() string { return c.conn.root }

func (c *Client) call(operation string, needs right) call {
	return call{operation: operation, index: c.indexName, needs: needs}
}
