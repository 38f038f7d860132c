package main

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/models"
)

// ledger notes what was accepted and what became of it. Outcomes come on other goroutines, and may come before
// the adding call has returned.
type ledger struct {
	backfilling atomic.Bool

	mu      sync.Mutex // guards writes and what they hold
	indexes map[string]map[int64]*write
}

// write is one item that was accepted. Each has a version of its own.
type write struct {
	item        Item
	accepted    int // how often
	outcomes    []models.Outcome
	class       pool.Class
	took        time.Duration // from the adding call to the outcome
	backfilling bool          // the backfill was running when the outcome came
}

func newLedger() *ledger { return &ledger{indexes: map[string]map[int64]*write{}} }

// of returns the entry of an item. The lock is held.
func (l *ledger) of(index string, item Item) *write {
	writes := l.indexes[index]
	if writes == nil {
		writes = map[int64]*write{}
		l.indexes[index] = writes
	}
	w := writes[item.Version]
	if w == nil {
		w = &write{item: item}
		writes[item.Version] = w
	}
	return w
}

// accepted notes what an adding call has accepted.
func (l *ledger) accepted(index string, items []Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, item := range items {
		l.of(index, item).accepted++
	}
}

// settled notes an outcome.
func (l *ledger) settled(index string, item Item, o models.Outcome, class pool.Class, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.of(index, item)
	w.outcomes = append(w.outcomes, o)
	w.class, w.took, w.backfilling = class, took, l.backfilling.Load()
}

// completed reports whether the write was applied.
func (w *write) completed() bool { return len(w.outcomes) > 0 && w.outcomes[0].Completed() }

// writes returns what an index was given, in the order of the versions.
func (l *ledger) writes(index string) []*write {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*write, 0, len(l.indexes[index]))
	for _, w := range l.indexes[index] {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *write) int { return int(a.item.Version - b.item.Version) })
	return all
}

// times returns how long the completed writes took that match, sorted.
func times(writes []*write, match func(*write) bool) []time.Duration {
	var all []time.Duration
	for _, w := range writes {
		if w.completed() && match(w) {
			all = append(all, w.took)
		}
	}
	slices.Sort(all)
	return all
}

// percentile returns the time that so many percent of the sorted times do not exceed, 0 if there are none.
func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}
