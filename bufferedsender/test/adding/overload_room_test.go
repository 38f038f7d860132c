package adding

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// All waiting actions together are smaller than the missing room: the rest is in flight.
func TestNothingIsPurgedIfThatCannotMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		b, release := sendertest.SteadyBreaker(t, nil), make(chan struct{})
		r := sendertest.New(t, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxBufferedBytes: 1000},
			Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeOldest(l.OnPurged)},
		})
		r.Respond(func(_ int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			<-release
			return next()
		})
		r.Upload(sendertest.HotelOfSize("in-flight", 600))
		synctest.Wait()
		r.Upload(sendertest.Hotels("k", 4)...)
		b.Disable()
		err := r.Sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.HotelOfSize("new", 500))
		sendertest.RequireCircuitOpen(t, err)
		sendertest.RequireAccepted(t, err, 0)
		assert.Empty(t, l.Purged())
		close(release)
		b.Enable()
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 5)
	})
}

func TestAllThatWaitsIsPurgedInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batch, flight = 500, 4
		var purges [][]string
		r := sendertest.New(t, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: batch, MaxInFlight: flight, MaxBufferedActions: batch * flight},
			Retry:  sendertest.RetryAtOnce,
			Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{OpenFor: time.Hour}), WhenFull: bufferedsender.PurgeAll(func(_ context.Context, keys []string) { purges = append(purges, keys) })},
		})
		old := sendertest.Hotels("old", batch*flight)
		r.OpenBreaker(old...) // now all of them are retries
		r.Upload(sendertest.Hotel{ID: "new"})
		synctest.Wait()
		require.Equal(t, 32, len(purges), "calls of OnPurged, with 64 actions each") // Len would print them all
		for _, keys := range purges {
			assert.LessOrEqual(t, len(keys), 64)
		}
		assert.Equal(t, sendertest.IDs(old), slices.Concat(purges...))
		assert.Equal(t, 1, r.Sender.Stats().PendingActions)
		r.Respond(nil)
		require.Equal(t, batch*flight, sendertest.FlushFailures(t, r.Flush()))
	})
}

// Deleting and uploading a purged document is a natural repair, which needs more room than was freed.
func TestARepairThatNeedsMoreRoomThanWasMadeComesToAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const enough = 1000 // so that the test fails instead of hanging
		b, purged := sendertest.SteadyBreaker(t, nil), 0
		var r *sendertest.Rig
		r = sendertest.New(t, &sendertest.Options{
			Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeOldest(func(_ context.Context, keys []string) {
				for _, key := range keys {
					if purged++; purged < enough {
						_ = r.Sender.TryIndexDocuments(models.DeleteAction(sendertest.Hotel{ID: key}), models.UploadAction(sendertest.Hotel{ID: key}))
					}
				}
			})},
			Limits: bufferedsender.Limits{MaxBufferedActions: 5},
		})
		b.Disable()
		r.Upload(sendertest.Hotels("k", 6)...)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.LessOrEqual(t, purged, 6, "each call purges one document too many at most")
		b.Enable()
		require.Equal(t, purged, sendertest.FlushFailures(t, r.Flush()))
	})
}

func TestACallThatDoesNotWaitGetsWhyThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.Reject()}, Limits: bufferedsender.Limits{MaxBufferedActions: 1}})
		b.Disable()
		require.NoError(t, r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "a"})))
		synctest.Wait()
		err := r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "b"}))
		require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
		sendertest.RequireCircuitOpen(t, err)
		sendertest.RequireAccepted(t, err, 0)
		b.Enable()
		require.NoError(t, r.Flush())
	})
}

func TestPurgingEndsWhenTheBreakerIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var purged []string
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBufferedBytes: 1000},
			Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeOldest(func(_ context.Context, keys []string) {
				purged = append(purged, keys...)
				b.Enable()
			})},
		})
		b.Disable()
		r.Upload(sendertest.Hotels("k", 10)...)
		r.Upload(sendertest.HotelOfSize("big", 900)) // would need the room of all ten
		assert.Equal(t, 1, sendertest.CloseError(t, r.Close()).Failed)
		assert.Equal(t, []string{"k-0"}, purged)
		assert.Len(t, r.Indexed(), 10)
	})
}

// Actions merged by folding still take room while handlers may need them. A purge that cannot free enough would lose
// actions for nothing.
func TestNothingIsPurgedForTheRoomOfFoldedActionsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		b, release := sendertest.SteadyBreaker(t, nil), make(chan struct{})
		r := sendertest.New(t, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBufferedBytes: 2000},
			Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeOldest(l.OnPurged)}, Folding: &bufferedsender.Folding[sendertest.Hotel]{},
			Handlers: sendertest.Handlers{ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) {}},
		})
		r.Respond(func(_ int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			<-release
			return next()
		})
		for range 5 { // 1500 bytes are charged, 300 are in the request
			r.Upload(sendertest.HotelOfSize("in-flight", 300))
		}
		flushed := sendertest.Later(r.Flush)
		synctest.Wait()
		require.Len(t, r.Requests(), 1)
		r.Upload(sendertest.Hotels("k", 4)...)
		b.Disable()
		sendertest.RequireCircuitOpen(t, r.Sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.HotelOfSize("new", 1000)))
		assert.Empty(t, l.Purged())
		close(release)
		b.Enable()
		require.NoError(t, <-flushed)
	})
}

// A decision in a purge handler applies to the next request.
func TestWhatAHandlerOfAPurgeDecidesHoldsAtOnce(t *testing.T) {
	for name, decide := range map[string]func(*bufferedsender.BufferedSender[sendertest.Hotel]){
		"SetControl": func(s *bufferedsender.BufferedSender[sendertest.Hotel]) {
			_, err := s.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
			assert.NoError(t, err)
		},
		"Pause": func(s *bufferedsender.BufferedSender[sendertest.Hotel]) { s.Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *sendertest.Rig
				r = sendertest.New(t, &sendertest.Options{
					Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4},
					Retry:  sendertest.RetryAtOnce,
					Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(func(context.Context, []string) {
						decide(r.Sender)
						r.Sender.Breaker().Reset()
					})},
				})
				r.Respond(sendertest.First(1, func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
					time.Sleep(time.Second)
					return sendertest.Reply(req, 500, ""), nil
				}))
				r.Upload(sendertest.Hotels("k", 4)...)
				added := sendertest.Later(func() error {
					return r.Sender.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotel{ID: "new"})
				})
				require.NoError(t, <-added)
				time.Sleep(time.Second)
				if name == "Pause" {
					assert.Len(t, r.Requests(), 1)
				}
				for _, x := range r.Requests()[1:] {
					assert.Len(t, x.Keys, 1)
				}
				r.Sender.Resume()
				require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()), "the purged one")
			})
		})
	}
}
