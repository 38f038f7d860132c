package search

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// listNames yields the names of the definitions of a kind.
func listNames[K any](ctx context.Context, c *IndexClient, kind *definitionKind[K], operation string) iter.Seq2[string, error] {
	type named struct {
		Name string `json:"name"`
	}
	return func(yield func(string, error) bool) {
		for definition, err := range listDefinitions[named](ctx, c, kind, operation, func(n *named) string { return n.Name }, "$select", "name") {
			if !yield(definition.Name, err) {
				return
			}
		}
	}
}

// listDefinitions yields the entries of a list of definitions of a kind, as T.
// The service has always answered in one page; if it ever answers in several,
// the others are followed rather than left out without a word.
func listDefinitions[T, K any](ctx context.Context, c *IndexClient, kind *definitionKind[K], operation string, name func(*T) string, query ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		call := kind.call(operation, "")
		if err := kind.allowed(c.conn); err != nil {
			yield(zero, call.wrap(err))
			return
		}
		seen := make(map[string]bool)
		for next := c.conn.url(kind.path, query...); next != ""; {
			if seen[next] {
				yield(zero, call.wrap(fmt.Errorf("%w: its pages go round in a circle", models.ErrMalformedReply)))
				return
			}
			seen[next] = true
			var page []T
			var err error
			page, next, err = listPage(ctx, c, next, call, name)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, definition := range page {
				if !yield(definition, nil) {
					return
				}
			}
		}
	}
}

// listPage gets one page and the address of the next, or "".
func listPage[T any](ctx context.Context, c *IndexClient, address string, call call, name func(*T) string) (_ []T, next string, err error) {
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
	err = decodeInto(&page, body)
	switch {
	case err != nil:
	case page.Value == nil:
		err = errors.New("it has no list of definitions")
	case slices.ContainsFunc(*page.Value, func(definition T) bool { return name(&definition) == "" }):
		err = errors.New("a definition in its list has no name")
	}
	if err != nil {
		return nil, "", call.wrap(malformed(err, resp))
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
