package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// IndexDocumentsRaw sends a batch that is encoded already, {"value":[…]}, once:
// the retries of the pipeline are off, because its caller, usually a
// bufferedsender, has a retry policy of its own. ctx bounds the request. The
// client request id is models.ClientRequestID(ctx), or a new one.
//
// The result of a 200 or a 207 is returned as it is, with the failures of
// single documents in it and no error. An answer with any other status is an
// *Error. A reply with status 200 or 207 that cannot be understood is an error
// with models.ErrMalformedReply in its chain; the batch may have been applied
// then, and also when the connection broke, which is the error of net/http,
// wrapped.
//
// body is sent from its beginning, whatever its position. It is closed, and not
// read any more, when IndexDocumentsRaw returns, so that its memory can be used
// again at once. (net/http alone does not promise that: after an early answer
// it may still be reading.) The body of a reply that policy.WithCaptureResponse gives is empty:
// its memory is used again too. Those of other calls can be read.
func (c *Client) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (_ models.IndexDocumentsResult, err error) {
	ctx, end := c.conn.span(ctx, "Client.IndexDocumentsRaw")
	defer func() { end(err) }()
	return c.postBatch(policy.WithRetryOptions(ctx, c.conn.noRetries), body, c.call("IndexDocuments", writeDocuments), false)
}

// postBatch is the one place that sends batches. It closes body. keep is that of decodeReply.
func (c *Client) postBatch(ctx context.Context, body io.ReadSeekCloser, call call, keep bool) (models.IndexDocumentsResult, error) {
	if body == nil {
		return models.IndexDocumentsResult{}, call.wrap(errors.New("the body is nil"))
	}
	lent := &lentBody{body: body}
	defer lent.takeBack()
	req, err := c.conn.newRequest(ctx, http.MethodPost, c.batchURL, acceptNone)
	if err != nil {
		return models.IndexDocumentsResult{}, call.wrap(err)
	}
	if err := lent.setOn(req); err != nil {
		return models.IndexDocumentsResult{}, call.wrap(err)
	}
	runtime.SkipBodyDownload(req) // decodeReply reads it into memory that it reuses
	resp, err := c.conn.send(req, call, http.StatusOK, http.StatusMultiStatus)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	result := models.IndexDocumentsResult{StatusCode: resp.StatusCode, RequestID: requestID(resp)}
	result.RetryAfter, _ = retry.RetryAfter(resp.Header, time.Now())
	if page(resp) {
		_ = resp.Body.Close()
		return result, c.conn.foreign(resp, call)
	}
	result.Results, err = decodeReply(resp, keep)
	if err != nil {
		return result, call.wrap(fmt.Errorf("%w (HTTP %d, request id %s)", err, resp.StatusCode, result.RequestID))
	}
	return result, nil
}
