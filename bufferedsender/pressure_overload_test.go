package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Tests named YZ-* have their counterparts in the test suite of Yokozuna.

func TestYZ1ConfirmBatchSize(t *testing.T) {
	for _, size := range []int{2, 10, 100} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: size}, AutoFlushInterval: 10 * time.Second, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
			r.upload(hotels("first", size-1)...)
			time.Sleep(9 * time.Second)
			assert.Empty(t, r.indexed(), "one fewer than a batch: nothing visible")
			r.upload(hotel{ID: "the-last"})
			synctest.Wait()
			assert.Len(t, r.indexed(), size, "one more: all visible at once")
			r.upload(hotels("second", size-1)...)
			time.Sleep(10*time.Second - time.Millisecond)
			assert.Len(t, r.indexed(), size, "one fewer again: not before the interval is over")
			time.Sleep(time.Millisecond)
			synctest.Wait()
			assert.Len(t, r.indexed(), 2*size-1)
		})
	}
}

func TestYZ2ConfirmHighWaterMark(t *testing.T) {
	for mark := 1; mark <= 10; mark++ {
		t.Run(fmt.Sprint("of ", mark), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxBufferedActions: mark}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
				r.respond(sick)
				accepted := 0
				for i := range mark + 1 {
					err := r.sender.UploadDocuments(within(t, time.Second), hotel{ID: fmt.Sprint("k-", i)})
					if err == nil {
						accepted++
						continue
					}
					require.ErrorIs(t, err, context.DeadlineExceeded)
					refused(t, err, 0)
					assert.Equal(t, mark, i, "only the last is turned away")
				}
				assert.Equal(t, mark, accepted)
				assert.Equal(t, mark, r.sender.PendingActionCount())
				r.respond(nil)
				require.NoError(t, r.flush())
				assert.ElementsMatch(t, ids(hotels("k", mark)), r.requestedKeys(), "what was turned away is never sent")
			})
		})
	}
	t.Run("in bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBufferedBytes: 10_000, MaxBatchBytes: 4000}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
			r.respond(sick)
			accepted := 0
			for i := range 6 {
				if err := r.sender.UploadDocuments(within(t, time.Second), sized(fmt.Sprint("k-", i), 2400)); err == nil {
					accepted++
				}
			}
			assert.Equal(t, 4, accepted)
			r.respond(nil)
			require.NoError(t, r.flush())
		})
	})
	t.Run("none is refused", func(t *testing.T) {
		_, err := bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: -1}})
		require.ErrorContains(t, err, "MaxBufferedActions")
	})
}

func TestYZ3ConfirmDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10}, AutoFlushInterval: -1, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
		r.upload(hotels("k", 9)...)
		time.Sleep(time.Hour)
		assert.Empty(t, r.indexed())
		require.NoError(t, r.flush())
		assert.Equal(t, ids(hotels("k", 9)), r.indexed())
	})
}

func TestYZ7RequeueUndelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
		r.sicken(hotels("k", 10)...)
		r.upload(hotels("more", 5)...)
		time.Sleep(20 * time.Second)
		assert.Empty(t, r.indexed())
		r.respond(nil)
		b.Reset()
		require.NoError(t, r.flush())
		assert.Len(t, r.indexed(), 15, "all of them")
		assert.Equal(t, append(ids(hotels("k", 10)), ids(hotels("more", 5))...), func() (keys []string) {
			for _, x := range r.since(20 * time.Second) {
				keys = append(keys, x.keys...)
			}
			return keys
		}(), "in their order")
	})
}

// fullAndSick is a sender whose buffer is full, with k-0 to k-3, while its
// breaker is open.
func fullAndSick(t *testing.T, l *ledger, policy func(*ledger) bufferedsender.WhenFull) *rig {
	t.Helper()
	opts := &hotelOptions{
		Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4, MaxInFlight: 2},
		Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: policy(l)},
		Retry:  atOnce, Handlers: l.handlers(),
	}
	r := newRig(t, opts)
	r.sicken(hotels("k", 4)...)
	return r
}

func TestYZ8PurgeOneGivesUpTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := fullAndSick(t, &l, purgeOldest)
		r.upload(hotel{ID: "k-4"})
		assert.Zero(t, r.now(), "it does not wait")
		r.respond(nil)
		var failures *bufferedsender.FlushError
		require.ErrorAs(t, r.flush(), &failures)
		assert.Equal(t, 1, failures.Count)
		assert.Equal(t, []string{"k-1", "k-2", "k-3", "k-4"}, r.indexed(), "the first is missing, the rest is there")
		assert.Equal(t, []string{"k-0"}, l.lost())
	})
	t.Run("each new one the next oldest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := fullAndSick(t, &l, purgeOldest)
			r.upload(hotels("new", 3)...)
			require.NoError(t, r.sender.MergeOrUploadDocuments(t.Context(), hotel{ID: "new-3"}))
			synctest.Wait()
			assert.Equal(t, []string{"k-0", "k-1", "k-2", "k-3"}, l.lost())
			r.upload(hotel{ID: "new-4"})
			synctest.Wait()
			assert.Equal(t, []string{"k-0", "k-1", "k-2", "k-3", "new-0"}, l.lost())
			r.respond(nil)
			require.Error(t, r.flush())
			assert.Equal(t, []string{"new-1", "new-2", "new-3", "new-4"}, r.indexed())
		})
	})
	t.Run("as many as a large one needs room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{
				Limits: bufferedsender.Limits{MaxBatchBytes: 8000, MaxBufferedBytes: 10_000},
				Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.onPurged)}, Retry: atOnce,
				Handlers: l.handlers(),
			})
			r.respond(sick)
			for i := range 4 {
				r.upload(sized(fmt.Sprint("k-", i), 2400))
			}
			require.Error(t, r.sender.Flush(within(t, time.Second)))
			r.upload(sized("large", 5000))
			synctest.Wait()
			assert.Equal(t, []string{"k-0", "k-1"}, l.lost(), "9 600 bytes of 10 000 are taken: two must go for 5 000")
			r.respond(nil)
			require.Error(t, r.flush())
			assert.Equal(t, []string{"k-2", "k-3", "large"}, r.indexed())
		})
	})
}

func TestYZ9PurgeIndexGivesUpAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := fullAndSick(t, &l, purgeAll)
		r.upload(hotel{ID: "k-4"})
		assert.Zero(t, r.now())
		r.respond(nil)
		var failures *bufferedsender.FlushError
		require.ErrorAs(t, r.flush(), &failures)
		assert.Equal(t, 4, failures.Count)
		assert.Equal(t, []string{"k-4"}, r.indexed(), "only the one that asked for room is there")
		assert.Equal(t, []string{"k-0", "k-1", "k-2", "k-3"}, l.lost())
	})
}

func TestYZ10BlockKeepsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := fullAndSick(t, &l, wait)
		blocked := later(func() error { return r.sender.UploadDocuments(within(t, time.Hour), hotel{ID: "k-4"}) })
		r.respond(nil)
		r.down(http.StatusInternalServerError)
		time.Sleep(20 * time.Minute)
		still(t, blocked, "the adding call")
		assert.Equal(t, 1, r.sender.Stats().BlockedAdders)
		r.srv.SetFaults(nil)
		require.NoError(t, <-blocked)
		require.NoError(t, r.flush())
		assert.Equal(t, ids(hotels("k", 5)), r.indexed())
		assert.Zero(t, r.sender.Stats().Purged)
	})
}

func TestYZFailTurnsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := fullAndSick(t, &l, reject)
		for name, add := range r.addingCalls(hotel{ID: "new"}) {
			err := add(t.Context())
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull, name)
			if name != "TryIndexDocuments" { // which never waits, whatever the breaker
				require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen, name)
			}
			refused(t, err, 0)
		}
		_, err := r.sender.IndexDocumentsAndWait(t.Context(), models.UploadAction(hotel{ID: "new"}))
		require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		assert.Zero(t, r.now(), "none of them waits")
		r.respond(nil)
		require.NoError(t, r.flush())
		assert.Equal(t, ids(hotels("k", 4)), r.indexed(), "what was accepted is kept")
		assert.Zero(t, r.sender.Stats().Purged)
	})
	t.Run("what does not fit of a call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 6}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil), WhenFull: bufferedsender.Reject()}, Retry: atOnce})
			r.sicken(hotels("k", 2)...)
			err := r.sender.UploadDocuments(t.Context(), hotels("new", 7)...)
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
			refused(t, err, 4)
			r.respond(nil)
			require.NoError(t, r.flush())
			assert.Equal(t, append(ids(hotels("k", 2)), ids(hotels("new", 4))...), r.indexed())
		})
	})
	t.Run("but only while the breaker is not closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil), WhenFull: bufferedsender.Reject()}, Retry: atOnce})
			r.respond(seconds(func(int, *exchange) float64 { return 30 }))
			r.upload(hotels("k", 2)...)
			r.upload(hotel{ID: "k-2"})
			assert.Equal(t, 30*time.Second, r.now(), "it waited for room")
			require.NoError(t, r.flush())
		})
	})
}

// requestedKeys returns the keys of the documents in the index and of no others,
// once each, in the order of the requests that were applied.
func (r *rig) requestedKeys() (keys []string) {
	for _, x := range r.requests() {
		if x.status == 200 || x.status == 207 {
			keys = append(keys, x.keys...)
		}
	}
	return keys
}

func TestYZPurgingIsRefusedWithoutRepairOrConsent(t *testing.T) {
	for _, policy := range []func(func(context.Context, []string)) bufferedsender.WhenFull{bufferedsender.PurgeOldest, bufferedsender.PurgeAll} {
		s, err := bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Outage: bufferedsender.Hold{WhenFull: policy(nil)}})
		require.Error(t, err)
		assert.Nil(t, s)
		assert.ErrorContains(t, err, "repairs them")
		assert.ErrorContains(t, err, "AllowLoss")
		s, err = bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Outage: bufferedsender.Hold{WhenFull: policy(bufferedsender.AllowLoss)}})
		require.NoError(t, err)
		require.NoError(t, s.Close(t.Context()))
	}
	for _, policy := range []bufferedsender.WhenFull{{}, bufferedsender.Reject()} {
		s, err := bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Outage: bufferedsender.Hold{WhenFull: policy}})
		require.NoError(t, err)
		require.NoError(t, s.Close(t.Context()))
	}
}

func TestYZPurgedActionsFailWithErrPurged(t *testing.T) {
	for _, policy := range []func(*ledger) bufferedsender.WhenFull{purgeOldest, purgeAll} {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := fullAndSick(t, &l, policy)
			before := r.sender.Stats()
			r.add(models.DeleteAction(hotel{ID: "new"}).WithTag("tag"))
			synctest.Wait()
			failure := r.failure("k-0")
			require.ErrorIs(t, failure, bufferedsender.ErrPurged)
			assert.NotErrorIs(t, failure, bufferedsender.ErrClosed)
			assert.Equal(t, models.ActionUpload, failure.Type)
			assert.False(t, l.endings("k-0")[0].unsent)
			s := r.sender.Stats()
			n := int64(len(l.lost()))
			assert.Equal(t, before.Failed+n, s.Failed)
			assert.Equal(t, before.Purged+n, s.Purged)
			assert.Zero(t, s.Unsent)
			failed := map[string]bool{}
			for _, line := range l.told("failed", "purged") {
				words := strings.Fields(line)
				for _, key := range words[1:] {
					assert.Equal(t, words[0] == "purged", failed[key], "OnPurged is told after the ActionFailed events")
					failed[key] = true
				}
			}
			assert.Len(t, failed, int(n))
			r.respond(nil)
			var failures *bufferedsender.FlushError
			require.ErrorAs(t, r.flush(), &failures)
			assert.EqualValues(t, n, failures.Count)
			require.ErrorIs(t, failures, bufferedsender.ErrPurged)
			require.NoError(t, r.flush(), "reported once")
		})
	}
}

func TestYZOnPurgedIsACallbackLikeTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		var inside []error
		r = newRig(t, &hotelOptions{
			Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 4},
			Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil), WhenFull: bufferedsender.PurgeOldest(func(ctx context.Context, keys []string) {
				if r.sender == nil {
					return
				}
				_, err := r.sender.IndexDocumentsAndWait(ctx, models.UploadAction(hotel{ID: "x"}))
				inside = append(inside, r.sender.Flush(ctx), r.sender.Close(context.Background()), err)
				panic("oops")
			})}, Retry: atOnce,
		})
		r.sicken(hotels("k", 4)...)
		r.upload(hotel{ID: "new"})
		synctest.Wait()
		require.Len(t, inside, 3)
		for _, err := range inside {
			require.ErrorIs(t, err, bufferedsender.ErrInCallback)
		}
		assert.EqualValues(t, 1, r.sender.Stats().CallbackPanics)
		r.respond(nil)
		require.Error(t, r.flush())
		assert.Len(t, r.indexed(), 4, "a panic in it breaks nothing")
		assert.False(t, errors.Is(r.close(), bufferedsender.ErrPurged))
	})
}
