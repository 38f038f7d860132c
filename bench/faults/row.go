package faults

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// setting has the flags that concern all rows.
type setting struct {
	documents int
	seed      uint64
	fast      bool
	inFlight  int  // MaxInFlight, 0 for the default
	adaptive  bool // tuning.Adaptive instead of the default
}

// fastScale is the divisor of all times with -fast.
const fastScale = 10

// span scales a duration. All durations of rows, and with -fast those of the sender's options, pass through it.
func (s setting) span(d time.Duration) time.Duration {
	if s.fast {
		return d / fastScale
	}
	return d
}

// perSecond returns the rate that sends all documents of a row in the given time.
func (s setting) perSecond(documents int, d time.Duration) float64 {
	return float64(documents) / s.span(d).Seconds()
}

// row is one line of the table: a service, its faults, and the allowed results.
type row struct {
	name string
	what string // the fault in one line, with every option that differs from the default

	shape   shape
	spread  time.Duration // duration of adding; 0: without pause
	service serviceConfig
	phases  []phase
	options func(*bufferedsender.Options[document])
	beside  map[string]neighbour // other indexes of the sender's fleet; nil: no fleet
	urgent  bool                 // the first producer is Expedited, the others are BestEffort
	idle    time.Duration        // delay before the producers begin
	letters bool                 // give the sender a dead-letter sink, and compare it with the outcomes
	queued  bool                 // give the sender a filequeue

	// closeAt closes the sender at that time, within closeIn, instead of at the end.
	closeAt, closeIn time.Duration

	// recovery is the moment from which the recovery time counts: the end of a phase or the last scripted fault. It
	// is not measured if the fault does not end.
	recovery recovery
	// needs has the minimum counts of faults: a row without its faults proves nothing.
	needs map[string]int
	// mayFail reports whether an action may fail with a status. Nil: no action may fail.
	mayFail func(p *plan, a action, status int) bool
	// recoverWithin is the longest recovery. mostRequests is the most requests of the sender, unless tuning.Adaptive makes
	// small ones. 0: no bound.
	recoverWithin time.Duration
	mostRequests  int64
	// limit is the maximum time until all actions are settled.
	limit time.Duration
}

// recovery is the moment from which the recovery time counts.
type recovery uint8

const (
	notMeasured recovery = iota
	afterPhase
	afterLastFault
)

// phase changes the service at a time.
type phase struct {
	at   time.Duration // since the start
	do   func(ctx context.Context, r *run) error
	over bool // the fault ends with this phase
}

// script returns a phase that sets a fault script; nil ends the faults.
func script(at time.Duration, f *searchtest.Faults) phase {
	return phase{at: at, over: f == nil, do: func(ctx context.Context, r *run) error { return r.service.setFaults(ctx, f) }}
}

// steer returns a phase that calls a control of the service.
func steer(at time.Duration, what string) phase {
	return phase{at: at, over: what == "on" || what == "mend" || what == "front/none", do: func(ctx context.Context, r *run) error { return r.service.do(ctx, what) }}
}

// batches restricts a rule to indexing requests.
func batches(f searchtest.Fault) searchtest.Fault {
	f.Operation = searchtest.OpIndexDocuments
	return f
}
