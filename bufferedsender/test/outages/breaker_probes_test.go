package outages

import (
	"fmt"
	"net/http"
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

func TestOneProbeOfOneActionThenEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 4}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: sendertest.RetryAtOnce})
		r.OpenBreaker(sendertest.Hotels("k", 10)...)
		r.Upload(sendertest.Hotels("more", 50)...)
		r.Respond(func(_ int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(20 * time.Second)
			return next()
		})
		time.Sleep(50*time.Second - time.Millisecond)
		probes := r.RequestsSince(1)
		require.Len(t, probes, 1, "four slots and sixty actions make one probe")
		assert.Equal(t, 30*time.Second, probes[0].At)
		assert.Equal(t, []string{"k-0"}, probes[0].Keys)
		time.Sleep(time.Second)
		assert.Len(t, r.RequestsSince(50*time.Second), 4, "all four slots are used after the probe")
		require.NoError(t, r.Flush())
		for _, x := range r.RequestsSince(50 * time.Second)[:4] {
			assert.GreaterOrEqual(t, len(x.Keys), 9, "the batches are full, except the rest of the first one")
		}
		assert.Len(t, r.Indexed(), 60)
		seen := map[string]bool{}
		for _, x := range r.RequestsSince(1) {
			for _, key := range x.Keys {
				assert.False(t, seen[key], "%s was sent twice", key)
				seen[key] = true
			}
		}
	})
}

func TestProbesRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: sendertest.RetryAtOnce})
		r.OpenBreaker(sendertest.Hotels("k", 3)...)
		r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if x.Keys[0] == "k-0" { // the service fails on this document
				return sendertest.Reply(req, 500, ""), nil
			}
			return next()
		})
		time.Sleep(61 * time.Second)
		probes := r.RequestsSince(1)
		require.GreaterOrEqual(t, len(probes), 2)
		assert.Equal(t, []string{"k-0"}, probes[0].Keys)
		assert.Equal(t, []string{"k-1"}, probes[1].Keys, "the next probe has another action, and succeeds")
		assert.Contains(t, r.Indexed(), "k-1")
		r.Respond(nil)
		require.NoError(t, r.Flush())
	})
}

func TestAnOpenBreakerWakesByItself(t *testing.T) {
	t.Run("the sender recovers without timer, traffic or caller", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: -1, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: sendertest.RetryAtOnce})
			r.Respond(sendertest.Failing)
			r.Upload(sendertest.Hotels("k", 50)...)
			require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil))
			r.Respond(nil)
			time.Sleep(29 * time.Second)
			synctest.Wait()
			assert.Equal(t, 30*time.Second, r.Now())
			assert.Zero(t, r.Sender.Stats().PendingActions)
			assert.Len(t, r.Requests(), 3)
			assert.Len(t, r.Indexed(), 50)
		})
	})
	t.Run("the sender sends nothing when it has no action", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}})
			r.Respond(sendertest.Always(401, ""))
			_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "lost"})}, nil)
			require.ErrorIs(t, err, bufferedsender.ErrWithdrawn)
			time.Sleep(time.Hour)
			assert.Len(t, r.Requests(), 1)
			assert.Equal(t, breaker.HalfOpen, b.Status().State)
			assert.Equal(t, events.HealthStateHalfOpen, r.Sender.Health().State, "the breaker needs a document to probe with")
			r.Respond(nil)
			r.Upload(sendertest.Hotels("k", 3)...)
			synctest.Wait()
			assert.Equal(t, [][]string{{"lost"}, {"k-0"}, {"k-1"}, {"k-2"}}, sendertest.KeysOf(r.Requests()), "the later document is the probe")
			assert.Equal(t, breaker.Closed, b.Status().State)
		})
	})
}

func TestRetryAfterLengthensTheOpening(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		opts    breaker.Options
		probe   time.Duration
	}{
		"none":                           {nil, breaker.Options{}, 30 * time.Second},
		"shorter than OpenFor":           {[]string{"Retry-After", "7"}, breaker.Options{}, 30 * time.Second},
		"longer than OpenFor":            {[]string{"Retry-After", "90"}, breaker.Options{}, 90 * time.Second},
		"in milliseconds":                {[]string{"retry-after-ms", "45500"}, breaker.Options{}, 45500 * time.Millisecond},
		"in Azure's milliseconds":        {[]string{"x-ms-retry-after-ms", "45500"}, breaker.Options{}, 45500 * time.Millisecond},
		"longer than an OpenFor of 10 s": {[]string{"Retry-After", "20"}, breaker.Options{OpenFor: 10 * time.Second}, 20 * time.Second},
		"a date":                         {[]string{"Retry-After", "DATE"}, breaker.Options{}, 2 * time.Minute},
	} {
		for _, status := range []int{500, 502, 401, 404} {
			t.Run(fmt.Sprint(name, " of a ", status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c.opts.Failures = 1
					b := sendertest.SteadyBreaker(t, &c.opts)
					r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
					headers := append([]string(nil), c.headers...)
					if len(headers) > 0 && headers[1] == "DATE" {
						headers[1] = time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat)
					}
					r.Respond(sendertest.First(1, sendertest.Always(status, sendertest.ErrorBody("later"), headers...)))
					r.Upload(sendertest.Hotels("k", 3)...)
					_ = r.Flush()
					require.Greater(t, len(r.Requests()), 1)
					assert.Equal(t, c.probe, r.Requests()[1].At)
					assert.Equal(t, breaker.Closed, b.Status().State)
				})
			})
		}
	}
}

// A 401 opens the breaker without earlier throttling, so only the reply to the probe determines the time of the next
// one.
func TestAThrottledProbeIsNotFollowedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		pause   time.Duration
	}{
		"Retry-After sets the duration":           {[]string{"Retry-After", "300"}, 5 * time.Minute},
		"without Retry-After the breaker decides": {nil, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
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
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 4}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})}})
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
		r := sendertest.New(t, &sendertest.Options{DisableAutoFlush: true, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		r.Respond(sendertest.First(4, sendertest.Failing)) // three open it, one is a probe that fails
		r.Upload(sendertest.Hotel{ID: "flushed"})
		require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil))
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

// All senders of an index share one probe.
func TestASenderThatIsStuckGivesTheProbeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		opts := sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}}
		r := sendertest.New(t, &opts)
		r.Abandoned = true
		other, err := bufferedsender.New(r.Client, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: opts.Outage, Logger: sendertest.NoLog})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, other)

		r.OpenBreakerWith(sendertest.Always(401, ""), sendertest.Hotel{ID: "a"})
		r.Respond(sendertest.When(func(_ int, x *sendertest.Request) bool { return x.Keys[0] != "c" }, func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			<-release // ignores its context
			return nil, sendertest.ErrReset
		}))
		r.Upload(sendertest.Hotel{ID: "b"})
		time.Sleep(31 * time.Second)
		require.Equal(t, breaker.HalfOpen, r.Sender.Breaker().Status().State, "the probe is with the client that hangs")
		go r.Sender.Withdraw(func(string, any) bool { <-release; return false })
		synctest.Wait()
		assert.True(t, sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second))).CallbackStuck)

		require.NoError(t, other.UploadDocuments(t.Context(), sendertest.Hotel{ID: "c"}))
		require.NoError(t, other.Flush(sendertest.Within(t, time.Minute), nil), "a healthy service, no other sender is left, and a probe is not awaited until it counts as lost")
		close(release)
		synctest.Wait()
	})
}

func TestARetryAfterIsObeyedForMaxRetryAfterAtTheMost(t *testing.T) {
	for name, c := range map[string]struct {
		breaker *breaker.Options
		wait    time.Duration
	}{
		"with a breaker":    {&breaker.Options{}, 10 * time.Minute},
		"without a breaker": {nil, 10 * time.Minute},
	} {
		for _, status := range []int{429, 500, 503} {
			t.Run(fmt.Sprint(name, ", ", status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}}
					if c.breaker != nil {
						opts.Outage = bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, c.breaker)}
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
