package faults

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// setting is what the flags say about all rows.
type setting struct {
	documents int
	seed      uint64
	fast      bool
	inFlight  int  // MaxInFlight, 0 for the default
	adaptive  bool // tuning.Adaptive instead of the default
}

// fastScale is how much shorter everything takes with -fast.
const fastScale = 10

// span scales a time. The times of rows, and with -fast those of the sender's
// options, are all passed through it.
func (s setting) span(d time.Duration) time.Duration {
	if s.fast {
		return d / fastScale
	}
	return d
}

// perSecond is a rate that takes all documents of a row in the given time.
func (s setting) perSecond(documents int, d time.Duration) float64 {
	return float64(documents) / s.span(d).Seconds()
}

// row is one line of the table: a service, what goes wrong with it, and what may
// come of that.
type row struct {
	name string
	what string // goes wrong, in one line, with every option that is no default

	shape   shape
	spread  time.Duration // how long the producers take; 0: as fast as they can
	service serviceConfig
	phases  []phase
	options func(*bufferedsender.Options[document])
	beside  map[string]neighbour // other indexes of the fleet that the sender is in; nil: it is in none
	urgent  bool                 // the first producer is Expedited, the others are BestEffort
	idle    time.Duration        // how long the producers wait before they begin
	letters bool                 // give the sender dead letters, and see that they are what it gave up
	queued  bool                 // give the sender a filequeue

	// closeAt closes the sender at that time, within closeIn, instead of when
	// all is done.
	closeAt, closeIn time.Duration

	// recovery is measured from the end of a phase, or from the last request that
	// the script had its hand in; not where the fault has no end.
	recovery recovery
	// needs is what must have happened, and how often at least: a row in which
	// nothing went wrong proves nothing.
	needs map[string]int
	// mayFail reports whether an action may fail with that status. Nil: none.
	mayFail func(p *plan, a action, status int) bool
	// limit is how long the row may take until all is settled.
	limit time.Duration
}

// recovery is from when the time to recover is counted.
type recovery uint8

const (
	notMeasured recovery = iota
	afterPhase
	afterLastFault
)

// phase is something that happens to the service at a time.
type phase struct {
	at   time.Duration // since the start
	do   func(ctx context.Context, r *run) error
	over bool // the fault ends here
}

// script is a phase that puts another script in force; nil ends the faults.
func script(at time.Duration, f *searchtest.Faults) phase {
	return phase{at: at, over: f == nil, do: func(ctx context.Context, r *run) error { return r.service.setFaults(ctx, f) }}
}

// steer is a phase that uses another control of the service.
func steer(at time.Duration, what string) phase {
	return phase{at: at, over: what == "on" || what == "mend" || what == "front/none", do: func(ctx context.Context, r *run) error { return r.service.do(ctx, what) }}
}

// batches makes a rule about requests to index documents.
func batches(f searchtest.Fault) searchtest.Fault {
	f.Operation = searchtest.OpIndexDocuments
	return f
}
