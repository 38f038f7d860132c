package batching

import (
	"context"
	"fmt"
	"net/http"
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
	"github.com/go-azsearch/azsearch/retry/breaker"
)

func TestPauseHoldsAllSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 2}, AutoFlushInterval: time.Second})
		r.Sender.Pause()
		r.Upload(sendertest.Hotels("k", 5)...)
		time.Sleep(time.Hour)
		assert.Empty(t, r.Requests(), "no full batch, no timer")
		r.Sender.Pause()
		r.Sender.Resume()
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, r.Indexed(), 5, "one Resume ends any number of Pauses")
		assert.GreaterOrEqual(t, r.Requests()[0].At, time.Hour)
	})
	t.Run("requests in flight continue, the rest waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Retry: sendertest.RetryAtOnce})
			r.Respond(func(n int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				time.Sleep(10 * time.Second)
				if n == 1 {
					return sendertest.Reply(req, 503, ""), nil
				}
				return next()
			})
			r.Upload(sendertest.Hotels("k", 4)...)
			time.Sleep(time.Second)
			r.Sender.Pause()
			time.Sleep(time.Minute)
			require.Len(t, r.Requests(), 1)
			assert.Equal(t, 503, r.Requests()[0].Status, "the request was not cut off")
			assert.Equal(t, 4, r.Sender.Stats().PendingActions)
			r.Sender.Resume()
			require.NoError(t, r.Flush())
			assert.Equal(t, [][]string{{"k-0", "k-1"}, {"k-0", "k-1"}, {"k-2", "k-3"}}, sendertest.KeysOf(r.Requests()))
		})
	})
	t.Run("actions are accepted as long as there is room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 3}})
			r.Sender.Pause()
			r.Upload(sendertest.Hotels("k", 3)...)
			err := r.Sender.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotel{ID: "k-3"})
			sendertest.RequireAccepted(t, err, 0)
			require.ErrorIs(t, err, bufferedsender.ErrPaused)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, bufferedsender.ErrCircuitOpen)
			blocked := sendertest.Later(func() error {
				return r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.Hotel{ID: "k-3"})
			})
			sendertest.StillRunning(t, blocked, "the adding call")
			r.Sender.Resume()
			require.NoError(t, <-blocked)
			require.NoError(t, r.Flush())
			assert.Len(t, r.Indexed(), 4)
		})
	})
	t.Run("Flush and IndexDocumentsAndWait wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Sender.Pause()
			r.Upload(sendertest.Hotels("k", 3)...)
			err := r.Sender.Flush(sendertest.Within(t, time.Minute), nil)
			require.ErrorIs(t, err, bufferedsender.ErrPaused)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			results, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Minute), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "w"})}, nil)
			require.ErrorIs(t, err, bufferedsender.ErrPaused)
			assert.Equal(t, 1, sendertest.WaitError(t, err).Withdrawn)
			assert.Len(t, results, 1)
			synctest.Wait() // otherwise Flush would wait for the withdrawn action and report it
			flushed := sendertest.Later(r.Flush)
			time.Sleep(time.Minute)
			sendertest.StillRunning(t, flushed, "Flush")
			r.Sender.Resume()
			require.NoError(t, <-flushed)
			assert.Equal(t, 3*time.Minute, r.Now())
		})
	})
	t.Run("a Flush of nothing does not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Sender.Pause()
			require.NoError(t, r.Flush())
			require.NoError(t, r.Close())
		})
	})
	t.Run("Close waits for Resume", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Sender.Pause()
			r.Upload(sendertest.Hotels("k", 3)...)
			closed := sendertest.Later(r.Close)
			time.Sleep(time.Minute)
			sendertest.StillRunning(t, closed, "Close")
			r.Sender.Resume()
			require.NoError(t, <-closed)
			assert.Len(t, r.Indexed(), 3)
		})
	})
	t.Run("Close returns the reason when its context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Sender.Pause()
			r.Upload(sendertest.Hotels("k", 3)...)
			err := r.Sender.Close(sendertest.Within(t, time.Minute))
			assert.Equal(t, 3, sendertest.CloseError(t, err).Unsent)
			require.ErrorIs(t, err, bufferedsender.ErrPaused)
			require.ErrorIs(t, err, bufferedsender.ErrClosed)
			require.ErrorIs(t, r.Failure("k-0"), bufferedsender.ErrPaused)
			r.Sender.Resume()
			time.Sleep(time.Minute)
			assert.Empty(t, r.Requests())
		})
	})
	t.Run("a paused sender probes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
			r.OpenBreaker(sendertest.Hotel{ID: "k"})
			r.Sender.Pause()
			time.Sleep(time.Hour)
			assert.Len(t, r.Requests(), 3)
			r.Respond(nil)
			r.Sender.Resume()
			require.NoError(t, r.Flush())
			assert.Equal(t, time.Hour, r.Now())
			assert.Equal(t, breaker.Closed, b.Status().State)
		})
	})
}

func TestSetControlOfLimitsReturnsTheOldOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBatchBytes: 10_000, MaxInFlight: 2, MaxBufferedActions: 100, MaxBufferedBytes: 100_000}})
		first := bufferedsender.Limits{MinBatchActions: 10, MaxBatchActions: 10, MaxBatchBytes: 10_000, MaxInFlight: 2, MaxBufferedActions: 100, MaxBufferedBytes: 100_000}
		assert.Equal(t, first, r.Sender.Control().Limits)
		old, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxInFlight: 1}})
		require.NoError(t, err)
		assert.Equal(t, first, old.Limits)
		second := first
		second.MaxInFlight = 1
		assert.Equal(t, second, r.Sender.Control().Limits, "0 leaves the others")
		old, err = r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBatchBytes: 5000, MaxBufferedActions: 50, MaxBufferedBytes: 50_000}})
		require.NoError(t, err)
		assert.Equal(t, second, old.Limits)
		assert.Equal(t, bufferedsender.Limits{MinBatchActions: 5, MaxBatchActions: 5, MaxBatchBytes: 5000, MaxInFlight: 1, MaxBufferedActions: 50, MaxBufferedBytes: 50_000}, r.Sender.Control().Limits)
		old, err = r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{}})
		require.NoError(t, err)
		assert.Equal(t, r.Sender.Control().Limits, old.Limits)
	})
}

func TestSetControlOfLimitsNamesEveryBadLimitAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10}})
		before := r.Sender.Control().Limits
		old, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: -1, MaxBatchBytes: 5, MaxInFlight: 5000, MaxBufferedActions: -3, MaxBufferedBytes: -4}})
		require.Error(t, err)
		for _, name := range []string{"MaxBatchActions", "MaxBatchBytes", "MaxInFlight", "MaxBufferedActions", "MaxBufferedBytes"} {
			assert.ErrorContains(t, err, name)
		}
		assert.Equal(t, before, old.Limits)
		_, err = r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: -1}})
		require.Error(t, err)
		assert.Equal(t, before, r.Sender.Control().Limits, "one invalid number changes no setting")
		_, err = r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: bufferedsender.ServiceMaxBatchActions + 1}})
		require.ErrorContains(t, err, "32000")
	})
}

func TestSetControlOfLimitsCountsFromTheNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 1}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
		r.Upload(sendertest.Hotels("k", 40)...)
		time.Sleep(time.Second)
		_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 4}})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		require.Len(t, r.Requests(), 2)
		assert.Len(t, r.Requests()[0].Keys, 10, "the request in flight is unchanged")
		assert.Len(t, r.Requests()[1].Keys, 4)
		r.AllowInFlight(3)
		_, err = r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxInFlight: 3, MaxBatchActions: 8}})
		require.NoError(t, err)
		synctest.Wait()
		require.Len(t, r.Requests(), 4, "two more slots work at once, without any call")
		assert.Equal(t, 3, r.Sender.Stats().InFlight)
		for _, x := range r.Requests()[2:4] {
			assert.Len(t, x.Keys, 8)
		}
		_, err = r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxInFlight: 1}})
		require.NoError(t, err)
		time.Sleep(10*time.Second + time.Millisecond)
		assert.Equal(t, 1, r.Sender.Stats().InFlight, "fewer slots, once the requests under way have ended")
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 40)
	})
	t.Run("in bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 10_000}, AutoFlushInterval: -1})
			r.Upload(sendertest.HotelOfSize("large", 8000), sendertest.HotelOfSize("a", 1000), sendertest.HotelOfSize("b", 1000))
			_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchBytes: 2500}})
			require.NoError(t, err)
			require.ErrorIs(t, r.Sender.UploadDocuments(t.Context(), sendertest.HotelOfSize("too-large", 8000)), bufferedsender.ErrDocumentTooLarge)
			r.Upload(sendertest.HotelOfSize("c", 1000))
			require.NoError(t, r.Flush())
			assert.Equal(t, [][]string{{"large"}, {"a", "b"}, {"c"}}, sendertest.KeysOf(r.Requests()), "accepted actions are sent, alone if necessary")
			assert.Len(t, r.Indexed(), 4)
		})
	})
	t.Run("a batch that is full now goes now", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 100}, AutoFlushInterval: -1})
			r.Upload(sendertest.Hotels("k", 10)...)
			synctest.Wait()
			require.Empty(t, r.Requests())
			_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 10}})
			require.NoError(t, err)
			synctest.Wait()
			assert.Len(t, r.Indexed(), 10)
		})
	})
}

func TestSetControlOfLimitsOfTheBuffer(t *testing.T) {
	for name, c := range map[string]struct{ low, high bufferedsender.Limits }{
		"in actions": {bufferedsender.Limits{MaxBufferedActions: 3}, bufferedsender.Limits{MaxBufferedActions: 12}},
		"in bytes":   {bufferedsender.Limits{MaxBufferedBytes: 3000}, bufferedsender.Limits{MaxBufferedBytes: 12_000}},
	} {
		t.Run("lowered below the buffered size "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 12, MaxBufferedBytes: 12_000, MaxBatchActions: 2, MaxBatchBytes: 2500}})
				r.Sender.Pause()
				for i := range 8 {
					r.Upload(sendertest.HotelOfSize(fmt.Sprint("k-", i), 1000))
				}
				_, err := r.Sender.SetControl(bufferedsender.Control{Limits: c.low})
				require.NoError(t, err)
				assert.Equal(t, 8, r.Sender.Stats().PendingActions, "accepted actions stay accepted")
				require.ErrorIs(t, r.Sender.TryIndexDocuments(models.UploadAction(sendertest.HotelOfSize("k-8", 1000))), bufferedsender.ErrBufferFull)
				blocked := sendertest.Later(func() error {
					return r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.HotelOfSize("k-8", 1000))
				})
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
				r.Sender.Resume()
				time.Sleep(2500 * time.Millisecond)
				sendertest.StillRunning(t, blocked, "a call with four still there and room for three")
				require.NoError(t, <-blocked)
				assert.Equal(t, 3*time.Second, r.Now(), "two of three actions have settled by then")
				require.NoError(t, r.Flush())
				assert.Len(t, r.Indexed(), 9)
			})
		})
		t.Run("raised while producers wait "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 12, MaxBufferedBytes: 12_000, MaxBatchActions: 2, MaxBatchBytes: 2500}})
				_, err := r.Sender.SetControl(bufferedsender.Control{Limits: c.low})
				require.NoError(t, err)
				r.Sender.Pause()
				r.Upload(sendertest.HotelOfSize("k-0", 990), sendertest.HotelOfSize("k-1", 990), sendertest.HotelOfSize("k-2", 990))
				var mu sync.Mutex // guards order
				var order []string
				var blocked []<-chan error
				for i := range 3 {
					blocked = append(blocked, sendertest.Later(func() error {
						err := r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.HotelOfSize(fmt.Sprint("w-", i), 990))
						mu.Lock()
						defer mu.Unlock()
						order = append(order, fmt.Sprint("w-", i))
						return err
					}))
					synctest.Wait()
				}
				assert.Equal(t, 3, r.Sender.Stats().BlockedProducers)
				_, err = r.Sender.SetControl(bufferedsender.Control{Limits: c.high})
				require.NoError(t, err)
				for _, b := range blocked {
					require.NoError(t, <-b)
				}
				assert.Zero(t, r.Now(), "the call returns at once")
				assert.Zero(t, r.Sender.Stats().BlockedProducers)
				r.Sender.Resume()
				require.NoError(t, r.Flush())
				var sent []string
				for _, x := range r.Requests() {
					sent = append(sent, x.Keys...)
				}
				require.Len(t, sent, 6)
				assert.Equal(t, []string{"k-0", "k-1", "k-2", "w-0"}, sent[:4], "first come, first served")
				// These two may have waited for their turn to encode, which came for both at once.
				assert.ElementsMatch(t, []string{"w-1", "w-2"}, sent[4:])
				assert.Len(t, order, 3)
			})
		})
	}
	t.Run("a waiting call whose document is now too large for the buffer does not wait forever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedBytes: 4000, MaxBatchBytes: 4000}})
			r.Sender.Pause()
			r.Upload(sendertest.HotelOfSize("k-0", 3000))
			blocked := sendertest.Later(func() error {
				return r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.HotelOfSize("k-1", 3000))
			})
			synctest.Wait()
			_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBufferedBytes: 2000, MaxBatchBytes: 2000}})
			require.NoError(t, err)
			r.Sender.Resume()
			err = <-blocked
			assert.Less(t, r.Now(), time.Minute+time.Second, "accepted or refused, but soon")
			if err != nil {
				require.ErrorIs(t, err, bufferedsender.ErrDocumentTooLarge)
			}
			require.NoError(t, r.Flush())
		})
	})
}

func TestControlsOfAClosedSenderDoNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		require.NoError(t, r.Close())
		r.Sender.Pause()
		r.Sender.Resume()
		_, _ = r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxInFlight: 1}})
		require.NoError(t, r.Close())
		assert.ErrorIs(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k"}), bufferedsender.ErrClosed)
		assert.NoError(t, r.Flush())
	})
}

// The sender starts further requests from where the handler of the first one runs.
func TestWhatAHandlerOfARequestDecidesHoldsForTheNext(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(*bufferedsender.BufferedSender[sendertest.Hotel]) error
		sent   [][]string // before Resume
	}{
		"Pause": {func(s *bufferedsender.BufferedSender[sendertest.Hotel]) error { s.Pause(); return nil }, nil}, // this request does not leave either
		"SetControl": {func(s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			_, err := s.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxInFlight: 1, MaxBatchActions: 1}})
			return err
		}, [][]string{{"k-0", "k-1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *sendertest.Rig
				var once sync.Once
				opts := sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 8}, DisableAutoFlush: true}
				opts.Handlers.ActionSent = func(context.Context, *events.ActionSent[sendertest.Hotel]) {
					once.Do(func() { assert.NoError(t, c.decide(r.Sender)) })
				}
				r = sendertest.New(t, &opts)
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
				r.Upload(sendertest.Hotels("k", 8)...)
				flushed := sendertest.Later(r.Flush)
				synctest.Wait()
				assert.Equal(t, c.sent, sendertest.KeysOf(r.Requests()), "more requests started after %s returned", name)
				assert.EqualValues(t, len(c.sent), r.Sender.Stats().Requests)
				r.Sender.Resume()
				require.NoError(t, <-flushed)
				for _, e := range r.Events("completed") {
					assert.Equal(t, 1, e.Attempt, "a withdrawn request has used none")
				}
			})
		})
	}
}

// A pause from outside takes effect at once, also while a handler hangs.
func TestAPauseIsSeenWhileAHandlerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var opts sendertest.Options
		opts.Handlers.ActionCompleted = func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { <-release }
		r := sendertest.New(t, &opts)
		r.Upload(sendertest.Hotel{ID: "k"})
		flushed := sendertest.Later(r.Flush)
		synctest.Wait()
		time.Sleep(time.Minute)
		r.Sender.Pause()
		health := r.Sender.Health()
		assert.Equal(t, events.HealthStatePaused, health.State)
		assert.ErrorIs(t, health.Err, bufferedsender.ErrPaused)
		assert.ErrorContains(t, health.Err, "because of ActionCompleted")
		assert.Equal(t, time.Now(), health.Since)
		assert.ErrorIs(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil), bufferedsender.ErrPaused)
		close(release)
		require.NoError(t, <-flushed)
		synctest.Wait()
		assert.Equal(t, bufferedsender.Health{State: health.State, Since: health.Since, Reason: "sending is paused", Err: bufferedsender.ErrPaused},
			r.Sender.Health(), "the time counts from Pause, not from its detection")
		r.Sender.Resume()
		assert.Equal(t, bufferedsender.Health{State: events.HealthStateHealthy, Since: time.Now()}, r.Sender.Health())
	})
}
