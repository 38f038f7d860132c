package search_test

import (
	"context"
	"errors"
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
				deleted, err := search.DeleteMatching(t.Context(), client, "", search.Eq("source", "it's.pdf"))
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
		deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"))
		require.NoError(t, err)
		assert.Equal(t, []string{"00000", "00001"}, deleted, "the late document becomes visible only after the index shows that the others are gone, so this call misses it")
		time.Sleep(time.Second)
		deleted, err = search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"))
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
		deleted, err := search.DeleteMatching(ctx, client, "id", search.Eq("source", "a.pdf"))
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
	}), client, "id", search.Eq("source", "a.pdf"))
	require.ErrorIs(t, err, wrong)
	assert.EqualValues(t, 5, counted)
	assert.Empty(t, deleted)
	assert.Len(t, srv.DocumentKeys("chunks"), 6, "one document does not match")
}

func TestDeleteMatchingRefusesTooMany(t *testing.T) {
	srv, client := chunks(t, nil, 1001, "a.pdf")
	before := len(srv.Requests())
	deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"))
	require.ErrorContains(t, err, "1001 documents match, the limit is 1000; repair.DeleteWhere deletes any number")
	assert.Empty(t, deleted)
	_, err = search.DeleteMatching(t.Context(), client, "id", search.Filter{})
	require.ErrorContains(t, err, "there is no filter, so every document would match")
	_, err = search.DeleteMatching(t.Context(), client, "id", search.Eq("a b", 1))
	require.ErrorAs(t, err, new(*search.InvalidFilterError))
	deleted, err = search.DeleteMatching(t.Context(), client, "id", search.In[string]("source"))
	require.NoError(t, err)
	assert.Empty(t, deleted)
	assert.Len(t, srv.Requests(), before+5, "three definitions, two searches")
}

func TestDeleteMatchingReturnsWhatWasDeletedBesideAnError(t *testing.T) {
	srv, client := chunks(t, nil, 3, "a.pdf")
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Keys: []string{"00001"}, Status: 409}}}}})
	deleted, err := search.DeleteMatching(t.Context(), client, "id", search.Eq("source", "a.pdf"))
	var failed *search.IndexingError
	require.True(t, errors.As(err, &failed), "%v", err)
	assert.Equal(t, []string{"00000", "00002"}, deleted)
}
