package breaker

import (
	"fmt"
	"time"
)

// Outcome is what a request says about the service.
type Outcome uint8

const (
	// Success says that the service works. It is the zero value.
	Success Outcome = iota
	// Failure says that the service does not work at the moment. It is not
	// counted if another one has been since this request was let through: what was
	// in flight together fails together.
	Failure
	// Trip says that no other request will succeed either until somebody changes
	// something: a wrong key, a missing index. The breaker opens at once, for as
	// long as after failures.
	Trip
	// Neutral says nothing about the service: the request never left, or its
	// context was canceled. A probe that ends so lets the next one try. Outcomes
	// without a name count as Neutral.
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

// Result is what became of a request.
type Result struct {
	Outcome Outcome
	// RetryAfter is how long the service asked to be left alone, 0 if it did not.
	// Only a Failure or a Trip has one. If the breaker opens, now or with a later
	// failure before the next success, it stays open at least until then.
	RetryAfter time.Duration
	// Err is the reason that Status and OpenError give if this result opens the
	// breaker.
	Err error
}

// Permit is the right to send one request.
type Permit struct {
	breaker    *Breaker
	generation uint64
	counted    uint64 // how many failures had been counted at Allow
	done       func(error)
	probe      bool
	early      bool        // of AllowEarly
	trouble    time.Time   // Status.Trouble then
	ended      bool        // guarded by the mutex of the breaker
	lost       *time.Timer // of a probe: it is not waited for any longer; guarded likewise
}

// lostAfter is how long a breaker waits for its probe. One that has not come back until then
// counts as a Failure, and the next one may try.
const lostAfter = 2 * time.Minute

var errLost = fmt.Errorf("the probe has not come back within %v", lostAfter)

// watch has a probe end that is never Done. The caller has the lock.
func (p *Permit) watch() {
	if p.Probe() {
		p.lost = time.AfterFunc(lostAfter, func() { p.Done(Result{Outcome: Failure, Err: errLost}) })
	}
}

// Probe reports whether this is the one request that may try, because the breaker is
// half-open or the permit is of AllowEarly: keep it small.
func (p *Permit) Probe() bool { return p.probe || p.early }

// Done says what became of the request. It must be called exactly once, when
// the request has ended; only the first call counts. It is ignored if the
// breaker has changed its state since Allow, or was reset.
//
// If Done is never called, a request of a closed breaker counts as nothing. A probe
// keeps the breaker half-open, with all other requests refused, for two minutes: then
// it counts as a Failure, and what Done says later is ignored. So give the probe a
// time-out that is shorter, and end it as Neutral if it was not sent at all. Reset frees
// a breaker at once; Status.Probe shows since when it waits.
func (p *Permit) Done(r Result) { p.breaker.finish(p, r) }
