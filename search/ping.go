package search

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Ping reports whether the service currently replies for the index of the client, with its credential: nil means yes.
// Use it for health checks, and to wait for the service to come back.
//
// Ping counts the documents of the index in one request, which changes nothing and is not retried, whatever
// ClientOptions.Retry says. Counting is allowed with an admin key, a query key, or any role for index data. Reading
// the statistics of the index instead would take an admin key or the role "Search Service Contributor", and the
// service returns them even if it cannot serve the index. A nil error does not mean that the credential may write,
// which Check tests, nor that the service has spare capacity.
//
// The error is that of any request. It is an *Error with status 503 and the wait that the service asks for if it is
// overloaded, with 401 or 403 for the credential, or with 404 (ErrIndexNotFound) if the index does not exist. It is
// models.ErrMalformedReply for a foreign reply, or the error of the connection. ctx bounds the whole call. Without a
// deadline, Ping can block forever on a service that accepts the connection and does not reply.
func (c *Client) Ping(ctx context.Context) (err error) {
	const operation = "Ping"
	ctx, end := c.conn.span(ctx, "Client."+operation)
	defer func() { end(err) }()
	call := c.call(operation, readDocuments)
	call.measured = c.telemetry.begin(ctx, measurePing)
	_, err = c.count(policy.WithRetryOptions(ctx, c.conn.noRetries), call)
	call.measured.end(ctx, unknownRows, err)
	return err
}
