package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// temperaments are configurations of a sender on which the sums must not depend. They are functions because a breaker
// is for one sender.
var temperaments = map[string]func(t *testing.T) sendertest.Options{
	"as it comes": func(*testing.T) sendertest.Options { return sendertest.Options{} },
	"folding": func(*testing.T) sendertest.Options {
		return sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: func(h sendertest.Hotel) int64 { return int64(h.Rooms % 7) }}}
	},
	"with a breaker": func(t *testing.T) sendertest.Options {
		return sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}}
	},
	"purging": func(t *testing.T) sendertest.Options {
		return sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), WhenFull: bufferedsender.PurgeOldest(bufferedsender.AllowLoss)}, Limits: bufferedsender.Limits{MaxBufferedActions: 30}}
	},
	"uploading after a merge of a missing document": func(*testing.T) sendertest.Options {
		return sendertest.Options{OnMergeMissing: bufferedsender.MergeMissingUpload}
	},
}

// eventCounts counts the events.
type eventCounts struct {
	retried, healthChanges, panics int
}

func (n *eventCounts) handlers() sendertest.Handlers {
	return sendertest.Handlers{
		BatchCompleted: func(_ context.Context, b *events.Batch) {
			if !errors.Is(b.Err, bufferedsender.ErrNotSent) {
				n.retried += b.Retried
			}
		},
		HealthChanged: func(context.Context, *events.HealthChange) { n.healthChanges++ },
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[sendertest.Hotel]) {
			if strings.HasSuffix(e.Key, "-3") {
				n.panics++
				panic("no third one")
			}
		},
	}
}

// In every fault scenario, and for all outcomes, the metrics add up whenever nothing runs, and after Close.
func TestMetricSumsAreTheOutcomesInEveryFaultScenario(t *testing.T) {
	for fault, script := range sendertest.FaultScripts {
		for temperament, options := range temperaments {
			t.Run("when "+fault+", "+temperament, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { addUp(t, script, options(t)) })
			})
		}
	}
}

func addUp(t *testing.T, script []searchtest.Fault, opts sendertest.Options) {
	events := &eventCounts{}
	opts.Limits.MaxBatchActions, opts.Limits.MaxInFlight, opts.DeadLetters, opts.Handlers = 10, 2, &sendertest.DeadLetters{}, events.handlers()
	r := sendertest.New(t, &opts)
	r.Faults(script...)
	for round := range 3 {
		// Their errors do not matter here: the breaker may delay them.
		ctx := sendertest.Within(t, 10*time.Minute)
		_ = r.Sender.UploadDocuments(ctx, sendertest.Hotels("k", 40)...)
		_ = r.Sender.MergeDocuments(ctx, sendertest.Hotels("m", 10)...)
		_ = r.Sender.DeleteDocumentsByKey(ctx, "k-1", "k-2")
		_ = r.Sender.UploadDocuments(ctx, sendertest.Hotels("k", 5)...)
		if round == 1 {
			time.Sleep(2 * time.Minute) // some of it is settled
		} else {
			_ = r.Sender.Flush(sendertest.Within(t, time.Hour), nil)
		}
		synctest.Wait()
		checkSums(r, events)
	}
	r.Respond(sendertest.Hang) // so that Close has unsent documents
	_ = r.Sender.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotels("last", 12)...)
	_ = r.Sender.Close(sendertest.Within(t, time.Minute))
	checkSums(r, events)
}

func checkSums(r *sendertest.Rig, events *eventCounts) {
	t, s, sums, counts := r.T, r.Sender.Stats(), map[string]int64{}, map[string]int64{}
	eachPoint(t, r.Metrics, func(p point) {
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
		"producers.blocked":              int64(s.BlockedProducers),
	} {
		assert.Equal(t, want, counts[name], "%s, at %s", name, r.Now())
	}
	assert.Equal(t, counts["items.added"], counts["items.settled"]+counts["queue.items"], "every accepted action is settled or waits")
	assert.EqualValues(t, events.panics, s.CallbackPanics)
	if s.InFlight == 0 {
		assert.Equal(t, s.BytesSent, sums["batch.bytes"], "bytes sent")
	}
}

// The reply after which the first document fails makes the second be retried.
func TestWhatIsGivenUpIsNotCountedAsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Retry: sendertest.RetryAtOnce, Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.Respond(func(n int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n == 3 { // while the first is sent for the third time
				r.Upload(sendertest.Hotel{ID: "second"})
			}
			return next()
		})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"first"}, Status: 409}, {Keys: []string{"second"}, Times: 1, Status: 409}}})
		r.Upload(sendertest.Hotel{ID: "first"})
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		require.NoError(t, r.Flush())
		retried := 0
		for _, e := range r.Events("batch") {
			retried += e.Batch.Retried
		}
		assert.Equal(t, 4, retried, "the first action was retried three times, the second once")
		assert.EqualValues(t, retried, sendertest.MetricSums(t, r.Metrics)["retried"])
	})
}

// Two requests in flight ask for a pause of 100 s, one second apart.
func TestAPauseIsMeasuredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 2, MaxBatchActions: 1}})
		r.Respond(func(n int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n > 2 {
				return next()
			}
			time.Sleep(time.Duration(n) * time.Second)
			return sendertest.Reply(req, 429, "", "Retry-After", "100"), nil
		})
		r.Upload(sendertest.Hotels("k", 2)...)
		require.NoError(t, r.Close())
		assert.Equal(t, 102*time.Second, r.Now())
		eachPoint(t, r.Metrics, func(p point) {
			if shorter(p.name) == "throttle.delay" {
				assert.InDelta(t, 101, p.sum, 0.001, "the time counts from the first reply")
			}
		})
	})
}

func TestTheMetricOfHealthSaysWhatHealthSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { <-release }}})
		r.Upload(sendertest.Hotel{ID: "k"})
		flushed := sendertest.Later(r.Flush)
		synctest.Wait()
		r.Sender.Pause() // while the sender's goroutine does not run
		require.Equal(t, events.HealthStatePaused, r.Sender.Health().State)
		assert.Equal(t, "paused", healthMetric(t, r))
		r.Sender.Resume()
		close(release)
		require.NoError(t, <-flushed)
	})
}

// healthMetric returns the state according to the metric.
func healthMetric(t *testing.T, r *sendertest.Rig) (state string) {
	eachPoint(t, r.Metrics, func(p point) {
		if shorter(p.name) == "health.state" && p.value == 1 {
			v, _ := p.attributes.Value("azsearch.health")
			state += v.AsString()
		}
	})
	return state
}

// points returns the value of each data point of a metric (the count of a histogram) by its attributes.
func points(t *testing.T, reader *sdkmetric.ManualReader, name string) map[attribute.Set]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &all))
	values := map[attribute.Set]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					values[p.Attributes] += p.Value
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					values[p.Attributes] += int64(p.Count)
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					values[p.Attributes] += int64(p.Count)
				}
			default:
				require.Fail(t, "unexpected kind of metric", "%T of %s", data, name)
			}
		}
	}
	return values
}

// by adds up points with the same value of an attribute.
func by(values map[attribute.Set]int64, key string) map[string]int64 {
	sums := map[string]int64{}
	for set, n := range values {
		v, _ := set.Value(attribute.Key(key))
		sums[v.String()] += n
	}
	return sums
}

func TestMetricsAddUpToTheOutcomes(t *testing.T) {
	for name, script := range sendertest.FaultScripts {
		t.Run("when "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 2}})
				r.Faults(script...)
				r.Upload(sendertest.Hotels("k", 60)...)
				require.NoError(t, r.Sender.DeleteDocumentsByKey(t.Context(), "k-1", "k-2"))
				r.Flush()
				s := r.Sender.Stats()
				const prefix = "azsearch.sender."
				settled := points(t, r.Metrics, prefix+"items.settled")
				outcomes := by(settled, "azsearch.outcome")
				var all int64
				for outcome, n := range outcomes {
					all += n
					assert.NotEmpty(t, outcome)
				}
				assert.Equal(t, s.Completed, outcomes["completed"])
				assert.Equal(t, s.Failed, all-outcomes["completed"])
				assert.EqualValues(t, 62, by(points(t, r.Metrics, prefix+"items.added"), "")[""])
				assert.EqualValues(t, 62, all)
				assert.Equal(t, map[string]int64{"upload": 60, "delete": 2}, by(settled, "azsearch.action"))
				statuses := map[string]int64{}
				for _, e := range r.Events("failed") {
					var failure *bufferedsender.ActionError
					require.ErrorAs(t, e.Err, &failure)
					statuses[fmt.Sprint(failure.Status)]++
				}
				for status, n := range statuses {
					assert.GreaterOrEqual(t, by(settled, "db.response.status_code")[status], n, "status %s", status)
				}
				sum := func(name string) (n int64) {
					for _, v := range points(t, r.Metrics, name) {
						n += v
					}
					return n
				}
				assert.Equal(t, s.Retries, sum(prefix+"items.retried"))
				assert.Equal(t, s.Requests, sum("db.client.operation.duration"))
				assert.Equal(t, s.Requests, sum(prefix+"batch.items"))
				assert.Equal(t, s.Requests, sum(prefix+"batch.bytes"))
				assert.EqualValues(t, 62, sum(prefix+"item.settle.duration"))
				assert.Zero(t, sum(prefix+"queue.items"))
				assert.Zero(t, sum(prefix+"queue.bytes"))
			})
		})
	}
	t.Run("the gauges report waiting actions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Upload(sendertest.Hotels("k", 7)...)
			for set, n := range points(t, r.Metrics, "azsearch.sender.queue.items") {
				assert.EqualValues(t, 7, n)
				index, _ := set.Value("db.collection.name")
				assert.Equal(t, "hotels", index.AsString())
			}
			require.NoError(t, r.Close())
			assert.Empty(t, points(t, r.Metrics, "azsearch.sender.queue.items"), "a closed sender reports nothing more")
		})
	})
	t.Run("the metrics contain no key and no content", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"SECRET-1"}, Status: 400, Message: "SECRET"}}})
			r.Upload(sendertest.Hotel{ID: "SECRET-0", Name: "SECRET"}, sendertest.Hotel{ID: "SECRET-1", Name: "SECRET"})
			r.Flush()
			var all metricdata.ResourceMetrics
			require.NoError(t, r.Metrics.Collect(t.Context(), &all))
			raw, err := json.Marshal(all)
			require.NoError(t, err)
			assert.NotContains(t, string(raw), "SECRET")
		})
	})
}
