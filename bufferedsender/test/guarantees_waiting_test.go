package test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// addingCalls are all the ways to add a document.
func addingCalls(r *sendertest.Rig, doc sendertest.Hotel) map[string]func(context.Context) error {
	s := r.Sender
	return map[string]func(context.Context) error{
		"UploadDocuments":        func(ctx context.Context) error { return s.UploadDocuments(ctx, doc) },
		"MergeDocuments":         func(ctx context.Context) error { return s.MergeDocuments(ctx, doc) },
		"MergeOrUploadDocuments": func(ctx context.Context) error { return s.MergeOrUploadDocuments(ctx, doc) },
		"DeleteDocuments":        func(ctx context.Context) error { return s.DeleteDocuments(ctx, doc) },
		"DeleteDocumentsByKey":   func(ctx context.Context) error { return s.DeleteDocumentsByKey(ctx, doc.ID) },
		"IndexDocuments":         func(ctx context.Context) error { return s.IndexDocuments(ctx, models.UploadAction(doc)) },
		"TryIndexDocuments":      func(context.Context) error { return s.TryIndexDocuments(models.UploadAction(doc)) },
		"IndexSeq": func(ctx context.Context) error {
			return s.IndexSeq(ctx, func(yield func(sendertest.Action, error) bool) { yield(models.UploadAction(doc), nil) })
		},
	}
}

func TestG6WaitersContextEndsTheWaitingNeverTheWork(t *testing.T) {
	cause := errors.New("my own cause")
	t.Run("a ctx that ends after the call returned changes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			require.NoError(t, r.Sender.UploadDocuments(ctx, sendertest.Hotels("k", 3)...))
			cancel()
			require.NoError(t, r.Flush())
			assert.Len(t, r.Indexed(), 3)
		})
	})
	t.Run("of an adding call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 3, MaxBufferedActions: 3})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(30 * time.Second)})
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			r.Upload(sendertest.Hotels("k", 3)...)
			for name, add := range addingCalls(r, sendertest.Hotel{ID: "waits"}) {
				if name == "TryIndexDocuments" {
					continue
				}
				err := add(ctx)
				sendertest.RequireAccepted(t, err, 0)
				assert.ErrorIs(t, err, cause, name)
			}
			assert.Equal(t, time.Second, r.Now())
			require.NoError(t, r.Flush())
			assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 3)), r.Indexed())
			assert.Len(t, r.Requests(), 1)
		})
	})
	t.Run("of Flush", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 2})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(30 * time.Second)})
			r.Upload(sendertest.Hotels("k", 5)...)
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			require.ErrorIs(t, r.Sender.Flush(ctx), cause)
			assert.Equal(t, time.Second, r.Now())
			time.Sleep(90 * time.Second)
			assert.Len(t, r.Indexed(), 5, "what Flush asked for is done without it")
			assert.Len(t, r.Requests(), 3)
			assert.Equal(t, []time.Duration{0, 30 * time.Second, time.Minute}, []time.Duration{r.Requests()[0].At, r.Requests()[1].At, r.Requests()[2].At})
		})
	})
	t.Run("of a Flush that has ended before it began", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(time.Second)}) // else all may be done before Flush looks
			r.Upload(sendertest.Hotels("k", 5)...)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, r.Sender.Flush(ctx), context.Canceled)
			require.NoError(t, r.Flush())
		})
	})
	t.Run("no waiter's deadline or cancellation reaches a request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 2, RequestTimeout: -1})
			r.Respond(func(_ int, x *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				_, limited := x.Context.Deadline()
				assert.False(t, limited)
				time.Sleep(10 * time.Second)
				assert.NoError(t, x.Context.Err())
				return next()
			})
			adding, cancelAdding := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancelAdding()
			flushing, cancelFlushing := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancelFlushing()
			require.NoError(t, r.Sender.UploadDocuments(adding, sendertest.Hotels("k", 3)...))
			require.Error(t, r.Sender.Flush(flushing))
			require.NoError(t, r.Flush())
		})
	})
	t.Run("Close's does cancel them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(sendertest.Hang)
			r.Upload(sendertest.Hotels("k", 3)...)
			require.Error(t, r.Sender.Close(sendertest.Within(t, 7*time.Second)))
			assert.Equal(t, 7*time.Second, r.Requests()[0].End)
		})
	})
}
