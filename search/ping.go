package search

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Ping asks whether the service answers for the index of the client now: nil
// means that it does, for this credential. It is for health checks, and for
// senders that wait for the service to come back.
//
// Ping counts the documents of the index, in one request that changes nothing
// and is not tried again, whatever ClientOptions.Retry says. Counting is what all
// that may use the documents may do: with an admin key, with a query key, or with
// one of the roles for index data. (The statistics of the index would take an admin key or
// the role "Search Service Contributor", which those who only write documents do
// not have, and are served without the index itself.) So nil does not say that
// the credential may write, which Check does, nor that the service has capacity
// left for more.
//
// The error is what any request gets: an *Error with status 503 and the wait that
// the service asked for while it is overloaded, with 401 or 403 for the
// credential, with 404 (ErrIndexNotFound) while there is no such index,
// models.ErrMalformedReply if something else answered, or that of the connection.
// ctx bounds the whole call; without a deadline a service that accepts the
// connection and does not answer is waited for without end.
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
