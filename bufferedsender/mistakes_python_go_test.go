package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var silent = slog.New(slog.DiscardHandler)

// Python retries only the first action of a request that failed; the others
// vanish.
func TestMistakePythonRetriesOnlyTheFirstAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{Count: 2, Status: 503})
		r.upload(hotels("k", 50)...)
		require.NoError(t, r.flush())
		assert.Len(t, r.indexed(), 50)
		for _, x := range r.requests() {
			assert.Len(t, x.keys, 50)
		}
	})
}

// In Python one oversize document makes its neighbours be sent without end.
func TestMistakePythonOversizeDocumentMakesDuplicateSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{OverBytes: 5000})
		docs := hotels("k", 20)
		docs[7] = sized("k-7", 6000)
		r.upload(docs...)
		require.Equal(t, 1, flushFailures(t, r.flush()))
		for _, d := range docs {
			if d.ID != "k-7" {
				assert.Len(t, r.srv.History("hotels", d.ID), 1, "writes of %s", d.ID)
			}
		}
		assert.Empty(t, r.srv.History("hotels", "k-7"))
	})
}

// With two actions of one key in a request Python credits the first twice.
func TestMistakePythonDuplicateKeysAreCreditedToTheWrongAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for i, a := range []hotelAction{models.MergeAction(hotel{ID: "a"}), models.UploadAction(hotel{ID: "a"}), models.MergeAction(hotel{ID: "a", Rooms: 3})} {
			require.NoError(t, r.sender.IndexDocuments(t.Context(), a.WithTag(i)))
		}
		require.Equal(t, 1, flushFailures(t, r.flush()))
		var outcomes []string
		for _, e := range r.seen("completed", "failed") {
			outcomes = append(outcomes, fmt.Sprint(e.action.Tag, e.kind))
		}
		assert.Equal(t, []string{"0failed", "1completed", "2completed"}, outcomes)
	})
}

// Python's retry counter never resets, so that a long-lived sender gives up at
// the first trouble of a document that had trouble before.
func TestMistakePythonRetryCounterNeverResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 2, Delay: time.Second, Jitter: -1}})
		for round := range 10 {
			r.faults(searchtest.Fault{Count: 2, Status: 503})
			r.upload(hotel{ID: "a"})
			before := r.now()
			require.NoError(t, r.flush())
			// One second each: the second draw of 2 s is more than the service has failed.
			assert.Equal(t, 2*time.Second, r.now()-before, "the back-off of round %d starts anew", round)
		}
		for _, e := range r.seen("completed") {
			assert.Equal(t, 3, e.attempt)
		}
	})
}

// go-docappender: Add after Close may return nil and lose the document.
func TestMistakeDocappenderAddAfterCloseLosesTheDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		require.NoError(t, r.close())
		for range 100 {
			for name, add := range r.addingCalls(hotel{ID: "late"}) {
				require.ErrorIs(t, add(t.Context()), bufferedsender.ErrClosed, name)
			}
		}
		assert.Zero(t, r.sender.Stats().Accepted)
	})
}

// go-docappender: documents to be retried sit in an idle worker for ever.
func TestMistakeDocappenderRetriedDocumentsWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxInFlight: 4}, AutoFlushInterval: -1})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-5"}, Times: 2, Status: 422}}})
		r.upload(hotels("k", 100)...)
		time.Sleep(time.Minute)
		assert.Len(t, r.indexed(), 100, "and nobody has called Flush")
	})
}

// esutil's Flush never reports a send that failed.
func TestMistakeESUtilFlushNeverReportsAFailedSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.respond(always(403, ""))
		r.upload(hotels("k", 3)...)
		require.Equal(t, 3, flushFailures(t, r.flush()))
	})
}

// esutil's Add after Close panics, and so does a second Close.
func TestMistakeESUtilUseAfterClosePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		require.NoError(t, r.close())
		require.NotPanics(t, func() {
			assert.NoError(t, r.sender.Close(t.Context()))
			assert.NoError(t, r.sender.Flush(t.Context()))
			assert.Error(t, r.sender.UploadDocuments(t.Context(), hotel{ID: "a"}))
			r.sender.Stats()
		})
	})
}

// esutil pairs results with documents by position and does not count them.
func TestMistakeESUtilPairsResultsByPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(refuseKeys("k-1"))
		r.respond(onlyFirst(1, results(func(rs []wireResult) []wireResult { return rs[1:] })))
		r.upload(hotels("k", 4)...)
		require.Equal(t, 1, flushFailures(t, r.flush()))
		assert.Equal(t, "refused", r.failure("k-1").Message)
		assert.Equal(t, 2, r.outcome("k-0").attempt)
		assert.Equal(t, []string{"k-0", "k-2", "k-3"}, r.indexed())
	})
}

// esutil gives no signal of back-pressure while the service is down.
func TestMistakeESUtilNoBackPressureWhileTheServiceIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 100}})
		r.respond(always(503, refusal("down"), "Retry-After", "3600"))
		accepted := 0
		var err error
		for err == nil && accepted < 1000 {
			if err = r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: fmt.Sprint(accepted)})); err == nil {
				accepted++
			}
		}
		assert.ErrorIs(t, err, bufferedsender.ErrBufferFull)
		assert.Equal(t, 100, accepted)
		ctx := within(t, time.Minute)
		assert.ErrorIs(t, r.sender.UploadDocuments(ctx, hotel{ID: "more"}), context.DeadlineExceeded)
		assert.Equal(t, 100, r.sender.Stats().PendingActions)
	})
}

// opensearch-go ignores a per-item 429; here it is the document quota.
func TestMistakeOpenSearchIgnores429OfOneDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOn(t, &searchtest.Options{DocumentQuota: 3}, nil)
		r.upload(hotels("k", 5)...)
		require.Equal(t, 2, flushFailures(t, r.flush()))
		assert.Equal(t, 429, r.failure("k-4").Status)
		assert.Equal(t, 1, r.failure("k-4").Attempts, "another try would fail again")
		assert.Zero(t, r.sender.Stats().Pauses)
	})
}

// pubsub v2's Flush reads fields without the lock that guards them. Run with
// -race.
func TestMistakePubSubFlushReadsWithoutTheLockConcurrentSafe(t *testing.T) {
	r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: 3, MaxBufferedActions: 50}})
	var callers sync.WaitGroup
	for c := range 4 {
		callers.Go(func() {
			for i := range 50 {
				assert.NoError(t, r.sender.UploadDocuments(context.Background(), hotel{ID: fmt.Sprint(c, "-", i)}))
				if i%10 == 0 {
					assert.NoError(t, r.sender.Flush(context.Background()))
				}
				r.sender.Stats()
				r.sender.PendingActionCount()
				if err := r.sender.TryIndexDocuments(models.DeleteAction(hotel{ID: "x"})); err != nil && !errors.Is(err, bufferedsender.ErrBufferFull) {
					assert.NoError(t, err)
				}
			}
		})
	}
	callers.Wait()
	require.NoError(t, r.sender.Close(context.Background()))
	assert.Len(t, r.indexed(), 200)
}
