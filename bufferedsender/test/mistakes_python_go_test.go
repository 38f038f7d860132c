package test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Python retries only the first action of a request that failed; the others
// vanish.
func TestMistakePythonRetriesOnlyTheFirstAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Count: 2, Status: 503})
		r.Upload(sendertest.Hotels("k", 50)...)
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 50)
		for _, x := range r.Requests() {
			assert.Len(t, x.Keys, 50)
		}
	})
}

// In Python one oversize document makes its neighbours be sent without end.
func TestMistakePythonOversizeDocumentMakesDuplicateSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{OverBytes: 5000})
		docs := sendertest.Hotels("k", 20)
		docs[7] = sendertest.HotelOfSize("k-7", 6000)
		r.Upload(docs...)
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		for _, d := range docs {
			if d.ID != "k-7" {
				assert.Len(t, r.Service.History("hotels", d.ID), 1, "writes of %s", d.ID)
			}
		}
		assert.Empty(t, r.Service.History("hotels", "k-7"))
	})
}

// With two actions of one key in a request Python credits the first twice.
func TestMistakePythonDuplicateKeysAreCreditedToTheWrongAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		for i, a := range []sendertest.Action{models.MergeAction(sendertest.Hotel{ID: "a"}), models.UploadAction(sendertest.Hotel{ID: "a"}), models.MergeAction(sendertest.Hotel{ID: "a", Rooms: 3})} {
			require.NoError(t, r.Sender.IndexDocuments(t.Context(), a.WithTag(i)))
		}
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		var outcomes []string
		for _, e := range r.Events("completed", "failed") {
			outcomes = append(outcomes, fmt.Sprint(e.Action.Tag, e.Kind))
		}
		assert.Equal(t, []string{"0failed", "1completed", "2completed"}, outcomes)
	})
}

// Python's retry counter never resets, so that a long-lived sender gives up at
// the first trouble of a document that had trouble before.
func TestMistakePythonRetryCounterNeverResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 2, Delay: time.Second, Jitter: -1}})
		for round := range 10 {
			r.Faults(searchtest.Fault{Count: 2, Status: 503})
			r.Upload(sendertest.Hotel{ID: "a"})
			before := r.Now()
			require.NoError(t, r.Flush())
			// One second each: the second draw of 2 s is more than the service has failed.
			assert.Equal(t, 2*time.Second, r.Now()-before, "the back-off of round %d starts anew", round)
		}
		for _, e := range r.Events("completed") {
			assert.Equal(t, 3, e.Attempt)
		}
	})
}

// go-docappender: Add after Close may return nil and lose the document.
func TestMistakeDocappenderAddAfterCloseLosesTheDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		require.NoError(t, r.Close())
		for range 100 {
			for name, add := range addingCalls(r, sendertest.Hotel{ID: "late"}) {
				require.ErrorIs(t, add(t.Context()), bufferedsender.ErrClosed, name)
			}
		}
		assert.Zero(t, r.Sender.Stats().Accepted)
	})
}

// go-docappender: documents to be retried sit in an idle worker for ever.
func TestMistakeDocappenderRetriedDocumentsWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 100, AutoFlushInterval: -1, MaxInFlight: 4})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-5"}, Times: 2, Status: 422}}})
		r.Upload(sendertest.Hotels("k", 100)...)
		time.Sleep(time.Minute)
		assert.Len(t, r.Indexed(), 100, "and nobody has called Flush")
	})
}

// esutil's Flush never reports a send that failed.
func TestMistakeESUtilFlushNeverReportsAFailedSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Respond(sendertest.Always(403, ""))
		r.Upload(sendertest.Hotels("k", 3)...)
		require.Equal(t, 3, sendertest.FlushFailures(t, r.Flush()))
	})
}

// esutil's Add after Close panics, and so does a second Close.
func TestMistakeESUtilUseAfterClosePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		require.NoError(t, r.Close())
		require.NotPanics(t, func() {
			assert.NoError(t, r.Sender.Close(t.Context()))
			assert.NoError(t, r.Sender.Flush(t.Context()))
			assert.Error(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
			r.Sender.Stats()
		})
	})
}

// esutil pairs results with documents by position and does not count them.
func TestMistakeESUtilPairsResultsByPosition(t *testing.T) {
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

// esutil gives no signal of back-pressure while the service is down.
func TestMistakeESUtilNoBackPressureWhileTheServiceIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxBufferedActions: 100})
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

// opensearch-go ignores a per-item 429; here it is the document quota.
func TestMistakeOpenSearchIgnores429OfOneDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.NewOnService(t, &searchtest.Options{DocumentQuota: 3}, nil)
		r.Upload(sendertest.Hotels("k", 5)...)
		require.Equal(t, 2, sendertest.FlushFailures(t, r.Flush()))
		assert.Equal(t, 429, r.Failure("k-4").Status)
		assert.Equal(t, 1, r.Failure("k-4").Attempts, "another try would fail again")
		assert.Zero(t, r.Sender.Stats().Pauses)
	})
}

// pubsub v2's Flush reads fields without the lock that guards them. Run with
// -race.
func TestMistakePubSubFlushReadsWithoutTheLockConcurrentSafe(t *testing.T) {
	r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 5, MaxInFlight: 3, MaxBufferedActions: 50})
	var callers sync.WaitGroup
	for c := range 4 {
		callers.Go(func() {
			for i := range 50 {
				assert.NoError(t, r.Sender.UploadDocuments(context.Background(), sendertest.Hotel{ID: fmt.Sprint(c, "-", i)}))
				if i%10 == 0 {
					assert.NoError(t, r.Sender.Flush(context.Background()))
				}
				r.Sender.Stats()
				r.Sender.PendingActionCount()
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
