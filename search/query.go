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

// Search returns the documents that match text, from all pages, each decoded into a T by encoding/json: a struct,
// models.Document, json.RawMessage. If T holds numbers as any, encoding/json decodes them as float64, which cannot
// represent all 64-bit integers; models.Document can. The text "" or "*" matches all documents. For text that people
// typed see EscapeText.
//
// Each iteration makes the requests again: one when it starts and one for every further page. SearchOptions.Top
// limits the number of results. Without it, a query with many matches makes many requests, up to 100000 results. Use
// NewSearchPager to read page by page, and for facets, the count, answers, and partial failures of semantic ranking.
// Use Scan to read a whole index.
//
// If documents are written or deleted between two pages, a result may appear twice or not at all, because the service
// pages by position.
//
// An error ends the iteration and is yielded with a zero result. For invalid options it is an *InvalidQueryError, and
// nothing is sent. If the service refuses the query, it is an *Error with the service's message. Requests are retried
// as ClientOptions.Retry says.
//
// Search reads opts before it returns, so the caller may change it afterwards. ctx bounds each iteration. The
// iterator is safe for concurrent use.
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

// NewSearchPager returns a pager over the pages of a query. The first page has the facets, the count and the answers.
// A query for a single page is
//
//	page, err := search.NewSearchPager[Hotel](client, "pool", opts).NextPage(ctx)
//
// NewSearchPager sends nothing; an *InvalidQueryError is returned with the first page. After an error there are no
// more pages. A pager is not safe for concurrent use. Otherwise it is like Search.
func NewSearchPager[T any](c *Client, text string, opts *SearchOptions) *runtime.Pager[models.SearchDocumentsResult[T]] {
	body, err := opts.body(text, c.conn.apiVersion)
	return newSearchPager[T](c, body, err)
}

// newSearchPager returns the pager for an encoded request, or for the error of encoding it.
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
			call.reader = &reader
			return searchPage[T](ctx, c, c.conn.url(c.docs+"/search.post.search"), walk.body, call)
		},
	})
}

// searchPage requests one page.
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

// postQuery sends every query and reads the reply into v. The pipeline may retry it freely, because a query changes
// nothing.
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

// decodeQueryReply reads a reply. Its error quotes no documents. It has models.ErrMalformedReply in its chain, unless
// a document does not fit into its Go type.
//
// It calls UnmarshalJSON directly, because the check that json.Unmarshal does first is slower than wire.Check, which
// is sufficient.
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
