package bufferedsender_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// addingCalls are all the ways to add a document.
func (r *rig) addingCalls(doc hotel) map[string]func(context.Context) error {
	s := r.sender
	return map[string]func(context.Context) error{
		"UploadDocuments":        func(ctx context.Context) error { return s.UploadDocuments(ctx, doc) },
		"MergeDocuments":         func(ctx context.Context) error { return s.MergeDocuments(ctx, doc) },
		"MergeOrUploadDocuments": func(ctx context.Context) error { return s.MergeOrUploadDocuments(ctx, doc) },
		"DeleteDocuments":        func(ctx context.Context) error { return s.DeleteDocuments(ctx, doc) },
		"DeleteDocumentsByKey":   func(ctx context.Context) error { return s.DeleteDocumentsByKey(ctx, doc.ID) },
		"IndexDocuments":         func(ctx context.Context) error { return s.IndexDocuments(ctx, models.UploadAction(doc)) },
		"TryIndexDocuments":      func(context.Context) error { return s.TryIndexDocuments(models.UploadAction(doc)) },
		"IndexSeq": func(ctx context.Context) error {
			return s.IndexSeq(ctx, func(yield func(hotelAction, error) bool) { yield(models.UploadAction(doc), nil) })
		},
	}
}

func TestG6WaitersContextEndsTheWaitingNeverTheWork(t *testing.T) {
	cause := errors.New("my own cause")
	t.Run("a ctx that ends after the call returned changes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			require.NoError(t, r.sender.UploadDocuments(ctx, hotels("k", 3)...))
			cancel()
			require.NoError(t, r.flush())
			assert.Len(t, r.indexed(), 3)
		})
	})
	t.Run("of an adding call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(30 * time.Second)})
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			r.upload(hotels("k", 3)...)
			for name, add := range r.addingCalls(hotel{ID: "waits"}) {
				if name == "TryIndexDocuments" {
					continue
				}
				err := add(ctx)
				refused(t, err, 0)
				assert.ErrorIs(t, err, cause, name)
			}
			assert.Equal(t, time.Second, r.now())
			require.NoError(t, r.flush())
			assert.Equal(t, ids(hotels("k", 3)), r.indexed())
			assert.Len(t, r.requests(), 1)
		})
	})
	t.Run("of Flush", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(30 * time.Second)})
			r.upload(hotels("k", 5)...)
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			require.ErrorIs(t, r.sender.Flush(ctx), cause)
			assert.Equal(t, time.Second, r.now())
			time.Sleep(90 * time.Second)
			assert.Len(t, r.indexed(), 5, "what Flush asked for is done without it")
			assert.Len(t, r.requests(), 3)
			assert.Equal(t, []time.Duration{0, 30 * time.Second, time.Minute}, []time.Duration{r.requests()[0].at, r.requests()[1].at, r.requests()[2].at})
		})
	})
	t.Run("of a Flush that has ended before it began", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Second)}) // else all may be done before Flush looks
			r.upload(hotels("k", 5)...)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, r.sender.Flush(ctx), context.Canceled)
			require.NoError(t, r.flush())
		})
	})
	t.Run("no waiter's deadline or cancellation reaches a request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, RequestTimeout: -1})
			r.respond(func(_ int, x *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				_, limited := x.ctx.Deadline()
				assert.False(t, limited)
				time.Sleep(10 * time.Second)
				assert.NoError(t, x.ctx.Err())
				return next()
			})
			adding, cancelAdding := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancelAdding()
			flushing, cancelFlushing := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancelFlushing()
			require.NoError(t, r.sender.UploadDocuments(adding, hotels("k", 3)...))
			require.Error(t, r.sender.Flush(flushing))
			require.NoError(t, r.flush())
		})
	})
	t.Run("Close's does cancel them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(hang)
			r.upload(hotels("k", 3)...)
			require.Error(t, r.sender.Close(within(t, 7*time.Second)))
			assert.Equal(t, 7*time.Second, r.requests()[0].end)
		})
	})
}
