package events

import (
	"fmt"
	"math/bits"
	"strings"
)

// Kind is a set of kinds of events, named like the fields of Handlers. Combine them with |.
type Kind uint8

// Kinds of events that an Async queues.
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
		return kindNames[k.index()] // called for every event of a sender, so without allocation
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

// index returns the index of a single kind in kindNames.
func (k Kind) index() int { return bits.TrailingZeros8(uint8(k)) }

// AsyncCounts has the counts of one kind of event.
type AsyncCounts struct {
	// Queued is the number of events in the queue or in a handler now.
	Queued int
	// Handled is the number of calls of a handler.
	Handled uint64
	// Panicked is how many of these panicked or ended their goroutine.
	Panicked uint64
	// Dropped is the number of events that met a full queue, came after Close, or were dropped by it.
	Dropped uint64
}

// AsyncStats is a consistent snapshot. Each reported event is in one of Queued, Handled and Dropped of its kind, or in
// Waiting.
type AsyncStats struct {
	ActionSent, ActionCompleted, ActionFailed, BatchCompleted, HealthChanged AsyncCounts
	// Waiting is the number of events that wait for room now. Each blocks a sender.
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
