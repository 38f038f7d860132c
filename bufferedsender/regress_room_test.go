package bufferedsender_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// All that waits together is smaller than what is lacking: the rest is in flight.
func TestNothingIsPurgedIfThatCannotMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		b, release := steadyBreaker(t, nil), make(chan struct{})
		r := newRig(t, &hotelOptions{
			Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxBufferedBytes: 1000},
			Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeOldest(l.onPurged)},
		})
		r.respond(func(_ int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			<-release
			return next()
		})
		r.upload(sized("in-flight", 600))
		synctest.Wait()
		r.upload(hotels("k", 4)...)
		b.Disable()
		err := r.sender.UploadDocuments(within(t, time.Second), sized("new", 500))
		heldOpen(t, err)
		refused(t, err, 0)
		assert.Empty(t, l.lost())
		close(release)
		b.Enable()
		require.NoError(t, r.flush())
		assert.Len(t, r.indexed(), 5)
	})
}

func TestAllThatWaitsIsPurgedInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batch, flight = 500, 4
		var purges [][]string
		r := newRig(t, &hotelOptions{
			Limits: bufferedsender.Limits{MaxBatchActions: batch, MaxInFlight: flight, MaxBufferedActions: batch * flight},
			Retry:  atOnce,
			Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{OpenFor: time.Hour}), WhenFull: bufferedsender.PurgeAll(func(_ context.Context, keys []string) { purges = append(purges, keys) })},
		})
		old := hotels("old", batch*flight)
		r.sicken(old...) // all of them are retries now
		r.upload(hotel{ID: "new"})
		synctest.Wait()
		require.Equal(t, 8, len(purges), "calls of OnPurged, with 256 actions each") // Len would print them all
		for _, keys := range purges {
			assert.LessOrEqual(t, len(keys), 256)
		}
		assert.Equal(t, ids(old), slices.Concat(purges...))
		assert.Equal(t, 1, r.sender.PendingActionCount())
		r.respond(nil)
		require.Equal(t, batch*flight, flushFailures(t, r.flush()))
	})
}

// To delete and upload what was purged is a natural repair, and one more than
// there is room for.
func TestARepairThatNeedsMoreRoomThanWasMadeComesToAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const enough = 1000 // so that the test fails instead of hanging
		b, purged := steadyBreaker(t, nil), 0
		var r *rig
		r = newRig(t, &hotelOptions{
			Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeOldest(func(_ context.Context, keys []string) {
				for _, key := range keys {
					if purged++; purged < enough {
						_ = r.sender.TryIndexDocuments(models.DeleteAction(hotel{ID: key}), models.UploadAction(hotel{ID: key}))
					}
				}
			})},
			Limits: bufferedsender.Limits{MaxBufferedActions: 5},
		})
		b.Disable()
		r.upload(hotels("k", 6)...)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.LessOrEqual(t, purged, 6, "by one document too many")
		b.Enable()
		require.Equal(t, purged, flushFailures(t, r.flush()))
	})
}

func TestACallThatDoesNotWaitIsToldWhyThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.Reject()}, Limits: bufferedsender.Limits{MaxBufferedActions: 1}})
		b.Disable()
		require.NoError(t, r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: "a"})))
		synctest.Wait()
		err := r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: "b"}))
		require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
		heldOpen(t, err)
		refused(t, err, 0)
		b.Enable()
		require.NoError(t, r.flush())
	})
}

func TestPurgingEndsWhenTheBreakerIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var purged []string
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{
			Limits: bufferedsender.Limits{MaxBufferedBytes: 1000},
			Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeOldest(func(_ context.Context, keys []string) {
				purged = append(purged, keys...)
				b.Enable()
			})},
		})
		b.Disable()
		r.upload(hotels("k", 10)...)
		r.upload(sized("big", 900)) // all ten would have to go
		assert.Equal(t, 1, closeError(t, r.close()).Failed)
		assert.Equal(t, []string{"k-0"}, purged)
		assert.Len(t, r.indexed(), 10)
	})
}

// What folding has merged still takes room if handlers want it back: a purge that
// cannot make enough of it loses actions for nothing.
func TestNothingIsPurgedForTheRoomOfFoldedActionsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		b, release := steadyBreaker(t, nil), make(chan struct{})
		r := newRig(t, &hotelOptions{
			Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBufferedBytes: 2000},
			Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeOldest(l.onPurged)}, Folding: &bufferedsender.Folding[hotel]{},
			Handlers: hotelHandlers{ActionFailed: func(context.Context, *events.ActionFailed[hotel]) {}},
		})
		r.respond(func(_ int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			<-release
			return next()
		})
		for range 5 { // 1500 bytes are charged, 300 travel
			r.upload(sized("in-flight", 300))
		}
		flushed := later(r.flush)
		synctest.Wait()
		require.Len(t, r.requests(), 1)
		r.upload(hotels("k", 4)...)
		b.Disable()
		heldOpen(t, r.sender.UploadDocuments(within(t, time.Second), sized("new", 1000)))
		assert.Empty(t, l.lost())
		close(release)
		b.Enable()
		require.NoError(t, <-flushed)
	})
}

func TestA413OfARequestFromBeforeSetLimitsDoesNotWidenThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 100_000}})
		r.faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Second), Status: 413})
		var docs []hotel
		for i := range 2000 {
			docs = append(docs, sized(fmt.Sprint("k-", i), 150))
		}
		r.upload(docs[:1000]...)
		synctest.Wait()
		require.Len(t, r.requests(), 1)
		_, err := r.sender.SetLimits(bufferedsender.Limits{MaxBatchBytes: 2000})
		require.NoError(t, err)
		r.upload(docs[1000:]...)
		require.NoError(t, r.close())
		for _, x := range r.requests()[1:] {
			require.LessOrEqual(t, x.bytes, 2000)
		}
		assert.LessOrEqual(t, r.sender.Stats().BatchBytesLimit, 2000)
	})
}

// A handler of a purge decides for the very next request.
func TestWhatAHandlerOfAPurgeDecidesHoldsAtOnce(t *testing.T) {
	for name, decide := range map[string]func(*bufferedsender.BufferedSender[hotel]){
		"SetLimits": func(s *bufferedsender.BufferedSender[hotel]) {
			_, err := s.SetLimits(bufferedsender.Limits{MaxBatchActions: 1})
			assert.NoError(t, err)
		},
		"Pause": func(s *bufferedsender.BufferedSender[hotel]) { s.Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *rig
				r = newRig(t, &hotelOptions{
					Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4},
					Retry:  atOnce,
					Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(func(context.Context, []string) {
						decide(r.sender)
						r.sender.Breaker().Reset()
					})},
				})
				r.respond(onlyFirst(1, func(_ int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
					time.Sleep(time.Second)
					return reply(req, 500, ""), nil
				}))
				r.upload(hotels("k", 4)...)
				added := later(func() error {
					return r.sender.UploadDocuments(within(t, time.Minute), hotel{ID: "new"})
				})
				require.NoError(t, <-added)
				time.Sleep(time.Second)
				if name == "Pause" {
					assert.Len(t, r.requests(), 1)
				}
				for _, x := range r.requests()[1:] {
					assert.Len(t, x.keys, 1)
				}
				r.sender.Resume()
				require.Equal(t, 1, flushFailures(t, r.flush()), "the purged one")
			})
		})
	}
}
