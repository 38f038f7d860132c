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

// IndexDocumentsRaw sends an encoded batch, {"value":[…]}, in one request. The retries of the pipeline are off,
// because the caller, usually a bufferedsender, has its own retry policy. ctx bounds the request. The client request
// id is models.ClientRequestID(ctx), or a new one.
//
// For a 200 or a 207 the result is returned unchanged, including failures of single documents, without an error. Any
// other status is an *Error. If a reply with 200 or 207 is malformed, the error has models.ErrMalformedReply in its
// chain. If the connection broke, it is the error of net/http, wrapped. In both cases the batch may have been
// applied.
//
// body is sent from its beginning, whatever its position. When IndexDocumentsRaw returns, body is closed and no
// longer read, so its memory can be reused at once. net/http alone does not guarantee that: after an early reply it
// may still be reading. The body of the reply is empty for policy.WithCaptureResponse, because its memory is reused
// too; other calls keep it readable.
func (c *Client) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (_ models.IndexDocumentsResult, err error) {
	ctx, end := c.conn.span(ctx, "Client.IndexDocumentsRaw")
	defer func() { end(err) }()
	return c.postBatch(policy.WithRetryOptions(ctx, c.conn.noRetries), body, c.call("IndexDocuments", writeDocuments), false)
}

// postBatch sends every batch. It closes body. For keep see decodeReply.
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
	runtime.SkipBodyDownload(req) // decodeReply reads the body into pooled memory
	if keep {
		req.SetOperationValue(wholeReply{}) // the pipeline may retry the batch, so it reads the reply
	}
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
	hideSent(result.Results, resp.Request)
	return result, nil
}
