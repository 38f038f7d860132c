package tuning_test

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// bounds are those of a sender: its options are the upper ones.
var bounds = tuning.Bounds{Max: tuning.Pace{BatchActions: 1000, BatchBytes: 16_000_000, InFlight: 8}}

func ExampleFixed() {
	controller := tuning.Fixed().New(bounds)
	limits := controller.Observe(tuning.Observation{
		Now: time.Second, Started: 900 * time.Millisecond, Actions: 1000, Bytes: 650_000, Done: 300, Throttled: 700, InFlight: 8, Backlog: 20_000,
	})
	fmt.Println(limits.BatchActions, limits.InFlight, limits.Interval)
	// Output: 1000 8 0s
}

// A service with a capacity of 300 documents a second refuses the rest of a batch of a thousand with 503. The
// controller then tries 500 a second, in small batches.
func ExampleAdaptive() {
	controller := tuning.Adaptive(nil).New(bounds)
	fmt.Println("at first", controller.Pace().BatchActions, "documents,", controller.Pace().InFlight, "in flight")

	limits := controller.Observe(tuning.Observation{
		Now: time.Second, Started: 900 * time.Millisecond, Actions: 1000, Bytes: 650_000, Done: 300, Throttled: 700, InFlight: 1, Backlog: 20_000,
	})
	fmt.Println("then", limits.BatchActions, "documents, an interval:", limits.Interval > 0)
	// Output:
	// at first 1000 documents, 1 in flight
	// then 35 documents, an interval: true
}

// A controller keeps its state when the limits of a running sender change.
func ExampleResizer() {
	controller := tuning.Adaptive(nil).New(bounds)
	wider := bounds
	wider.Max.BatchActions = 5000
	if resizer, ok := controller.(tuning.Resizer); ok {
		fmt.Println(resizer.Resize(wider).BatchActions)
	}
	// Output: 5000
}
