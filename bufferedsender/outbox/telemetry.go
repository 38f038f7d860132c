package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// lagEvery is the minimum interval of queries for the lag, while metrics are read.
const lagEvery = 10 * time.Second

// observe reports the metrics of the relay until stop is called. TELEMETRY.md of bufferedsender describes them.
func (r *Relay) observe() (stop func(), err error) {
	r.passed.Store(time.Now().UnixNano())
	meter := r.opts.MeterProvider.Meter("github.com/go-azsearch/azsearch/bufferedsender/outbox")
	attributes := metric.WithAttributeSet(attribute.NewSet(attribute.String("azsearch.queue.name", r.table.Queue)))
	var errs []error
	var all []metric.Observable
	var read []func(o metric.Observer)
	counter := func(name, unit, text string, value func(Stats) int64) {
		c, err := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs, all = append(errs, err), append(all, c)
		read = append(read, func(o metric.Observer) { o.ObserveInt64(c, value(r.Stats()), attributes) })
	}
	gauge := func(name, unit, text string, value func(Stats) int64) {
		g, err := meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs, all = append(errs, err), append(all, g)
		read = append(read, func(o metric.Observer) { o.ObserveInt64(g, value(r.Stats()), attributes) })
	}
	counter("azsearch.outbox.read", "{row}", "Rows read.", func(s Stats) int64 { return s.Read })
	counter("azsearch.outbox.late", "{row}", "Rows that only a full pass has found.", func(s Stats) int64 { return s.Late })
	counter("azsearch.outbox.sent", "{action}", "Actions that the sender has accepted.", func(s Stats) int64 { return s.Sent })
	counter("azsearch.outbox.loaded", "{key}", "Keys whose documents the Loader has read.", func(s Stats) int64 { return s.Loaded })
	counter("azsearch.outbox.deleted", "{row}", "Rows deleted because they were confirmed.", func(s Stats) int64 { return s.Deleted })
	counter("azsearch.outbox.folded", "{row}", "Rows that were confirmed with later ones of their keys.", func(s Stats) int64 { return s.Folded })
	counter("azsearch.outbox.dead", "{row}", "Rows that became dead letters.", func(s Stats) int64 { return s.Dead })
	counter("azsearch.outbox.failed", "{action}", "Failed actions that wait for a retry.", func(s Stats) int64 { return s.Failed })
	counter("azsearch.outbox.stale", "{row}", "Rows that were gone, or no longer held by this relay, at their deletion.", func(s Stats) int64 { return s.Stale })
	counter("azsearch.outbox.leases_lost", "{lease}", "Leases that expired before renewal.", func(s Stats) int64 { return s.LeasesLost })
	gauge("azsearch.outbox.ranges", "{range}", "Ranges of keys, of 64, that the relay holds.", func(s Stats) int64 { return s.Ranges })
	gauge("azsearch.outbox.in_hand", "{row}", "Rows that the relay has read and not deleted.", func(s Stats) int64 { return s.InHand })
	gauge("azsearch.outbox.aside", "{row}", "Rows of keys that wait after a failure.", func(s Stats) int64 { return s.Aside })
	rows, err := meter.Int64ObservableGauge("azsearch.outbox.rows", metric.WithUnit("{row}"), metric.WithDescription("Rows in the table, estimated above 10,000."))
	oldest, err2 := meter.Float64ObservableGauge("azsearch.outbox.oldest_age", metric.WithUnit("s"), metric.WithDescription("Age of the oldest row, 0 if there is none."))
	transaction, err3 := meter.Float64ObservableGauge("azsearch.outbox.oldest_transaction", metric.WithUnit("s"), metric.WithDescription("Age of the oldest transaction in the database."))
	pass, err4 := meter.Float64ObservableGauge("azsearch.outbox.pass.age", metric.WithUnit("s"), metric.WithDescription("Age of the last full pass that has ended, or of the relay."))
	if err := errors.Join(append(errs, err, err2, err3, err4)...); err != nil {
		return nil, err
	}
	all = append(all, rows, oldest, transaction, pass)
	var mu sync.Mutex
	var lag Lag
	var asked time.Time
	var known bool
	registered, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		for _, f := range read {
			f(o)
		}
		o.ObserveFloat64(pass, time.Since(time.Unix(0, r.passed.Load())).Seconds(), attributes)
		mu.Lock()
		defer mu.Unlock()
		if time.Since(asked) >= lagEvery {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			now, err := r.table.Lag(ctx, r.db)
			asked, known, lag = time.Now(), err == nil, now
		}
		if !known { // an unknown value is not reported
			return nil
		}
		o.ObserveInt64(rows, lag.Rows, attributes)
		o.ObserveFloat64(oldest, lag.Oldest.Seconds(), attributes)
		o.ObserveFloat64(transaction, lag.OldestTransaction.Seconds(), attributes)
		return nil
	}, all...)
	if err != nil {
		return nil, err
	}
	return func() { _ = registered.Unregister() }, nil // the reader of the metrics has ended then
}
