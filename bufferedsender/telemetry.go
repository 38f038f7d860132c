package bufferedsender

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/publisher"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of the instrumentation.
const scope = "github.com/go-azsearch/azsearch/bufferedsender"

// maxLinks is how many adding spans the span of a batch is linked to.
const maxLinks = 128

// telemetry holds the instruments of a sender. The names follow OpenTelemetry's
// conventions for database clients; what those have no name for is under
// azsearch.sender. Every attribute has few values: the index, never a key.
type telemetry struct {
	tracer trace.Tracer
	index  string
	common []attribute.KeyValue
	base   metric.MeasurementOption // common

	operations metric.Float64Histogram
	added      metric.Int64Counter
	settledN   metric.Int64Counter
	retriedN   metric.Int64Counter
	settleTime metric.Float64Histogram
	waitTime   metric.Float64Histogram
	batchItems metric.Int64Histogram
	batchBytes metric.Int64Histogram
	splits     metric.Int64Counter
	throttles  metric.Float64Histogram
	panics     metric.Int64Counter
	changes    metric.Int64Counter
	letters    metric.Int64Counter

	queueItems, queueBytes, queueCapacity, byteCapacity, blocked metric.Int64ObservableUpDownCounter
	inFlight, concurrency, batchLimit, actionsLimit              metric.Int64ObservableUpDownCounter
	foldedN, supersededN, purgedN, throttledN, flushesN          metric.Int64ObservableCounter
	breakerState                                                 metric.Int64ObservableGauge
	oldestAge, interval                                          metric.Float64ObservableGauge

	meter      metric.Meter
	unregister sync.Once
	registered metric.Registration

	// Of the publisher goroutine: what was settled since flushSettled.
	tally map[outcomeKey]int64
	timed bool
}

type outcomeKey struct {
	typ     models.ActionType
	outcome publisher.Outcome
	status  int
}

func newTelemetry[T any](indexer any, o *Options[T]) (*telemetry, error) {
	t := &telemetry{
		tracer: o.TracerProvider.Tracer(scope),
		meter:  o.MeterProvider.Meter(scope),
		tally:  make(map[outcomeKey]int64),
		common: []attribute.KeyValue{
			attribute.String("db.system.name", "azure.search"),
			attribute.String("azure.resource_provider.namespace", "Microsoft.Search"),
		},
	}
	if named, ok := indexer.(interface{ IndexName() string }); ok {
		t.index = named.IndexName()
		t.common = append(t.common, attribute.String("db.collection.name", t.index))
	}
	if reachable, ok := indexer.(interface{ Endpoint() string }); ok {
		if u, err := url.Parse(reachable.Endpoint()); err == nil && u.Hostname() != "" {
			service, _, _ := strings.Cut(u.Hostname(), ".")
			t.common = append(t.common, attribute.String("server.address", u.Hostname()), attribute.String("db.namespace", service))
			if port, err := strconv.Atoi(u.Port()); err == nil && port != 443 {
				t.common = append(t.common, attribute.Int("server.port", port))
			}
		}
	}
	t.base = metric.WithAttributeSet(attribute.NewSet(t.common...))
	return t, t.makeInstruments()
}

func (t *telemetry) makeInstruments() error {
	var errs []error
	counter := func(name, unit, text string) metric.Int64Counter {
		c, err := t.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return c
	}
	seconds := func(name, text string) metric.Float64Histogram {
		h, err := t.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(text),
			metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60))
		errs = append(errs, err)
		return h
	}
	sizes := func(name, unit, text string, bounds ...float64) metric.Int64Histogram {
		h, err := t.meter.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(bounds...))
		errs = append(errs, err)
		return h
	}
	level := func(name, unit, text string) metric.Int64ObservableUpDownCounter {
		u, err := t.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return u
	}
	t.operations = seconds("db.client.operation.duration", "Duration of requests to index documents.")
	t.added = counter("azsearch.sender.items.added", "{item}", "Actions accepted.")
	t.settledN = counter("azsearch.sender.items.settled", "{item}", "Actions settled, by outcome, status and action.")
	t.retriedN = counter("azsearch.sender.items.retried", "{item}", "Actions to be sent again after a failed attempt, by status.")
	t.settleTime = seconds("azsearch.sender.item.settle.duration", "Time from acceptance to outcome.")
	t.waitTime = seconds("azsearch.sender.item.wait.duration", "Time from acceptance to the first request.")
	t.batchItems = sizes("azsearch.sender.batch.items", "{item}", "Actions in a request.", 1, 10, 50, 100, 250, 500, 1000, 4000, 16000, 32000)
	t.batchBytes = sizes("azsearch.sender.batch.bytes", "By", "Size of a request body.", 1e3, 1e4, 1e5, 2.5e5, 5e5, 1e6, 2e6, 4e6, 8e6, 16e6)
	t.splits = counter("azsearch.sender.batch.splits", "{request}", "Requests refused as a whole and sent again in parts.")
	t.throttles = seconds("azsearch.sender.throttle.delay", "How long sending was held after throttling or a broken connection.")
	t.panics = counter("azsearch.sender.callback.panics", "{panic}", "Panics recovered in handlers.")
	t.queueItems = level("azsearch.sender.queue.items", "{item}", "Actions accepted and not settled.")
	t.queueBytes = level("azsearch.sender.queue.bytes", "By", "Size of the actions accepted and not settled.")
	t.queueCapacity = level("azsearch.sender.queue.capacity", "{item}", "Actions the buffer has room for.")
	t.byteCapacity = level("azsearch.sender.queue.capacity.bytes", "By", "Bytes the buffer has room for.")
	t.inFlight = level("azsearch.sender.requests.inflight", "{request}", "Requests under way.")
	t.concurrency = level("azsearch.sender.concurrency.limit", "{request}", "Requests that may be under way at once.")
	t.actionsLimit = level("azsearch.sender.batch.actions.limit", "{item}", "How many actions a request may have now.")
	t.blocked = level("azsearch.sender.adders.blocked", "{call}", "Adding calls that wait for room.")
	total := func(name, unit, text string) metric.Int64ObservableCounter {
		c, err := t.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return c
	}
	t.foldedN = total("azsearch.sender.items.folded", "{item}", "Actions that travelled as part of another of their key.")
	t.supersededN = total("azsearch.sender.items.superseded", "{item}", "Actions that did not travel because a newer version did.")
	t.purgedN = total("azsearch.sender.items.purged", "{item}", "Actions given up to make room; they are settled as failed.")
	t.throttledN = total("azsearch.sender.items.throttled", "{item}", "Documents refused with status 503 inside a reply.")
	t.flushesN = total("azsearch.sender.flushes", "{flush}", "Calls of Flush, and times that the interval was up.")
	t.changes = counter("azsearch.sender.health.changes", "{change}", "Changes of the condition of the sender, by the new one.")
	t.letters = counter("azsearch.sender.dead_letters", "{item}", "Actions handed to the dead letters, by whether they were taken.")
	var err error
	t.breakerState, err = t.meter.Int64ObservableGauge("azsearch.sender.breaker.state", metric.WithUnit("{state}"),
		metric.WithDescription("0 closed, 1 half-open, 2 open, 3 disabled."))
	errs = append(errs, err)
	t.interval, err = t.meter.Float64ObservableGauge("azsearch.sender.request.interval", metric.WithUnit("s"),
		metric.WithDescription("Least time between the starts of two requests now."))
	errs = append(errs, err)
	t.oldestAge, err = t.meter.Float64ObservableGauge("azsearch.sender.queue.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest action that could be sent and was not."))
	errs = append(errs, err)
	t.batchLimit = level("azsearch.sender.batch.limit", "By", "How large a request may be now.")
	t.timed = t.settleTime.Enabled(context.Background())
	return errors.Join(errs...)
}

// observe reports the levels from snapshots until stop is called.
func (t *telemetry) observe(stats func() publisher.Stats, b *breaker.Breaker) error {
	var err error
	t.registered, err = t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := stats()
		o.ObserveInt64(t.queueItems, int64(s.Items), t.base)
		o.ObserveInt64(t.queueBytes, s.Bytes, t.base)
		o.ObserveInt64(t.queueCapacity, int64(s.Limits.Items), t.base)
		o.ObserveInt64(t.byteCapacity, s.Limits.Bytes, t.base)
		o.ObserveInt64(t.inFlight, int64(s.InFlight), t.base)
		o.ObserveInt64(t.concurrency, int64(s.Slots), t.base)
		o.ObserveInt64(t.batchLimit, int64(s.BatchBytes), t.base)
		o.ObserveInt64(t.actionsLimit, int64(s.BatchItems), t.base)
		o.ObserveInt64(t.blocked, int64(s.Waiting), t.base)
		o.ObserveInt64(t.foldedN, int64(s.Folded), t.base)
		o.ObserveInt64(t.supersededN, int64(s.Superseded), t.base)
		o.ObserveInt64(t.purgedN, int64(s.Purged), t.base)
		o.ObserveInt64(t.throttledN, int64(s.Throttled), t.base)
		o.ObserveInt64(t.flushesN, int64(s.Flushes), t.base)
		if b != nil {
			o.ObserveInt64(t.breakerState, int64(b.Status().State), t.base)
		}
		o.ObserveFloat64(t.interval, s.Interval.Seconds(), t.base)
		o.ObserveFloat64(t.oldestAge, s.OldestAge.Seconds(), t.base)
		return nil
	}, t.queueItems, t.queueBytes, t.queueCapacity, t.byteCapacity, t.inFlight, t.concurrency, t.batchLimit, t.actionsLimit, t.blocked,
		t.foldedN, t.supersededN, t.purgedN, t.throttledN, t.flushesN, t.breakerState, t.interval, t.oldestAge)
	return err
}

// stop ends the reporting of levels, so that a closed sender can be collected.
// The only error there can be is that the provider was shut down before.
func (t *telemetry) stop() {
	t.unregister.Do(func() { _ = t.registered.Unregister() })
}

func (t *telemetry) accepted(n int) {
	t.added.Add(context.Background(), int64(n), t.base)
}

// settled counts in a map of its own: one addition to a metric for each
// combination in a batch, not one for each action.
func (t *telemetry) settled(typ models.ActionType, outcome publisher.Outcome, status int, waited time.Duration) {
	t.tally[outcomeKey{typ, outcome, status}]++
	if t.timed {
		t.settleTime.Record(context.Background(), waited.Seconds(), t.base)
	}
}

// sent records how long the items of a batch that travel for the first time have
// waited.
func (t *telemetry) sent(attempt int, waited time.Duration) {
	if attempt == 1 {
		t.waitTime.Record(context.Background(), waited.Seconds(), t.base)
	}
}

func (t *telemetry) flushSettled() {
	for k, n := range t.tally {
		t.settledN.Add(context.Background(), n, t.base, metric.WithAttributes(
			attribute.String("azsearch.action", string(k.typ)),
			attribute.String("azsearch.outcome", outcomeName(k.outcome)),
			attribute.String("db.response.status_code", strconv.Itoa(k.status)),
		))
	}
	clear(t.tally)
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

func (t *telemetry) retried(status, n int) {
	t.retriedN.Add(context.Background(), int64(n), t.base,
		metric.WithAttributes(attribute.String("db.response.status_code", strconv.Itoa(status))))
}

func (t *telemetry) paused(wait time.Duration) {
	t.throttles.Record(context.Background(), wait.Seconds(), t.base)
}

func (t *telemetry) healthChanged(to events.HealthState) {
	t.changes.Add(context.Background(), 1, t.base, metric.WithAttributes(attribute.String("azsearch.health", to.String())))
}

// deadLetters counts letters that were written, or could not be.
func (t *telemetry) deadLetters(n int, written bool) {
	outcome := "written"
	if !written {
		outcome = "lost"
	}
	t.letters.Add(context.Background(), int64(n), t.base, metric.WithAttributes(attribute.String("azsearch.outcome", outcome)))
}

func (t *telemetry) callbackPanicked() { t.panics.Add(context.Background(), 1, t.base) }

func (t *telemetry) batchCompleted(e *events.Batch) {
	ctx := context.Background()
	t.batchItems.Record(ctx, int64(e.Actions), t.base)
	t.batchBytes.Record(ctx, e.Bytes, t.base)
	if e.Split {
		t.splits.Add(ctx, 1, t.base)
	}
	attrs := []attribute.KeyValue{attribute.String("db.operation.name", "BATCH")}
	if e.StatusCode != 0 {
		attrs = append(attrs, attribute.String("db.response.status_code", strconv.Itoa(e.StatusCode)))
	}
	if e.Err != nil {
		attrs = append(attrs, attribute.String("error.type", errorType(e.StatusCode, e.Err)))
	}
	t.operations.Record(ctx, e.Duration.Seconds(), t.base, metric.WithAttributes(attrs...))
}

// errorType names an error with few values: the status, or what kind of trouble
// there was instead of a reply.
func errorType(status int, err error) string {
	switch {
	case errors.Is(err, models.ErrMalformedReply):
		return "malformed_reply"
	case status != 0:
		return strconv.Itoa(status)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	default:
		return "connection"
	}
}

// startBatch starts the span of a request. It is a root: a batch has no single
// parent among the calls that added its actions, so it is linked to them.
func startBatch[T any](ctx context.Context, t *telemetry, b *batch[T]) (context.Context, trace.Span) {
	name := operationName(b)
	attrs := append([]attribute.KeyValue{attribute.String("db.operation.name", name)}, t.common...)
	if len(b.Items) > 1 {
		attrs = append(attrs, attribute.Int("db.operation.batch.size", len(b.Items)))
	}
	if t.index != "" {
		name += " " + t.index
	}
	return t.tracer.Start(ctx, name, trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attrs...), trace.WithLinks(origins(b)...))
}

// operationName is "BATCH upload" for a batch of uploads only, and "BATCH" for
// a mixed one.
func operationName[T any](b *batch[T]) string {
	for i := range b.Items {
		if b.Items[i].Value.typ != b.Items[0].Value.typ {
			return "BATCH"
		}
	}
	return "BATCH " + string(b.Items[0].Value.typ)
}

// origins returns a link for each adding call, up to maxLinks.
func origins[T any](b *batch[T]) (links []trace.Link) {
	var last *trace.SpanContext
	add := func(origin *trace.SpanContext) {
		if origin == nil || origin == last {
			return // actions of one call mostly lie side by side
		}
		last = origin
		links = append(links, trace.Link{SpanContext: *origin})
	}
	for i := range b.Items {
		if len(links) == maxLinks {
			break
		}
		add(b.Items[i].Value.origin)
		for j := range b.Items[i].Parts {
			add(b.Items[i].Parts[j].Value.origin)
		}
	}
	return links[:min(len(links), maxLinks)]
}

func endBatch(span trace.Span, status int, requestID string, err error) {
	if status != 0 {
		span.SetAttributes(attribute.String("db.response.status_code", strconv.Itoa(status)))
	}
	if requestID != "" {
		span.SetAttributes(attribute.String("azure.service.request.id", requestID))
	}
	if err != nil {
		// Not the text: the service's explanations quote documents.
		span.SetAttributes(attribute.String("error.type", errorType(status, err)))
		span.SetStatus(codes.Error, errorType(status, err))
	}
	span.End()
}
