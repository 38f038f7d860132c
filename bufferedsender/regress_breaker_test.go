package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// A 401 opens the breaker without any throttling before it, so nothing but the
// reply to the probe can tell when the next one may go.
func TestAThrottledProbeIsNotFollowedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		pause   time.Duration
	}{
		"the service says for how long":       {[]string{"Retry-After", "300"}, 5 * time.Minute},
		"it does not, so the breaker decides": {nil, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
				r.sickenWith(onlyFirst(1, always(401, "")), hotel{ID: "a"})
				r.respond(onlyFirst(2, always(429, "", c.headers...)))
				r.upload(hotel{ID: "b"})
				require.NoError(t, r.flush())
				at := times(r.requests())
				require.GreaterOrEqual(t, len(at), 3)
				assert.GreaterOrEqual(t, at[2]-at[1], c.pause)
			})
		})
	}
}

func TestARetryAfterOfARequestFromBeforeTheOpeningCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 4}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1})}})
		r.respond(func(n int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			switch {
			case n <= 3: // the first of these opens it
				time.Sleep(time.Second)
				return reply(req, 500, ""), nil
			case n == 4:
				time.Sleep(2 * time.Second)
				return reply(req, 503, "", "Retry-After", "600"), nil
			}
			return next()
		})
		r.upload(hotels("k", 4)...)
		require.NoError(t, r.close())
		assert.Equal(t, 10*time.Minute+2*time.Second, times(r.requests())[4])
	})
}

func TestAProbeSendsNothingThatNobodyHasFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{DisableAutoFlush: true, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
		r.respond(onlyFirst(4, sick)) // three open it, a probe in vain
		r.upload(hotel{ID: "flushed"})
		require.Error(t, r.sender.Flush(within(t, time.Second)))
		time.Sleep(20 * time.Second)
		require.Equal(t, breaker.Open, r.sender.Breaker().Status().State)
		r.upload(hotel{ID: "later"})
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"flushed"}, r.indexed())
		for _, keys := range keysOf(r.requests()) {
			assert.Equal(t, []string{"flushed"}, keys)
		}
	})
}

func TestASubscriberOfTheBreakerThatEndsItsGoroutineLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
		var ended atomic.Int64
		defer r.sender.Breaker().Subscribe(func(c breaker.Change) {
			if c.To == breaker.Open {
				ended.Add(1)
				runtime.Goexit()
			}
		})()
		r.respond(onlyFirst(1, always(401, "")))
		r.upload(hotel{ID: "a"})
		time.Sleep(time.Hour)
		require.EqualValues(t, 1, ended.Load())
		assert.Equal(t, "completed", r.outcome("a").kind)
		assert.Equal(t, 30*time.Second, r.outcome("a").at, "with the probe")
		r.upload(hotel{ID: "b"})
		require.NoError(t, r.flush())
		assert.Equal(t, []string{"a", "b"}, r.indexed())
	})
}

// All senders of an index share one probe.
func TestASenderThatIsStuckGivesTheProbeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var hangs atomic.Bool
		opts := hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}}
		opts.Handlers.ActionSent = func(context.Context, *events.ActionSent[hotel]) {
			if hangs.Load() {
				<-release
			}
		}
		r := newRig(t, &opts)
		r.unstopped = true
		other, err := bufferedsender.New(r.client, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: opts.Outage, Logger: mute})
		require.NoError(t, err)
		closeAtLast(t, other)

		r.sickenWith(always(401, ""), hotel{ID: "a"})
		r.respond(nil)
		hangs.Store(true)
		r.upload(hotel{ID: "b"})
		time.Sleep(31 * time.Second)
		require.Equal(t, breaker.HalfOpen, r.sender.Breaker().Status().State, "the probe is with the handler that hangs")
		assert.True(t, closeError(t, r.sender.Close(within(t, time.Second))).CallbackStuck)

		require.NoError(t, other.UploadDocuments(t.Context(), hotel{ID: "c"}))
		require.NoError(t, other.Flush(within(t, time.Hour)), "a sound service, and nobody else is left")
		close(release)
		synctest.Wait()
	})
}

// slow is a MeterProvider that keeps New at its last step.
type slow struct{ noop.MeterProvider }

func (slow) Meter(string, ...metric.MeterOption) metric.Meter { return slowMeter{} }

type slowMeter struct{ noop.Meter }

func (slowMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	time.Sleep(time.Second)
	return noop.Registration{}, nil
}

// There is something to tell at once: the breaker is open already.
func TestHandlersAreNotCalledBeforeTheSenderIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, told := time.Now(), make(chan context.Context, 10)
		opts := hotelOptions{Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, MeterProvider: slow{}, Logger: mute}
		opts.Handlers.HealthChanged = func(ctx context.Context, _ *events.HealthChange) {
			assert.Equal(t, time.Second, time.Since(began))
			told <- ctx
		}
		opts.Outage.(bufferedsender.Hold).Breaker.Disable()
		sender, err := bufferedsender.New(&fakeIndexer{agree}, &opts)
		require.NoError(t, err)
		assert.NotNil(t, <-told)
		require.NoError(t, sender.Close(t.Context()))
	})
}

// deaf is a MeterProvider that refuses callbacks, which is the last step of New.
type deaf struct{ noop.MeterProvider }

func (deaf) Meter(string, ...metric.MeterOption) metric.Meter { return deafMeter{} }

type deafMeter struct{ noop.Meter }

func (deafMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return nil, errors.New("no callbacks here")
}

func TestAFailedNewLeavesNothingWithTheBreaker(t *testing.T) {
	b := steadyBreaker(t, nil)
	left := func() weak.Pointer[fakeIndexer] {
		index := &fakeIndexer{agree}
		_, err := bufferedsender.New(index, &hotelOptions{Outage: bufferedsender.Hold{Breaker: b}, MeterProvider: deaf{}, Logger: mute})
		require.ErrorContains(t, err, "no callbacks here")
		return weak.Make(index)
	}()
	runtime.GC()
	runtime.GC()
	assert.Nil(t, left.Value(), "what the breaker has kept")
	runtime.KeepAlive(b)
}

// With a number that is never reached there is nothing but age to drop them for.
func TestABreakerForgetsFailuresThatAreOutOfItsWindow(t *testing.T) {
	b := steadyBreaker(t, &breaker.Options{Failures: math.MaxInt, InARow: -1, Window: time.Nanosecond})
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for range 50_000 {
		p, err := b.Allow()
		require.NoError(t, err)
		p.Done(breaker.Result{Outcome: breaker.Failure})
	}
	assert.Less(t, heap()-before, int64(512<<10), "bytes that 50 000 failures have left behind")
	runtime.KeepAlive(b)
}

func TestARetryAfterIsObeyedForMaxRetryAfterAtTheMost(t *testing.T) {
	for name, c := range map[string]struct {
		breaker *breaker.Options
		wait    time.Duration
	}{
		"ten minutes by default":                     {&breaker.Options{}, 10 * time.Minute},
		"as long as the breaker allows":              {&breaker.Options{MaxRetryAfter: 45 * time.Second}, 45 * time.Second},
		"all of it if the breaker does not limit it": {&breaker.Options{MaxRetryAfter: -1}, 12 * time.Hour},
		"ten minutes without a breaker":              {nil, 10 * time.Minute},
	} {
		for _, status := range []int{429, 500, 503} {
			t.Run(fmt.Sprint(name, ", ", status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}}
					if c.breaker != nil {
						opts.Outage = bufferedsender.Hold{Breaker: steadyBreaker(t, c.breaker)}
					}
					r := newRig(t, opts)
					r.respond(onlyFirst(1, always(status, "", "Retry-After", "43200")))
					r.upload(hotel{ID: "k"})
					require.NoError(t, r.flush())
					assert.Equal(t, c.wait, times(r.requests())[1])
				})
			})
		}
	}
}

func TestAResumeDoesNotHideAnOpenBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{Outage: bufferedsender.Hold{Breaker: b}, Handlers: hotelHandlers{HealthChanged: func(_ context.Context, h *events.HealthChange) {
			if h.To == events.Paused {
				<-release
			}
		}}})
		b.Disable()
		synctest.Wait()
		require.Equal(t, events.CircuitOpen, r.sender.Health().State)
		r.sender.Pause()
		synctest.Wait()
		r.sender.Resume() // the handler hangs
		assert.Equal(t, events.CircuitOpen, r.sender.Health().State)
		assert.ErrorIs(t, r.sender.Flush(within(t, time.Second)), bufferedsender.ErrCircuitOpen)
		close(release)
		b.Enable()
	})
}
