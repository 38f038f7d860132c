package events

import (
	"fmt"
	"math/bits"
	"strings"
)

// Kind is a set of kinds of events, named after the fields of Handlers. Combine
// them with |.
type Kind uint8

// The kinds that an Async queues.
const (
	KindActionSent Kind = 1 << iota
	KindActionCompleted
	KindActionFailed
	KindBatchCompleted
	KindHealthChanged

	allKinds = 1<<iota - 1
)

var kindNames = [...]string{"ActionSent", "ActionCompleted", "ActionFailed", "BatchCompleted", "HealthChanged"}

// String returns the names of the fields of Handlers, with | between them.
func (k Kind) String() string {
	if bits.OnesCount8(uint8(k)) == 1 && k&allKinds == k {
		return kindNames[k.index()] // the sender asks at every event, so without allocating
	}
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if unknown := k &^ allKinds; unknown != 0 || k == 0 {
		names = append(names, fmt.Sprintf("Kind(%#x)", uint8(unknown)))
	}
	return strings.Join(names, "|")
}

// index returns the place of a single kind in kindNames.
func (k Kind) index() int { return bits.TrailingZeros8(uint8(k)) }

// AsyncCounts says what became of the events of one kind.
type AsyncCounts struct {
	// Queued is how many are queued or in the hands of a handler now.
	Queued int
	// Handled is how many a handler was called with.
	Handled uint64
	// Panicked is how many of these made the handler panic, or end its
	// goroutine.
	Panicked uint64
	// Dropped is how many met a full queue, came after Close, or were thrown
	// away by it.
	Dropped uint64
}

// AsyncStats is a consistent snapshot. Each event that was reported is in one of
// Queued, Handled and Dropped of its kind, or is one of those that wait.
type AsyncStats struct {
	ActionSent, ActionCompleted, ActionFailed, BatchCompleted, HealthChanged AsyncCounts
	// Waiting is how many events wait for room in the queue now, each holding up
	// a sender.
	Waiting int
}

// Total returns the sums over all kinds.
func (s AsyncStats) Total() AsyncCounts {
	var sum AsyncCounts
	for _, n := range []AsyncCounts{s.ActionSent, s.ActionCompleted, s.ActionFailed, s.BatchCompleted, s.HealthChanged} {
		sum.Queued += n.Queued
		sum.Handled += n.Handled
		sum.Panicked += n.Panicked
		sum.Dropped += n.Dropped
	}
	return sum
}

// Stats returns a snapshot.
func (a *Async[T]) Stats() AsyncStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	count := func(k Kind) AsyncCounts { return a.counts[k.index()] }
	return AsyncStats{
		ActionSent:      count(KindActionSent),
		ActionCompleted: count(KindActionCompleted),
		ActionFailed:    count(KindActionFailed),
		BatchCompleted:  count(KindBatchCompleted),
		HealthChanged:   count(KindHealthChanged),
		Waiting:         len(a.waiting),
	}
}
