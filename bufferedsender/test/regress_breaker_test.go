package test

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
	"github.com/go-azsearch/azsearch/internal/sendertest"
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
				r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, Breaker: sendertest.SteadyBreaker(t, nil)})
				r.OpenBreakerWith(sendertest.First(1, sendertest.Always(401, "")), sendertest.Hotel{ID: "a"})
				r.Respond(sendertest.First(2, sendertest.Always(429, "", c.headers...)))
				r.Upload(sendertest.Hotel{ID: "b"})
				require.NoError(t, r.Flush())
				at := sendertest.Times(r.Requests())
				require.GreaterOrEqual(t, len(at), 3)
				assert.GreaterOrEqual(t, at[2]-at[1], c.pause)
			})
		})
	}
}

func TestARetryAfterOfARequestFromBeforeTheOpeningCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, MaxInFlight: 4, Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})})
		r.Respond(func(n int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			switch {
			case n <= 3: // the first of these opens it
				time.Sleep(time.Second)
				return sendertest.Reply(req, 500, ""), nil
			case n == 4:
				time.Sleep(2 * time.Second)
				return sendertest.Reply(req, 503, "", "Retry-After", "600"), nil
			}
			return next()
		})
		r.Upload(sendertest.Hotels("k", 4)...)
		require.NoError(t, r.Close())
		assert.Equal(t, 10*time.Minute+2*time.Second, sendertest.Times(r.Requests())[4])
	})
}

func TestAProbeSendsNothingThatNobodyHasFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{DisableAutoFlush: true, Breaker: sendertest.SteadyBreaker(t, nil)})
		r.Respond(sendertest.First(4, sendertest.Failing)) // three open it, a probe in vain
		r.Upload(sendertest.Hotel{ID: "flushed"})
		require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Second)))
		time.Sleep(20 * time.Second)
		require.Equal(t, breaker.Open, r.Sender.Breaker().Status().State)
		r.Upload(sendertest.Hotel{ID: "later"})
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"flushed"}, r.Indexed())
		for _, keys := range sendertest.KeysOf(r.Requests()) {
			assert.Equal(t, []string{"flushed"}, keys)
		}
	})
}

func TestASubscriberOfTheBreakerThatEndsItsGoroutineLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, Breaker: sendertest.SteadyBreaker(t, nil)})
		var ended atomic.Int64
		defer r.Sender.Breaker().Subscribe(func(c breaker.Change) {
			if c.To == breaker.Open {
				ended.Add(1)
				runtime.Goexit()
			}
		})()
		r.Respond(sendertest.First(1, sendertest.Always(401, "")))
		r.Upload(sendertest.Hotel{ID: "a"})
		time.Sleep(time.Hour)
		require.EqualValues(t, 1, ended.Load())
		assert.Equal(t, "completed", r.Outcome("a").Kind)
		assert.Equal(t, 30*time.Second, r.Outcome("a").At, "with the probe")
		r.Upload(sendertest.Hotel{ID: "b"})
		require.NoError(t, r.Flush())
		assert.Equal(t, []string{"a", "b"}, r.Indexed())
	})
}

// All senders of an index share one probe.
func TestASenderThatIsStuckGivesTheProbeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var hangs atomic.Bool
		opts := sendertest.Options{MaxBatchActions: 1, MaxInFlight: 2, Breaker: sendertest.SteadyBreaker(t, nil)}
		opts.Handlers.ActionSent = func(context.Context, *events.ActionSent[sendertest.Hotel]) {
			if hangs.Load() {
				<-release
			}
		}
		r := sendertest.New(t, &opts)
		r.Abandoned = true
		other, err := bufferedsender.New(r.Client, &sendertest.Options{MaxBatchActions: 1, Breaker: opts.Breaker, Logger: sendertest.NoLog})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, other)

		r.OpenBreakerWith(sendertest.Always(401, ""), sendertest.Hotel{ID: "a"})
		r.Respond(nil)
		hangs.Store(true)
		r.Upload(sendertest.Hotel{ID: "b"})
		time.Sleep(31 * time.Second)
		require.Equal(t, breaker.HalfOpen, opts.Breaker.Status().State, "the probe is with the handler that hangs")
		assert.True(t, sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second))).CallbackStuck)

		require.NoError(t, other.UploadDocuments(t.Context(), sendertest.Hotel{ID: "c"}))
		require.NoError(t, other.Flush(sendertest.Within(t, time.Hour)), "a sound service, and nobody else is left")
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
		opts := sendertest.Options{Breaker: sendertest.SteadyBreaker(t, nil), MeterProvider: slow{}, Logger: sendertest.NoLog}
		opts.Handlers.HealthChanged = func(ctx context.Context, _ *events.HealthChange) {
			assert.Equal(t, time.Second, time.Since(began))
			told <- ctx
		}
		opts.Breaker.Disable()
		sender, err := bufferedsender.New(&sendertest.Indexer{}, &opts)
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
	b := sendertest.SteadyBreaker(t, nil)
	left := func() weak.Pointer[sendertest.Indexer] {
		index := &sendertest.Indexer{}
		_, err := bufferedsender.New(index, &sendertest.Options{Breaker: b, MeterProvider: deaf{}, Logger: sendertest.NoLog})
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
	b := sendertest.SteadyBreaker(t, &breaker.Options{Failures: math.MaxInt, InARow: -1, Window: time.Nanosecond})
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
					opts := &sendertest.Options{MaxBatchActions: 1}
					if c.breaker != nil {
						opts.Breaker = sendertest.SteadyBreaker(t, c.breaker)
					}
					r := sendertest.New(t, opts)
					r.Respond(sendertest.First(1, sendertest.Always(status, "", "Retry-After", "43200")))
					r.Upload(sendertest.Hotel{ID: "k"})
					require.NoError(t, r.Flush())
					assert.Equal(t, c.wait, sendertest.Times(r.Requests())[1])
				})
			})
		}
	}
}

func TestAResumeDoesNotHideAnOpenBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Breaker: b, Handlers: sendertest.Handlers{HealthChanged: func(_ context.Context, h *events.HealthChange) {
			if h.To == events.Paused {
				<-release
			}
		}}})
		b.Disable()
		synctest.Wait()
		require.Equal(t, events.CircuitOpen, r.Sender.Health().State)
		r.Sender.Pause()
		synctest.Wait()
		r.Sender.Resume() // the handler hangs
		assert.Equal(t, events.CircuitOpen, r.Sender.Health().State)
		assert.ErrorIs(t, r.Sender.Flush(sendertest.Within(t, time.Second)), bufferedsender.ErrCircuitOpen)
		close(release)
		b.Enable()
	})
}
