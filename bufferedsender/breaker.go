package bufferedsender

import (
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/publisher"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Breaker returns the breaker of the sender, to look at, disable, enable or
// reset. It is nil with DisableBreaker.
func (s *BufferedSender[T]) Breaker() *breaker.Breaker { return s.options.Breaker }

// gate is a breaker as the publisher sees it.
type gate struct{ breaker *breaker.Breaker }

// newGate returns nil for no breaker.
func newGate(b *breaker.Breaker) publisher.Gate {
	if b == nil {
		return nil
	}
	return gate{b}
}

func (g gate) Enter() (publisher.Pass, bool) {
	p, err := g.breaker.Allow()
	if err != nil {
		return nil, false
	}
	return pass{p}, true
}

func (g gate) Shut() (why error, blocked bool) {
	status := g.breaker.Status()
	if status.State == breaker.Closed {
		return nil, false
	}
	return &circuitOpenError{breaker.OpenError{Status: status}}, status.State != breaker.HalfOpen
}

// circuitOpenError is ErrCircuitOpen with what the breaker says.
type circuitOpenError struct{ breaker.OpenError }

func (e *circuitOpenError) Is(target error) bool {
	return target == ErrCircuitOpen || e.OpenError.Is(target)
}

type pass struct{ *breaker.Pass }

var outcomes = map[publisher.Service]breaker.Outcome{
	publisher.ServiceUnclear:   breaker.Neutral,
	publisher.ServiceSound:     breaker.Success,
	publisher.ServiceThrottles: breaker.Neutral, // the sender slows down first
	publisher.ServiceFails:     breaker.Failure,
	publisher.ServiceRefuses:   breaker.Trip,
}

func (p pass) Done(health publisher.Service, retryAfter time.Duration, err error) {
	p.Pass.Done(breaker.Result{Outcome: outcomes[health], RetryAfter: max(retryAfter, 0), Err: err})
}
