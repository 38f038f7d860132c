package repair

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// scope is the name of the instrumentation.
const scope = "github.com/go-azsearch/azsearch/bufferedsender/repair"

// meters are the metrics of a comparison.
type meters struct {
	rows, differences, outcomes, keys metric.Int64Counter
	unknown                           metric.Int64Gauge
	passes, trees                     metric.Float64Histogram
	name                              attribute.KeyValue
}

func newMeters(provider metric.MeterProvider, name string) (*meters, error) {
	meter := provider.Meter(scope)
	counter := func(err *error, name, unit, description string) metric.Int64Counter {
		c, e := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		*err = errors.Join(*err, e)
		return c
	}
	var err error
	m := &meters{
		rows:        counter(&err, "azsearch.repair.rows", "{row}", "Rows compared, by side."),
		differences: counter(&err, "azsearch.repair.differences", "{key}", "Differences that were confirmed, had gone, or had pending writes when they were checked again, by kind."),
		outcomes:    counter(&err, "azsearch.repair.outcomes", "{key}", "Keys that were acted on, by outcome."),
		keys:        counter(&err, "azsearch.repair.tree.keys", "{key}", "Keys in which a tree and the source differed, by whether the index differed too."),
		name:        attribute.String("azsearch.repair.name", name),
	}
	histogram := func(name, description string) metric.Float64Histogram {
		h, e := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
			metric.WithExplicitBucketBoundaries(1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3*3600, 6*3600, 12*3600, 24*3600))
		err = errors.Join(err, e)
		return h
	}
	m.passes = histogram("azsearch.repair.pass.duration", "Passes, by whether they ended without an error.")
	m.trees = histogram("azsearch.repair.tree.duration", "Comparisons by a tree, by whether they ended without an error.")
	unknown, e := meter.Int64Gauge("azsearch.repair.tree.unknown", metric.WithUnit("{segment}"), metric.WithDescription("Segments of a tree that were not compared the last time."))
	m.unknown = unknown
	return m, errors.Join(err, e)
}

// add adds the counts of a part of a pass.
func (m *meters) add(r *Report) {
	ctx := context.Background()
	for counter, counts := range map[metric.Int64Counter]map[string]int64{
		m.rows: {"source": r.SourceRows, "index": r.IndexRows},
		m.differences: {
			"missing": r.Missing, "surplus": r.Surplus, "different": r.Different, "ahead": r.Ahead, "unreadable": r.Unreadable, "passing": r.Passing, "pending": r.Pending,
		},
		m.outcomes: {
			"repaired": r.Repaired, "deleted": r.Deleted, "marked": r.Marked, "rejected": r.Rejected, "failed": r.Failed, "unsettled": r.Unsettled,
		},
	} {
		what := "azsearch.repair.kind"
		switch counter {
		case m.rows:
			what = "azsearch.repair.side"
		case m.outcomes:
			what = "azsearch.repair.outcome"
		}
		for value, n := range counts {
			if n > 0 {
				counter.Add(ctx, n, metric.WithAttributes(m.name, attribute.String(what, value)))
			}
		}
	}
}

// pass records the end of a pass.
func (m *meters) pass(took time.Duration, err error) {
	m.passes.Record(context.Background(), took.Seconds(), metric.WithAttributes(m.name, attribute.Bool("azsearch.repair.succeeded", err == nil)))
}

// watchAge exports the age of the last pass until stop is called. ended records that one has ended without an error.
func watchAge(provider metric.MeterProvider, name string) (ended func(), stop func(), err error) {
	meter := provider.Meter(scope)
	age, err := meter.Float64ObservableGauge("azsearch.repair.pass.age", metric.WithUnit("s"), metric.WithDescription("Age of the last pass of a Watch that has ended without an error, or of the Watch."))
	if err != nil {
		return nil, nil, err
	}
	var last atomic.Pointer[time.Time]
	ended = func() {
		now := time.Now()
		last.Store(&now)
	}
	ended()
	attributes := metric.WithAttributes(attribute.String("azsearch.repair.name", name))
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveFloat64(age, time.Since(*last.Load()).Seconds(), attributes)
		return nil
	}, age)
	if err != nil {
		return nil, nil, err
	}
	return ended, func() { _ = registered.Unregister() }, nil // it never fails for a registration
}

// found counts keys in which the tree differs from the source, by whether the index differs too.
func (m *meters) found(agree, differ int) {
	for differs, n := range map[bool]int{false: agree, true: differ} {
		if n > 0 {
			m.keys.Add(context.Background(), int64(n), metric.WithAttributes(m.name, attribute.Bool("azsearch.repair.tree.index_differs", differs)))
		}
	}
}

// tree records the end of a RunTree.
func (m *meters) tree(r *Report, err error) {
	m.trees.Record(context.Background(), r.Took.Seconds(), metric.WithAttributes(m.name, attribute.Bool("azsearch.repair.succeeded", err == nil)))
	if r.Tree.Rounds > 0 {
		m.unknown.Record(context.Background(), int64(r.Tree.Unknown), metric.WithAttributes(m.name))
	}
}
