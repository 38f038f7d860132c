package search_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/search"
)

// asked makes a call of a client without an explicit api-version and returns its request.
func asked(t *testing.T, version string, do func(context.Context, clients)) *http.Request {
	t.Helper()
	c := newClients(t, version)
	do(t.Context(), c)
	require.Len(t, c.requests, 1)
	return c.requests[0]
}

func TestAReaderIsNamedInQueriesAndLookupsAlone(t *testing.T) {
	query := func(ctx context.Context, c clients) { drain(search.Search[models.Document](ctx, c.docs, "", nil)) }
	lookup := func(ctx context.Context, c clients) {
		_, _ = search.GetDocument[models.Document](ctx, c.docs, "1", nil)
	}
	for name, test := range map[string]struct {
		do              func(context.Context, clients)
		with            func(context.Context) context.Context
		token, elevated string
	}{
		"query of a user":            {query, user, "T", ""},
		"lookup of a user":           {lookup, user, "T", ""},
		"elevated query":             {query, search.WithElevatedRead, "", "true"},
		"elevated lookup":            {lookup, search.WithElevatedRead, "", "true"},
		"elevated instead of a user": {query, func(ctx context.Context) context.Context { return search.WithElevatedRead(user(ctx)) }, "", "true"},
		"a user instead of elevated": {query, func(ctx context.Context) context.Context { return user(search.WithElevatedRead(ctx)) }, "T", ""},
		"count":                      {func(ctx context.Context, c clients) { _, _ = c.docs.DocumentCount(ctx, nil) }, user, "", ""},
		"suggestions": {func(ctx context.Context, c clients) {
			_, _ = search.Suggest[models.Document](ctx, c.docs, "t", "s", nil)
		}, user, "", ""},
		"retrieval is never elevated": {func(ctx context.Context, c clients) { _, _ = c.base.Retrieve(ctx, knowledge.Request{}, nil) }, search.WithElevatedRead, "", ""},
		"batches":                     {func(ctx context.Context, c clients) { _, _ = c.docs.IndexDocumentsRaw(ctx, newBody(emptyOK)) }, user, "", ""},
		"an empty user token":         {query, func(ctx context.Context) context.Context { return search.WithUserToken(ctx, "") }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := asked(t, "", func(ctx context.Context, c clients) { test.do(test.with(ctx), c) })
			assert.Equal(t, test.token, req.Header.Get("X-Ms-Query-Source-Authorization"))
			assert.Equal(t, test.elevated, req.Header.Get("X-Ms-Enable-Elevated-Read"))
		})
	}
	c := newClients(t, "2026-04-01")
	_, err := search.GetDocument[models.Document](user(t.Context()), c.docs, "1", nil)
	require.ErrorContains(t, err, "api-version 2026-04-01 does not have it; set ClientOptions.APIVersion to 2026-10-01 or newer")
	assert.Empty(t, c.requests)
}

func TestAContextDoesNotPrintTheTokenOfItsUser(t *testing.T) {
	ctx := search.WithUserToken(context.Background(), "S3CRET")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.NotContains(t, fmt.Sprintf(verb, ctx), "S3CRET", verb)
	}
}

// Tools that dump errors with %#v print all fields of their structs.
func TestAnErrorDoesNotPrintTheTokenOfItsUser(t *testing.T) {
	cred, opts := azcore.NewKeyCredential("K3Y"), &search.ClientOptions{ClientOptions: policy.ClientOptions{
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Transport: transporter(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }),
	}}
	docs, err := search.NewClientWithKey("https://svc.search.windows.net", "tt", cred, opts)
	require.NoError(t, err)
	base, err := search.NewKnowledgeBaseClientWithKey("https://svc.search.windows.net", "kb", cred, opts)
	require.NoError(t, err)
	ctx := search.WithUserToken(t.Context(), "S3CRET")
	for name, ask := range map[string]func() error{
		"Search": func() error {
			for _, err := range search.Search[models.Document](ctx, docs, "", nil) {
				return err
			}
			return nil
		},
		"GetDocument": func() error { _, err := search.GetDocument[models.Document](ctx, docs, "1", nil); return err },
		"Suggest":     func() error { _, err := search.Suggest[models.Document](ctx, docs, "a", "sg", nil); return err },
		"Retrieve":    func() error { _, err := base.Retrieve(ctx, knowledge.Request{}, nil); return err },
	} {
		err := ask()
		require.Error(t, err, name)
		for ; err != nil; err = errors.Unwrap(err) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
				assert.NotRegexp(t, "S3CRET|K3Y", fmt.Sprintf(verb, err), "%s %s", name, verb)
			}
		}
	}
}

func user(ctx context.Context) context.Context { return search.WithUserToken(ctx, "T") }

// The documents that a user may see are not the whole index.
func TestAScanIsNeverThatOfAUser(t *testing.T) {
	c := newClients(t, "")
	drain(search.Scan[models.Document](user(t.Context()), c.docs, nil))
	require.NotEmpty(t, c.requests)
	for _, req := range c.requests {
		assert.Empty(t, req.Header.Get("X-Ms-Query-Source-Authorization"))
	}
}
