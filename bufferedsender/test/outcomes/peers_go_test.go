package outcomes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// langchaingo's store returns no error for 100 documents refused with 503 within a 207.
func TestLangchaingo503Inside207IsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 503}}})
		r.Upload(sendertest.Hotels("k", 100)...)
		assert.Equal(t, 100, sendertest.FlushFailures(t, r.Flush()))
		assert.EqualValues(t, 100, r.Sender.Stats().Failed)
		assert.Empty(t, r.Indexed())
	})
}

// nats.go defers disconnect callbacks within an endless loop, so they never run. Ours run after each request.
func TestNATSCallbacksAreNotDeferredForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := make(chan string, 100)
		sender, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			time.Sleep(time.Second)
			return models.IndexDocumentsResult{}, sendertest.StatusError(404)
		}}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.FailSoon{}, Logger: sendertest.NoLog, Handlers: sendertest.Handlers{
			ActionFailed:   func(_ context.Context, e *events.ActionFailed[sendertest.Hotel]) { reported <- e.Key },
			BatchCompleted: func(context.Context, *events.Batch) { reported <- "batch" },
		}})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, sender)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotels("k", 20)...))
		for i := range 20 {
			assert.Equal(t, "batch", <-reported)
			assert.Equal(t, fmt.Sprint("k-", i), <-reported)
			assert.EqualValues(t, 19-i, sender.Stats().PendingActions)
		}
		require.Error(t, sender.Close(t.Context()))
	})
}

// go-docappender: Add after Close may return nil and lose the document.
func TestDocappenderAddAfterCloseIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		require.NoError(t, r.Close())
		for range 100 {
			for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: "late"}) {
				require.ErrorIs(t, add(t.Context()), bufferedsender.ErrClosed, name)
			}
		}
		assert.Zero(t, r.Sender.Stats().Accepted)
	})
}

// go-docappender: documents that wait for a retry stay in an idle worker forever.
func TestDocappenderRetriedDocumentsDoNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxInFlight: 4}, AutoFlushInterval: -1})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-5"}, Times: 2, Status: 422}}})
		r.Upload(sendertest.Hotels("k", 100)...)
		time.Sleep(time.Minute)
		assert.Len(t, r.Indexed(), 100, "the documents are indexed without a Flush")
	})
}

// esutil's Flush never reports a failed send.
func TestESUtilFlushReportsAFailedSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Respond(sendertest.Always(403, ""))
		r.Upload(sendertest.Hotels("k", 3)...)
		require.Equal(t, 3, sendertest.FlushFailures(t, r.Flush()))
	})
}

// esutil's Add after Close panics, and so does a second Close.
func TestESUtilUseAfterCloseDoesNotPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		require.NoError(t, r.Close())
		require.NotPanics(t, func() {
			assert.NoError(t, r.Sender.Close(t.Context()))
			assert.NoError(t, r.Sender.Flush(t.Context(), nil))
			assert.Error(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
			r.Sender.Stats()
		})
	})
}

// esutil pairs results with documents by position and does not check their number.
func TestESUtilResultsAreNotPairedByPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(sendertest.RefuseKeys("k-1"))
		r.Respond(sendertest.First(1, sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult { return rs[1:] })))
		r.Upload(sendertest.Hotels("k", 4)...)
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.Equal(t, "refused", r.Failure("k-1").Message)
		assert.Equal(t, 2, r.Outcome("k-0").Attempt)
		assert.Equal(t, []string{"k-0", "k-2", "k-3"}, r.Indexed())
	})
}

// esutil has no back-pressure while the service is down.
func TestESUtilBackPressureWhileTheServiceIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 100}})
		r.Respond(sendertest.Always(503, sendertest.ErrorBody("down"), "Retry-After", "3600"))
		accepted := 0
		var err error
		for err == nil && accepted < 1000 {
			if err = r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: fmt.Sprint(accepted)})); err == nil {
				accepted++
			}
		}
		assert.ErrorIs(t, err, bufferedsender.ErrBufferFull)
		assert.Equal(t, 100, accepted)
		ctx := sendertest.Within(t, time.Minute)
		assert.ErrorIs(t, r.Sender.UploadDocuments(ctx, sendertest.Hotel{ID: "more"}), context.DeadlineExceeded)
		assert.Equal(t, 100, r.Sender.Stats().PendingActions)
	})
}

// opensearch-go ignores a 429 of a single document; here it is the document quota.
func TestOpenSearch429OfOneDocumentIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewOnService(t, &searchtest.Options{DocumentQuota: 3}, nil)
		r.Upload(sendertest.Hotels("k", 5)...)
		require.Equal(t, 2, sendertest.FlushFailures(t, r.Flush()))
		assert.Equal(t, 429, r.Failure("k-4").Status)
		assert.Equal(t, 1, r.Failure("k-4").Attempts, "another attempt would fail again")
		assert.Zero(t, r.Sender.Stats().Pauses)
	})
}

// pubsub v2's Flush reads fields without their lock. Run this test with -race.
func TestPubSubFlushReadsUnderTheLockConcurrentSafe(t *testing.T) {
	r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: 3, MaxBufferedActions: 50}})
	var callers sync.WaitGroup
	for c := range 4 {
		callers.Go(func() {
			for i := range 50 {
				assert.NoError(t, r.Sender.UploadDocuments(context.Background(), sendertest.Hotel{ID: fmt.Sprint(c, "-", i)}))
				if i%10 == 0 {
					assert.NoError(t, r.Sender.Flush(context.Background(), nil))
				}
				r.Sender.Stats()
				if err := r.Sender.TryIndexDocuments(models.DeleteAction(sendertest.Hotel{ID: "x"})); err != nil && !errors.Is(err, bufferedsender.ErrBufferFull) {
					assert.NoError(t, err)
				}
			}
		})
	}
	callers.Wait()
	require.NoError(t, r.Sender.Close(context.Background()))
	assert.Len(t, r.Indexed(), 200)
}
