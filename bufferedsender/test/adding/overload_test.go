package adding

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

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Most of these tests, and of those of purging, have counterparts in the tests of Yokozuna, Riak's indexer for Solr.

func TestABatchIsSentWhenItIsFullOrItsIntervalIsOver(t *testing.T) {
	for _, size := range []int{2, 10, 100} {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: size}, AutoFlushInterval: 10 * time.Second, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
			r.Upload(sendertest.Hotels("first", size-1)...)
			time.Sleep(9 * time.Second)
			assert.Empty(t, r.Indexed(), "with one document less than a batch nothing is sent")
			r.Upload(sendertest.Hotel{ID: "the-last"})
			synctest.Wait()
			assert.Len(t, r.Indexed(), size, "one more document fills the batch, and all are sent at once")
			r.Upload(sendertest.Hotels("second", size-1)...)
			time.Sleep(10*time.Second - time.Millisecond)
			assert.Len(t, r.Indexed(), size, "with one document less than a batch nothing is sent before the interval ends")
			time.Sleep(time.Millisecond)
			synctest.Wait()
			assert.Len(t, r.Indexed(), 2*size-1)
		})
	}
}

func TestAFullBufferAcceptsNothingMore(t *testing.T) {
	for mark := 1; mark <= 10; mark++ {
		t.Run(fmt.Sprint("of ", mark), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxBufferedActions: mark}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
				r.Respond(sendertest.Failing)
				accepted := 0
				for i := range mark + 1 {
					err := r.Sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.Hotel{ID: fmt.Sprint("k-", i)})
					if err == nil {
						accepted++
						continue
					}
					require.ErrorIs(t, err, context.DeadlineExceeded)
					sendertest.RequireAccepted(t, err, 0)
					assert.Equal(t, mark, i, "only the last document is rejected")
				}
				assert.Equal(t, mark, accepted)
				assert.Equal(t, mark, r.Sender.Stats().PendingActions)
				r.Respond(nil)
				require.NoError(t, r.Flush())
				assert.ElementsMatch(t, sendertest.IDs(sendertest.Hotels("k", mark)), r.AppliedKeys(), "rejected documents are never sent")
			})
		})
	}
	t.Run("in bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedBytes: 10_000, MaxBatchBytes: 4000}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
			r.Respond(sendertest.Failing)
			accepted := 0
			for i := range 6 {
				if err := r.Sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.HotelOfSize(fmt.Sprint("k-", i), 2400)); err == nil {
					accepted++
				}
			}
			assert.Equal(t, 4, accepted)
			r.Respond(nil)
			require.NoError(t, r.Flush())
		})
	})
	t.Run("no action is refused", func(t *testing.T) {
		_, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: -1}})
		require.ErrorContains(t, err, "MaxBufferedActions")
	})
}

func TestFlushDrainsWhatFillsNoBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10}, AutoFlushInterval: -1, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		r.Upload(sendertest.Hotels("k", 9)...)
		time.Sleep(time.Hour)
		assert.Empty(t, r.Indexed())
		require.NoError(t, r.Flush())
		assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 9)), r.Indexed())
	})
}

func TestWhatWasNotDeliveredIsSentAgainInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
		r.OpenBreaker(sendertest.Hotels("k", 10)...)
		r.Upload(sendertest.Hotels("more", 5)...)
		time.Sleep(20 * time.Second)
		assert.Empty(t, r.Indexed())
		r.Respond(nil)
		b.Reset()
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 15, "all 15 documents are indexed")
		assert.Equal(t, append(sendertest.IDs(sendertest.Hotels("k", 10)), sendertest.IDs(sendertest.Hotels("more", 5))...), func() (keys []string) {
			for _, x := range r.RequestsSince(20 * time.Second) {
				keys = append(keys, x.Keys...)
			}
			return keys
		}(), "in the order of acceptance")
	})
}

// fullAndSick returns a sender with a full buffer, k-0 to k-3, and an open breaker.
func fullAndSick(t *testing.T, l *sendertest.Ledger, policy func(*sendertest.Ledger) bufferedsender.WhenFull) *sendertest.Rig {
	t.Helper()
	opts := &sendertest.Options{
		Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4, MaxInFlight: 2},
		Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: policy(l)},
		Retry:  sendertest.RetryAtOnce, Handlers: l.Handlers(),
	}
	r := sendertest.New(t, opts)
	r.OpenBreaker(sendertest.Hotels("k", 4)...)
	return r
}

func TestPurgeOneGivesUpTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := fullAndSick(t, &l, purgeOldest)
		r.Upload(sendertest.Hotel{ID: "k-4"})
		assert.Zero(t, r.Now(), "TryIndexDocuments does not wait")
		r.Respond(nil)
		var failures *bufferedsender.FlushError
		require.ErrorAs(t, r.Flush(), &failures)
		assert.Equal(t, 1, failures.Count)
		assert.Equal(t, []string{"k-1", "k-2", "k-3", "k-4"}, r.Indexed(), "the first document was purged, the others are indexed")
		assert.Equal(t, []string{"k-0"}, l.Purged())
	})
	t.Run("each new action purges the next oldest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := fullAndSick(t, &l, purgeOldest)
			r.Upload(sendertest.Hotels("new", 3)...)
			require.NoError(t, r.Sender.MergeOrUploadDocuments(t.Context(), sendertest.Hotel{ID: "new-3"}))
			synctest.Wait()
			assert.Equal(t, []string{"k-0", "k-1", "k-2", "k-3"}, l.Purged())
			r.Upload(sendertest.Hotel{ID: "new-4"})
			synctest.Wait()
			assert.Equal(t, []string{"k-0", "k-1", "k-2", "k-3", "new-0"}, l.Purged())
			r.Respond(nil)
			require.Error(t, r.Flush())
			assert.Equal(t, []string{"new-1", "new-2", "new-3", "new-4"}, r.Indexed())
		})
	})
	t.Run("a large action purges as many as it needs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{
				Limits: bufferedsender.Limits{MaxBatchBytes: 8000, MaxBufferedBytes: 10_000},
				Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.OnPurged)}, Retry: sendertest.RetryAtOnce,
				Handlers: l.Handlers(),
			})
			r.Respond(sendertest.Failing)
			for i := range 4 {
				r.Upload(sendertest.HotelOfSize(fmt.Sprint("k-", i), 2400))
			}
			require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil))
			r.Upload(sendertest.HotelOfSize("large", 5000))
			synctest.Wait()
			assert.Equal(t, []string{"k-0", "k-1"}, l.Purged(), "9 600 bytes of 10 000 are taken: two must go for 5 000")
			r.Respond(nil)
			require.Error(t, r.Flush())
			assert.Equal(t, []string{"k-2", "k-3", "large"}, r.Indexed())
		})
	})
}

func TestPurgeIndexGivesUpAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := fullAndSick(t, &l, purgeAll)
		r.Upload(sendertest.Hotel{ID: "k-4"})
		assert.Zero(t, r.Now())
		r.Respond(nil)
		var failures *bufferedsender.FlushError
		require.ErrorAs(t, r.Flush(), &failures)
		assert.Equal(t, 4, failures.Count)
		assert.Equal(t, []string{"k-4"}, r.Indexed(), "only the document that needed the room is indexed")
		assert.Equal(t, []string{"k-0", "k-1", "k-2", "k-3"}, l.Purged())
	})
}

func TestOverloadBlockKeepsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := fullAndSick(t, &l, wait)
		blocked := sendertest.Later(func() error {
			return r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.Hotel{ID: "k-4"})
		})
		r.Respond(nil)
		r.Down(http.StatusInternalServerError)
		time.Sleep(20 * time.Minute)
		sendertest.StillRunning(t, blocked, "the adding call")
		assert.Equal(t, 1, r.Sender.Stats().BlockedProducers)
		r.Service.SetFaults(nil)
		require.NoError(t, <-blocked)
		require.NoError(t, r.Flush())
		assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 5)), r.Indexed())
		assert.Zero(t, r.Sender.Stats().Purged)
	})
}

func TestOverloadFailRejects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := fullAndSick(t, &l, reject)
		for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: "new"}) {
			err := add(t.Context())
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull, name)
			if name != "TryIndexDocuments" { // which never waits, for any breaker
				require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen, name)
			}
			sendertest.RequireAccepted(t, err, 0)
		}
		_, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "new"})}, nil)
		require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		assert.Zero(t, r.Now(), "no call waits")
		r.Respond(nil)
		require.NoError(t, r.Flush())
		assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 4)), r.Indexed(), "accepted documents are kept")
		assert.Zero(t, r.Sender.Stats().Purged)
	})
	t.Run("the part of a call that does not fit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 6}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), WhenFull: bufferedsender.Reject()}, Retry: sendertest.RetryAtOnce})
			r.OpenBreaker(sendertest.Hotels("k", 2)...)
			err := r.Sender.UploadDocuments(t.Context(), sendertest.Hotels("new", 7)...)
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
			sendertest.RequireAccepted(t, err, 4)
			r.Respond(nil)
			require.NoError(t, r.Flush())
			assert.Equal(t, append(sendertest.IDs(sendertest.Hotels("k", 2)), sendertest.IDs(sendertest.Hotels("new", 4))...), r.Indexed())
		})
	})
	t.Run("a full buffer refuses only while the breaker is not closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), WhenFull: bufferedsender.Reject()}, Retry: sendertest.RetryAtOnce})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 30 }))
			r.Upload(sendertest.Hotels("k", 2)...)
			r.Upload(sendertest.Hotel{ID: "k-2"})
			assert.Equal(t, 30*time.Second, r.Now(), "the call waited for room")
			require.NoError(t, r.Flush())
		})
	})
}

func TestPurgingIsRefusedWithoutRepairOrConsent(t *testing.T) {
	for _, policy := range []func(func(context.Context, []string)) bufferedsender.WhenFull{bufferedsender.PurgeOldest, bufferedsender.PurgeAll} {
		s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Outage: bufferedsender.Hold{WhenFull: policy(nil)}})
		require.Error(t, err)
		assert.Nil(t, s)
		assert.ErrorContains(t, err, "repairs them")
		assert.ErrorContains(t, err, "AllowLoss")
		s, err = bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Outage: bufferedsender.Hold{WhenFull: policy(bufferedsender.AllowLoss)}})
		require.NoError(t, err)
		require.NoError(t, s.Close(t.Context()))
	}
	for _, policy := range []bufferedsender.WhenFull{{}, bufferedsender.Reject()} {
		s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Outage: bufferedsender.Hold{WhenFull: policy}})
		require.NoError(t, err)
		require.NoError(t, s.Close(t.Context()))
	}
}

func TestPurgedActionsFailWithErrPurged(t *testing.T) {
	for _, policy := range []func(*sendertest.Ledger) bufferedsender.WhenFull{purgeOldest, purgeAll} {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := fullAndSick(t, &l, policy)
			before := r.Sender.Stats()
			r.Add(models.DeleteAction(sendertest.Hotel{ID: "new"}).WithTag("tag"))
			synctest.Wait()
			failure := r.Failure("k-0")
			require.ErrorIs(t, failure, bufferedsender.ErrPurged)
			assert.NotErrorIs(t, failure, bufferedsender.ErrClosed)
			assert.Equal(t, models.ActionTypeUpload, failure.Type)
			assert.False(t, l.Endings("k-0")[0].Unsent)
			s := r.Sender.Stats()
			n := int64(len(l.Purged()))
			assert.Equal(t, before.Failed+n, s.Failed)
			assert.Equal(t, before.Purged+n, s.Purged)
			assert.Zero(t, s.Unsent)
			failed := map[string]bool{}
			for _, line := range l.Notes("failed", "purged") {
				words := strings.Fields(line)
				for _, key := range words[1:] {
					assert.Equal(t, words[0] == "purged", failed[key], "OnPurged is called after the ActionFailed events")
					failed[key] = true
				}
			}
			assert.Len(t, failed, int(n))
			r.Respond(nil)
			var failures *bufferedsender.FlushError
			require.ErrorAs(t, r.Flush(), &failures)
			assert.EqualValues(t, n, failures.Count)
			require.ErrorIs(t, failures, bufferedsender.ErrPurged)
			require.NoError(t, r.Flush(), "reported once")
		})
	}
}

func TestOnPurgedIsACallbackLikeTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *sendertest.Rig
		var inside []error
		r = sendertest.New(t, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 4},
			Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), WhenFull: bufferedsender.PurgeOldest(func(ctx context.Context, keys []string) {
				if r.Sender == nil {
					return
				}
				_, err := r.Sender.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "x"})}, nil)
				inside = append(inside, r.Sender.Flush(ctx, nil), r.Sender.Close(context.Background()), err)
				panic("oops")
			})}, Retry: sendertest.RetryAtOnce,
		})
		r.OpenBreaker(sendertest.Hotels("k", 4)...)
		r.Upload(sendertest.Hotel{ID: "new"})
		synctest.Wait()
		require.Len(t, inside, 3)
		for _, err := range inside {
			require.ErrorIs(t, err, bufferedsender.ErrInCallback)
		}
		assert.EqualValues(t, 1, r.Sender.Stats().CallbackPanics)
		r.Respond(nil)
		require.Error(t, r.Flush())
		assert.Len(t, r.Indexed(), 4, "a panic in OnPurged breaks nothing")
		assert.False(t, errors.Is(r.Close(), bufferedsender.ErrPurged))
	})
}
