package waiting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// All calls of the request handlers fail fast. One of them becomes the probe, waits for its outcome, and enables the
// others.
func TestASenderWhoseWaitersFailFastRecoversByOneOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{
			Waiting: bufferedsender.Waiting{FailFast: true},
			Retry:   sendertest.RetryAtOnce, Outage: bufferedsender.Hold{Breaker: sendertest.NewBreaker(t, &breaker.Options{Failures: 1, OpenFor: 10 * time.Second, Jitter: -1})},
		})
		call := func(key string) error {
			_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Minute), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: key})}, nil)
			return err
		}
		r.Respond(sendertest.Failing)
		waiting := sendertest.Later(func() error { return call("first") })
		synctest.Wait()
		time.Sleep(time.Second)
		err := <-waiting
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen, "the call fails while it waits")
		var failed *bufferedsender.WaitError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, 1, failed.Unknown, "the request of the action was answered 500")
		began := r.Now()
		require.ErrorIs(t, call("second"), bufferedsender.ErrCircuitOpen, "the call fails at once")
		assert.Equal(t, began, r.Now())

		r.Respond(func(_ int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return next()
		})
		time.Sleep(10 * time.Second)
		var calls []<-chan error
		for i := range 5 {
			calls = append(calls, sendertest.Later(func() error { return call(fmt.Sprint("k", i)) }))
		}
		succeeded := 0
		for _, c := range calls {
			if err := <-c; err == nil {
				succeeded++
			} else {
				assert.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
			}
		}
		assert.Positive(t, succeeded, "the probe")
		assert.NoError(t, call("last"))
	})
}

// When the outcome of a probe is reported, the sender no longer counts the service as down.
func TestTheStateIsNewWhenTheOutcomeOfAProbeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var states []events.HealthState
		var r *sendertest.Rig
		r = sendertest.New(t, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: retry.Options{Delay: -1, MaxRetries: 10},
			Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {
				states = append(states, r.Sender.Health().State)
			}},
		})
		r.OpenBreaker(sendertest.Hotels("first", 1)...)
		r.Respond(nil)
		require.NoError(t, r.Flush())
		assert.Equal(t, []events.HealthState{events.HealthStateHealthy}, states)
	})
}

// The action of the call is the probe, which fails: the breaker has the same state before and after.
func TestWaitFailsFastWhenItsOwnProbeFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{
			Waiting: bufferedsender.Waiting{FailFast: true},
			Retry:   sendertest.RetryAtOnce, Outage: bufferedsender.Hold{Breaker: sendertest.NewBreaker(t, &breaker.Options{Failures: 1, OpenFor: 10 * time.Second, Jitter: -1})},
		})
		call := func(key string) error {
			_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Hour), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: key})}, nil)
			return err
		}
		r.Respond(sendertest.Failing)
		require.ErrorIs(t, call("first"), bufferedsender.ErrCircuitOpen)
		require.Less(t, r.Now(), time.Second)
		r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return sendertest.Reply(req, 500, sendertest.ErrorBody("out of order")), nil
		})
		time.Sleep(11 * time.Second) // half-open: this call is the probe
		began := r.Now()
		require.Error(t, call("probe"))
		assert.Less(t, r.Now()-began, 2*time.Second, "the call uses up its deadline")
	})
}

// The breaker opens while the action of the call is in another request, which fails afterwards.
func TestWaitFailsFastWhenItsRequestFailsAfterTheBreakerOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{
			Waiting: bufferedsender.Waiting{FailFast: true},
			Retry:   sendertest.RetryAtOnce, Limits: bufferedsender.Limits{MaxInFlight: 2}, Outage: bufferedsender.Hold{Breaker: sendertest.NewBreaker(t, &breaker.Options{Failures: 1, OpenFor: 30 * time.Minute, Jitter: -1, MaxOpenFor: time.Hour})},
		})
		call := func(key string) error {
			_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, 10*time.Minute), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: key})}, nil)
			return err
		}
		r.Respond(func(_ int, x *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			if x.Keys[0] == "slow" {
				time.Sleep(5 * time.Second)
			} else {
				time.Sleep(time.Second)
			}
			return sendertest.Reply(req, 500, sendertest.ErrorBody("out of order")), nil
		})
		slow := sendertest.Later(func() error { return call("slow") })
		time.Sleep(100 * time.Millisecond)
		require.ErrorIs(t, call("fast"), bufferedsender.ErrCircuitOpen)
		require.ErrorIs(t, <-slow, bufferedsender.ErrCircuitOpen)
		assert.Less(t, r.Now(), 10*time.Second, "the call uses up its deadline")
	})
}

// The breaker opens while the call waits for room.
func TestWaitFailsFastWhileItWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{
			Waiting: bufferedsender.Waiting{FailFast: true},
			Limits:  bufferedsender.Limits{MaxBufferedActions: 10, MaxBatchActions: 10}, Retry: sendertest.RetryAtOnce,
			Outage: bufferedsender.Hold{Breaker: sendertest.NewBreaker(t, &breaker.Options{Failures: 1, OpenFor: 30 * time.Minute, Jitter: -1, MaxOpenFor: time.Hour})},
		})
		r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(time.Second)
			return sendertest.Reply(req, 500, sendertest.ErrorBody("out of order")), nil
		})
		r.Upload(sendertest.Hotels("k", 10)...)
		time.Sleep(100 * time.Millisecond)
		_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, 10*time.Minute), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "w"})}, nil)
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		assert.Less(t, r.Now(), 10*time.Second, "the call uses up its deadline")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = r.Sender.Close(ctx)
	})
}

// The breaker gets the result of a request before its reply is complete. The waiting call returns in either order.
func TestWaitFailsFastWhicheverIsReportedFirst(t *testing.T) {
	burnt := 0
	const runs = 2000
	for range runs {
		s, err := bufferedsender.New(&sendertest.Indexer{Index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, sendertest.StatusError(500)
		}}, &sendertest.Options{Waiting: bufferedsender.Waiting{FailFast: true, Interval: -1}, Retry: sendertest.RetryAtOnce, Logger: sendertest.NoLog, Outage: bufferedsender.Hold{Breaker: sendertest.NewBreaker(t, &breaker.Options{Failures: 1, OpenFor: time.Hour, MaxOpenFor: time.Hour})}})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err = s.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
		if errors.Is(err, context.DeadlineExceeded) {
			burnt++
		}
		cancel()
		_ = s.Close(ctx)
	}
	t.Log(burnt, "of", runs, "calls burnt their deadline")
	assert.Zero(t, burnt)
}

// A good document is not refused because bad ones of other callers are set apart.
func TestGoodDocumentsPassWhileAllThatWaitsIsHeldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.Waiting.FailFast = true
		r := sendertest.New(t, opts)
		r.Respond(sendertest.LackingUntil(func() bool { return false }))
		r.Upload(append(sendertest.Hotels("new", 100), sendertest.RoomlessHotels("old", 100)...)...)
		time.Sleep(time.Minute)
		ok := 0
		for i := range 20 {
			_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, 10*time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: fmt.Sprint("good-", i)})}, nil)
			if err == nil {
				ok++
			} else if i == 0 {
				t.Log(err)
			}
			time.Sleep(3 * time.Second)
		}
		t.Logf("%d of 20 good documents accepted", ok)
		assert.NotZero(t, ok)
		_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
	})
}

// Sending is suspended while the call waits for room.
func TestWaitFailsFastWhenSendingStopsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := bufferedsender.New(&sendertest.Indexer{Index: func(ctx context.Context, _ io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			<-ctx.Done()
			return models.IndexDocumentsResult{}, ctx.Err()
		}}, &sendertest.Options{Logger: sendertest.NoLog, Waiting: bufferedsender.Waiting{FailFast: true}, Limits: bufferedsender.Limits{MaxBufferedActions: 1, MaxBatchActions: 1}})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		go func() { time.Sleep(time.Second); s.Pause() }()
		began := time.Now()
		_, err = s.IndexDocumentsAndWait(sendertest.Within(t, 10*time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
		assert.ErrorIs(t, err, bufferedsender.ErrPaused)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

// 1000 goroutines that each add and wait for one document would make 1000 requests without sharing.
func TestAThousandWaitersShareRequestsConcurrentSafe(t *testing.T) {
	const callers = 1000
	for _, c := range []struct {
		name    string
		arrival time.Duration // all of them arrive within it
		latency time.Duration
		flight  int
	}{
		{"all at once, 50 ms a request", 0, 50 * time.Millisecond, 1},
		{"all at once, no latency", 0, 0, 1},
		{"within 50 ms, 50 ms a request", 50 * time.Millisecond, 50 * time.Millisecond, 1},
		{"within 50 ms, 50 ms a request, 8 in flight", 50 * time.Millisecond, 50 * time.Millisecond, 8},
		{"within 90 ms, no latency", 90 * time.Millisecond, 0, 1},
		{"within a second, 100 ms a request", time.Second, 100 * time.Millisecond, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: c.flight}})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return c.latency.Seconds() }))
			var wg sync.WaitGroup
			var longest, all time.Duration
			var mu sync.Mutex
			for i := range callers {
				wg.Go(func() {
					time.Sleep(c.arrival * time.Duration(i) / callers)
					began := time.Now()
					results, err := r.Sender.IndexDocumentsAndWait(t.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: fmt.Sprint("k-", i)})}, nil)
					if assert.NoError(t, err) && assert.Len(t, results, 1) {
						assert.Equal(t, fmt.Sprint("k-", i), results[0].Key)
						assert.True(t, results[0].Succeeded)
					}
					mu.Lock()
					defer mu.Unlock()
					longest, all = max(longest, time.Since(began)), all+time.Since(began)
				})
			}
			wg.Wait()
			t.Logf("%-45s %2d requests instead of %d; waited %v on average, %v at most", c.name, len(r.Requests()), callers, (all / callers).Round(time.Millisecond), longest)
			assert.LessOrEqual(t, len(r.Requests()), callers/50)
			assert.LessOrEqual(t, longest, 2*c.latency+2*waitInterval)
			assert.Len(t, r.Indexed(), callers)
		})
	}
}

// A waiter that gives up gets the latest failure of its documents.
func TestAWaiterThatGivesUpGetsTheErrorOfItsLastAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(sendertest.BreakConnection)
		_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, 5*time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
		var waited *bufferedsender.WaitError
		require.ErrorAs(t, err, &waited)
		require.Len(t, waited.Errors, 1)
		assert.ErrorIs(t, waited.Errors[0], bufferedsender.ErrWithdrawn)
		assert.ErrorIs(t, waited.Errors[0], sendertest.ErrReset)
	})
}

func TestACallFailsFastWhenThePoolWasShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := pool.New(nil)
		require.NoError(t, err)
		m, err := p.Join("m")
		require.NoError(t, err)
		r := sendertest.New(t, &sendertest.Options{Waiting: bufferedsender.Waiting{FailFast: true}, Share: m})
		require.NoError(t, p.Shutdown(t.Context()))
		began := r.Now()
		_, err = r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Minute), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
		require.Error(t, err)
		assert.Less(t, r.Now()-began, 10*time.Second, "AutoFlushInterval, and no deadline")
	})
}

// The service asks to wait for a minute. The breaker stays closed.
func TestACallWhoseDeadlineIsBeforeTheEndOfAPauseFailsFast(t *testing.T) {
	for name, failFast := range map[string]bool{"with FailFast": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Waiting: bufferedsender.Waiting{FailFast: failFast}, Logger: sendertest.NoLog})
				r.Faults(searchtest.Fault{Count: 1, Status: 503, RetryAfter: searchtest.Duration(time.Minute)})
				call := func(key string, within time.Duration) (time.Duration, error) {
					began := r.Now()
					_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, within), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: key})}, nil)
					return r.Now() - began, err
				}
				patient := sendertest.Later(func() error { _, err := call("patient", time.Hour); return err })
				time.Sleep(time.Second)
				for _, key := range []string{"a", "b"} {
					took, err := call(key, 20*time.Second)
					require.ErrorContains(t, err, "sending pauses until")
					require.ErrorContains(t, err, "503")
					require.Equal(t, failFast, took < time.Second, "after %v: %v", took, err)
				}
				require.NoError(t, <-patient)
				_, err := call("c", 20*time.Second)
				require.NoError(t, err)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Waiting: bufferedsender.Waiting{FailFast: true}, Logger: sendertest.NoLog})
		r.Faults(searchtest.Fault{Count: 1, Status: 503, RetryAfter: searchtest.Duration(time.Minute)})
		_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, 20*time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "own"})}, nil)
		require.ErrorContains(t, err, "sending pauses until")
		require.Less(t, r.Now(), time.Second, "its own request was refused")
		synctest.Wait()
		require.Zero(t, r.Sender.Stats().PendingActions, "it is withdrawn")
	})
}

// A second request, sent before the first reply, is answered with a longer pause.
func TestACallFailsFastWhenAPauseBecomesLongerThanItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &sendertest.Options{Waiting: bufferedsender.Waiting{FailFast: true}, Logger: sendertest.NoLog}
		opts.Limits.MaxInFlight = 2
		r := sendertest.New(t, opts)
		r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			switch n {
			case 1:
				time.Sleep(time.Second / 2)
				return sendertest.Always(503, "", "Retry-After", "5")(n, x, req, next)
			case 2:
				time.Sleep(2 * time.Second)
				return sendertest.Always(503, "", "Retry-After", "60")(n, x, req, next)
			default:
				return next()
			}
		})
		call := func(key string, within time.Duration) error {
			_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, within), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: key})}, nil)
			return err
		}
		first := sendertest.Later(func() error { return call("a", time.Hour) })
		time.Sleep(100 * time.Millisecond)
		second := sendertest.Later(func() error { return call("b", time.Hour) })
		time.Sleep(time.Second)
		require.ErrorContains(t, call("c", 20*time.Second), "sending pauses until")
		assert.Less(t, r.Now(), 3*time.Second)
		require.NoError(t, <-first)
		require.NoError(t, <-second)
	})
}
