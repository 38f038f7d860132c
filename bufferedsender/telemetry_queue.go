package bufferedsender

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

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
