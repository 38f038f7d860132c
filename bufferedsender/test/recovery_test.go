package test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
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
					opts := sendertest.WithBreaker(t)
					opts.MaxBatchActions, opts.MaxInFlight = 2, inFlight
					r := sendertest.New(t, opts)
					r.Respond(sendertest.When(sendertest.Before(interruption), sendertest.BreakConnection))
					r.Upload(sendertest.Hotels("k", 40)...)
					require.NoError(t, r.Flush())
					r.AllCompleted(40)
					assert.LessOrEqual(t, r.Events("completed")[0].At, interruption+time.Second)
				})
			}
		})
	}
}

func TestNobodyWaitsLongerForAnOutageThanItHasLasted(t *testing.T) {
	for name, a := range map[string]sendertest.Answer{"503": sendertest.Always(503, sendertest.ErrorBody("busy")), "429": sendertest.Always(429, ""), "500": sendertest.Always(500, ""), "reset": sendertest.BreakConnection} {
		for _, n := range []int{1, 3, 4, 8} {
			for _, documents := range []int{1, 30} {
				t.Run(fmt.Sprintf("%d × %s, %d documents", n, name, documents), func(t *testing.T) {
					for range 10 {
						synctest.Test(t, func(t *testing.T) {
							r := sendertest.New(t, sendertest.WithBreaker(t))
							r.Respond(sendertest.First(n, a))
							r.Upload(sendertest.Hotels("k", documents)...)
							require.NoError(t, r.Flush())
							r.AllCompleted(documents)
							xs := r.Requests()
							for i, x := range xs[1 : n+1] {
								assert.LessOrEqual(t, x.At-xs[i].End, max(time.Second, xs[i].End), "after %d failures", i+1)
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
				r := sendertest.New(t, sendertest.WithBreaker(t))
				// Of all requests, so that a Ping is not answered either.
				r.Service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{For: searchtest.Duration(outage), Cut: searchtest.CutBeforeCommit}}})
				r.Upload(sendertest.Hotels("k", 3)...)
				require.NoError(t, r.Flush())
				r.AllCompleted(3)
				assert.LessOrEqual(t, r.Now(), outage+min(outage, 30*time.Second))
			})
		})
	}
}

func TestWhatIsWrongWithTheAddressOrTheKeyFailsNothing(t *testing.T) {
	for _, status := range []int{401, 403, 404, 302, 405, 421, 418, 520, 501} {
		for _, inFlight := range []int{1, 8} {
			t.Run(fmt.Sprintf("%d, %d in flight", status, inFlight), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := sendertest.WithBreaker(t)
					opts.MaxBatchActions, opts.MaxInFlight = 10, inFlight
					if status < 500 {
						opts.Retry = retry.Options{MaxRetries: -1} // not even then
					}
					r := sendertest.New(t, opts)
					r.Respond(sendertest.When(sendertest.Before(5*time.Minute), func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
						time.Sleep(10 * time.Millisecond)
						return sendertest.Reply(req, status, ""), nil
					}))
					r.Upload(sendertest.Hotels("k", 100)...)
					time.Sleep(time.Minute)
					assert.Equal(t, events.CircuitOpen, r.Sender.Health().State)
					assert.LessOrEqual(t, len(r.Requests()), 3*inFlight+20, "but for a probe now and then nothing is sent")
					require.NoError(t, r.Flush())
					r.AllCompleted(100)
					assert.LessOrEqual(t, r.Now(), 5*time.Minute+31*time.Second)
				})
			})
		}
	}
}
