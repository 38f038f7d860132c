package search

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
)

// DocumentCountOptions are the options of Client.DocumentCount. There are none
// yet.
type DocumentCountOptions struct{}

// DocumentCount returns the number of documents in the index. The number lags some seconds behind writes.
func (c *Client) DocumentCount(ctx context.Context, _ *DocumentCountOptions) (_ int64, err error) {
	const operation = "DocumentCount"
	ctx, end := c.conn.span(ctx, "Client."+operation)
	defer func() { end(err) }()
	call := c.call(operation, readDocuments)
	if wholeindex.Required(ctx) {
		v, err := c.view(ctx, call)
		if err != nil {
			return 0, err
		}
		if v.elevated { // $count does not take the header of an elevated read
			return v.count(ctx, c, Filter{}, call)
		}
	}
	call.measured = c.telemetry.begin(ctx, measureCount)
	n, err := c.count(ctx, call)
	call.measured.end(ctx, unknownRows, err)
	return n, err
}

// count sends the request of DocumentCount and of Check.
func (c *Client) count(ctx context.Context, call call) (int64, error) {
	req, err := c.conn.newRequest(ctx, http.MethodGet, c.conn.url(c.docs+"/$count"), acceptNone)
	if err != nil {
		return 0, call.wrap(err)
	}
	resp, err := c.conn.send(req, call, http.StatusOK)
	if err != nil {
		return 0, err
	}
	body, err := runtime.Payload(resp)
	if err != nil {
		return 0, call.wrap(fmt.Errorf("%w: %w", models.ErrMalformedReply, err))
	}
	n, err := parseCount(body)
	if err != nil {
		return 0, call.wrap(fmt.Errorf("%w (HTTP %d, request id %s)", err, resp.StatusCode, requestID(resp)))
	}
	return n, nil
}

// parseCount reads the body of a count: digits, possibly after a byte order mark.
func parseCount(body []byte) (int64, error) {
	n, err := strconv.ParseUint(string(bytes.TrimSpace(trimBOM(body))), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%w: it is not a number", models.ErrMalformedReply)
	}
	return int64(n), nil
}
