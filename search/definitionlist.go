package search

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// listNames yields the names of the definitions of a kind.
func listNames[K any](ctx context.Context, c manager, kind *definitionKind[K], operation string, page listing) iter.Seq2[string, error] {
	type named struct {
		Name string `json:"name"`
	}
	return func(yield func(string, error) bool) {
		for definition, err := range listDefinitions(ctx, c, kind, operation, page, func(n *named) string { return n.Name }, "$select", "name") {
			if !yield(definition.Name, err) {
				return
			}
		}
	}
}

// listDefinitions yields the definitions of a kind, decoded as T.
func listDefinitions[T, K any](ctx context.Context, c manager, kind *definitionKind[K], operation string, page listing, name func(*T) string, query ...string) iter.Seq2[T, error] {
	call := kind.call(operation, "")
	return listPages(ctx, c, kind.path, call, page, kind.allowed(c.conn), name, query...)
}

// listing are the options of every list call.
type listing ListIndexesOptions

// listed returns the options, or the defaults for nil.
func listed(opts *ListIndexesOptions) listing {
	if opts == nil {
		return listing{}
	}
	return listing(*opts)
}

// query returns the query parameters of a list.
func (l listing) query(conn *connection) (query []string, err error) {
	if l == (listing{}) {
		return nil, nil
	}
	if l.Prefix != "" {
		query = append(query, "search", l.Prefix, "searchType", "prefix")
	}
	if l.PageSize != 0 {
		query = append(query, "pageSize", strconv.Itoa(l.PageSize))
	}
	if l.PageSize < 0 || l.PageSize > maxListPage {
		err = fmt.Errorf("PageSize is %d, want 1 to %d", l.PageSize, maxListPage)
	}
	if old := missing(conn.apiVersion, apiversion.ListPages); old != nil {
		err = errors.Join(err, fmt.Errorf("options Prefix and PageSize: %w", old))
	}
	return query, err
}

// maxListPage is the largest page size of a list.
const maxListPage = 3000

// listPages yields the entries of a list, decoded as T. Older api-versions reply with a single page. Links to further
// pages are followed even if PageSize is not set, because the service has a default page size.
func listPages[T any](ctx context.Context, c manager, path string, call call, page listing, invalid error, name func(*T) string, query ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		paging, err := page.query(c.conn)
		if err := errors.Join(invalid, err); err != nil {
			yield(zero, call.wrap(err))
			return
		}
		seen := make(map[string]bool)
		for next := c.conn.url(path, append(query, paging...)...); next != ""; {
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

// listPage reads one page and returns the address of the next, or "".
func listPage[T any](ctx context.Context, c manager, address string, call call, name func(*T) string) (_ []T, next string, err error) {
	ctx, end := c.span(ctx, call.operation)
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
		// Credentials go to the service only, even if a reply links to another host.
		u, err := url.Parse(page.Next)
		if err != nil || place(u) != place(c.conn.endpoint) || page.Next == address {
			return nil, "", call.wrap(malformed(errors.New("the link to its next page does not lead there"), resp))
		}
	}
	return *page.Value, page.Next, nil
}
