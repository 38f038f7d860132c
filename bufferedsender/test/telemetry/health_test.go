package telemetry

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestHealthOfEachState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
		began := time.Now()
		h := r.Health()
		assert.Equal(t, events.HealthStateHealthy, h.State)
		require.NoError(t, h.Err)
		assert.Empty(t, h.Reason)
		assert.True(t, began.Equal(h.Since))

		time.Sleep(time.Second)
		r.Respond(sendertest.First(1, sendertest.Always(429, "")))
		r.Upload(sendertest.Hotel{ID: "throttled"})
		h = r.Health()
		assert.Equal(t, events.HealthStateThrottled, h.State)
		assert.Equal(t, time.Second, h.Since.Sub(began))
		assert.NotEmpty(t, h.Reason)
		require.NoError(t, r.Flush())
		assert.Equal(t, events.HealthStateHealthy, r.Health().State)
		assert.Equal(t, 11*time.Second, r.Health().Since.Sub(began))

		r.Respond(sendertest.Always(401, sendertest.ErrorBody("wrong key")))
		r.Upload(sendertest.Hotel{ID: "refused"})
		h = r.Health()
		assert.Equal(t, events.HealthStateCircuitOpen, h.State)
		require.ErrorIs(t, h.Err, bufferedsender.ErrCircuitOpen)
		var answer *search.Error
		require.ErrorAs(t, h.Err, &answer)
		assert.Contains(t, h.Reason, "wrong key", "the health has the reason")
		assert.Equal(t, 11*time.Second, h.Since.Sub(began))

		time.Sleep(time.Second)
		r.Sender.Pause()
		h = r.Health()
		assert.Equal(t, events.HealthStatePaused, h.State, "of several states the last in the order of the constants")
		require.ErrorIs(t, h.Err, bufferedsender.ErrPaused)
		assert.Equal(t, 12*time.Second, h.Since.Sub(began))
		r.Sender.Resume()
		assert.Equal(t, events.HealthStateCircuitOpen, r.Health().State)
		r.Respond(nil)
		b.Reset()
		assert.Equal(t, events.HealthStateHealthy, r.Health().State)

		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
		r.Upload(sendertest.Hotel{ID: "last"})
		closed := sendertest.Later(r.Close)
		h = r.Health()
		assert.Equal(t, events.HealthStateClosing, h.State)
		assert.Equal(t, 12*time.Second, h.Since.Sub(began))
		require.NoError(t, <-closed, "Close waited for the action that met the 401")
		h = r.Health()
		assert.Equal(t, events.HealthStateClosed, h.State)
		assert.Equal(t, 22*time.Second, h.Since.Sub(began))
	})
	t.Run("a breaker that is disabled is not closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: b}})
			b.Disable()
			h := r.Health()
			assert.Equal(t, events.HealthStateCircuitOpen, h.State)
			require.ErrorIs(t, h.Err, bufferedsender.ErrCircuitOpen)
			b.Enable()
			assert.Equal(t, events.HealthStateHealthy, r.Health().State)
		})
	})
}

func TestReadinessIsAboutTheServiceAndNotAboutAnIndex(t *testing.T) {
	for _, c := range []struct {
		status int
		ready  bool
	}{{404, true}, {403, false}, {401, false}, {503, false}} {
		t.Run(http.StatusText(c.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
				require.NoError(t, r.Health().Ready())
				r.Respond(sendertest.Always(c.status, ""))
				r.Upload(sendertest.Hotels("k", 3)...)
				for range 100 {
					if time.Sleep(time.Second); r.Health().State == events.HealthStateCircuitOpen {
						break
					}
				}
				require.Equal(t, events.HealthStateCircuitOpen, r.Health().State)
				assert.Equal(t, c.ready, r.Health().Ready() == nil, "%v", r.Health().Err)
				r.Respond(nil)
				require.NoError(t, r.Close())
				require.ErrorIs(t, r.Health().Ready(), bufferedsender.ErrClosed)
			})
		})
	}
}

func TestHealthChangesAreReportedInOrderWithoutDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}, Handlers: l.Handlers()})
		began := time.Now()
		r.Upload(sendertest.Hotels("fine", 5)...)
		synctest.Wait()
		assert.Empty(t, l.HealthStates(), "a healthy sender has nothing to report")
		r.Respond(sendertest.Always(429, ""))
		r.Upload(sendertest.Hotel{ID: "k"})
		time.Sleep(10 * time.Minute) // throttled, then open, with many failed probes
		r.Respond(nil)
		require.NoError(t, r.Flush())
		synctest.Wait()
		states := l.HealthStates()
		assert.Equal(t, []events.HealthState{
			events.HealthStateThrottled, events.HealthStateHealthy, // for 10 s
			events.HealthStateCircuitOpen, events.HealthStateHealthy,
		}, states, "twenty probes that fail change nothing")
		for range 3 {
			r.Sender.Pause()
			synctest.Wait()
			r.Sender.Pause()
			synctest.Wait()
			r.Sender.Resume()
			synctest.Wait()
			r.Sender.Resume()
			synctest.Wait()
		}
		require.NoError(t, r.Close())
		states = l.HealthStates()
		assert.Equal(t, []events.HealthState{events.HealthStatePaused, events.HealthStateHealthy, events.HealthStatePaused, events.HealthStateHealthy, events.HealthStatePaused, events.HealthStateHealthy}, states[4:10])
		assert.Equal(t, events.HealthStateClosed, states[len(states)-1])
		assert.LessOrEqual(t, len(states), 12)

		changes := l.HealthChanges()
		from := events.HealthStateHealthy
		var at time.Time
		for i, h := range changes {
			assert.Equal(t, from, h.From, "%d joins the one before", i)
			assert.NotEqual(t, h.From, h.To)
			assert.False(t, h.At.Before(at), "%d", i)
			from, at = h.To, h.At
		}
		require.ErrorIs(t, changes[2].Err, bufferedsender.ErrCircuitOpen)
		require.ErrorIs(t, changes[4].Err, bufferedsender.ErrPaused)
		require.NoError(t, changes[3].Err)
		assert.False(t, changes[0].At.Before(began))
	})
}

func TestHealthIsReportedInOrderWithTheOtherEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Handlers: l.Handlers()})
		r.Respond(sendertest.Always(403, sendertest.ErrorBody("no")))
		r.Upload(sendertest.Hotels("k", 2)...)
		synctest.Wait()
		r.Respond(nil)
		require.NoError(t, r.Flush())
		require.NoError(t, r.Close())
		notes := l.Notes()
		index := map[string]int{} // index of its first occurrence
		for i, line := range notes {
			if _, again := index[line]; !again {
				index[line] = i
			}
		}
		assert.Less(t, index["sent k-0"], index["health circuit open"])
		assert.Less(t, index["health circuit open"], index["sent k-1"])
		assert.Less(t, index["completed k-1"], index["health closed"])
		assert.Equal(t, "closed", notes[len(notes)-1], "the Closed handler is the last of all, %v", notes)
	})
}

func TestHealthHandlersAreCallbacksLikeTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *sendertest.Rig
		var inside []error
		panics := 0
		r = sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{HealthChanged: func(ctx context.Context, h *events.HealthChange) {
			if h.To != events.HealthStateClosed {
				inside = append(inside, r.Sender.Flush(context.Background(), nil), r.Sender.Close(ctx))
			}
			panics++
			panic("oops")
		}}})
		r.Sender.Pause()
		synctest.Wait()
		r.Sender.Resume()
		r.Upload(sendertest.Hotels("k", 3)...)
		require.NoError(t, r.Flush())
		require.Len(t, inside, 4)
		for _, err := range inside {
			require.ErrorIs(t, err, bufferedsender.ErrInCallback)
		}
		assert.EqualValues(t, panics, r.Sender.Stats().CallbackPanics)
		assert.Len(t, r.Indexed(), 3)
	})
}

func TestTheClosedHandlerRunsLastAndItsErrorIsThatOfClose(t *testing.T) {
	t.Run("runs once, after the last event, and its error is Close's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			oops := errors.New("could not save the checkpoint")
			handlers := l.Handlers()
			calls := 0
			handlers.Closed = func(context.Context) error {
				calls++
				l.Note("closed")
				time.Sleep(500 * time.Millisecond)
				return oops
			}
			r := sendertest.New(t, &sendertest.Options{Handlers: handlers})
			r.Upload(sendertest.Hotels("k", 3)...)
			one, two := sendertest.Later(r.Close), sendertest.Later(r.Close)
			err := <-one
			assert.Equal(t, 500*time.Millisecond, r.Now(), "Close waits for it")
			assert.Equal(t, err, <-two)
			require.ErrorIs(t, err, oops)
			answer := sendertest.CloseError(t, err)
			assert.Equal(t, oops, answer.Handlers)
			assert.Zero(t, answer.Failed+answer.Unsent+answer.Unknown)
			assert.Equal(t, 1, calls)
			notes := l.Notes("completed", "closed", "health")
			assert.Equal(t, "closed", notes[len(notes)-1])
		})
	})
	t.Run("nil is not an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{Handlers: l.Handlers()})
			require.NoError(t, r.Close())
			assert.Len(t, l.Notes("closed"), 1)
		})
	})
	t.Run("a panic is an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{Closed: func(context.Context) error { panic("oops") }}})
			answer := sendertest.CloseError(t, r.Close())
			require.Error(t, answer.Handlers)
			assert.EqualValues(t, 1, r.Sender.Stats().CallbackPanics)
		})
	})
	t.Run("the context of a Closed handler ends a second after that of Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var ended time.Duration
			var r *sendertest.Rig
			r = sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{Closed: func(ctx context.Context) error {
				<-ctx.Done()
				ended = r.Now()
				return ctx.Err()
			}}})
			err := r.Sender.Close(sendertest.Within(t, 5*time.Second))
			require.Error(t, err)
			assert.Equal(t, 6*time.Second, ended)
		})
	})
	t.Run("a Closed handler cannot close or flush", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var r *sendertest.Rig
			r = sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{Closed: func(ctx context.Context) error {
				return errors.Join(r.Sender.Flush(ctx, nil), r.Sender.Close(context.Background()))
			}}})
			require.ErrorIs(t, r.Close(), bufferedsender.ErrInCallback)
		})
	})
	t.Run("a Closed handler runs also after a Close that gave up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{Handlers: l.Handlers()})
			r.Respond(sendertest.Hang)
			r.Upload(sendertest.Hotels("k", 3)...)
			require.Error(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			notes := l.Notes()
			assert.Equal(t, "closed", notes[len(notes)-1])
			assert.Len(t, l.Notes("closed"), 1)
		})
	})
}

// Throttling with some successes never looks like an outage.
func TestThrottledIsNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		b := sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})
		r := sendertest.NewOnService(t, &searchtest.Options{Capacity: &searchtest.Capacity{DocumentsPerSecond: 20}}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 50}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Jitter: -1}, Handlers: l.Handlers()})
		r.Upload(sendertest.Hotels("k", 300)...)
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 300)
		assert.NotContains(t, l.HealthStates(), events.HealthStateCircuitOpen)
		assert.Contains(t, l.HealthStates(), events.HealthStateThrottled)
		assert.Zero(t, b.Status().Counts.Opened)
		assert.Positive(t, r.Sender.Stats().Throttled)
	})
}

// Health names an index that does not reply long before the breaker opens.
func TestHealthSaysThatNoRequestIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.RequestTimeout = 20 * time.Second
		r := sendertest.New(t, opts)
		after := func(d time.Duration) error {
			time.Sleep(d)
			synctest.Wait()
			return r.Sender.Health().Err
		}
		slow := func(_ int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(4 * time.Second)
			return next()
		}
		r.Respond(slow)
		r.Upload(sendertest.Hotel{ID: "slow"})
		require.NoError(t, r.Flush())
		assert.NoError(t, after(time.Hour), "no request is in flight")

		r.Respond(sendertest.Hang)
		r.Upload(sendertest.Hotel{ID: "a"})
		flushed := sendertest.Later(r.Flush)
		require.NoError(t, after(4*time.Second))
		require.EqualError(t, after(2*time.Second), "no request was answered for 6s")
		assert.Equal(t, events.HealthStateHealthy, r.Sender.Health().State)
		require.NoError(t, r.Sender.Health().Ready())
		for range 200 { // beyond the end of the requests
			require.Error(t, after(time.Second))
		}
		r.Respond(nil)
		require.NoError(t, <-flushed)
		assert.NoError(t, r.Sender.Health().Err)
	})
}
