package bufferedsender

import (
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/publisher"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Breaker returns the breaker of the sender, to look at, disable, enable or
// reset. It is nil with DisableBreaker. Reset does not end a pause that the
// service has asked for with Retry-After; that is MaxOpenFor at the most.
func (s *BufferedSender[T]) Breaker() *breaker.Breaker { return s.options.Breaker }

// longestWait is the longest Retry-After that is obeyed, negative for any.
func longestWait(b *breaker.Breaker) time.Duration {
	if b == nil {
		return -1
	}
	return b.MaxOpenFor()
}

// gate is a breaker as the publisher sees it. Subscribers of the breaker may run
// in its methods, so guard contains their panics.
type gate struct {
	breaker *breaker.Breaker
	guard   func(string, func())

	// Of the publisher goroutine: what State has read, and the function that
	// reads it, which is made once.
	status breaker.Status
	known  bool
	read   func()

	mu  sync.Mutex
	out map[*pass]bool // of requests that have not ended; guarded by mu
}

func newGate(b *breaker.Breaker, guard func(string, func())) *gate {
	if b == nil {
		return nil
	}
	g := &gate{breaker: b, guard: guard, out: make(map[*pass]bool)}
	g.read = func() { g.status, g.known = b.Status(), true }
	return g
}

// forPublisher returns nil, not a nil *gate, for no breaker.
func (g *gate) forPublisher() publisher.Gate {
	if g == nil {
		return nil
	}
	return g
}

func (g *gate) Enter() (publisher.Pass, bool) {
	var leave *breaker.Pass
	g.guard("a subscriber of Breaker", func() { leave, _ = g.breaker.Allow() })
	if leave == nil {
		return nil, false
	}
	p := &pass{gate: g, leave: leave}
	g.mu.Lock()
	g.out[p] = true
	g.mu.Unlock()
	return p, true
}

func (g *gate) State() publisher.GateState {
	for g.known = false; !g.known; { // a subscriber that panics has been told by then
		g.guard("a subscriber of Breaker", g.read)
	}
	state := publisher.GateState{Served: g.status.Counts.Successes}
	if g.status.State != breaker.Closed {
		state.Shut, state.Blocked = &circuitOpenError{&breaker.OpenError{Status: g.status}}, g.status.State != breaker.HalfOpen
	}
	return state
}

// abandon gives back the passes of requests that a Close has left behind, so
// that other senders of the index can probe. It may be called on nil.
func (g *gate) abandon() {
	if g == nil {
		return
	}
	g.mu.Lock()
	left := g.out
	g.out = make(map[*pass]bool)
	g.mu.Unlock()
	for p := range left {
		p.Done(publisher.ServiceUnclear, -1, nil)
	}
}

// circuitOpenError is ErrCircuitOpen with what the breaker says.
type circuitOpenError struct{ *breaker.OpenError }

func (e *circuitOpenError) Is(target error) bool { return target == ErrCircuitOpen }

func (e *circuitOpenError) Unwrap() error { return e.OpenError }

type pass struct {
	gate  *gate
	leave *breaker.Pass
}

var outcomes = map[publisher.Service]breaker.Outcome{
	publisher.ServiceUnclear:   breaker.Neutral,
	publisher.ServiceSound:     breaker.Success,
	publisher.ServiceThrottles: breaker.Neutral, // the sender slows down first
	publisher.ServiceFails:     breaker.Failure,
	publisher.ServiceRefuses:   breaker.Trip,
}

func (p *pass) Probe() bool { return p.leave.Probe() }

func (p *pass) Done(health publisher.Service, retryAfter time.Duration, err error) {
	p.gate.mu.Lock()
	delete(p.gate.out, p)
	p.gate.mu.Unlock()
	p.gate.guard("a subscriber of Breaker", func() {
		p.leave.Done(breaker.Result{Outcome: outcomes[health], RetryAfter: max(retryAfter, 0), Err: err})
	})
}
