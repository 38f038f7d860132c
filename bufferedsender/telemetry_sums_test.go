package bufferedsender_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// temperaments are ways to configure a sender that the sums must not depend on.
// They are functions because a breaker is for one sender.
var temperaments = map[string]func(t *testing.T) hotelOptions{
	"as it comes": func(*testing.T) hotelOptions { return hotelOptions{} },
	"folding": func(*testing.T) hotelOptions {
		return hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: func(h hotel) int64 { return int64(h.Rooms % 7) }}}
	},
	"with a breaker": func(t *testing.T) hotelOptions {
		return hotelOptions{Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}}
	},
	"purging": func(t *testing.T) hotelOptions {
		return hotelOptions{Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil), WhenFull: bufferedsender.PurgeOldest(bufferedsender.AllowLoss)}, Limits: bufferedsender.Limits{MaxBufferedActions: 30}}
	},
	"creating what a merge misses": func(*testing.T) hotelOptions {
		return hotelOptions{OnMergeMissing: bufferedsender.MergeMissingUpload}
	},
}

// told counts what the events tell.
type told struct {
	retried, healthChanges, panics int
}

func (n *told) handlers() hotelHandlers {
	return hotelHandlers{
		BatchCompleted: func(_ context.Context, b *events.Batch) {
			if !errors.Is(b.Err, bufferedsender.ErrNotSent) {
				n.retried += b.Retried
			}
		},
		HealthChanged: func(context.Context, *events.HealthChange) { n.healthChanges++ },
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[hotel]) {
			if strings.HasSuffix(e.Key, "-3") {
				n.panics++
				panic("no third one")
			}
		},
	}
}

// In every fault scenario, and whatever becomes of the actions, the metrics add
// up: at every quiet moment, and when the sender is closed.
func TestMetricSumsAreTheOutcomesInEveryFaultScenario(t *testing.T) {
	for fault, script := range faultScripts {
		for temperament, options := range temperaments {
			t.Run("when "+fault+", "+temperament, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { addUp(t, script, options(t)) })
			})
		}
	}
}

func addUp(t *testing.T, script []searchtest.Fault, opts hotelOptions) {
	events := &told{}
	opts.Limits.MaxBatchActions, opts.Limits.MaxInFlight, opts.DeadLetters, opts.Handlers = 10, 2, letterBox{}, events.handlers()
	r := newRig(t, &opts)
	r.faults(script...)
	for round := range 3 {
		// Their errors are no subject here: the breaker may keep them waiting.
		ctx := within(t, 10*time.Minute)
		_ = r.sender.UploadDocuments(ctx, hotels("k", 40)...)
		_ = r.sender.MergeDocuments(ctx, hotels("m", 10)...)
		_ = r.sender.DeleteDocumentsByKey(ctx, "k-1", "k-2")
		_ = r.sender.UploadDocuments(ctx, hotels("k", 5)...)
		if round == 1 {
			time.Sleep(2 * time.Minute) // some of it is settled
		} else {
			_ = r.sender.Flush(within(t, time.Hour))
		}
		synctest.Wait()
		checkSums(r, events)
	}
	r.respond(hang) // so that Close has something to give up
	_ = r.sender.UploadDocuments(within(t, time.Minute), hotels("last", 12)...)
	_ = r.sender.Close(within(t, time.Minute))
	checkSums(r, events)
}

func checkSums(r *rig, events *told) {
	t, s, sums, counts := r.t, r.sender.Stats(), map[string]int64{}, map[string]int64{}
	eachPoint(t, r.reader, func(p point) {
		name := shorter(p.name)
		counts[name] += int64(p.value)
		sums[name] += int64(p.sum)
		if outcome, ok := p.attributes.Value("azsearch.outcome"); ok {
			counts[name+" "+outcome.AsString()] += int64(p.value)
		}
	})
	for name, want := range map[string]int64{
		"items.added":                    s.Accepted,
		"items.settled":                  s.Completed + s.Failed + s.Unsent,
		"items.settled completed":        s.Completed,
		"items.settled failed":           s.Failed,
		"items.settled unsent":           s.Unsent,
		"item.settle.duration completed": s.Completed,
		"item.settle.duration failed":    s.Failed,
		"item.settle.duration unsent":    s.Unsent,
		"items.retried":                  int64(events.retried),
		"items.folded":                   s.Folded,
		"items.superseded":               s.Superseded,
		"items.purged":                   s.Purged,
		"items.throttled":                s.Throttled,
		"batch.splits":                   s.Splits,
		"flushes":                        s.Flushes,
		"throttle.delay":                 s.Pauses,
		"operation.duration":             s.Requests - int64(s.InFlight),
		"batch.items":                    s.Requests - int64(s.InFlight),
		"batch.bytes":                    s.Requests - int64(s.InFlight),
		"dead_letters":                   s.DeadLetters,
		"callback.panics":                s.CallbackPanics,
		"health.changes":                 int64(events.healthChanges),
		"queue.items":                    int64(s.PendingActions),
		"queue.bytes":                    s.PendingBytes,
		"requests.inflight":              int64(s.InFlight),
		"adders.blocked":                 int64(s.BlockedAdders),
	} {
		assert.Equal(t, want, counts[name], "%s, at %s", name, r.now())
	}
	assert.Equal(t, counts["items.added"], counts["items.settled"]+counts["queue.items"], "every accepted action is settled or waits")
	assert.EqualValues(t, events.panics, s.CallbackPanics)
	if s.InFlight == 0 {
		assert.Equal(t, s.BytesSent, sums["batch.bytes"], "bytes sent")
	}
}

// The first of the two is given up in the reply after which the second is sent
// again.
func TestWhatIsGivenUpIsNotCountedAsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Retry: atOnce, Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.respond(func(n int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 3 { // while the first travels for the third time
				r.upload(hotel{ID: "second"})
			}
			return next()
		})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"first"}, Status: 409}, {Keys: []string{"second"}, Times: 1, Status: 409}}})
		r.upload(hotel{ID: "first"})
		require.Equal(t, 1, flushFailures(t, r.flush()))
		require.NoError(t, r.flush())
		retried := 0
		for _, e := range r.seen("batch") {
			retried += e.batch.Retried
		}
		assert.Equal(t, 4, retried, "three times the first, once the second")
		assert.EqualValues(t, retried, metricSums(t, r.reader)["retried"])
	})
}

// Two requests under way ask for a pause of 100 s, one a second after the other.
func TestAPauseIsMeasuredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 2, MaxBatchActions: 1}})
		r.respond(func(n int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n > 2 {
				return next()
			}
			time.Sleep(time.Duration(n) * time.Second)
			return reply(req, 429, "", "Retry-After", "100"), nil
		})
		r.upload(hotels("k", 2)...)
		require.NoError(t, r.close())
		assert.Equal(t, 102*time.Second, r.now())
		eachPoint(t, r.reader, func(p point) {
			if shorter(p.name) == "throttle.delay" {
				assert.InDelta(t, 101, p.sum, 0.001, "from the first reply on")
			}
		})
	})
}

func TestTheMetricOfHealthSaysWhatHealthSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, &hotelOptions{Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { <-release }}})
		r.upload(hotel{ID: "k"})
		flushed := later(r.flush)
		synctest.Wait()
		r.sender.Pause() // the sender's goroutine does not come to it
		require.Equal(t, events.Paused, r.sender.Health().State)
		assert.Equal(t, "paused", healthMetric(t, r))
		r.sender.Resume()
		close(release)
		require.NoError(t, <-flushed)
	})
}

// healthMetric returns the state that the metric has.
func healthMetric(t *testing.T, r *rig) (state string) {
	eachPoint(t, r.reader, func(p point) {
		if shorter(p.name) == "health.state" && p.value == 1 {
			v, _ := p.attributes.Value("azsearch.health")
			state += v.AsString()
		}
	})
	return state
}
