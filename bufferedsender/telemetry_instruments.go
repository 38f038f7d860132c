package bufferedsender

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// instruments are the metrics of a sender. TELEMETRY.md explains them to users; a test compares the two.
//
//archtest:long one for each metric of TELEMETRY.md
type instruments struct {
	// Histograms of requests.
	operationDuration      metric.Float64Histogram
	batchItems, batchBytes metric.Int64Histogram
	throttleDelay          metric.Float64Histogram
	// Histograms of actions.
	waitDuration, settleDuration metric.Float64Histogram
	// Histogram of calls of Flush.
	drainDuration metric.Float64Histogram

	// Totals from snapshots.
	itemsAdded, itemsFolded, itemsSuperseded, itemsPurged, itemsThrottled metric.Int64Counter
	batchSplits, flushes, producersWaits                                  metric.Int64Counter
	// Totals counted at each event, because they have attributes.
	itemsSettled, itemsRetried, itemsRejected              metric.Int64Counter
	letters, callbackPanics, healthChanges, breakerChanges metric.Int64Counter

	// Levels that can be summed over the senders of an index.
	queueItems, queueBytes, queueCapacity, queueCapacityBytes metric.Int64ObservableUpDownCounter
	producersBlocked, requestsInFlight, concurrencyLimit      metric.Int64ObservableUpDownCounter
	healthState                                               metric.Int64ObservableUpDownCounter
	// Levels that cannot be summed.
	batchLimitItems, batchLimitBytes, breakerState metric.Int64ObservableGauge
	queueOldestAge, requestInterval                metric.Float64ObservableGauge
}

// The bounds of histograms. The bounds for requests are those of the conventions. An action can wait a minute for a
// full batch, and for as long as an outage lasts.
var (
	requestSeconds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	actionSeconds  = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 900, 3600}
	delaySeconds   = []float64{0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	batchActions   = []float64{1, 10, 50, 100, 250, 500, 1000, 4000, 16_000, 32_000}
	bodySizes      = []float64{1e3, 1e4, 1e5, 2.5e5, 5e5, 1e6, 2e6, 4e6, 8e6, 16e6}
)

// latest holds the instruments created last. A program has one meter for possibly thousands of senders, and all of them
// can share its instruments. The cache is keyed by meter, not by provider, because a provider such as the global one
// may return another meter later.
var latest atomic.Pointer[struct {
	meter metric.Meter
	*instruments
}]

// instrumentsOf returns the instruments of a meter.
func instrumentsOf(meter metric.Meter) (*instruments, error) {
	comparable := reflect.ValueOf(meter).Comparable()
	if known := latest.Load(); known != nil && comparable && known.meter == meter {
		return known.instruments, nil
	}
	made, err := newInstruments(meter)
	if err == nil && comparable {
		latest.Store(&struct {
			meter metric.Meter
			*instruments
		}{meter, &made})
	}
	return &made, err
}

func newInstruments(meter metric.Meter) (instruments, error) {
	m := maker{meter: meter}
	i := instruments{
		operationDuration: m.seconds("db.client.operation.duration", requestSeconds, "Duration of requests to index documents."),
		batchItems:        m.sizes("azsearch.sender.batch.items", "{item}", batchActions, "Actions in a request."),
		batchBytes:        m.sizes("azsearch.sender.batch.bytes", "By", bodySizes, "Size of a request body."),
		throttleDelay:     m.seconds("azsearch.sender.throttle.delay", delaySeconds, "How long all sending was held after throttling or a broken connection."),
		waitDuration:      m.seconds("azsearch.sender.item.wait.duration", actionSeconds, "Time from acceptance to the first request."),
		settleDuration:    m.seconds("azsearch.sender.item.settle.duration", actionSeconds, "Time from acceptance to the outcome."),
		drainDuration:     m.seconds("azsearch.sender.drain.duration", actionSeconds, "Duration of calls of Flush, by how they ended."),

		itemsAdded:      m.counter("azsearch.sender.items.added", "{item}", "Actions accepted."),
		itemsSettled:    m.counter("azsearch.sender.items.settled", "{item}", "Actions settled, by outcome, status and type of action."),
		itemsRejected:   m.counter("azsearch.sender.items.rejected", "{item}", "Actions that adding calls refused for their content, by reason."),
		itemsRetried:    m.counter("azsearch.sender.items.retried", "{item}", "Actions put back to be sent again, by the status that caused it."),
		itemsThrottled:  m.counter("azsearch.sender.items.throttled", "{item}", "Actions refused with status 503 inside a reply."),
		itemsFolded:     m.counter("azsearch.sender.items.folded", "{item}", "Actions sent as part of another action of their key."),
		itemsSuperseded: m.counter("azsearch.sender.items.superseded", "{item}", "Actions not sent because a newer version was sent."),
		itemsPurged:     m.counter("azsearch.sender.items.purged", "{item}", "Actions given up to make room; they are settled as failed."),
		batchSplits:     m.counter("azsearch.sender.batch.splits", "{request}", "Requests refused as a whole and sent again in parts."),
		flushes:         m.counter("azsearch.sender.flushes", "{flush}", "Calls of Flush, and times that the interval was up."),
		producersWaits:  m.counter("azsearch.sender.producers.waits", "{wait}", "Times that an adding call began to wait for room."),
		letters:         m.counter("azsearch.sender.dead_letters", "{item}", "Actions handed to the dead letters, by whether they were taken."),
		callbackPanics:  m.counter("azsearch.sender.callback.panics", "{panic}", "Panics recovered in handlers."),
		healthChanges:   m.counter("azsearch.sender.health.changes", "{change}", "Changes of the condition of the sender, by the new one."),
		breakerChanges:  m.counter("azsearch.sender.breaker.changes", "{change}", "Changes of the index's breaker, by the new state."),

		queueItems:         m.level("azsearch.sender.queue.items", "{item}", "Actions accepted and not settled."),
		queueBytes:         m.level("azsearch.sender.queue.bytes", "By", "Size of the actions accepted and not settled."),
		queueCapacity:      m.level("azsearch.sender.queue.capacity", "{item}", "Actions the buffer has room for."),
		queueCapacityBytes: m.level("azsearch.sender.queue.capacity_bytes", "By", "Bytes the buffer has room for."),
		producersBlocked:   m.level("azsearch.sender.producers.blocked", "{call}", "Adding calls that wait for room."),
		requestsInFlight:   m.level("azsearch.sender.requests.inflight", "{request}", "Requests under way."),
		concurrencyLimit:   m.level("azsearch.sender.concurrency.limit", "{request}", "Requests that may be under way at once now."),
		healthState:        m.level("azsearch.sender.health.state", "{sender}", "Senders in each condition: of one sender 1 for its own, 0 for the others."),

		batchLimitItems: m.gauge("azsearch.sender.batch.limit.items", "{item}", "How many actions a request may have now."),
		batchLimitBytes: m.gauge("azsearch.sender.batch.limit.bytes", "By", "How large a request may be now."),
		breakerState:    m.gauge("azsearch.sender.breaker.state", "{state}", "0 closed, 1 half-open, 2 open, 3 disabled: the higher of index and service."),
		requestInterval: m.secondsGauge("azsearch.sender.request.interval", "Least time between the starts of two requests now."),
		queueOldestAge:  m.secondsGauge("azsearch.sender.queue.oldest_age", "Age of the oldest action that could be sent and never was."),
	}
	return i, errors.Join(m.errs...)
}

// levels are the observable instruments.
func (i *instruments) levels() []metric.Observable {
	return []metric.Observable{
		i.queueItems, i.queueBytes, i.queueCapacity, i.queueCapacityBytes, i.queueOldestAge, i.producersBlocked, i.requestsInFlight,
		i.concurrencyLimit, i.batchLimitItems, i.batchLimitBytes, i.requestInterval, i.breakerState, i.healthState,
	}
}

// maker creates instruments and collects the errors.
type maker struct {
	meter metric.Meter
	errs  []error
}

func (m *maker) counter(name, unit, text string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return c
}

func (m *maker) seconds(name string, bounds []float64, text string) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(bounds...))
	m.errs = append(m.errs, err)
	return h
}

func (m *maker) sizes(name, unit string, bounds []float64, text string) metric.Int64Histogram {
	h, err := m.meter.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(bounds...))
	m.errs = append(m.errs, err)
	return h
}

func (m *maker) level(name, unit, text string) metric.Int64ObservableUpDownCounter {
	u, err := m.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return u
}

func (m *maker) gauge(name, unit, text string) metric.Int64ObservableGauge {
	g, err := m.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return g
}

func (m *maker) secondsGauge(name, text string) metric.Float64ObservableGauge {
	g, err := m.meter.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return g
}

// The code in this file runs on the goroutines of callers and of code that changes the breaker. A panic of the meter is
// contained as on the publisher goroutine.

// drained records a call of Flush.
func (o *observer) drained(ctx context.Context, began time.Time, err error) {
	o.guardElsewhere(inMeterProvider, func() { o.telemetry.drained(ctx, began, err) })
}

// rejected counts an action that was refused for its content.
func (o *observer) rejected(err error) {
	o.guardElsewhere(inMeterProvider, func() { o.telemetry.rejected(err) })
}

// breakerChanged counts changes of the breaker.
func (o *observer) breakerChanged(c breaker.Change) {
	if c.From != c.To { // otherwise only a probe has ended
		o.guardElsewhere(inMeterProvider, func() { o.telemetry.breakerChanged(c.To) })
	}
}

func (t *telemetry) drained(ctx context.Context, began time.Time, err error) {
	if errors.Is(err, ErrInCallback) || !t.drainDuration.Enabled(ctx) {
		return // it did not wait
	}
	outcome := attribute.String("azsearch.drain.outcome", drainOutcome(ctx, err))
	t.drainDuration.Record(ctx, time.Since(began).Seconds(), t.with(outcome))
}

// drainOutcome names the result of a Flush. It checks the error first, because a Flush whose context ended may still
// have succeeded.
func drainOutcome(ctx context.Context, err error) string {
	flush, closed := (*FlushError)(nil), (*CloseError)(nil)
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &flush), errors.As(err, &closed):
		return "failed"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "cancelled"
	}
	return "failed" // the queue does not answer, or no process sends from it
}

func (t *telemetry) rejected(err error) {
	t.itemsRejected.Add(context.Background(), 1, t.with(attribute.String("error.type", rejection(err))))
}

// rejection names why a document was refused, with few values.
func rejection(err error) string {
	key := (*keys.InvalidKeyError)(nil)
	switch {
	case errors.Is(err, ErrDocumentTooLarge):
		return "too_large"
	case errors.As(err, &key):
		return "invalid_key"
	}
	return "not_encodable" // also for a nil patch and an unknown action type
}

func (t *telemetry) breakerChanged(to breaker.State) {
	t.breakerChanges.Add(context.Background(), 1, t.with(attribute.String("azsearch.breaker.state", spelled(to))))
}

// queueInstruments are the metrics of a durable queue, as each of its senders observes it. TELEMETRY.md explains them
// to users.
type queueInstruments struct {
	waiting, leased, parked, bytes       metric.Int64ObservableGauge
	oldestAge                            metric.Float64ObservableGauge
	appended, folded, expired, staleEnds metric.Int64ObservableCounter
}

// observeQueue reports the state of a queue until stop is called. The queue is asked only when metrics are collected.
func (t *telemetry) observeQueue(look func() (queue.Stats, error)) (stop func(), err error) {
	m := maker{meter: t.meter}
	i := queueInstruments{
		waiting:   m.gauge("azsearch.queue.waiting", "{key}", "Keys with changes that wait in the queue."),
		leased:    m.gauge("azsearch.queue.leased", "{key}", "Keys that some sender has reserved."),
		parked:    m.gauge("azsearch.queue.parked", "{key}", "Keys that wait for an operator."),
		bytes:     m.gauge("azsearch.queue.bytes", "By", "Size of all that is in the queue."),
		oldestAge: m.secondsGauge("azsearch.queue.oldest_age", "Age of the oldest change that is not settled, 0 if there is none."),
		appended:  m.total("azsearch.queue.appended", "{change}", "Changes appended."),
		folded:    m.total("azsearch.queue.folded", "{change}", "Changes that later ones have replaced, or that were merged into one."),
		expired:   m.total("azsearch.queue.expired", "{lease}", "Leases that have run out: their holders had died or were cut off."),
		staleEnds: m.total("azsearch.queue.stale", "{lease}", "Ends and extensions that came after their lease had ended."),
	}
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	registered, err := t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s, err := look()
		if err != nil {
			return nil //nolint:nilerr // what is not known is not reported; the log has it
		}
		o.ObserveInt64(i.waiting, s.Waiting, t.base)
		o.ObserveInt64(i.leased, s.Leased, t.base)
		o.ObserveInt64(i.parked, s.Parked, t.base)
		o.ObserveInt64(i.bytes, s.Bytes, t.base)
		age := 0.0
		if !s.Oldest.IsZero() {
			age = max(0, time.Since(s.Oldest).Seconds())
		}
		o.ObserveFloat64(i.oldestAge, age, t.base)
		o.ObserveInt64(i.appended, s.Appended, t.base)
		o.ObserveInt64(i.folded, s.Replaced+s.Folded, t.base)
		o.ObserveInt64(i.expired, s.Expired, t.base)
		o.ObserveInt64(i.staleEnds, s.Stale, t.base)
		return nil
	}, i.waiting, i.leased, i.parked, i.bytes, i.oldestAge, i.appended, i.folded, i.expired, i.staleEnds)
	if err != nil {
		return nil, err
	}
	return func() {
		defer func() { _ = recover() }() // as in telemetry.stop
		_ = registered.Unregister()
	}, nil
}

func (m *maker) total(name, unit, text string) metric.Int64ObservableCounter {
	c, err := m.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.errs = append(m.errs, err)
	return c
}
