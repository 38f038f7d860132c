package search

import (
	"context"
	"net/http"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// reader is the identity whose permissions trim the results of a request. The zero reader is the client itself.
type reader struct {
	token    string
	elevated bool
}

type readerKey struct{}

// WithUserToken returns a context for queries (Search, NewSearchPager), lookups (GetDocument) and retrievals
// (KnowledgeBaseClient) on behalf of a user. token is the user's token for the service, with or without "Bearer ".
// Permission filters trim the results to the documents that the user may see. The token is never logged. No other
// operation sends it: suggestions return only documents that are open to all, and Scan, Rows and counts cover the
// whole index. It needs api-version 2026-10-01 or a preview with permission filters. See WithElevatedRead.
func WithUserToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, readerKey{}, &reader{token: token})
}

// WithElevatedRead returns a context in which permission filters do not trim queries and lookups. The client needs a
// role with the permission Microsoft.Search/searchServices/indexes/contentSecurity/elevatedOperations/read. Retrievals
// are never elevated. It needs the same api-versions as WithUserToken. On one context the later of the two calls wins.
func WithElevatedRead(ctx context.Context) context.Context {
	return context.WithValue(ctx, readerKey{}, &reader{elevated: true})
}

// readerOf returns the reader of a context. The context holds a pointer, because %#v prints the values in a context.
func readerOf(ctx context.Context) reader {
	if r, is := ctx.Value(readerKey{}).(*reader); is {
		return *r
	}
	return reader{}
}

// reading returns the reader of a request, or an error if the api-version lacks permission filters.
func (c *connection) reading(ctx context.Context) (reader, error) {
	r := readerOf(ctx)
	if r == (reader{}) {
		return r, nil
	}
	return r, missing(c.apiVersion, apiversion.PermissionFilters)
}

// header sets the headers of the reader, none for nil.
func (r *reader) header(h http.Header) {
	if r == nil {
		return
	}
	if r.token != "" {
		h.Set(userTokenHeader, r.token)
	}
	if r.elevated {
		h.Set("X-Ms-Enable-Elevated-Read", "true")
	}
}
