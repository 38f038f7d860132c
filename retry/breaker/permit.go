package breaker

import (
	"fmt"
	"time"
)

// Outcome is the meaning of a result for the state of the service.
type Outcome uint8

const (
	// Success means that the service works. It is the zero value.
	Success Outcome = iota
	// Failure means that the service does not work at the moment. It is not counted if another failure was counted since
	// this request was allowed, because requests in flight together fail together.
	Failure
	// Trip means that no other request will succeed until an operator changes something: a wrong key, a missing index. The
	// breaker opens at once, for as long as after failures.
	Trip
	// Neutral means nothing for the service: the request was not sent, or its context was cancelled. After a Neutral probe
	// the next probe may go. Unknown values count as Neutral.
	Neutral
)

// String returns the name of the outcome.
func (o Outcome) String() string {
	switch o {
	case Success:
		return "success"
	case Failure:
		return "failure"
	case Trip:
		return "trip"
	case Neutral:
		return "neutral"
	}
	return "unknown"
}

// Result is the result of a request.
type Result struct {
	Outcome Outcome
	// RetryAfter is the delay that the service asked for, 0 for none. It applies only to Failure and Trip. If the breaker
	// opens with this result, or with a later failure before the next success, it stays open at least until then.
	RetryAfter time.Duration
	// Err is the reason in Status and OpenError if this result opens the breaker.
	Err error
}

// Permit is the permission to send one request.
type Permit struct {
	breaker    *Breaker
	generation uint64
	counted    uint64 // number of counted failures at Allow
	done       func(error)
	probe      bool
	early      bool        // of AllowEarly
	trouble    time.Time   // Status.Trouble at AllowEarly
	ended      bool        // guarded by the mutex of the breaker
	lost       *time.Timer // of a probe: ends the wait for it; guarded likewise
}

// lostAfter is how long a breaker waits for its probe. After that the probe counts as a Failure, and the next one may
// go.
const lostAfter = 2 * time.Minute

var errLost = fmt.Errorf("the probe has not come back within %v", lostAfter)

// watch ends a probe whose Done is never called. The caller has the lock.
func (p *Permit) watch() {
	if p.Probe() {
		p.lost = time.AfterFunc(lostAfter, func() { p.Done(Result{Outcome: Failure, Err: errLost}) })
	}
}

// Probe reports whether this request is a probe, because the breaker is half-open or the permit is from AllowEarly.
// Keep such a request small.
func (p *Permit) Probe() bool { return p.probe || p.early }

// Done reports the result of the request. Call it exactly once, when the request has ended; later calls have no effect.
// The result is ignored if the breaker has changed its state or was reset since Allow.
//
// If Done is never called, a request of a closed breaker has no effect. A probe keeps the breaker half-open, with other
// requests refused, for two minutes; then it counts as a Failure, and a later Done is ignored. So give a probe a
// shorter timeout, and call Done with Neutral if it was not sent. Reset frees the breaker at once; Status.Probe is the
// start of the probe.
func (p *Permit) Done(r Result) { p.breaker.finish(p, r) }
