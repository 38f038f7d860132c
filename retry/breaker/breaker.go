package breaker

import (
	"container/list"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Breaker lets requests through, or refuses them when the recent ones have
// failed. Make one with New. It is safe for concurrent use; no method waits for
// anything but subscribers that this call has to notify of a change.
//
// It starts no goroutine, needs no Close, and has a timer only while it is
// Open or its probe is under way. One that is forgotten keeps its timer, and so itself, until
// that fires once.
type Breaker struct {
	random func() float64 // in [0, 1); never written after New, but by tests

	// mu is never held while a subscriber runs.
	mu      sync.Mutex
	options Options // filled in
	// circuit is the state machine. It is called with mu held only, so its
	// callbacks below run with mu held too. It half-opens lazily, one nanosecond
	// after it opened: this package keeps the time, because gobreaker's is the
	// same for every opening and one tick late. So it must not be called while
	// the state is Open, save by wake. nil while Disabled.
	circuit *gobreaker.TwoStepCircuitBreaker[struct{}]
	// generation counts the changes of state and the resets. gobreaker has a
	// number like it, which cannot be asked for and starts anew with the circuits
	// that Reset and Enable put in place of an old one.
	generation uint64
	status     Status
	window     window
	// counted is how many failures have been counted, in all states. A permit keeps
	// the number of its Allow: if another one has been counted since, the two
	// requests were in flight together, and fail for the same reason.
	counted uint64
	// notBefore is the latest moment that a Retry-After of a failure since the
	// last success asked to wait for.
	notBefore time.Time
	// refused is set when somebody was refused because of the probe.
	refused bool
	early   early
	// judged is the result that gobreaker is being given, for its callbacks.
	judged Result
	timer  *time.Timer // nil unless Open

	subscribers list.List // of *subscriber, in the order of Subscribe
	queue       []*notice // changes of which not all subscribers are notified yet, in order
	delivering  bool      // a goroutine is in a subscriber, and goes on with queue afterwards
}

// New returns a breaker that is closed, or an error that names every problem of
// the options.
func New(opts *Options) (*Breaker, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("breaker: %w", err)
	}
	b := &Breaker{options: o, random: rand.Float64}
	b.window.follow(o)
	b.status.Since = time.Now()
	b.circuit = b.newCircuit()
	return b, nil
}

// Allow asks the right to send one request. It never waits. When the breaker is
// closed, or half-open with no probe under way, it returns a permit, whose Done
// must be called with what became of the request. Otherwise it returns an
// *OpenError, in which errors.Is finds ErrOpen.
func (b *Breaker) Allow() (permit *Permit, err error) {
	b.mu.Lock()
	notified := false
	defer func() {
		if !notified && permit != nil { // a subscriber has panicked: nobody gets it
			permit.Done(Result{Outcome: Neutral})
		}
	}()
	defer func() {
		b.unlock()
		notified = true
	}()
	now := time.Now()
	b.wake(now)
	if b.status.State == Closed || b.status.State == HalfOpen {
		if done, err := b.circuit.Allow(); err == nil {
			b.status.Counts.Allowed++
			probe := b.status.State == HalfOpen
			if probe {
				b.status.Probe = now
			}
			p := &Permit{breaker: b, generation: b.generation, counted: b.counted, done: done, probe: probe}
			p.watch()
			return p, nil
		}
		b.refused = true
	}
	b.status.Counts.Refused++
	return nil, &OpenError{Status: b.status}
}

// Status returns what the breaker does now, since when, and why.
func (b *Breaker) Status() Status {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now())
	return b.status
}

// Disable makes the breaker refuse every request until Enable, whatever else
// happens in between; Reset does not end it. Results of requests under way are
// ignored. Disabling twice is the same as once.
func (b *Breaker) Disable() {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now())
	if b.status.State == Disabled {
		return
	}
	b.move(Disabled, nil)
	b.status.Trouble = time.Time{}
	b.circuit = nil
}

// Enable ends Disable: the breaker is closed and has forgotten all failures,
// also if it was open when it was disabled. It does nothing to a breaker that is
// not disabled.
func (b *Breaker) Enable() {
	b.mu.Lock()
	defer b.unlock()
	if b.status.State == Disabled {
		b.close()
	}
}

// Reset closes the breaker and makes it forget all failures, unless it is
// disabled. Results of requests under way, a probe's too, are ignored.
func (b *Breaker) Reset() {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now())
	if b.status.State != Disabled {
		b.close()
	}
}

// finish reports to the circuit what became of a request.
func (b *Breaker) finish(p *Permit, r Result) {
	b.mu.Lock()
	defer b.unlock()
	if p.ended {
		return
	}
	p.ended = true
	if p.lost != nil {
		p.lost.Stop()
	}
	now := time.Now()
	b.wake(now)
	if p.early {
		b.endEarly(p, r, now)
		return
	}
	late := p.generation != b.generation
	failed := r.Outcome == Failure || r.Outcome == Trip
	switch {
	case failed:
		b.status.Counts.Failures++
		// The trouble that a late failure belongs to is over when the breaker has
		// been closed since.
		if b.status.Trouble.IsZero() && (!late || b.status.State == Open || b.status.State == HalfOpen) {
			b.status.Trouble = now
		}
	case r.Outcome == Success:
		b.status.Counts.Successes++
		b.status.Trouble = time.Time{}
	}
	// gobreaker would ignore it too, but would half-open an open circuit first.
	if late {
		b.status.Counts.Ignored++
		return
	}
	switch {
	case failed:
		b.postpone(now, r.RetryAfter)
		if r.Outcome == Failure && p.counted != b.counted {
			p.done(errNeutral) // it failed together with one that was counted
			return
		}
		b.counted++
		b.judged = r
		p.done(errFailed)
		b.judged = Result{}
	case r.Outcome == Success:
		b.notBefore = time.Time{}
		b.window.passed++
		p.done(nil)
	default:
		p.done(errNeutral)
		if p.probe {
			b.vacate()
		}
	}
}

// postpone notes that the service does not want to be asked for some time.
func (b *Breaker) postpone(now time.Time, retryAfter time.Duration) {
	retryAfter = min(retryAfter, MaxRetryAfter)
	if at := now.Add(retryAfter); retryAfter > 0 && at.After(b.notBefore) {
		b.notBefore = at
	}
}

// vacate makes room for another probe when one has said nothing. Those who were
// refused because of it wait until they are notified of a change, so they are notified.
func (b *Breaker) vacate() {
	b.status.Probe = time.Time{}
	if b.refused {
		b.refused = false
		b.notify(Change{From: HalfOpen, To: HalfOpen, At: time.Now(), Err: b.status.Err})
	}
}

// close makes the breaker as if new, its counts and subscribers apart.
func (b *Breaker) close() {
	b.circuit = b.newCircuit()
	b.generation++
	b.forget()
	b.status.Trouble = time.Time{}
	if b.status.State != Closed {
		b.move(Closed, nil)
	}
}

func (b *Breaker) forget() {
	b.window.clear()
	b.notBefore = time.Time{}
}

// wake half-opens a breaker whose time is up. Every method calls it first, so
// that what they do at that very moment does not depend on whether the timer
// has run already.
func (b *Breaker) wake(now time.Time) {
	if b.status.State == Open && !now.Before(b.status.Until) {
		b.circuit.State() // moves by itself, through changed
	}
}

func (b *Breaker) alarm() {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now())
}

// move changes the state and has the subscribers notified.
func (b *Breaker) move(to State, err error) {
	now := time.Now()
	from := b.status.State
	b.generation++
	b.status.State, b.status.Since, b.status.Err = to, now, err
	b.status.Until, b.status.Probe, b.refused = time.Time{}, time.Time{}, false
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	switch to {
	case Closed:
		b.early.failed, b.early.at = 0, time.Time{}
	case Open:
		b.status.Counts.Opened++
		b.status.Until = now.Add(b.options.stay(now.Sub(b.status.Trouble), b.random()))
		if b.notBefore.After(b.status.Until) {
			b.status.Until = b.notBefore
		}
		b.early.at = later(b.early.at, b.notBefore)
		b.timer = time.AfterFunc(b.status.Until.Sub(now), b.alarm)
	}
	b.forget()
	b.notify(Change{From: from, To: to, At: now, Err: err})
}
