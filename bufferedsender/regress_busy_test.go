package bufferedsender_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
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
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 20}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
				faults := searchtest.Faults{Capacity: &searchtest.Capacity{DocumentsPerSecond: 2}}
				r.srv.SetFaults(&faults)
				r.upload(hotels("k", 200)...)
				time.Sleep(time.Minute)
				require.Zero(t, r.sender.Stats().Failed)
				last.Operation = searchtest.OpIndexDocuments
				faults.Rules = []searchtest.Fault{last}
				r.srv.SetFaults(&faults)
				assert.NoError(t, r.close())
			})
		})
	}
}

// All others get through, so it is not the capacity; but it passes.
func TestAPartOfTheServiceThatIsBusyForTenSecondsLosesNothing(t *testing.T) {
	for name, opts := range map[string]hotelOptions{
		"one request at a time": {Limits: bufferedsender.Limits{MaxBatchActions: 100}},
		"adaptive":              {Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxInFlight: 8}, Tuning: tuning.Adaptive(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Outage = bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}
				r := newRig(t, &opts)
				latency := searchtest.Duration(20 * time.Millisecond)
				r.faults(
					searchtest.Fault{For: searchtest.Duration(10 * time.Second), Delay: latency, Documents: []searchtest.DocumentFault{{Keys: []string{"k-7", "k-77"}, Status: 503}}},
					searchtest.Fault{Delay: latency},
				)
				r.upload(hotels("k", 5000)...)
				assert.NoError(t, r.close())
			})
		})
	}
}

// The requests that the service takes were under way when it refused others.
func TestALimitOfRequestsAtOnceDoesNotMakePausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 10}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
		workers := make(chan struct{}, 4)
		r.respond(func(_ int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			select {
			case workers <- struct{}{}:
				time.Sleep(100 * time.Millisecond)
				defer func() { <-workers }()
				return next()
			default:
				return reply(req, 429, ""), nil
			}
		})
		r.upload(hotels("k", 2000)...)
		require.NoError(t, r.close())
		assert.Less(t, r.now(), 2*time.Minute, "50 rounds of half a second")
	})
}

// One pause for all of a refused request: its documents travel together again.
func TestARefusedRequestDoesNotComeBackInCrumbs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 1000}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
		r.respond(func(n int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 8 {
				time.Sleep(10 * time.Millisecond)
				return reply(req, 429, ""), nil
			}
			time.Sleep(5 * time.Millisecond)
			return next()
		})
		r.upload(hotels("k", 8000)...)
		require.NoError(t, r.close())
		assert.Len(t, r.requests(), 9)
	})
}

// The breaker stays closed because the others get through, so they count.
func TestASmallSenderBesideALargeOneLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 5 { // it is a matter of luck
			opts := &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 10}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}}
			r := newRig(t, opts)
			r.srv.SetFaults(&searchtest.Faults{
				Rules:    []searchtest.Fault{{Delay: searchtest.Duration(100 * time.Millisecond)}},
				Capacity: &searchtest.Capacity{DocumentsPerSecond: 20, Reply: 429},
			})
			small, err := bufferedsender.New(r.client, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 9}, Outage: opts.Outage, Logger: mute})
			require.NoError(t, err)
			r.opts.Limits.MaxInFlight, r.unstopped = 9, true // what the rig checks is not for two senders
			r.upload(hotels("k", 1000)...)
			require.NoError(t, small.UploadDocuments(t.Context(), hotels("o", 200)...))
			closed := later(func() error { return small.Close(within(t, time.Hour)) })
			assert.NoError(t, r.close())
			assert.NoError(t, <-closed)
		}
	})
}

// As long as older requests of its own keep the service busy, nobody is turned
// away in vain.
func TestRequestsThatTakeLongDoNotLoseTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 10}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
		workers := make(chan struct{}, 4)
		r.respond(func(_ int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			select {
			case workers <- struct{}{}:
				time.Sleep(30 * time.Second)
				defer func() { <-workers }()
				return next()
			default:
				return reply(req, 429, ""), nil
			}
		})
		r.upload(hotels("k", 200)...)
		require.NoError(t, r.close())
	})
}

func TestRetriesThatAreOffAreOffForThrottlingToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: -1}, Limits: bufferedsender.Limits{MaxBatchActions: 4}})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-0"}, Status: 503}}})
		r.upload(hotels("k", 200)...)
		require.Equal(t, 1, flushFailures(t, r.flush()))
		assert.Equal(t, 1, r.failure("k-0").Attempts)
	})
}

// After being turned away for an hour a document meets its first conflict, and
// does not wait for a minute because of it.
func TestTheWaitForAConflictDoesNotCountWhatThrottlingCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}, Retry: retry.Options{Jitter: -1}})
		var turnedAway int
		r.respond(func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if x.keys[0] != "bad" {
				return next()
			}
			if turnedAway++; turnedAway <= 5 {
				r.upload(hotel{ID: "good"})
				time.Sleep(time.Second)
				return reply(req, 503, ""), nil
			}
			if turnedAway == 6 {
				return reply(req, 207, `{"value":[{"key":"bad","status":false,"statusCode":409}]}`), nil
			}
			return next()
		})
		r.upload(hotel{ID: "bad"})
		require.NoError(t, r.flush())
		at := []time.Duration{}
		for _, x := range r.requests() {
			if x.keys[0] == "bad" {
				at = append(at, x.at)
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
				opts := guarded(t)
				opts.Limits.MaxInFlight = slots
				r := newRigOn(t, &searchtest.Options{KeepChanges: 1 << 20}, opts)
				capacity := func(perSecond float64) {
					r.srv.SetFaults(&searchtest.Faults{Capacity: &searchtest.Capacity{DocumentsPerSecond: perSecond}})
				}
				capacity(50)
				r.upload(hotels("k", 5000)...)
				time.Sleep(20 * time.Second)
				waiting := r.sender.PendingActionCount()
				require.Greater(t, waiting, 3000)
				capacity(500)
				began := r.now()
				require.NoError(t, r.flush())
				assert.Less(t, r.now()-began, 3*time.Duration(waiting)*time.Millisecond, "%d documents, 500 a second", waiting)
			})
		})
	}
}
