package breaker

import (
	"cmp"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Outcomes for gobreaker, which takes errors.
var (
	errFailed  = errors.New("failed")
	errNeutral = errors.New("neutral")
)

// newCircuit returns a closed circuit. All its callbacks run with mu held, and only for results of requests that
// started in the present state.
func (b *Breaker) newCircuit() *gobreaker.TwoStepCircuitBreaker[struct{}] {
	return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1,
		Timeout:     1, // see Breaker.circuit
		ReadyToTrip: b.full,
		IsExcluded:  func(err error) bool { return errors.Is(err, errNeutral) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			b.changed(to)
		},
	})
}

// full reports whether this failure opens a closed circuit.
func (b *Breaker) full(counts gobreaker.Counts) bool {
	inWindow := b.window.add(time.Now())
	n := cmp.Or(b.options.inARow, b.options.Failures)
	inARow := n > 0 && uint64(counts.ConsecutiveFailures) >= uint64(n)
	return inWindow || inARow || b.judged.Outcome == Trip
}

func (b *Breaker) changed(to gobreaker.State) {
	switch to {
	case gobreaker.StateOpen:
		b.move(Open, b.judged.Err)
	case gobreaker.StateHalfOpen:
		b.move(HalfOpen, b.status.Err)
	case gobreaker.StateClosed:
		b.move(Closed, nil)
	}
}

// window records the last failures individually: with buckets the n-th failure could open the breaker too early or too
// late by the length of one bucket.
type window struct {
	length   time.Duration
	limit    int // negative: the window is never full
	failures []failure
	passed   uint64 // number of results other than failures
}

type failure struct {
	at     time.Time
	passed uint64 // passed when it was added
}

// follow applies options to the window and keeps its failures.
func (w *window) follow(o Options) { w.length, w.limit = o.Window, o.Failures }

// add records a failure and reports whether the window is full.
func (w *window) add(now time.Time) bool {
	if w.limit < 0 {
		return false
	}
	old := 0
	for old < len(w.failures) && (now.Sub(w.failures[old].at) >= w.length || len(w.failures)-old >= w.limit) {
		old++
	}
	w.failures = append(w.failures[:0], w.failures[old:]...)
	w.failures = append(w.failures, failure{now, w.passed})
	first := w.failures[0]
	if len(w.failures) < w.limit {
		return false
	}
	all := float64(w.limit) + float64(w.passed-first.passed)
	return float64(w.limit) >= leastShare*all
}

func (w *window) clear() { w.failures = w.failures[:0] }
