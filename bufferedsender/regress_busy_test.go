package bufferedsender_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
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
				r := newRig(t, &hotelOptions{MaxBatchActions: 20, Breaker: newBreaker(t, nil)})
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
		"one request at a time": {MaxBatchActions: 100},
		"adaptive":              {MaxBatchActions: 100, MaxInFlight: 8, Tuning: tuning.Adaptive(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Breaker = newBreaker(t, nil)
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
		r := newRig(t, &hotelOptions{MaxInFlight: 8, MaxBatchActions: 10, Breaker: newBreaker(t, nil)})
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
