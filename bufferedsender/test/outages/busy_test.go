package outages

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// A busy service still serves other clients: the sender must slow down before the breaker opens.
func TestABusyServiceOpensTheBreakerAfterTenSecondsWithoutAnything(t *testing.T) {
	for name, c := range map[string]struct {
		answer sendertest.Answer
		script []searchtest.Fault
	}{
		"429":                         {answer: sendertest.Always(429, "")},
		"503":                         {answer: sendertest.Always(503, "")},
		"nothing but 503s inside 207": {script: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				everySecond := retry.Options{Delay: time.Second, MaxDelay: time.Second, Jitter: -1}
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: everySecond})
				r.Faults(c.script...)
				r.Respond(c.answer)
				r.Upload(sendertest.Hotels("k", 3)...)
				time.Sleep(110 * time.Second)
				var want []time.Duration
				for second := range 11 { // the last of these counts
					want = append(want, time.Duration(second)*time.Second)
				}
				want = append(want, 40*time.Second, 70*time.Second, 100*time.Second)
				assert.Equal(t, want, sendertest.Times(r.Requests()))
				for _, x := range r.RequestsSince(11 * time.Second) {
					assert.Len(t, x.Keys, 1, "a probe, after which it is open again")
				}
				r.Respond(nil)
				r.Faults()
				require.NoError(t, r.Flush(), "no document is given up")
			})
		})
	}
	t.Run("a breaker does not open while some documents are applied", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}})
			r.Respond(func(n int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				time.Sleep(2 * time.Second)
				if n%4 != 0 {
					return sendertest.Reply(req, 503, ""), nil
				}
				return next()
			})
			r.Upload(sendertest.Hotels("k", 40)...)
			require.NoError(t, r.Flush())
			assert.Zero(t, b.Status().Counts.Opened)
			assert.Zero(t, b.Status().Counts.Failures)
		})
	})
}

// A failure that did not count while a document was throttled does not count later either.
func TestOneFailureAfterMuchThrottlingIsNotTheLast(t *testing.T) {
	for name, last := range map[string]searchtest.Fault{
		"a 409":            {Documents: []searchtest.DocumentFault{{Keys: []string{"k-1*"}, Times: 1, Status: 409}}},
		"a cut connection": {Count: 1, Cut: searchtest.CutBeforeCommit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 20}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
				faults := searchtest.Faults{Capacity: &searchtest.Capacity{DocumentsPerSecond: 2}}
				r.Service.SetFaults(&faults)
				r.Upload(sendertest.Hotels("k", 200)...)
				time.Sleep(time.Minute)
				require.Zero(t, r.Sender.Stats().Failed)
				last.Operation = searchtest.OpIndexDocuments
				faults.Rules = []searchtest.Fault{last}
				r.Service.SetFaults(&faults)
				assert.NoError(t, r.Close())
			})
		})
	}
}

// All other documents pass, so the capacity is not the cause; and the condition is temporary.
func TestAPartOfTheServiceThatIsBusyForTenSecondsLosesNothing(t *testing.T) {
	for name, opts := range map[string]sendertest.Options{
		"one request at a time": {Limits: bufferedsender.Limits{MaxBatchActions: 100}},
		"adaptive":              {Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxInFlight: 8}, Tuning: tuning.Adaptive(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Outage = bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}
				r := sendertest.New(t, &opts)
				latency := searchtest.Duration(20 * time.Millisecond)
				r.Faults(
					searchtest.Fault{For: searchtest.Duration(10 * time.Second), Delay: latency, Documents: []searchtest.DocumentFault{{Keys: []string{"k-7", "k-77"}, Status: 503}}},
					searchtest.Fault{Delay: latency},
				)
				r.Upload(sendertest.Hotels("k", 5000)...)
				assert.NoError(t, r.Close())
			})
		})
	}
}

// fourAtOnce takes four concurrent requests, each for the given duration, and refuses others.
func fourAtOnce(took time.Duration) sendertest.Answer {
	workers := make(chan struct{}, 4)
	return func(_ int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		select {
		case workers <- struct{}{}:
			time.Sleep(took)
			defer func() { <-workers }()
			return next()
		default:
			return sendertest.Reply(req, 429, ""), nil
		}
	}
}

// The requests that the service takes were in flight when it refused others.
func TestALimitOfRequestsAtOnceDoesNotMakePausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 10}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		r.Respond(fourAtOnce(100 * time.Millisecond))
		r.Upload(sendertest.Hotels("k", 2000)...)
		require.NoError(t, r.Close())
		assert.Less(t, r.Now(), 2*time.Minute, "50 rounds of half a second")
	})
}

// The breaker stays closed because others pass, so the failures count.
func TestASmallSenderBesideALargeOneLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range testkit.Cases(1, 2, 5) { // the result depends on chance
			opts := &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 10}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}}
			r := sendertest.New(t, opts)
			r.Service.SetFaults(&searchtest.Faults{
				Rules:    []searchtest.Fault{{Delay: searchtest.Duration(100 * time.Millisecond)}},
				Capacity: &searchtest.Capacity{DocumentsPerSecond: 20, Status: 429},
			})
			small, err := bufferedsender.New(r.Client, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 9}, Outage: opts.Outage, Logger: sendertest.NoLog})
			require.NoError(t, err)
			r.AllowInFlight(9)
			r.Abandoned = true // the checks of the rig are not for two senders
			r.Upload(sendertest.Hotels("k", 1000)...)
			require.NoError(t, small.UploadDocuments(t.Context(), sendertest.Hotels("o", 200)...))
			closed := sendertest.Later(func() error { return small.Close(sendertest.Within(t, time.Hour)) })
			assert.NoError(t, r.Close())
			assert.NoError(t, <-closed)
		}
	})
}

// While the sender's own older requests keep the service busy, throttling counts against no document.
func TestRequestsThatTakeLongDoNotLoseTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 10}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		r.Respond(fourAtOnce(30 * time.Second))
		r.Upload(sendertest.Hotels("k", testkit.Cases(40, 60, 120))...)
		require.NoError(t, r.Close())
	})
}

func TestRetriesThatAreOffAreOffForThrottlingToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: -1}, Limits: bufferedsender.Limits{MaxBatchActions: 4}})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-0"}, Status: 503}}})
		r.Upload(sendertest.Hotels("k", 200)...)
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.Equal(t, 1, r.Failure("k-0").Attempts)
	})
}

// After an hour of throttling a document has its first conflict. It must not wait a minute because of the throttling.
func TestTheWaitForAConflictDoesNotCountWhatThrottlingCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}, Retry: retry.Options{Jitter: -1}})
		var turnedAway int
		r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if x.Keys[0] != "bad" {
				return next()
			}
			if turnedAway++; turnedAway <= 5 {
				r.Upload(sendertest.Hotel{ID: "good"})
				time.Sleep(time.Second)
				return sendertest.Reply(req, 503, ""), nil
			}
			if turnedAway == 6 {
				return sendertest.Reply(req, 207, `{"value":[{"key":"bad","status":false,"statusCode":409}]}`), nil
			}
			return next()
		})
		r.Upload(sendertest.Hotel{ID: "bad"})
		require.NoError(t, r.Flush())
		at := []time.Duration{}
		for _, x := range r.Requests() {
			if x.Keys[0] == "bad" {
				at = append(at, x.At)
			}
		}
		require.Len(t, at, 7)
		assert.Equal(t, retry.DefaultDelay, at[6]-at[5])
	})
}

// Documents refused while almost nothing passed do not wait longer than others after the capacity returns.
func TestAServiceThatWasTooSlowForAWhileIsUsedFullyAgain(t *testing.T) {
	for _, slots := range []int{8, 1} {
		if testing.Short() && slots == 1 {
			continue
		}
		t.Run(fmt.Sprint(slots, " in flight"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Limits.MaxInFlight = slots
				r := sendertest.NewOnService(t, &searchtest.Options{KeepChanges: 1 << 20}, opts)
				capacity := func(perSecond float64) {
					r.Service.SetFaults(&searchtest.Faults{Capacity: &searchtest.Capacity{DocumentsPerSecond: perSecond}})
				}
				capacity(50)
				n := testkit.Cases(1250, 1250, 5000)
				r.Upload(sendertest.Hotels("k", n)...)
				time.Sleep(time.Duration(n/250) * time.Second)
				waiting := r.Sender.Stats().PendingActions
				require.Greater(t, waiting, n*3/5)
				capacity(500)
				began := r.Now()
				require.NoError(t, r.Flush())
				// usually at two thirds of the capacity or more; waiting senders would be far slower
				assert.Less(t, r.Now()-began, 4*time.Duration(waiting)*time.Millisecond, "%d documents, 500 a second", waiting)
			})
		})
	}
}

// oneEach is a service that applies only the first document of each request.
func oneEach(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	time.Sleep(2 * time.Second)
	result, err := sendertest.AcceptAll(ctx, body)
	for i := range result.Results {
		if i > 0 {
			result.Results[i].Succeeded, result.Results[i].StatusCode = false, 503
		}
	}
	return result, err
}

func TestThrottlingLosesNothingHoweverLongItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		sender, err := bufferedsender.New(&sendertest.Indexer{Index: oneEach}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 150, MaxInFlight: 2}, Logger: sendertest.NoLog})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, sender)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotels("k", 300)...))
		require.NoError(t, sender.Close(t.Context()), "only the capacity of the service is too small")
		assert.EqualValues(t, 300, sender.Stats().Completed)
		assert.Greater(t, time.Since(began), 6*time.Minute, "longer than any wait for a service that does nothing")
	})
}

// Between two documents that pass, every other request fails.
func TestATrickleLosesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		perSecond       float64
		slots, batch, n int
		reply           int // 0: single documents are refused
	}{
		"two a second":                  {2, 16, 25, 400, 0},
		"one in two seconds":            {0.5, 8, 25, 200, 0},
		"one in half a minute":          {1.0 / 30, 4, 10, 40, 0},
		"requests are refused":          {10, 8, 10, 500, 429},
		"requests are refused with 503": {10, 8, 10, 500, 503},
	} {
		if testing.Short() && c.slots < 16 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: c.slots, MaxBatchActions: c.batch}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
				r.Service.SetFaults(&searchtest.Faults{
					Rules:    []searchtest.Fault{{Delay: searchtest.Duration(100 * time.Millisecond)}},
					Capacity: &searchtest.Capacity{DocumentsPerSecond: c.perSecond, Status: c.reply},
				})
				n := c.n / testkit.Cases(4, 4, 1)
				r.Upload(sendertest.Hotels("k", n)...)
				require.NoError(t, r.Close(), "only the capacity of the service is too small")
				assert.EqualValues(t, n, r.Sender.Stats().Completed)
			})
		})
	}
}

// Its retries are sent alone, so no reply shows that other documents pass.
func TestADocumentThatIsThrottledInQuietTimesIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, AutoFlushInterval: time.Second, Retry: retry.Options{Delay: 30 * time.Second}})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"bad"}, Status: 503}}})
		r.Upload(sendertest.Hotel{ID: "bad"})
		for _, doc := range sendertest.Hotels("k", 360) {
			r.Upload(doc)
			time.Sleep(10 * time.Second)
		}
		assert.EqualValues(t, 1, r.Sender.Stats().Failed, "an hour, and it is still tried")
		assert.Less(t, r.Failure("bad").Attempts, 100)
	})
}

// The service is not busy if all other documents pass.
func TestADocumentThatAloneIsThrottledIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, AutoFlushInterval: time.Millisecond})
		r.Faults(searchtest.Fault{Delay: searchtest.Duration(20 * time.Millisecond), Documents: []searchtest.DocumentFault{{Keys: []string{"bad"}, Status: 503}}})
		r.Upload(sendertest.Hotel{ID: "bad"})
		for _, doc := range sendertest.Hotels("k", 3000) {
			r.Upload(doc)
			time.Sleep(100 * time.Millisecond)
		}
		require.EqualValues(t, 1, r.Sender.Stats().Failed, "within five minutes")
		assert.GreaterOrEqual(t, r.Outcome("bad").At, time.Minute, "chance is given a minute")
		assert.LessOrEqual(t, r.Failure("bad").Attempts, 30)
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
	})
}
