package breaker

import (
	"container/list"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Breaker allows requests, or refuses them after recent ones have failed. Make one with New. It is safe for concurrent
// use. Methods block only while they notify subscribers of a change.
//
// It starts no goroutine, needs no Close, and has a timer only while it is Open or its probe is under way. That timer
// keeps an abandoned Breaker in memory until it fires once.
type Breaker struct {
	random func() float64 // in [0, 1); only tests replace it

	// mu is not held while a subscriber runs.
	mu      sync.Mutex
	options Options // filled in
	// circuit is the state machine. It is called only with mu held, so its callbacks below run with mu held too. It becomes
	// half-open lazily, one nanosecond after it opened: this package keeps the time, because gobreaker's time is the same
	// for every opening and one tick late. So only wake may call it while the state is Open. nil while Disabled.
	circuit *gobreaker.TwoStepCircuitBreaker[struct{}]
	// generation counts changes of state and resets. gobreaker has a similar number, but does not expose it, and it starts
	// over with the circuits that Reset and Enable create.
	generation uint64
	status     Status
	window     window
	// counted is the number of failures counted, in all states. A permit has the number at its Allow: if it has grown
	// since, the two requests were in flight together and fail for the same reason.
	counted uint64
	// notBefore is the latest time that a Retry-After since the last success asked to wait for.
	notBefore time.Time
	// refused is set if a request was refused because of the probe.
	refused bool
	early   early
	// judged is the result passed to gobreaker, for its callbacks.
	judged Result
	timer  *time.Timer // nil unless Open

	subscribers list.List // of *subscriber, in the order of Subscribe
	queue       []*notice // changes to notify subscribers of, in order
	delivering  bool      // a goroutine runs a subscriber and continues with queue afterwards
}

// New returns a closed breaker. The error names every invalid option.
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

// Allow requests permission to send one request. It never waits for other requests. If the breaker is closed, or
// half-open without a probe under way, it returns a permit, whose Done must be called with the result of the request.
// Otherwise it returns an *OpenError, which matches ErrOpen.
func (b *Breaker) Allow() (permit *Permit, err error) {
	b.mu.Lock()
	notified := false
	defer func() {
		if !notified && permit != nil { // a subscriber has panicked: the caller does not get the permit
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

// Status returns the current state, its start and its reason.
func (b *Breaker) Status() Status {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now())
	return b.status
}

// Disable makes the breaker refuse every request until Enable, even after a Reset. Results of requests under way are
// ignored. Disabling again has no effect.
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

// Enable ends Disable: the breaker is then closed and without failures, even if it was open when it was disabled. It
// has no effect on a breaker that is not disabled.
func (b *Breaker) Enable() {
	b.mu.Lock()
	defer b.unlock()
	if b.status.State == Disabled {
		b.close()
	}
}

// Reset closes the breaker and removes all failures, unless it is disabled. Results of requests under way, including a
// probe, are ignored.
func (b *Breaker) Reset() {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now())
	if b.status.State != Disabled {
		b.close()
	}
}

// finish passes the result of a request to the circuit.
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
		// If the breaker has closed since, the trouble of a late failure is over.
		if b.status.Trouble.IsZero() && (!late || b.status.State == Open || b.status.State == HalfOpen) {
			b.status.Trouble = now
		}
	case r.Outcome == Success:
		b.status.Counts.Successes++
		b.status.Trouble = time.Time{}
	}
	// gobreaker would ignore it too, but would first make an open circuit half-open.
	if late {
		b.status.Counts.Ignored++
		return
	}
	switch {
	case failed:
		b.postpone(now, r.RetryAfter)
		if r.Outcome == Failure && p.counted != b.counted {
			p.done(errNeutral) // it failed together with a counted one
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

// postpone records a Retry-After.
func (b *Breaker) postpone(now time.Time, retryAfter time.Duration) {
	retryAfter = min(retryAfter, MaxRetryAfter)
	if at := now.Add(retryAfter); retryAfter > 0 && at.After(b.notBefore) {
		b.notBefore = at
	}
}

// vacate allows another probe after one without a result. Requests that it caused to be refused wait for a
// notification, so it sends one.
func (b *Breaker) vacate() {
	b.status.Probe = time.Time{}
	if b.refused {
		b.refused = false
		b.notify(Change{From: HalfOpen, To: HalfOpen, At: time.Now(), Err: b.status.Err})
	}
}

// close makes the breaker like a new one, except for counts and subscribers.
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

// wake makes a breaker half-open whose time is over. Every method calls it first, so that results do not depend on
// whether the timer has already fired.
func (b *Breaker) wake(now time.Time) {
	if b.status.State == Open && !now.Before(b.status.Until) {
		b.circuit.State() // causes the move, through changed
	}
}

func (b *Breaker) alarm() {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now())
}

// move changes the state and notifies subscribers.
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
