package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/models"
)

// Search returns the documents that match text, on all pages, each decoded into
// a T with encoding/json: a struct, models.Document, json.RawMessage. Where a T
// takes numbers as any, encoding/json makes float64s of them, which do not hold
// all 64-bit integers; models.Document does. The text "" or "*" matches all; for
// what people typed see EscapeText.
//
// A request is made when the iteration starts and then for every page, and again
// for every iteration. SearchOptions.Top bounds how many results there are;
// without it a query that matches much makes many requests, up to 100000 results
// deep. For facets, the count and answers, for whether semantic ranking has failed
// in part, and to read page by page, see NewSearchPager; to read a whole index, Scan.
//
// Documents that are written or deleted between two pages may make results
// appear twice or not at all: the service pages by position.
//
// An error is the last thing that is yielded, with a zero result. It is an
// *InvalidQueryError, before anything is sent, for options that cannot be, and
// an *Error with the service's words if it refuses the query. Requests are tried
// again as ClientOptions.Retry says.
//
// opts and what it refers to is read before Search returns. ctx bounds each
// iteration. The iterator may be used by many goroutines at once.
func Search[T any](ctx context.Context, c *Client, text string, opts *SearchOptions) iter.Seq2[models.SearchResult[T], error] {
	body, err := opts.body(text, c.conn.apiVersion)
	return func(yield func(models.SearchResult[T], error) bool) {
		pager := newSearchPager[T](c, body, err)
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				yield(models.SearchResult[T]{}, err)
				return
			}
			for i := range page.Results {
				if !yield(page.Results[i], nil) {
					return
				}
			}
		}
	}
}

// NewSearchPager returns a pager over the pages of a query: its first page is the
// one with the facets, the count and the answers. A query that needs one page
// only is
//
//	page, err := search.NewSearchPager[Hotel](client, "pool", opts).NextPage(ctx)
//
// It sends nothing; an *InvalidQueryError comes with the first page. After an
// error there are no more pages. A pager is for one goroutine. For everything
// else see Search.
func NewSearchPager[T any](c *Client, text string, opts *SearchOptions) *runtime.Pager[models.SearchDocumentsResult[T]] {
	body, err := opts.body(text, c.conn.apiVersion)
	return newSearchPager[T](c, body, err)
}

// newSearchPager returns the pager for a request that has been made, or for the
// error that came of trying.
func newSearchPager[T any](c *Client, body []byte, invalid error) *runtime.Pager[models.SearchDocumentsResult[T]] {
	const operation = "Search"
	call := c.call(operation, readDocuments)
	walk := &pageWalk{body: body}
	return runtime.NewPager(runtime.PagingHandler[models.SearchDocumentsResult[T]]{
		More: func(page models.SearchDocumentsResult[T]) bool {
			return continues(page.NextLink, page.NextPageParameters)
		},
		Fetcher: func(ctx context.Context, last *models.SearchDocumentsResult[T]) (page models.SearchDocumentsResult[T], err error) {
			ctx, end := c.conn.span(ctx, "Client."+operation)
			defer func() { end(err) }()
			if invalid != nil {
				return page, call.wrap(invalid)
			}
			if last != nil {
				if err := walk.advance(last.NextPageParameters); err != nil {
					return page, call.wrap(fmt.Errorf("%w (request id %s)", err, last.RequestID))
				}
			}
			reader, err := c.conn.reading(ctx)
			if err != nil {
				return page, call.wrap(err)
			}
			call := call
			call.reader = reader
			return searchPage[T](ctx, c, c.conn.url(c.docs+"/search.post.search"), walk.body, call)
		},
	})
}

// searchPage gets one page.
func searchPage[T any](ctx context.Context, c *Client, url string, body []byte, call call) (models.SearchDocumentsResult[T], error) {
	var page models.SearchDocumentsResult[T]
	call.measured = c.telemetry.begin(ctx, measureSearch)
	resp, err := c.postQuery(ctx, url, body, &page, call, http.StatusOK, http.StatusPartialContent)
	call.measured.end(ctx, len(page.Results), err)
	if err != nil {
		return models.SearchDocumentsResult[T]{}, err
	}
	page.StatusCode, page.RequestID = resp.StatusCode, requestID(resp)
	return page, nil
}

// postQuery is the one place that sends queries. It reads the reply into v. A
// query changes nothing, so that the pipeline may try it as often as it likes.
func (c *Client) postQuery(ctx context.Context, url string, body []byte, v json.Unmarshaler, call call, expected ...int) (*http.Response, error) {
	req, err := c.conn.newRequest(ctx, http.MethodPost, url, acceptNone)
	if err != nil {
		return nil, call.wrap(err)
	}
	call.reader.header(req.Raw().Header)
	if err := lend(req, body); err != nil {
		return nil, call.wrap(err)
	}
	req.SetOperationValue(wholeReply{}) // for wholeReplies, which reads the body
	runtime.SkipBodyDownload(req)
	resp, err := c.conn.send(req, call, expected...)
	if err != nil {
		return nil, err
	}
	reply, err := payload(resp)
	if err != nil {
		return nil, call.wrap(malformed(err, resp))
	}
	if err := decodeQueryReply(reply, v); err != nil {
		return nil, call.wrap(fmt.Errorf("%w (HTTP %d, request id %s)", err, resp.StatusCode, requestID(resp)))
	}
	return resp, nil
}

// decodeQueryReply reads a reply. Its error holds nothing of the documents and
// has models.ErrMalformedReply in its chain unless it is about a document that
// does not fit into its Go type.
//
// What json.Unmarshal does before it calls UnmarshalJSON takes longer than
// wire.Check, which is enough.
func decodeQueryReply(reply []byte, v json.Unmarshaler) error {
	reply, err := object(reply)
	if err != nil {
		return err
	}
	err = v.UnmarshalJSON(reply)
	var misfit *models.ResultError
	switch {
	case err == nil || errors.Is(err, models.ErrMalformedReply):
		return err
	case errors.As(err, &misfit):
		return fmt.Errorf("the document of result %d does not fit: %w", misfit.Position, withoutValue(misfit.Err))
	}
	return fmt.Errorf("%w: %w", models.ErrMalformedReply, err)
}
