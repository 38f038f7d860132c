package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"

	"github.com/go-azsearch/azsearch/models"
)

// ListIndexesOptions are the options of IndexClient.ListIndexes. There are none
// yet.
type ListIndexesOptions struct{}

// ListIndexes returns the definitions of all indexes of the service. The
// request is made when the iteration starts, and again for every iteration. An
// error is the last thing that is yielded, with a zero index.
func (c *IndexClient) ListIndexes(ctx context.Context, _ *ListIndexesOptions) iter.Seq2[models.SearchIndex, error] {
	return listIndexes[models.SearchIndex](ctx, c, "ListIndexes")
}

// ListIndexNamesOptions are the options of IndexClient.ListIndexNames. There
// are none yet.
type ListIndexNamesOptions struct{}

// ListIndexNames is ListIndexes without all but the names, which is much less
// for the service to send.
func (c *IndexClient) ListIndexNames(ctx context.Context, _ *ListIndexNamesOptions) iter.Seq2[string, error] {
	type named struct {
		Name string `json:"name"`
	}
	return func(yield func(string, error) bool) {
		for index, err := range listIndexes[named](ctx, c, "ListIndexNames", "$select", "name") {
			if !yield(index.Name, err) {
				return
			}
		}
	}
}

// listIndexes yields the entries of a list. The service has always answered in
// one page; if it ever answers in several, the others are followed rather than
// left out without a word.
func listIndexes[T any](ctx context.Context, c *IndexClient, operation string, query ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		call := c.call(operation, "")
		seen := make(map[string]bool)
		for next := c.conn.url("/indexes", query...); next != ""; {
			if seen[next] {
				yield(zero, call.wrap(fmt.Errorf("%w: its pages go round in a circle", models.ErrMalformedReply)))
				return
			}
			seen[next] = true
			var page []T
			var err error
			page, next, err = listPage[T](ctx, c, next, call)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, index := range page {
				if !yield(index, nil) {
					return
				}
			}
		}
	}
}

// listPage gets one page and the address of the next, or "".
func listPage[T any](ctx context.Context, c *IndexClient, address string, call call) (_ []T, next string, err error) {
	ctx, end := c.conn.span(ctx, "IndexClient."+call.operation)
	defer func() { end(err) }()
	body, resp, err := c.conn.getURL(ctx, address, call)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Value *[]T   `json:"value"`
		Next  string `json:"@odata.nextLink"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, "", call.wrap(malformed(err, resp))
	}
	if page.Value == nil {
		return nil, "", call.wrap(malformed(errors.New("it has no list of indexes"), resp))
	}
	if page.Next != "" {
		// Credentials go to the service only, whatever a reply says.
		u, err := url.Parse(page.Next)
		if err != nil || u.Host != c.conn.endpoint.Host || u.Scheme != c.conn.endpoint.Scheme || page.Next == address {
			return nil, "", call.wrap(malformed(errors.New("the link to its next page does not lead there"), resp))
		}
	}
	return *page.Value, page.Next, nil
}
