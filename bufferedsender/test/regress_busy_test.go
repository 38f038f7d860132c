package test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What was not held against a document when it was turned away is not held
// against it later either.
func TestOneFailureAfterMuchThrottlingIsNotTheLast(t *testing.T) {
	for name, last := range map[string]searchtest.Fault{
		"a 409":            {Documents: []searchtest.DocumentFault{{Keys: []string{"k-1*"}, Times: 1, Status: 409}}},
		"a cut connection": {Count: 1, Cut: searchtest.CutBeforeCommit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 20, Breaker: sendertest.SteadyBreaker(t, nil)})
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

// All others get through, so it is not the capacity; but it passes.
func TestAPartOfTheServiceThatIsBusyForTenSecondsLosesNothing(t *testing.T) {
	for name, opts := range map[string]sendertest.Options{
		"one request at a time": {MaxBatchActions: 100},
		"adaptive":              {MaxBatchActions: 100, MaxInFlight: 8, Tuning: tuning.Adaptive(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Breaker = sendertest.SteadyBreaker(t, nil)
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

// The requests that the service takes were under way when it refused others.
func TestALimitOfRequestsAtOnceDoesNotMakePausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxInFlight: 8, MaxBatchActions: 10, Breaker: sendertest.SteadyBreaker(t, nil)})
		workers := make(chan struct{}, 4)
		r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			select {
			case workers <- struct{}{}:
				time.Sleep(100 * time.Millisecond)
				defer func() { <-workers }()
				return next()
			default:
				return sendertest.Reply(req, 429, ""), nil
			}
		})
		r.Upload(sendertest.Hotels("k", 2000)...)
		require.NoError(t, r.Close())
		assert.Less(t, r.Now(), 2*time.Minute, "50 rounds of half a second")
	})
}

// One pause for all of a refused request: its documents travel together again.
func TestARefusedRequestDoesNotComeBackInCrumbs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxInFlight: 8, MaxBatchActions: 1000, Breaker: sendertest.SteadyBreaker(t, nil)})
		r.Respond(func(n int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 8 {
				time.Sleep(10 * time.Millisecond)
				return sendertest.Reply(req, 429, ""), nil
			}
			time.Sleep(5 * time.Millisecond)
			return next()
		})
		r.Upload(sendertest.Hotels("k", 8000)...)
		require.NoError(t, r.Close())
		assert.Len(t, r.Requests(), 9)
	})
}

// The breaker stays closed because the others get through, so they count.
func TestASmallSenderBesideALargeOneLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 5 { // it is a matter of luck
			opts := &sendertest.Options{MaxInFlight: 8, MaxBatchActions: 10, Breaker: sendertest.SteadyBreaker(t, nil)}
			r := sendertest.New(t, opts)
			r.Service.SetFaults(&searchtest.Faults{
				Rules:    []searchtest.Fault{{Delay: searchtest.Duration(100 * time.Millisecond)}},
				Capacity: &searchtest.Capacity{DocumentsPerSecond: 20, Reply: 429},
			})
			small, err := bufferedsender.New(r.Client, &sendertest.Options{MaxBatchActions: 9, Breaker: opts.Breaker, Logger: sendertest.NoLog})
			require.NoError(t, err)
			r.AllowInFlight(9)
			r.Abandoned = true // what the rig checks is not for two senders
			r.Upload(sendertest.Hotels("k", 1000)...)
			require.NoError(t, small.UploadDocuments(t.Context(), sendertest.Hotels("o", 200)...))
			closed := sendertest.Later(func() error { return small.Close(sendertest.Within(t, time.Hour)) })
			assert.NoError(t, r.Close())
			assert.NoError(t, <-closed)
		}
	})
}

// As long as older requests of its own keep the service busy, nobody is turned
// away in vain.
func TestRequestsThatTakeLongDoNotLoseTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxInFlight: 8, MaxBatchActions: 10, Breaker: sendertest.SteadyBreaker(t, nil)})
		workers := make(chan struct{}, 4)
		r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			select {
			case workers <- struct{}{}:
				time.Sleep(30 * time.Second)
				defer func() { <-workers }()
				return next()
			default:
				return sendertest.Reply(req, 429, ""), nil
			}
		})
		r.Upload(sendertest.Hotels("k", 200)...)
		require.NoError(t, r.Close())
	})
}

func TestRetriesThatAreOffAreOffForThrottlingToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: -1}, MaxBatchActions: 4})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-0"}, Status: 503}}})
		r.Upload(sendertest.Hotels("k", 200)...)
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.Equal(t, 1, r.Failure("k-0").Attempts)
	})
}

// After being turned away for an hour a document meets its first conflict, and
// does not wait for a minute because of it.
func TestTheWaitForAConflictDoesNotCountWhatThrottlingCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, MaxInFlight: 2, Retry: retry.Options{Jitter: -1}})
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

// What was refused while hardly anything got through waits no longer than the rest
// when the capacity is back.
func TestAServiceThatWasTooSlowForAWhileIsUsedFullyAgain(t *testing.T) {
	for _, slots := range []int{1, 8} {
		t.Run(fmt.Sprint(slots, " in flight"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.MaxInFlight = slots
				r := sendertest.NewOnService(t, &searchtest.Options{KeepChanges: 1 << 20}, opts)
				capacity := func(perSecond float64) {
					r.Service.SetFaults(&searchtest.Faults{Capacity: &searchtest.Capacity{DocumentsPerSecond: perSecond}})
				}
				capacity(50)
				r.Upload(sendertest.Hotels("k", 5000)...)
				time.Sleep(20 * time.Second)
				waiting := r.Sender.PendingActionCount()
				require.Greater(t, waiting, 3000)
				capacity(500)
				began := r.Now()
				require.NoError(t, r.Flush())
				assert.Less(t, r.Now()-began, 3*time.Duration(waiting)*time.Millisecond, "%d documents, 500 a second", waiting)
			})
		})
	}
}
