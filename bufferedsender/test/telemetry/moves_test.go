package telemetry

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// serviceOfMove is the breaker of the service of a sender with two.
var serviceOfMove *breaker.Breaker

const answered200 = "name=BATCH,status_code=200"

// narrow is a policy with its own limits from the first request on.
type narrow struct{}

func (narrow) New(tuning.Bounds) tuning.Controller { return &narrowing{} }

type narrowing struct{ seen bool }

func (c *narrowing) Pace() tuning.Pace {
	if c.seen {
		return tuning.Pace{BatchActions: 7, BatchBytes: 7000, InFlight: 1, Interval: time.Millisecond}
	}
	return tuning.Pace{BatchActions: 10, BatchBytes: 10_000, InFlight: 2}
}

func (c *narrowing) Observe(tuning.Observation) tuning.Pace {
	c.seen = true
	return c.Pace()
}

// serviceIsGone makes the service fail until the breaker opens, with one action left.
func serviceIsGone(r *sendertest.Rig) {
	r.Respond(sendertest.Always(500, sendertest.ErrorBody("busy"), "Retry-After", "1"))
	r.Upload(sendertest.Hotel{ID: "first"})
	assert.ErrorIs(r.T, r.Sender.Flush(sendertest.Within(r.T, 10*time.Second), nil), bufferedsender.ErrCircuitOpen)
}

// movement is an event after others. want has the changes that it causes; nothing else may change.
type movement struct {
	opts   func(t *testing.T) *sendertest.Options
	before func(r *sendertest.Rig)
	act    func(r *sendertest.Rig)
	want   reading
}

var movements = map[string]movement{
	"nothing happens": {act: func(*sendertest.Rig) {}},
	"time passes":     {act: func(*sendertest.Rig) { time.Sleep(time.Hour) }},
	"an action is accepted": {
		act:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotel{ID: "a"}) },
		want: accepts(1),
	},
	"an action is refused": {
		act: func(r *sendertest.Rig) {
			assert.Error(r.T, r.Sender.UploadDocuments(r.T.Context(), sendertest.Hotel{ID: "_"}))
		},
		want: reading{"items.rejected{type=invalid_key}": 1},
	},
	"documents are left out of a sequence": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 1000}}
		},
		act: func(r *sendertest.Rig) {
			large, action := sendertest.Hotel{ID: "a", Name: strings.Repeat("x", 1000)}, models.UploadAction[sendertest.Hotel]
			seq := func(yield func(models.IndexDocumentsAction[sendertest.Hotel], error) bool) {
				_ = yield(action(large), nil) && yield(action(sendertest.Hotel{ID: "b"}), nil) && yield(action(large), nil) &&
					yield(models.IndexDocumentsAction[sendertest.Hotel]{Type: "x"}, nil)
			}
			require.NoError(r.T, r.Sender.IndexSeq(r.T.Context(), seq, &bufferedsender.IndexSeqOptions{OnRejected: func(*bufferedsender.AddError) error { return nil }}))
		},
		want: together(accepts(1), reading{"items.rejected{type=too_large}": 2, "items.rejected{type=not_encodable}": 1}),
	},
	"there is no room for an action": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 2}}
		},
		before: func(r *sendertest.Rig) { r.Sender.Pause(); r.Upload(sendertest.Hotels("k", 2)...) },
		act: func(r *sendertest.Rig) {
			assert.ErrorIs(r.T, r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "a"})), bufferedsender.ErrBufferFull)
		},
	},
	"an action waits": {
		before: func(r *sendertest.Rig) { r.Upload(sendertest.Hotel{ID: "a"}) },
		act:    func(*sendertest.Rig) { time.Sleep(3 * time.Second) },
		want:   reading{"queue.oldest_age": 3},
	},
	"the interval is up, and actions are created": {
		before: func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 3)...) },
		act:    func(*sendertest.Rig) { time.Sleep(time.Minute) },
		want: together(reading{"flushes": 1, "queue.items": -3, "queue.bytes": somehow},
			oneRequest(3, answered200), settles(3, "completed", "201")),
	},
	"Flush has nothing to do": {
		act:  func(r *sendertest.Rig) { require.NoError(r.T, r.Flush()) },
		want: reading{"flushes": 1, "drain.duration{outcome=ok}": 1},
	},
	"a Flush is given up": {
		before: func(r *sendertest.Rig) { r.Sender.Pause(); r.Upload(sendertest.Hotel{ID: "a"}) },
		act: func(r *sendertest.Rig) {
			ctx, cancel := context.WithCancel(r.T.Context())
			cancel()
			assert.ErrorIs(r.T, r.Sender.Flush(ctx, nil), context.Canceled)
		},
		want: reading{"flushes": 1, "drain.duration{outcome=cancelled}": 1},
	},
	"a full batch is sent automatically": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}}
		},
		act:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 4)...) },
		want: together(reading{"items.added": 4}, oneRequest(2, answered200), oneRequest(2, answered200), settles(4, "completed", "201")),
	},
	"other actions than uploads": {
		act: func(r *sendertest.Rig) {
			require.NoError(r.T, r.Sender.MergeOrUploadDocuments(r.T.Context(), sendertest.Hotel{ID: "a"}))
			require.NoError(r.T, r.Sender.DeleteDocumentsByKey(r.T.Context(), "b"))
			require.NoError(r.T, r.Flush())
		},
		want: together(reading{
			"items.added": 2, "flushes": 1, "drain.duration{outcome=ok}": 1, "item.settle.duration{outcome=completed}": 2,
			"items.settled{action=mergeOrUpload,outcome=completed,status_code=201}": 1,
			"items.settled{action=delete,outcome=completed,status_code=200}":        1,
		}, oneRequest(2, answered200)),
	},
	"a request is under way": {
		before: func(r *sendertest.Rig) {
			r.Respond(sendertest.Hang)
			r.Abandoned = true // because Close must not wait
			r.T.Cleanup(func() { _ = r.Sender.Close(sendertest.Within(r.T, time.Millisecond)) })
		},
		act: func(r *sendertest.Rig) {
			r.Upload(sendertest.Hotel{ID: "a"})
			go func() { _ = r.Flush() }()
		},
		want: together(accepts(1), reading{"flushes": 1, "requests.inflight": 1, "item.wait.duration": 1}),
	},
	"an adding call waits for room": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 2}}
		},
		before: func(r *sendertest.Rig) { r.Sender.Pause(); r.Upload(sendertest.Hotels("k", 2)...) },
		act: func(r *sendertest.Rig) {
			go r.Sender.UploadDocuments(sendertest.Within(r.T, time.Hour), sendertest.Hotel{ID: "a"}) //nolint:errcheck // accepted at the end
		},
		want: reading{"producers.blocked": 1, "producers.waits": 1},
	},
	"a document is refused": {
		before: func(r *sendertest.Rig) {
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-0"}, Status: 400}}})
		},
		act: func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); r.Flush() },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=failed}": 1}, oneRequest(2, "name=BATCH,status_code=207"),
			settles(1, "failed", "400"), settles(1, "completed", "201")),
	},
	"a document meets a conflict": {
		before: func(r *sendertest.Rig) {
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-0"}, Status: 409, Nth: 1}}})
		},
		act: func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); require.NoError(r.T, r.Flush()) },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=ok}": 1, "items.retried{status_code=409}": 1},
			oneRequest(2, "name=BATCH,status_code=207"), oneRequest(0, answered200), settles(2, "completed", "201")),
	},
	"a document is throttled": {
		before: func(r *sendertest.Rig) {
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-0"}, Status: 503, Nth: 1}}})
		},
		act: func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); require.NoError(r.T, r.Flush()) },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=ok}": 1, "items.retried{status_code=503}": 1, "items.throttled": 1, "throttle.delay": 1},
			oneRequest(2, "name=BATCH,status_code=207"), oneRequest(0, answered200), settles(2, "completed", "201"),
			becomes("healthy", "throttled"), becomes("throttled", "healthy")),
	},
	"requests are throttled until the attempts are used up": {
		before: func(r *sendertest.Rig) { r.Faults(searchtest.Fault{Status: 429}) },
		act:    func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); r.Flush() },
		want: together(reading{
			"items.added": 2, "flushes": 1, "drain.duration{outcome=failed}": 1, "items.retried{status_code=429}": 6, "throttle.delay": 5, // before the last attempt one is sent alone
			"operation.duration{name=BATCH,status_code=429,type=429}": 5, "batch.items": 5, "batch.bytes": 5, "item.wait.duration": 2,
		}, settles(2, "failed", "429"), becomes("healthy", "throttled"), reading{"health.changes{health=throttled}": 4, "health.changes{health=healthy}": 4}), // after each pause
	},
	"the connection is lost": {
		before: func(r *sendertest.Rig) { r.Faults(searchtest.Fault{Count: 1, Cut: searchtest.CutBeforeCommit}) },
		act:    func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); require.NoError(r.T, r.Flush()) },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=ok}": 1, "items.retried{status_code=0}": 2, "throttle.delay": 1},
			oneRequest(2, "name=BATCH,type=connection"), oneRequest(0, answered200), settles(2, "completed", "201"),
			becomes("healthy", "throttled"), becomes("throttled", "healthy")),
	},
	"a request times out": {
		before: func(r *sendertest.Rig) { r.Respond(sendertest.First(1, sendertest.Hang)) },
		act:    func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); require.NoError(r.T, r.Flush()) },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=ok}": 1, "items.retried{status_code=0}": 2, "throttle.delay": 1},
			oneRequest(2, "name=BATCH,type=timeout"), oneRequest(0, answered200), settles(2, "completed", "201"),
			becomes("healthy", "throttled"), becomes("throttled", "healthy")),
	},
	"a request is too large": {
		before: func(r *sendertest.Rig) { r.Faults(searchtest.Fault{Count: 1, Status: 413}) },
		act:    func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); require.NoError(r.T, r.Flush()) },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=ok}": 1, "batch.splits": 1, "batch.limit.bytes": somehow},
			oneRequest(2, "name=BATCH,status_code=413,type=413"), oneRequest(0, answered200), oneRequest(0, answered200),
			settles(2, "completed", "201")),
	},
	"actions are folded": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}}
		},
		act: func(r *sendertest.Rig) {
			r.Upload(sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "a"})
			require.NoError(r.T, r.Flush())
		},
		want: together(reading{"items.added": 3, "flushes": 1, "drain.duration{outcome=ok}": 1, "items.folded": 2}, oneRequest(1, answered200), settles(3, "completed", "201")),
	},
	"an action is superseded": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: func(h sendertest.Hotel) int64 { return int64(h.Rooms) }}}
		},
		act: func(r *sendertest.Rig) {
			r.Upload(sendertest.Hotel{ID: "a", Rooms: 2}, sendertest.Hotel{ID: "a", Rooms: 1})
			require.NoError(r.T, r.Flush())
		},
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=ok}": 1, "items.superseded": 1}, oneRequest(1, answered200), settles(2, "completed", "201")),
	},
	"the breaker opens": {
		opts: func(t *testing.T) *sendertest.Options {
			return &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}}
		},
		act: serviceIsGone,
		want: together(accepts(1), reading{
			"flushes": 1, "drain.duration{outcome=timeout}": 1, "breaker.state": 2, "items.retried{status_code=500}": 3, "throttle.delay": 3,
			"operation.duration{name=BATCH,status_code=500,type=500}": 3, "batch.items": 3, "batch.bytes": 3, "item.wait.duration": somehow,
			"health.changes{health=throttled}": 2, "health.changes{health=healthy}": 2, "health.changes{health=circuit_open}": 1, "health.state{health=healthy}": -1, "health.state{health=circuit_open}": 1,
			"breaker.changes{state=open}": 1,
		}),
	},
	"the breaker is closed again": {
		opts: func(t *testing.T) *sendertest.Options {
			return &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}}
		},
		before: serviceIsGone,
		act:    func(r *sendertest.Rig) { r.Respond(nil); require.NoError(r.T, r.Flush()) },
		// The worker passes the reply to the breaker before the loop has it. Until then the pause after the last
		// failure is still visible.
		want: together(reading{"flushes": 1, "drain.duration{outcome=ok}": 1, "breaker.state": -2, "breaker.changes{state=half_open}": 1, "breaker.changes{state=closed}": 1, "queue.items": -1, "queue.bytes": somehow, "health.changes{health=throttled}": perhaps},
			oneRequest(0, answered200), settles(1, "completed", "201"), becomes("circuit_open", "healthy")),
	},
	"the breaker is disabled": {
		opts: func(t *testing.T) *sendertest.Options {
			return &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}}
		},
		act:  func(r *sendertest.Rig) { r.Sender.Breaker().Disable() },
		want: together(reading{"breaker.state": 3, "breaker.changes{state=disabled}": 1}, becomes("healthy", "circuit_open")),
	},
	"the breaker of the service is disabled": {
		opts: func(t *testing.T) *sendertest.Options {
			serviceOfMove = sendertest.SteadyBreaker(t, nil)
			return &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), Service: serviceOfMove}}
		},
		act:  func(*sendertest.Rig) { serviceOfMove.Disable() },
		want: together(reading{"breaker.state": 3}, becomes("healthy", "circuit_open")),
	},
	"actions are purged": {
		opts: func(t *testing.T) *sendertest.Options {
			return &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), WhenFull: bufferedsender.PurgeOldest(bufferedsender.AllowLoss)}, Limits: bufferedsender.Limits{MaxBufferedActions: 3}}
		},
		before: func(r *sendertest.Rig) { r.Sender.Breaker().Disable(); r.Upload(sendertest.Hotels("k", 3)...) },
		act:    func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("m", 2)...) },
		// The room may have been freed before the call waits for it.
		want: together(reading{"items.added": 2, "items.purged": 2, "producers.waits": perhaps}, settles(2, "failed", "0")),
	},
	"it is paused": {
		act:  func(r *sendertest.Rig) { r.Sender.Pause() },
		want: becomes("healthy", "paused"),
	},
	"it is resumed": {
		before: func(r *sendertest.Rig) { r.Sender.Pause() },
		act:    func(r *sendertest.Rig) { r.Sender.Resume() },
		want:   becomes("paused", "healthy"),
	},
	"limits are set": {
		act: func(r *sendertest.Rig) {
			_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBatchBytes: 1000, MaxInFlight: 3, MaxBufferedActions: 30, MaxBufferedBytes: 3000}})
			require.NoError(r.T, err)
		},
		want: reading{
			"batch.limit.items": 10 - bufferedsender.DefaultMaxBatchActions, "batch.limit.bytes": 1000 - search.DefaultMaxBatchBytes,
			"concurrency.limit": 2, "queue.capacity": 30 - bufferedsender.DefaultMaxBufferedActions,
			"queue.capacity_bytes": 3000 - bufferedsender.DefaultMaxBufferedBytes,
		},
	},
	"limits are tuned": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Tuning: narrow{}, Limits: bufferedsender.Limits{MaxInFlight: 5}}
		},
		act: func(r *sendertest.Rig) { r.Upload(sendertest.Hotel{ID: "a"}); require.NoError(r.T, r.Flush()) },
		want: together(reading{
			"items.added": 1, "flushes": 1, "drain.duration{outcome=ok}": 1, "batch.limit.items": -3, "batch.limit.bytes": -3000, "concurrency.limit": -1, "request.interval": 0.001,
		}, oneRequest(1, answered200), settles(1, "completed", "201")),
	},
	"dead letters are written": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{DeadLetters: &sendertest.DeadLetters{}}
		},
		before: func(r *sendertest.Rig) {
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400}}})
		},
		act: func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); r.Flush() },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=failed}": 1, "dead_letters{outcome=written}": 2},
			oneRequest(2, "name=BATCH,status_code=207"), settles(2, "failed", "400")),
	},
	"dead letters are lost": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{DeadLetters: &sendertest.DeadLetters{Fail: func() error { return errors.ErrUnsupported }}}
		},
		before: func(r *sendertest.Rig) {
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400}}})
		},
		act: func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); r.Flush() },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=failed}": 1, "dead_letters{outcome=lost}": 2},
			oneRequest(2, "name=BATCH,status_code=207"), settles(2, "failed", "400")),
	},
	"a handler panics": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { panic("no") }}}
		},
		act: func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...); require.NoError(r.T, r.Flush()) },
		want: together(reading{"items.added": 2, "flushes": 1, "drain.duration{outcome=ok}": 1, "callback.panics": 2},
			oneRequest(2, answered200), settles(2, "completed", "201")),
	},
}

func TestMetricsMoveWhenAndOnlyWhenTheirThingHappens(t *testing.T) {
	seen := map[string]map[string]bool{} // attributes by metric
	for name, c := range movements {
		t.Run("when "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opts *sendertest.Options
				if c.opts != nil {
					opts = c.opts(t)
				}
				r := sendertest.New(t, opts)
				synctest.Wait()
				if c.before != nil {
					c.before(r)
					synctest.Wait()
				}
				before := readMetrics(t, r.Metrics)
				c.act(r)
				synctest.Wait()
				moved := readMetrics(t, r.Metrics).since(before)
				want := together(c.want)
				for name, by := range want {
					switch {
					case math.IsInf(by, 0) && moved[name] != 0:
						moved[name] = by
					case math.IsNaN(by):
						delete(want, name)
						delete(moved, name)
					}
				}
				assert.Equal(t, want, together(moved))
				noteAttributes(t, r.Metrics, seen)
				r.Sender.Resume() // so that the test ends quickly
			})
		})
	}
	for name, row := range metricsOfTheManual(t) {
		if strings.HasPrefix(name, "azsearch.pool.") || strings.HasPrefix(name, "azsearch.fleet.") {
			continue // covered by the tests of the fleet
		}
		assert.Equal(t, row.attributes, strings.Join(slices.Sorted(maps.Keys(seen[name])), " "), "attributes of %s", name)
	}
}
