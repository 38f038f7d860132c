package breaker

import (
	"cmp"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// gobreaker wants errors for outcomes.
var (
	errFailed  = errors.New("failed")
	errNeutral = errors.New("neutral")
)

// newCircuit returns a closed circuit. All its callbacks run with mu held, and
// only for results that started in the present state.
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

// full reports whether one more failure of a closed circuit is the one that
// opens it.
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

// window remembers the last failures, one by one: with buckets the n-th failure
// could open the breaker too early or too late by the length of one.
type window struct {
	length   time.Duration
	limit    int // negative: the window is never full
	failures []failure
	passed   uint64 // results that were no failure
}

type failure struct {
	at     time.Time
	passed uint64 // results before it that were none
}

// follow makes the window that of the options. It keeps what it remembers.
func (w *window) follow(o Options) { w.length, w.limit = o.Window, o.Failures }

// add notes a failure and reports whether the window holds as many as it may.
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
