package outages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestAShortInterruptionIsFollowedByProgressWithinASecond(t *testing.T) {
	const interruption = 50 * time.Millisecond
	for _, inFlight := range []int{1, 3, 8} {
		t.Run(fmt.Sprintf("%d in flight", inFlight), func(t *testing.T) {
			for range testkit.Cases(10, 50, 50) { // the jitter is random
				synctest.Test(t, func(t *testing.T) {
					opts := sendertest.WithBreaker(t)
					opts.Limits.MaxBatchActions, opts.Limits.MaxInFlight = 2, inFlight
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
					for range testkit.Cases(2, 10, 10) {
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
				// For all requests, so that a Ping fails too.
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
					opts.Limits.MaxBatchActions, opts.Limits.MaxInFlight = 10, inFlight
					if status < 500 {
						opts.Retry = retry.Options{MaxRetries: -1} // also without retries
					}
					r := sendertest.New(t, opts)
					r.Respond(sendertest.When(sendertest.Before(5*time.Minute), func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
						time.Sleep(10 * time.Millisecond)
						return sendertest.Reply(req, status, ""), nil
					}))
					r.Upload(sendertest.Hotels("k", 100)...)
					time.Sleep(time.Minute)
					assert.Equal(t, events.HealthStateCircuitOpen, r.Sender.Health().State)
					assert.LessOrEqual(t, len(r.Requests()), 3*inFlight+20, "no request except occasional probes")
					require.NoError(t, r.Flush())
					r.AllCompleted(100)
					assert.LessOrEqual(t, r.Now(), 5*time.Minute+31*time.Second)
				})
			})
		}
	}
}

// This is the only test of the breaker with real connections and a real clock: the service dies under load, stays
// down until the breaker is open and a probe has failed, and returns while no goroutine adds or flushes.
func TestAServiceThatDiesAndComesBackFindsTheQueueDrainingByItself(t *testing.T) {
	testkit.Long(t)
	const documents, keys = 4000, 900 // several versions of each key
	srv := searchtest.NewServer(&searchtest.Options{KeepContents: true})
	require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer func() { assert.NoError(t, srv.Close()) }()
	address := strings.TrimPrefix(srv.URL(), "http://")
	var reached atomic.Int64
	half := make(chan struct{})
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(2 * time.Millisecond)}}})

	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey), nil)
	require.NoError(t, err)
	b := sendertest.SteadyBreaker(t, &breaker.Options{OpenFor: 50 * time.Millisecond})
	type outcome struct {
		completed, failed int
		order             []any
	}
	var mu sync.Mutex
	outcomes, settled := map[string]*outcome{}, 0
	all := make(chan struct{})
	note := func(key string, tag any, f func(*outcome)) {
		mu.Lock()
		defer mu.Unlock()
		o := outcomes[key]
		if o == nil {
			o = &outcome{}
			outcomes[key] = o
		}
		f(o)
		o.order = append(o.order, tag)
		if settled++; settled == documents {
			close(all)
		}
	}
	sender, err := bufferedsender.New(client, &sendertest.Options{
		Limits:            bufferedsender.Limits{MaxBatchActions: 20, MaxInFlight: 4, MaxBufferedActions: documents},
		AutoFlushInterval: 5 * time.Millisecond,
		Outage:            bufferedsender.Hold{Breaker: b},
		Retry:             retry.Options{Delay: 5 * time.Millisecond, MaxDelay: 20 * time.Millisecond},
		Logger:            sendertest.NoLog,
		Handlers: sendertest.Handlers{
			ActionCompleted: func(_ context.Context, e *events.ActionCompleted[sendertest.Hotel]) {
				note(e.Key, e.Action.Tag, func(o *outcome) { o.completed++ })
				if reached.Add(1) == documents/3 {
					close(half)
				}
			},
			ActionFailed: func(_ context.Context, e *events.ActionFailed[sendertest.Hotel]) {
				note(e.Key, e.Action.Tag, func(o *outcome) { o.failed++ })
			},
		},
	})
	require.NoError(t, err)
	defer func() { assert.NoError(t, sender.Close(sendertest.Within(t, 10*time.Second))) }()
	opened, healed := make(chan struct{}, 1000), make(chan struct{}, 1000)
	defer b.Subscribe(func(c breaker.Change) {
		switch c.To {
		case breaker.Open:
			opened <- struct{}{}
		case breaker.Closed:
			healed <- struct{}{}
		}
	})()

	ctx := sendertest.Within(t, 20*time.Second)
	stopped := make(chan error, 1)
	go func() {
		<-half
		stopped <- srv.StopListening()
	}()
	wanted := map[string][]any{}
	for i := range documents {
		key := fmt.Sprint("k-", i%keys)
		wanted[key] = append(wanted[key], i)
		require.NoError(t, sender.IndexDocuments(ctx, sendertest.TaggedUpload(key, i)))
	}
	for range 2 { // it opens, and again after a failed probe
		select {
		case <-opened:
		case <-ctx.Done():
			require.Fail(t, "the breaker has not opened")
		}
	}
	require.NoError(t, <-stopped)
	pending := sender.Stats().PendingActions
	require.NotZero(t, pending, "the service died under load")
	sendertest.RequireCircuitOpen(t, sender.Flush(sendertest.Within(t, time.Millisecond), nil))
	require.NoError(t, srv.Listen(address))
	select { // without new traffic or Flush
	case <-all:
	case <-ctx.Done():
		require.Fail(t, "the queue has not drained", "%d of %d pending, %+v", sender.Stats().PendingActions, pending, sender.Health())
	}
	select {
	case <-healed:
	case <-ctx.Done():
		require.Fail(t, "the breaker has not closed")
	}
	require.NoError(t, sender.Flush(ctx, nil), "no document has failed")
	assert.Equal(t, breaker.Closed, b.Status().State)

	mu.Lock()
	defer mu.Unlock()
	stats := sender.Stats()
	assert.EqualValues(t, documents, stats.Accepted)
	assert.EqualValues(t, documents, stats.Completed)
	require.Len(t, outcomes, keys)
	for key, o := range outcomes {
		assert.Zero(t, o.failed, key)
		assert.Equal(t, wanted[key], o.order, "outcomes of %s", key)
		var stored sendertest.Hotel
		raw, _ := srv.Document("hotels", key)
		require.NoError(t, json.Unmarshal(raw, &stored))
		assert.Equal(t, wanted[key][len(wanted[key])-1], stored.Rooms, "%s in the index", key)
		newest := -1 // never an older version after a newer one, not even briefly
		for _, change := range srv.History("hotels", key) {
			var sent sendertest.Hotel
			require.NoError(t, json.Unmarshal(change.Document, &sent))
			assert.GreaterOrEqual(t, sent.Rooms, newest, "%s went back in time", key)
			newest = sent.Rooms
		}
	}
}
