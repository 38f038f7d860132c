package fleet

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/models"
)

// scope is the name of the instrumentation.
const scope = "github.com/go-azsearch/azsearch/bufferedsender/fleet"

// observe registers the metrics of the pool until stop is called.
func (f *Fleet) observe(provider metric.MeterProvider) (stop func(), err error) {
	meter := provider.Meter(scope)
	var all []metric.Observable
	number := func(name, unit, description string) metric.Int64ObservableUpDownCounter {
		i, e := meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
		if err == nil {
			err = e
		}
		all = append(all, i)
		return i
	}
	counter := func(name, unit, description string) metric.Int64ObservableCounter {
		i, e := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
		if err == nil {
			err = e
		}
		all = append(all, i)
		return i
	}
	seconds := func(name, description string) metric.Float64ObservableCounter {
		i, e := meter.Float64ObservableCounter(name, metric.WithUnit("s"), metric.WithDescription(description))
		if err == nil {
			err = e
		}
		all = append(all, i)
		return i
	}
	inUse := number("azsearch.pool.slots.in_use", "{slot}", "Slots in use.")
	waiting := number("azsearch.pool.slots.waiting", "{request}", "Requests, or other work, that wait for a slot.")
	late := number("azsearch.pool.requests.late", "{request}", "Requests that were not answered for so long that their slots went to others.")
	limit := number("azsearch.pool.slots.limit", "{slot}", "Number of slots.")
	granted := counter("azsearch.pool.slots.granted", "{slot}", "Slots that were given and taken.")
	refused := counter("azsearch.pool.slots.refused", "{request}", "Work that was refused because too much waited.")
	queued := seconds("azsearch.pool.queue.duration", "Total time that work waited for slots.")
	worked := seconds("azsearch.pool.work.duration", "Total time that slots were used.")
	fallbacks := counter("azsearch.pool.fallbacks", "{call}", "Calls with an unknown class, served as expedited.")
	actions := number("azsearch.pool.room.actions", "{item}", "Room for actions that senders have been granted.")
	bytes := number("azsearch.pool.room.bytes", "By", "Room for bytes that senders have been granted.")
	lacking := number("azsearch.pool.room.waiting", "{sender}", "Senders that wait for room.")
	senders := number("azsearch.fleet.senders", "{sender}", "Senders of the fleet.")
	held := number("azsearch.fleet.held_senders", "{sender}", "Senders whose breaker, or that of the service, is not closed.")
	if err != nil {
		return nil, err
	}
	var byClass [int(models.ClassBestEffort) + 1]metric.MeasurementOption
	for c := range byClass {
		byClass[c] = metric.WithAttributeSet(attribute.NewSet(attribute.String("azsearch.pool.class", models.Class(c).String())))
	}
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := f.pool.Stats()
		for c := range byClass {
			of := &s.Classes[c]
			o.ObserveInt64(inUse, int64(of.InUse), byClass[c])
			o.ObserveInt64(waiting, int64(of.Waiting), byClass[c])
			o.ObserveInt64(granted, of.Granted, byClass[c])
			o.ObserveInt64(refused, of.Refused, byClass[c])
			o.ObserveFloat64(queued, of.QueueTime.Seconds(), byClass[c])
			o.ObserveFloat64(worked, of.WorkTime.Seconds(), byClass[c])
		}
		o.ObserveInt64(late, int64(s.Late))
		o.ObserveInt64(limit, int64(s.Slots))
		o.ObserveInt64(fallbacks, s.Fallbacks)
		o.ObserveInt64(actions, int64(s.GrantedActions))
		o.ObserveInt64(bytes, s.GrantedBytes)
		o.ObserveInt64(lacking, int64(s.WaitingForRoom))
		o.ObserveInt64(senders, f.made.Load())
		o.ObserveInt64(held, f.suspended())
		return nil
	}, all...)
	if err != nil {
		return nil, err
	}
	return func() { _ = registered.Unregister() }, nil
}
