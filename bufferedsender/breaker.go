package bufferedsender

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Breaker returns the breaker of the sender, to look at, disable, enable or
// reset. It is nil with FailSoon. Reset does not end a pause that the
// service has asked for with Retry-After; that is MaxRetryAfter at the most.
func (s *BufferedSender[T]) Breaker() *breaker.Breaker { return s.options.held().Breaker }

// longestWait is the longest Retry-After that is obeyed, negative for any.
func longestWait(b *breaker.Breaker) time.Duration {
	if b == nil {
		return breaker.DefaultMaxRetryAfter
	}
	return b.MaxRetryAfter()
}

// gate is a breaker as the publisher sees it. Subscribers of the breaker may run
// in its methods, so contain, which is deferred around them, stops their panics.
type gate struct {
	breaker *breaker.Breaker
	contain func(handler string)

	// Of the publisher goroutine: what State has read.
	status breaker.Status
	known  bool
	others uint64 // requests of other senders that the service was sound enough to serve

	sound atomic.Uint64 // those of this sender, counted before the breaker counts them

	mu  sync.Mutex
	out []*permit // of requests that have not ended; guarded by mu
}

// aSubscriber is whose panic a gate contains.
const aSubscriber = "a subscriber of Breaker"

func newGate(b *breaker.Breaker, contain func(handler string)) *gate {
	if b == nil {
		return nil
	}
	return &gate{breaker: b, contain: contain}
}

// forPublisher returns nil, not a nil *gate, for no breaker.
func (g *gate) forPublisher() publisher.Gate {
	if g == nil {
		return nil
	}
	return g
}

// closed reports whether the breaker is closed: what is held then is held apart.
func (g *gate) closed() bool {
	return g != nil && g.breaker.Status().State == breaker.Closed
}

func (g *gate) Enter() (publisher.Permit, bool) {
	given := g.allow()
	if given == nil {
		return nil, false
	}
	p := &permit{gate: g, given: given}
	g.mu.Lock()
	g.out = append(g.out, p)
	g.mu.Unlock()
	return p, true
}

// allow returns nil if the breaker does not let a request through.
func (g *gate) allow() (given *breaker.Permit) {
	defer g.contain(aSubscriber)
	given, _ = g.breaker.Allow()
	return given
}

func (g *gate) State() publisher.GateState {
	for g.known = false; !g.known; { // a subscriber that panics has been notified by then
		g.read()
	}
	// One of this sender's that is on its way between the two counts must not look like
	// one of another sender's, for which the index is held to be sound. So its own are
	// read last, and are all that the breaker has counted or more.
	served, own := g.status.Counts.Successes, g.sound.Load()
	g.others = max(g.others, served-min(own, served))
	state := publisher.GateState{Served: served, Others: g.others}
	if g.status.State != breaker.Closed {
		state.Shut, state.Blocked = &circuitOpenError{&breaker.OpenError{Status: g.status}}, g.status.State != breaker.HalfOpen
		state.Ready = g.status.State == breaker.HalfOpen && g.status.Probe.IsZero()
	}
	return state
}

func (g *gate) read() {
	defer g.contain(aSubscriber)
	g.status, g.known = g.breaker.Status(), true
}

// abandon gives back the permits of requests that a Close has left behind, so
// that other senders of the index can probe. It may be called on nil.
func (g *gate) abandon() {
	if g == nil {
		return
	}
	g.mu.Lock()
	left := g.out
	g.out = nil
	g.mu.Unlock()
	for _, p := range left {
		p.Done(publisher.ServiceUnclear, -1, nil)
	}
}

// circuitOpenError is ErrCircuitOpen with what the breaker says.
type circuitOpenError struct{ *breaker.OpenError }

func (e *circuitOpenError) Is(target error) bool { return target == ErrCircuitOpen }

func (e *circuitOpenError) Unwrap() error { return e.OpenError }

type permit struct {
	gate  *gate
	given *breaker.Permit
	done  atomic.Bool
}

var outcomes = map[publisher.Service]breaker.Outcome{
	publisher.ServiceUnclear:   breaker.Neutral,
	publisher.ServiceSound:     breaker.Success,
	publisher.ServiceThrottles: breaker.Neutral, // the sender slows down first
	publisher.ServiceFails:     breaker.Failure,
	publisher.ServiceRefuses:   breaker.Trip,
}

func (p *permit) Probe() bool { return p.given.Probe() }

func (p *permit) Done(health publisher.Service, retryAfter time.Duration, err error) {
	p.gate.mu.Lock()
	if i := slices.Index(p.gate.out, p); i >= 0 {
		p.gate.out = slices.Delete(p.gate.out, i, i+1)
	}
	p.gate.mu.Unlock()
	defer p.gate.contain(aSubscriber)
	if health == publisher.ServiceSound && !p.done.Swap(true) {
		p.gate.sound.Add(1)
	}
	p.given.Done(breaker.Result{Outcome: outcomes[health], RetryAfter: max(retryAfter, 0), Err: err})
}
