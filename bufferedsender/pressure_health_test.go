package bufferedsender_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// health waits until nothing moves and returns how the sender is.
func (r *rig) health() bufferedsender.Health {
	synctest.Wait()
	return r.sender.Health()
}

func TestPressureHealthOfEachState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
		began := time.Now()
		h := r.health()
		assert.Equal(t, events.Healthy, h.State)
		require.NoError(t, h.Err)
		assert.Empty(t, h.Reason)
		assert.True(t, began.Equal(h.Since))

		time.Sleep(time.Second)
		r.respond(onlyFirst(1, always(429, "")))
		r.upload(hotel{ID: "throttled"})
		h = r.health()
		assert.Equal(t, events.Throttled, h.State)
		assert.Equal(t, time.Second, h.Since.Sub(began))
		assert.NotEmpty(t, h.Reason)
		require.NoError(t, r.flush())
		assert.Equal(t, events.Healthy, r.health().State)
		assert.Equal(t, 11*time.Second, r.health().Since.Sub(began))

		r.respond(always(401, refusal("wrong key")))
		r.upload(hotel{ID: "refused"})
		h = r.health()
		assert.Equal(t, events.CircuitOpen, h.State)
		require.ErrorIs(t, h.Err, bufferedsender.ErrCircuitOpen)
		var answer *search.Error
		require.ErrorAs(t, h.Err, &answer)
		assert.Contains(t, h.Reason, "wrong key", "it says why")
		assert.Equal(t, 11*time.Second, h.Since.Sub(began))

		time.Sleep(time.Second)
		r.sender.Pause()
		h = r.health()
		assert.Equal(t, events.Paused, h.State, "of several the last in the order of the constants")
		require.ErrorIs(t, h.Err, bufferedsender.ErrPaused)
		assert.Equal(t, 12*time.Second, h.Since.Sub(began))
		r.sender.Resume()
		assert.Equal(t, events.CircuitOpen, r.health().State)
		r.respond(nil)
		b.Reset()
		assert.Equal(t, events.Healthy, r.health().State)

		r.respond(seconds(func(int, *exchange) float64 { return 10 }))
		r.upload(hotel{ID: "last"})
		closed := later(r.close)
		h = r.health()
		assert.Equal(t, events.Closing, h.State)
		assert.Equal(t, 12*time.Second, h.Since.Sub(began))
		require.NoError(t, <-closed, "the one that met the 401 has waited")
		h = r.health()
		assert.Equal(t, events.Closed, h.State)
		assert.Equal(t, 22*time.Second, h.Since.Sub(began))
	})
	t.Run("a breaker that is disabled is not closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{Outage: bufferedsender.Hold{Breaker: b}})
			b.Disable()
			h := r.health()
			assert.Equal(t, events.CircuitOpen, h.State)
			require.ErrorIs(t, h.Err, bufferedsender.ErrCircuitOpen)
			b.Enable()
			assert.Equal(t, events.Healthy, r.health().State)
		})
	})
}

func TestPressureHealthChangesAreToldInOrderWithoutDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}, Handlers: l.handlers()})
		began := time.Now()
		r.upload(hotels("fine", 5)...)
		synctest.Wait()
		assert.Empty(t, l.states(), "a healthy sender has nothing to tell")
		r.respond(always(429, ""))
		r.upload(hotel{ID: "k"})
		time.Sleep(10 * time.Minute) // throttled, then open, with many probes in vain
		r.respond(nil)
		require.NoError(t, r.flush())
		synctest.Wait()
		states := l.states()
		assert.Equal(t, []events.HealthState{
			events.Throttled, events.Healthy, // for 10 s
			events.CircuitOpen, events.Healthy,
		}, states, "twenty probes in vain change nothing")
		for range 3 {
			r.sender.Pause()
			synctest.Wait()
			r.sender.Pause()
			synctest.Wait()
			r.sender.Resume()
			synctest.Wait()
			r.sender.Resume()
			synctest.Wait()
		}
		require.NoError(t, r.close())
		states = l.states()
		assert.Equal(t, []events.HealthState{events.Paused, events.Healthy, events.Paused, events.Healthy, events.Paused, events.Healthy}, states[4:10])
		assert.Equal(t, events.Closed, states[len(states)-1])
		assert.LessOrEqual(t, len(states), 12)

		l.mu.Lock()
		defer l.mu.Unlock()
		from := events.Healthy
		var at time.Time
		for i, h := range l.health {
			assert.Equal(t, from, h.From, "%d joins the one before", i)
			assert.NotEqual(t, h.From, h.To)
			assert.False(t, h.At.Before(at), "%d", i)
			from, at = h.To, h.At
		}
		require.ErrorIs(t, l.health[2].Err, bufferedsender.ErrCircuitOpen)
		require.ErrorIs(t, l.health[4].Err, bufferedsender.ErrPaused)
		require.NoError(t, l.health[3].Err)
		assert.False(t, l.health[0].At.Before(began))
	})
}

func TestPressureHealthIsToldInOrderWithTheOtherEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Handlers: l.handlers()})
		r.respond(always(403, refusal("no")))
		r.upload(hotels("k", 2)...)
		synctest.Wait()
		r.respond(nil)
		require.NoError(t, r.flush())
		require.NoError(t, r.close())
		told := l.told()
		index := map[string]int{} // of the first time
		for i, line := range told {
			if _, again := index[line]; !again {
				index[line] = i
			}
		}
		assert.Less(t, index["sent k-0"], index["health circuit open"])
		assert.Less(t, index["health circuit open"], index["sent k-1"])
		assert.Less(t, index["completed k-1"], index["health closed"])
		assert.Equal(t, "closed", told[len(told)-1], "the Closed handler is the last of all, %v", told)
	})
}

func TestPressureHealthHandlersAreCallbacksLikeTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		var inside []error
		panics := 0
		r = newRig(t, &hotelOptions{Handlers: hotelHandlers{HealthChanged: func(ctx context.Context, h *events.HealthChange) {
			if h.To != events.Closed {
				inside = append(inside, r.sender.Flush(context.Background()), r.sender.Close(ctx))
			}
			panics++
			panic("oops")
		}}})
		r.sender.Pause()
		synctest.Wait()
		r.sender.Resume()
		r.upload(hotels("k", 3)...)
		require.NoError(t, r.flush())
		require.Len(t, inside, 4)
		for _, err := range inside {
			require.ErrorIs(t, err, bufferedsender.ErrInCallback)
		}
		assert.EqualValues(t, panics, r.sender.Stats().CallbackPanics)
		assert.Len(t, r.indexed(), 3)
	})
}

func TestPressureClosedHandler(t *testing.T) {
	t.Run("runs once, after the last event, and its error is Close's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			oops := errors.New("could not save the checkpoint")
			handlers := l.handlers()
			calls := 0
			handlers.Closed = func(context.Context) error {
				calls++
				l.note("closed")
				time.Sleep(500 * time.Millisecond)
				return oops
			}
			r := newRig(t, &hotelOptions{Handlers: handlers})
			r.upload(hotels("k", 3)...)
			one, two := later(r.close), later(r.close)
			err := <-one
			assert.Equal(t, 500*time.Millisecond, r.now(), "Close waits for it")
			assert.Equal(t, err, <-two)
			require.ErrorIs(t, err, oops)
			answer := closeError(t, err)
			assert.Equal(t, oops, answer.Handlers)
			assert.Zero(t, answer.Failed+answer.Unsent+answer.Unknown)
			assert.Equal(t, 1, calls)
			told := l.told("completed", "closed", "health")
			assert.Equal(t, "closed", told[len(told)-1])
		})
	})
	t.Run("nil is no error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{Handlers: l.handlers()})
			require.NoError(t, r.close())
			assert.Len(t, l.told("closed"), 1)
		})
	})
	t.Run("a panic is an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Handlers: hotelHandlers{Closed: func(context.Context) error { panic("oops") }}})
			answer := closeError(t, r.close())
			require.Error(t, answer.Handlers)
			assert.EqualValues(t, 1, r.sender.Stats().CallbackPanics)
		})
	})
	t.Run("its context ends a second after that of Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var ended time.Duration
			var r *rig
			r = newRig(t, &hotelOptions{Handlers: hotelHandlers{Closed: func(ctx context.Context) error {
				<-ctx.Done()
				ended = r.now()
				return ctx.Err()
			}}})
			err := r.sender.Close(within(t, 5*time.Second))
			require.Error(t, err)
			assert.Equal(t, 6*time.Second, ended)
		})
	})
	t.Run("it cannot close or flush", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var r *rig
			r = newRig(t, &hotelOptions{Handlers: hotelHandlers{Closed: func(ctx context.Context) error {
				return errors.Join(r.sender.Flush(ctx), r.sender.Close(context.Background()))
			}}})
			require.ErrorIs(t, r.close(), bufferedsender.ErrInCallback)
		})
	})
	t.Run("after a Close that gave up, too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			r := newRig(t, &hotelOptions{Handlers: l.handlers()})
			r.respond(hang)
			r.upload(hotels("k", 3)...)
			require.Error(t, r.sender.Close(within(t, time.Second)))
			told := l.told()
			assert.Equal(t, "closed", told[len(told)-1])
			assert.Len(t, l.told("closed"), 1)
		})
	})
}

// Throttling that lets something through never looks like an outage.
func TestPressureThrottledIsNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		b := steadyBreaker(t, &breaker.Options{Failures: 1})
		r := newRigOn(t, &searchtest.Options{Capacity: &searchtest.Capacity{DocumentsPerSecond: 20}}, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 50}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Jitter: -1}, Handlers: l.handlers()})
		r.upload(hotels("k", 300)...)
		require.NoError(t, r.flush())
		assert.Len(t, r.indexed(), 300)
		assert.NotContains(t, l.states(), events.CircuitOpen)
		assert.Contains(t, l.states(), events.Throttled)
		assert.Zero(t, b.Status().Counts.Opened)
		assert.Positive(t, r.sender.Stats().Throttled)
	})
}
