package bufferedsender

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// scope is the name of the instrumentation.
const scope = "github.com/go-azsearch/azsearch/bufferedsender"

// telemetry records the metrics of a sender and creates its spans. Names follow OpenTelemetry's conventions for
// database clients, others are below azsearch.sender. Every attribute has few values: an index name, for example, but
// never a key.
//
// Values in a snapshot of the publisher are not counted again for each document; they are read at collection.
type telemetry struct {
	*instruments
	tracer trace.Tracer
	meter  metric.Meter
	index  string
	// endpoint is the address of the service, or "" if the Indexer has no method Endpoint.
	endpoint string
	common   []attribute.KeyValue
	base     metric.MeasurementOption // common
	alone    []metric.RecordOption    // base, for durations of single actions
	spans    spanStarts

	// Written by observe, before any other goroutine uses the sender.
	stats      func() publisher.Stats
	condition  func() publisher.Condition
	registered metric.Registration
	unregister sync.Once

	mu       sync.Mutex
	reported publisher.Stats // guarded by mu; the totals reported last

	// Owned by the publisher goroutine.
	timed bool                   // durations of single actions are recorded
	tally map[outcomeKey]*ending // of settled actions
	last  outcomeKey             // outcome of the last action
	run   int64                  // number of actions with that outcome not yet in tally
	ended [3]ending              // by publisher.Outcome, for durations
}

// outcomeKey identifies a kind of outcome.
type outcomeKey struct {
	typ     models.ActionType
	outcome publisher.Outcome
	status  int
}

// ending is shared by all actions with the same outcome. Its options are created once, on first use, to avoid
// allocations for each action.
type ending struct {
	uncounted int64 // actions not yet added to the counter
	counting  []metric.AddOption
	timing    []metric.RecordOption
}

func newTelemetry(indexer any, o *settings) (*telemetry, error) {
	t := &telemetry{
		tracer: o.TracerProvider.Tracer(scope),
		meter:  o.MeterProvider.Meter(scope),
		tally:  make(map[outcomeKey]*ending),
		common: []attribute.KeyValue{
			attribute.String("db.system.name", "azure.search"),
			attribute.String("azure.resource_provider.namespace", "Microsoft.Search"),
		},
	}
	endpoint, index := namesOf(indexer)
	if index != "" {
		t.index = index
		t.common = append(t.common, attribute.String("db.collection.name", t.index))
	}
	if endpoint != "" {
		if u, err := url.Parse(endpoint); err == nil && u.Hostname() != "" {
			t.endpoint = endpoint
			service, _, _ := strings.Cut(u.Hostname(), ".")
			t.common = append(t.common, attribute.String("server.address", u.Hostname()), attribute.String("db.namespace", service))
			if port, err := strconv.Atoi(u.Port()); err == nil && port != 443 {
				t.common = append(t.common, attribute.Int("server.port", port))
			}
		}
	}
	t.base = t.with()
	t.alone = []metric.RecordOption{t.base}
	var err error
	t.instruments, err = instrumentsOf(t.meter)
	return t, err
}

// namesOf returns the endpoint and index of an indexer, "" if it does not name them.
func namesOf(indexer any) (endpoint, index string) {
	if reachable, ok := indexer.(models.EndpointNamer); ok {
		endpoint = reachable.Endpoint()
	}
	if named, ok := indexer.(models.IndexNamer); ok {
		index = named.IndexName()
	}
	return endpoint, index
}

// with returns the measurement option for these attributes and the common ones.
func (t *telemetry) with(attrs ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(attrs, t.common...)...))
}

// observe reports levels and totals until stop is called.
func (t *telemetry) observe(stats func() publisher.Stats, condition func() publisher.Condition, g *gate) error {
	t.stats, t.condition = stats, condition
	var err error
	t.registered, err = t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := t.tellTotals()
		t.observeLevels(o, &s, g)
		return nil
	}, t.levels()...)
	return err
}

// stop ends the reporting, so that a closed sender can be garbage collected. Unregister fails only if the provider was
// shut down before, so its error is ignored.
func (t *telemetry) stop() {
	t.unregister.Do(func() {
		defer func() { _ = recover() }() // a panic of the meter must not stop Close
		_ = t.registered.Unregister()
		t.tellTotals()
	})
}

// tellTotals adds the increase since its last call to the counters and returns the snapshot. Observable counters would
// lose the totals of a closed sender. Zeros are added too, because no rate can be computed from a series that begins
// with its first event.
func (t *telemetry) tellTotals() publisher.Stats {
	t.mu.Lock()
	now, before := t.stats(), t.reported
	t.reported = now
	t.mu.Unlock()
	ctx := context.Background()
	t.itemsAdded.Add(ctx, int64(now.Accepted-before.Accepted), t.base)
	t.itemsFolded.Add(ctx, int64(now.Folded-before.Folded), t.base)
	t.itemsSuperseded.Add(ctx, int64(now.Superseded-before.Superseded), t.base)
	t.itemsPurged.Add(ctx, int64(now.Purged-before.Purged), t.base)
	t.itemsThrottled.Add(ctx, int64(now.Throttled-before.Throttled), t.base)
	t.batchSplits.Add(ctx, int64(now.Splits-before.Splits), t.base)
	t.flushes.Add(ctx, int64(now.Flushes-before.Flushes), t.base)
	t.producersWaits.Add(ctx, int64(now.Waits-before.Waits), t.base)
	t.callbackPanics.Add(ctx, 0, t.base)
	return now
}

// observeLevels reports current values.
func (t *telemetry) observeLevels(o metric.Observer, s *publisher.Stats, g *gate) {
	o.ObserveInt64(t.queueItems, int64(s.Items), t.base)
	o.ObserveInt64(t.queueBytes, s.Bytes, t.base)
	o.ObserveInt64(t.queueCapacity, int64(s.Limits.Items), t.base)
	o.ObserveInt64(t.queueCapacityBytes, s.Limits.Bytes, t.base)
	o.ObserveFloat64(t.queueOldestAge, s.OldestAge.Seconds(), t.base)
	o.ObserveInt64(t.producersBlocked, int64(s.Waiting), t.base)
	o.ObserveInt64(t.requestsInFlight, int64(s.InFlight), t.base)
	o.ObserveInt64(t.concurrencyLimit, int64(s.Slots), t.base)
	o.ObserveInt64(t.batchLimitItems, int64(s.BatchItems), t.base)
	o.ObserveInt64(t.batchLimitBytes, int64(s.BatchBytes), t.base)
	o.ObserveFloat64(t.requestInterval, s.Interval.Seconds(), t.base)
	if g != nil {
		o.ObserveInt64(t.breakerState, int64(g.worst()), t.base)
	}
	now := healthStates[t.condition().State]
	for health := events.HealthStateHealthy; health < events.HealthStateClosed; health++ {
		is := int64(0)
		if health == now {
			is = 1
		}
		o.ObserveInt64(t.healthState, is, t.with(healthAttribute(health)))
	}
}

// accepted runs after the publisher has accepted actions. It checks which durations are recorded, because a provider
// may be set while the sender runs.
func (t *telemetry) accepted(int) {
	ctx := context.Background()
	t.timed = t.settleDuration.Enabled(ctx) || t.waitDuration.Enabled(ctx)
}

// settled counts locally, so that the metric is incremented once for each kind of outcome in a batch, not for each
// action.
func (t *telemetry) settled(typ models.ActionType, outcome publisher.Outcome, status int, waited time.Duration) {
	if key := (outcomeKey{typ, outcome, status}); key != t.last {
		t.tallyRun()
		t.last = key
	}
	t.run++
	if t.timed {
		t.settleDuration.Record(context.Background(), waited.Seconds(), t.timing(outcome)...)
	}
}

// tallyRun moves run into tally.
func (t *telemetry) tallyRun() {
	if t.run == 0 {
		return
	}
	e := t.tally[t.last]
	if e == nil {
		e = new(ending)
		t.tally[t.last] = e
	}
	e.uncounted += t.run
	t.run = 0
}

// flushSettled adds the tally to the counter, or keeps it until a provider is set.
func (t *telemetry) flushSettled() {
	t.tallyRun()
	ctx := context.Background()
	if !t.itemsSettled.Enabled(ctx) {
		return
	}
	for key, e := range t.tally {
		if e.uncounted > 0 {
			if e.counting == nil {
				e.counting = []metric.AddOption{t.with(
					attribute.String("azsearch.action", string(key.typ)), t.outcome(key.outcome), statusAttribute(key.status),
				)}
			}
			t.itemsSettled.Add(ctx, e.uncounted, e.counting...)
			e.uncounted = 0
		}
	}
}

// timing returns the options for the duration of an action with this outcome.
func (t *telemetry) timing(outcome publisher.Outcome) []metric.RecordOption {
	e := &t.ended[outcome]
	if e.timing == nil {
		e.timing = []metric.RecordOption{t.with(t.outcome(outcome))}
	}
	return e.timing
}

func (t *telemetry) outcome(o publisher.Outcome) attribute.KeyValue {
	return attribute.String("azsearch.outcome", outcomeName(o))
}

func outcomeName(o publisher.Outcome) string {
	switch o {
	case publisher.Completed:
		return "completed"
	case publisher.Failed:
		return "failed"
	default:
		return "unsent"
	}
}

// sent records how long an item waited before its first request.
func (t *telemetry) sent(waited time.Duration) {
	t.waitDuration.Record(context.Background(), waited.Seconds(), t.alone...)
}

func (t *telemetry) retried(status, n int) {
	t.itemsRetried.Add(context.Background(), int64(n), t.with(statusAttribute(status)))
}

func (t *telemetry) paused(wait time.Duration) {
	t.throttleDelay.Record(context.Background(), wait.Seconds(), t.base)
}

func (t *telemetry) healthChanged(to events.HealthState) {
	t.healthChanges.Add(context.Background(), 1, t.with(healthAttribute(to)))
}

func healthAttribute(s events.HealthState) attribute.KeyValue {
	return attribute.String("azsearch.health", spelled(s))
}

// spelled returns a state as an attribute value.
func spelled(state fmt.Stringer) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(state.String())
}

// deadLetters counts dead letters as written, or as lost.
func (t *telemetry) deadLetters(n int, written bool) {
	outcome := "written"
	if !written {
		outcome = "lost"
	}
	t.letters.Add(context.Background(), int64(n), t.with(attribute.String("azsearch.dead_letter.outcome", outcome)))
}

func (t *telemetry) callbackPanicked() { t.callbackPanics.Add(context.Background(), 1, t.base) }

func (t *telemetry) batchCompleted(e *events.Batch) {
	ctx := context.Background()
	if t.batchItems.Enabled(ctx) {
		t.batchItems.Record(ctx, int64(e.Actions), t.base)
	}
	if t.batchBytes.Enabled(ctx) {
		t.batchBytes.Record(ctx, e.Bytes, t.base)
	}
	if !t.operationDuration.Enabled(ctx) {
		return // creating the attributes costs time
	}
	attrs := []attribute.KeyValue{attribute.String("db.operation.name", "BATCH")}
	if e.StatusCode != 0 {
		attrs = append(attrs, statusAttribute(e.StatusCode))
	}
	if e.Err != nil {
		attrs = append(attrs, attribute.String("error.type", errorType(e.StatusCode, e.Err)))
	}
	t.operationDuration.Record(ctx, e.Duration.Seconds(), t.with(attrs...))
}

// statusAttribute returns the status of an answer as text, as the conventions require. It is "0" where an attribute is
// mandatory.
func statusAttribute(status int) attribute.KeyValue {
	return attribute.String("db.response.status_code", strconv.Itoa(status))
}
