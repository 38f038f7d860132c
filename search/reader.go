package search

import (
	"context"
	"net/http"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// reader is for whom permission filters trim what a request reads. The zero reader is the client.
type reader struct {
	token    string
	elevated bool
}

type readerKey struct{}

// WithUserToken returns a context whose queries (Search, NewSearchPager), lookups (GetDocument) and
// retrievals (KnowledgeBaseClient) are those of a user: token is the user's for the service, with or
// without "Bearer ", and results are trimmed to what that user may see. It is never logged. Nothing
// else sends it: suggestions show what is open to all, and Scan, Rows and counts are of the whole
// index. It needs api-version 2026-10-01 or a preview that has permission filters, and replaces
// WithElevatedRead.
func WithUserToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, readerKey{}, &reader{token: token})
}

// WithElevatedRead returns a context whose queries and lookups are not trimmed by permissions. The
// client needs a role with the permission
// Microsoft.Search/searchServices/indexes/contentSecurity/elevatedOperations/read. It needs the
// api-versions of WithUserToken, which it replaces; retrievals are never elevated.
func WithElevatedRead(ctx context.Context) context.Context {
	return context.WithValue(ctx, readerKey{}, &reader{elevated: true})
}

// readerOf returns the reader of a context, which holds a pointer: %#v prints what a context holds.
func readerOf(ctx context.Context) reader {
	if r, is := ctx.Value(readerKey{}).(*reader); is {
		return *r
	}
	return reader{}
}

// reading returns the reader of a request.
func (c *connection) reading(ctx context.Context) (reader, error) {
	r := readerOf(ctx)
	if r == (reader{}) {
		return r, nil
	}
	return r, missing(c.apiVersion, apiversion.PermissionFilters)
}

// header says for whom a request reads.
func (r reader) header(h http.Header) {
	if r.token != "" {
		h.Set(userTokenHeader, r.token)
	}
	if r.elevated {
		h.Set("X-Ms-Enable-Elevated-Read", "true")
	}
}
