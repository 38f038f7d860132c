package bufferedsender_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAShortInterruptionIsFollowedByProgressWithinASecond(t *testing.T) {
	const interruption = 50 * time.Millisecond
	for _, inFlight := range []int{1, 3, 8} {
		t.Run(fmt.Sprintf("%d in flight", inFlight), func(t *testing.T) {
			for range 50 { // the draws of the jitter differ
				synctest.Test(t, func(t *testing.T) {
					opts := guarded(t)
					opts.Limits.MaxBatchActions, opts.Limits.MaxInFlight = 2, inFlight
					r := newRig(t, opts)
					r.respond(when(until(interruption), reset))
					r.upload(hotels("k", 40)...)
					require.NoError(t, r.flush())
					r.nothingFailed(40)
					assert.LessOrEqual(t, r.seen("completed")[0].at, interruption+time.Second)
				})
			}
		})
	}
}

func TestNobodyWaitsLongerForAnOutageThanItHasLasted(t *testing.T) {
	for name, a := range map[string]answer{"503": always(503, refusal("busy")), "429": always(429, ""), "500": always(500, ""), "reset": reset} {
		for _, n := range []int{1, 3, 4, 8} {
			for _, documents := range []int{1, 30} {
				t.Run(fmt.Sprintf("%d × %s, %d documents", n, name, documents), func(t *testing.T) {
					for range 10 {
						synctest.Test(t, func(t *testing.T) {
							r := newRig(t, guarded(t))
							r.respond(onlyFirst(n, a))
							r.upload(hotels("k", documents)...)
							require.NoError(t, r.flush())
							r.nothingFailed(documents)
							xs := r.requests()
							for i, x := range xs[1 : n+1] {
								assert.LessOrEqual(t, x.at-xs[i].end, max(time.Second, xs[i].end), "after %d failures", i+1)
							}
						})
					}
				})
			}
		}
	}
}

func TestAnOutageLastsNoLongerThanThirtySecondsMore(t *testing.T) {
	for _, outage := range []time.Duration{10 * time.Second, 5 * time.Minute, 3 * time.Hour} {
		t.Run(outage.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, guarded(t))
				// Of all requests, so that a Ping is not answered either.
				r.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{For: searchtest.Duration(outage), Cut: searchtest.CutBeforeCommit}}})
				r.upload(hotels("k", 3)...)
				require.NoError(t, r.flush())
				r.nothingFailed(3)
				assert.LessOrEqual(t, r.now(), outage+min(outage, 30*time.Second))
			})
		})
	}
}

func TestWhatIsWrongWithTheAddressOrTheKeyFailsNothing(t *testing.T) {
	for _, status := range []int{401, 403, 404, 302, 405, 421, 418, 520, 501} {
		for _, inFlight := range []int{1, 8} {
			t.Run(fmt.Sprintf("%d, %d in flight", status, inFlight), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := guarded(t)
					opts.Limits.MaxBatchActions, opts.Limits.MaxInFlight = 10, inFlight
					if status < 500 {
						opts.Retry = retry.Options{MaxRetries: -1} // not even then
					}
					r := newRig(t, opts)
					r.respond(when(until(5*time.Minute), func(_ int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
						time.Sleep(10 * time.Millisecond)
						return reply(req, status, ""), nil
					}))
					r.upload(hotels("k", 100)...)
					time.Sleep(time.Minute)
					assert.Equal(t, events.CircuitOpen, r.sender.Health().State)
					assert.LessOrEqual(t, len(r.requests()), 3*inFlight+20, "but for a probe now and then nothing is sent")
					require.NoError(t, r.flush())
					r.nothingFailed(100)
					assert.LessOrEqual(t, r.now(), 5*time.Minute+31*time.Second)
				})
			})
		}
	}
}
