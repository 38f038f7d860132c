package bufferedsender

import (
	"sync/atomic"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/publisher"
)

// tuner adapts a tuning controller to the publisher and returns it with its initial pace. It returns nil for a policy
// that never changes anything: then the publisher uses its own back-off. guard contains panics of a controller. New
// limits arrive through widened; a controller that does not implement tuning.Resizer is replaced.
func (o *settings) tuner(limits Limits, widened *atomic.Pointer[Limits], guard func(code, func())) (publisher.Tuner, publisher.Tuned) {
	if o.Tuning == tuning.Fixed() {
		return nil, publisher.Tuned{}
	}
	var controller tuning.Controller
	var now publisher.Tuned
	begin := func(l Limits) {
		bounds := tuning.Bounds{Max: tuning.Pace{
			BatchActions: l.MaxBatchActions, BatchBytes: l.MaxBatchBytes, InFlight: l.MaxInFlight,
		}}
		guard(inTuning, func() {
			if resizer, ok := controller.(tuning.Resizer); ok {
				now = tunedBy(resizer.Resize(bounds))
				return
			}
			controller = o.Tuning.New(bounds)
			now = tunedBy(controller.Pace())
		})
	}
	begin(limits)
	return func(s publisher.Sample) publisher.Tuned {
		if l := widened.Swap(nil); l != nil {
			begin(*l)
		}
		guard(inTuning, func() {
			now = tunedBy(controller.Observe(tuning.Observation{
				Now: s.Now, Started: s.Started, Actions: s.Items, Bytes: s.Bytes, Done: s.Done, Throttled: s.Throttled,
				Refused: s.Refused, Broken: s.Service == publisher.ServiceFails && !s.Refused, InFlight: s.InFlight, Backlog: s.Backlog,
			}))
		})
		return now
	}, now
}

func tunedBy(l tuning.Pace) publisher.Tuned {
	return publisher.Tuned{BatchItems: l.BatchActions, BatchBytes: l.BatchBytes, InFlight: l.InFlight, Interval: l.Interval}
}
