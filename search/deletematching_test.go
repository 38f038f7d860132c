package search_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// chunks is an index like that of a chat over a user's documents: its key is neither filterable nor sortable.
func chunks(t *testing.T, opts *searchtest.Options, n int, source string) (*searchtest.Server, *search.Client) {
	t.Helper()
	docs := []models.Document{{"id": "other", "source": "other.pdf"}}
	for i := range n {
		docs = append(docs, models.Document{"id": numberedID(i), "source": source})
	}
	return emulatingWith(t, opts, `{"name":"chunks","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":false,"sortable":false,"facetable":false},
		{"name":"source","type":"Edm.String","filterable":true}]}`, "chunks", docs...)
}

func put(t *testing.T, client *search.Client, doc models.Document) {
	t.Helper()
	_, err := search.UploadDocuments(context.WithoutCancel(t.Context()), client, []models.Document{doc}, nil)
	require.NoError(t, err)
}

func TestDeleteMatchingNeedsNoSortableKey(t *testing.T) {
	for name, lag := range map[string]time.Duration{"shown at once": 0, "shown late": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, client := chunks(t, &searchtest.Options{VisibilityLag: lag}, 1000, "it's.pdf")
				time.Sleep(lag)
				for _, err := range search.ScanKeys(t.Context(), client, nil) {
					require.ErrorIs(t, err, search.ErrNotScannable)
					require.ErrorContains(t, err, "to delete by a filter use DeleteMatching")
				}
				began := time.Now()
				deleted, err := search.DeleteMatching(t.Context(), client, "", search.Eq("source", "it's.pdf"), nil)
				require.NoError(t, err)
				assert.Len(t, deleted, 1000)
				assert.GreaterOrEqual(t, time.Since(began), lag)
				assert.LessOrEqual(t, time.Since(began), lag+2*time.Second)
				n, err := client.DocumentCount(t.Context(), nil)
				require.NoError(t, err)
				assert.EqualValues(t, 1, n, "no other document is deleted")
				writes := 0
				for _, r := range srv.Requests() {
					if r.Operation == searchtest.OpIndexDocuments {
						writes++
					}
				}
				assert.Equal(t, 3, writes, "two uploads, and one request with deletes")
			})
		})
	}
}

func TestDeleteMatchingDeletesWhatBeginsToMatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := chunks(t, &searchtest.Options{VisibilityLag: time.Second}, 2, "a.pdf")
		time.Sleep(time.Second)
		time.AfterFunc(500*time.Millisecond, func() { put(t, client, models.Document{"id": "late", "source": "a.pdf"}) })
		deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"), nil)
		require.NoError(t, err)
		assert.Equal(t, []string{"00000", "00001"}, deleted, "the late document becomes visible only after the index shows that the others are gone, so this call misses it")
		time.Sleep(time.Second)
		deleted, err = search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"), nil)
		require.NoError(t, err)
		assert.Equal(t, []string{"late"}, deleted)
	})
	synctest.Test(t, func(t *testing.T) {
		_, client := chunks(t, &searchtest.Options{VisibilityLag: 2 * time.Second}, 2, "a.pdf")
		put(t, client, models.Document{"id": "soon", "source": "a.pdf"})
		time.Sleep(2 * time.Second)
		time.AfterFunc(time.Millisecond, func() { put(t, client, models.Document{"id": "late", "source": "a.pdf"}) })
		time.AfterFunc(time.Second, func() { put(t, client, models.Document{"id": "00001", "source": "a.pdf"}) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		deleted, err := search.DeleteMatching(ctx, client, "id", search.Eq("source", "a.pdf"), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "1 of the 4 documents that were deleted still match, written again or shown late")
		assert.Equal(t, []string{"00000", "00001", "soon", "late"}, deleted, "a rewritten document is not deleted again")
	})
}

func TestDeleteMatchingEndsWithItsCheck(t *testing.T) {
	srv, client := chunks(t, nil, 5, "a.pdf")
	wrong := errors.New("too many")
	var counted int64
	deleted, err := search.DeleteMatching(wholeindex.Before(t.Context(), func(n int64, keys []string) error {
		counted = n
		assert.Len(t, keys, 5)
		return wrong
	}), client, "id", search.Eq("source", "a.pdf"), nil)
	require.ErrorIs(t, err, wrong)
	assert.EqualValues(t, 5, counted)
	assert.Empty(t, deleted)
	assert.Len(t, srv.DocumentKeys("chunks"), 6, "one document does not match")
}

func TestDeleteMatchingRefusesTooMany(t *testing.T) {
	srv, client := chunks(t, nil, 1001, "a.pdf")
	before := len(srv.Requests())
	deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"), nil)
	require.ErrorContains(t, err, "1001 documents match, the limit is 1000; set Expect to their number")
	assert.Empty(t, deleted)
	_, err = search.DeleteMatching(t.Context(), client, "id", search.Filter{}, nil)
	require.ErrorContains(t, err, "there is no filter, so every document would match")
	_, err = search.DeleteMatching(t.Context(), client, "id", search.Not(search.In[string]("id")), nil)
	require.ErrorContains(t, err, "every document matches the filter")
	_, err = search.DeleteMatching(t.Context(), client, "id", search.Eq("a b", 1), nil)
	require.ErrorAs(t, err, new(*search.InvalidFilterError))
	deleted, err = search.DeleteMatching(t.Context(), client, "id", search.In[string]("source"), nil)
	require.NoError(t, err)
	assert.Empty(t, deleted)
	assert.Len(t, srv.Requests(), before+5, "three definitions, two searches")
}

// The chunks of one file of a chat over a user's documents. No other call can delete them.
func TestDeleteMatchingDeletesAnExpectedNumber(t *testing.T) {
	for name, lag := range map[string]time.Duration{"shown at once": 0, "shown late": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, client := chunks(t, &searchtest.Options{VisibilityLag: lag}, 2500, "a.pdf")
				time.Sleep(lag)
				for _, wrong := range []int64{-1, 1, 2499, 2501} {
					deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"), &search.DeleteMatchingOptions{Expect: wrong})
					require.ErrorContains(t, err, fmt.Sprintf("Expect is %d", wrong))
					require.ErrorContains(t, err, "nothing was")
					require.Empty(t, deleted)
				}
				before, began := len(srv.Requests()), time.Now()
				deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"), &search.DeleteMatchingOptions{Expect: 2500})
				require.NoError(t, err)
				assert.Len(t, deleted, 2500)
				assert.Equal(t, []string{"other"}, srv.DocumentKeys("chunks"))
				assert.LessOrEqual(t, time.Since(began), 3*(lag+2*time.Second))
				var rounds []int
				for _, r := range srv.Requests()[before:] {
					if r.Operation == searchtest.OpIndexDocuments {
						rounds = append(rounds, r.Actions)
					}
				}
				assert.Equal(t, []int{1000, 1000, 500}, rounds, "no document is deleted twice")
				deleted, err = search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"), &search.DeleteMatchingOptions{Expect: 2500})
				require.NoError(t, err, "once more")
				assert.Empty(t, deleted)
			})
		})
	}
}

func TestDeleteMatchingDeletesNoMoreThanExpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, client := chunks(t, nil, 1500, "a.pdf")
		first := true
		srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			resp, err := next(r)
			if strings.HasSuffix(r.URL.Path, "search.index") && first {
				first = false
				put(t, client, models.Document{"id": "new", "source": "a.pdf"})
			}
			return resp, err
		})
		began := time.Now()
		deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"), &search.DeleteMatchingOptions{Expect: 1500})
		require.ErrorContains(t, err, "more documents match since: 1501 with the 1000 that were deleted, Expect is 1500")
		assert.Len(t, deleted, 1000)
		assert.Len(t, srv.DocumentKeys("chunks"), 502)
		assert.LessOrEqual(t, time.Since(began), time.Minute)
	})
}

func TestDeleteMatchingReturnsWhatWasDeletedBesideAnError(t *testing.T) {
	srv, client := chunks(t, nil, 3, "a.pdf")
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Keys: []string{"00001"}, Status: 409}}}}})
	deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"), nil)
	var failed *search.IndexingError
	require.True(t, errors.As(err, &failed), "%v", err)
	assert.Equal(t, []string{"00000", "00002"}, deleted)
}
