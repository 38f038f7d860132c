package search_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The test covers every ETag condition.
func TestConditionsHoldOrFail(t *testing.T) {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	ctx := t.Context()
	first, err := indexes.GetIndex(ctx, "hotels", nil)
	require.NoError(t, err)
	stale, anyETag := azcore.ETag(`"0xDEAD"`), azcore.ETagAny
	current := azcore.ETag(first.ETag)
	other := first
	other.Name, other.ETag = "motels", ""

	_, err = indexes.CreateOrUpdateIndex(ctx, first, &search.CreateOrUpdateIndexOptions{IfMatch: &stale})
	require.ErrorIs(t, err, search.ErrPreconditionFailed)
	_, err = indexes.CreateOrUpdateIndex(ctx, first, &search.CreateOrUpdateIndexOptions{IfNoneMatch: &anyETag})
	require.ErrorIs(t, err, search.ErrPreconditionFailed, "the index exists")
	_, err = indexes.CreateOrUpdateIndex(ctx, other, &search.CreateOrUpdateIndexOptions{IfMatch: &anyETag})
	require.ErrorIs(t, err, search.ErrPreconditionFailed, "the index does not exist")
	created, err := indexes.CreateOrUpdateIndex(ctx, other, &search.CreateOrUpdateIndexOptions{IfNoneMatch: &anyETag})
	require.NoError(t, err)
	assert.Equal(t, "motels", created.Name)
	updated, err := indexes.CreateOrUpdateIndex(ctx, first, &search.CreateOrUpdateIndexOptions{IfMatch: &current})
	require.NoError(t, err)
	assert.NotEqual(t, first.ETag, updated.ETag)

	require.ErrorIs(t, indexes.DeleteIndex(ctx, "hotels", &search.DeleteIndexOptions{IfMatch: &current}), search.ErrPreconditionFailed)
	current = azcore.ETag(updated.ETag)
	require.NoError(t, indexes.DeleteIndex(ctx, "hotels", &search.DeleteIndexOptions{IfMatch: &current}))

	empty := azcore.ETag("")
	before := len(srv.Requests())
	_, err = indexes.CreateOrUpdateIndex(ctx, models.SearchIndex{}, &search.CreateOrUpdateIndexOptions{IfMatch: &empty, IfNoneMatch: &empty})
	for _, text := range []string{"the index name is empty", "the ETag for If-Match is empty", "the ETag for If-None-Match is empty"} {
		require.ErrorContains(t, err, text)
	}
	require.ErrorContains(t, indexes.DeleteIndex(ctx, "motels", &search.DeleteIndexOptions{IfMatch: &empty}), "the ETag for If-Match is empty")
	assert.Len(t, srv.Requests(), before, "an empty condition would be none at all")
}

func TestIndexNamesAreCheckedByEveryOperation(t *testing.T) {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	before := len(srv.Requests())
	ctx, bad := t.Context(), models.SearchIndex{Name: "Bad"}
	_, create := indexes.CreateIndex(ctx, bad, nil)
	_, update := indexes.CreateOrUpdateIndex(ctx, bad, nil)
	_, get := indexes.GetIndex(ctx, "Bad", nil)
	_, stats := indexes.GetIndexStatistics(ctx, "Bad", nil)
	for _, err := range []error{create, update, get, stats, indexes.DeleteIndex(ctx, "Bad", nil)} {
		assert.ErrorContains(t, err, `the index name "Bad" has characters other than`)
	}
	assert.Len(t, srv.Requests(), before)
}

func TestQueryKeyMayReadAndNotWrite(t *testing.T) {
	srv, opts := emulated()
	defer srv.Close()
	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.QueryKey), opts)
	require.NoError(t, err)
	_, err = search.GetDocument[Hotel](t.Context(), client, "1", nil)
	require.NoError(t, err)
	_, err = search.UploadDocuments(t.Context(), client, []Hotel{{ID: "3"}}, nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 403, e.StatusCode)
	assert.Contains(t, e.Hint, "UploadDocuments needs an admin key (query keys only read documents) of this service")
}

// zipped requests compressed replies. The transport of net/http does so automatically, the emulator's does not.
type zipped struct{}

func (zipped) Do(req *policy.Request) (*http.Response, error) {
	req.Raw().Header.Set("Accept-Encoding", "gzip")
	return req.Next()
}

func TestZippedRepliesAreRead(t *testing.T) {
	srv, opts := emulated()
	defer srv.Close()
	opts.PerRetryPolicies = []policy.Policy{zipped{}}
	var captured *http.Response
	ctx := policy.WithCaptureResponse(t.Context(), &captured)
	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey), opts)
	require.NoError(t, err)
	hotel, err := search.GetDocument[Hotel](ctx, client, "1", nil)
	require.NoError(t, err)
	assert.Equal(t, "Fancy Stay", hotel.Name)
	hotels := make([]Hotel, 100)
	for i := range hotels {
		hotels[i] = Hotel{ID: strings.Repeat("x", i+1), Name: "n"}
	}
	_, err = search.UploadDocuments(ctx, client, hotels, nil)
	require.NoError(t, err)
	assert.True(t, captured.Uncompressed)
}

func TestListEndsEarlyAndReportsErrors(t *testing.T) {
	page := func(next, names string) *http.Response {
		return response(200, `{"value":[`+names+`],"@odata.nextLink":"`+next+`"}`)
	}
	names := func(w *wire) (names []string, err error) {
		for name, e := range newIndexClient(t, w).ListIndexNames(t.Context(), nil) {
			if e != nil {
				return names, e
			}
			if names = append(names, name); name == "stop" {
				break
			}
		}
		return names, nil
	}

	got, err := names(replies(page(testEndpoint+"/indexes?page=2", `{"name":"a"}`), response(200, `{"value":[{"name":"b"}]}`)))
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, got, "pages are followed if there are any")

	got, err = names(replies(page("https://SVC.search.windows.net:443/indexes?page=2", `{"name":"a"}`), response(200, `{"value":[{"name":"b"}]}`)))
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, got, "it is the same host")

	w := replies(page(testEndpoint+"/indexes?page=2", `{"name":"stop"},{"name":"never"}`))
	got, err = names(w)
	require.NoError(t, err)
	assert.Equal(t, []string{"stop"}, got)
	assert.Len(t, w.requests, 1)

	for _, next := range []string{"https://evil.example/indexes", "http://svc.search.windows.net/indexes", "/indexes", "%zz"} {
		w = replies(page(next, ""), response(200, `{"value":[]}`))
		_, err = names(w)
		require.ErrorIs(t, err, models.ErrMalformedReply)
		assert.Len(t, w.requests, 1, "credentials go to the service only")
	}
	for _, body := range []string{``, `{}`, `[]`, `{"value":null}`, `{"value":[`} {
		_, err = names(reply(200, body))
		require.ErrorIs(t, err, models.ErrMalformedReply, body)
	}
	_, err = names(reply(403, ""))
	var e *search.Error
	require.ErrorAs(t, err, &e)
	for index, err := range newIndexClient(t, reply(403, "")).ListIndexes(t.Context(), nil) {
		require.ErrorAs(t, err, &e)
		assert.Empty(t, index.Name)
	}
}

func TestSomethingElseInsteadOfADefinitionIsMalformed(t *testing.T) {
	ctx := t.Context()
	for _, body := range []string{"", "<html>", `{"name":`} {
		_, err := newIndexClient(t, reply(200, body)).GetIndex(ctx, "hotels", nil)
		require.ErrorIs(t, err, models.ErrMalformedReply)
		_, err = newIndexClient(t, reply(201, body)).CreateIndex(ctx, models.SearchIndex{Name: "hotels"}, nil)
		require.ErrorIs(t, err, models.ErrMalformedReply)
		_, err = newIndexClient(t, reply(200, body)).CreateOrUpdateIndex(ctx, models.SearchIndex{Name: "hotels"}, nil)
		require.ErrorIs(t, err, models.ErrMalformedReply)
		_, err = newIndexClient(t, reply(200, body)).GetIndexStatistics(ctx, "hotels", nil)
		require.ErrorIs(t, err, models.ErrMalformedReply)
		_, err = newIndexClient(t, reply(200, body)).GetServiceStatistics(ctx, nil)
		require.ErrorIs(t, err, models.ErrMalformedReply)
	}
}

// Goroutines share a client, and one of them rotates the key.
func TestClientConcurrentSafe(t *testing.T) {
	srv, opts := emulated()
	defer srv.Close()
	cred := azcore.NewKeyCredential(searchtest.AdminKey)
	client, err := search.NewClientWithKey(srv.URL(), "hotels", cred, opts)
	require.NoError(t, err)
	var wg sync.WaitGroup
	errs := make(chan error, 8*20) // one slot for each call
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				cred.Update(searchtest.AdminKey)
				_, err := search.UploadDocuments(t.Context(), client, []Hotel{{ID: string(rune('a' + i))}}, nil)
				_, err2 := client.KeyFieldName(t.Context())
				errs <- errors.Join(err, err2)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	assert.EqualValues(t, 2+8, srv.DocumentCount("hotels"))
}
