package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
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
	class       models.Class
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
func (l *ledger) settled(index string, item Item, o models.Outcome, class models.Class, took time.Duration) {
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

// report prints how long live updates took, and what was lost.
func (s *story) report() {
	fmt.Fprintln(s.out)
	all := s.allWrites()
	for i, word := range []string{"without", "with   "} {
		took := times(all, func(w *write) bool { return w.class == live && w.backfilling == (i == 1) })
		fmt.Fprintf(s.out, "live updates %s the backfill: p50 %6s, p99 %6s\n", word, ms(percentile(took, 50)), ms(percentile(took, 99)))
	}
	waited := s.fleet.Pool().QueueTimes(backfill)
	fmt.Fprintf(s.out, "%d documents were backfilled, whose requests waited for a slot: p50 %s, p99 %s\n",
		len(times(all, func(w *write) bool { return w.class == backfill })), ms(waited.Quantile(0.5)), ms(waited.Quantile(0.99)))
	longest := times(s.ledger.writes(sick), func(*write) bool { return true })
	fmt.Fprintf(s.out, "%q, which answered 503, was at most %s late\n\n", sick, ms(percentile(longest, 100)))
	s.reportLost()
}

// allWrites returns the writes to all indexes that were well.
func (s *story) allWrites() (all []*write) {
	for _, name := range s.service.names {
		if name != sick && name != doomed {
			all = append(all, s.ledger.writes(name)...)
		}
	}
	return all
}

// reportLost says of each index how many documents were accepted and are not in it, and why.
func (s *story) reportLost() {
	whole := 0
	for _, name := range s.service.names {
		writes := s.ledger.writes(name)
		lost := slices.DeleteFunc(slices.Clone(writes), (*write).completed)
		if len(lost) == 0 {
			whole++
			continue
		}
		fmt.Fprintf(s.out, "%q has lost %d of %d accepted documents:\n", name, len(lost), len(writes))
		if drop := s.dropped[name]; drop != nil {
			fmt.Fprintf(s.out, "  Drop has reported %d unsent, %d unknown and %d failed\n", drop.Unsent, drop.Unknown, drop.Failed)
		}
		if first := lost[0]; len(first.outcomes) > 0 {
			fmt.Fprintf(s.out, "  %s, version %d, the first of them: %v: %v\n", first.item.ID, first.item.Version, first.outcomes[0].Reason, first.outcomes[0].Err)
		}
	}
	fmt.Fprintf(s.out, "%d of %d indexes have lost nothing\n", whole, len(s.service.names))
}

func ms(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond)) }

// verify compares what was accepted with the outcomes, and these with the indexes.
func (s *story) verify() error {
	var problems []string
	accepted, lost := 0, 0
	for _, name := range s.service.names {
		writes := s.ledger.writes(name)
		accepted += len(writes)
		held, err := s.service.held(name)
		if err != nil {
			return err
		}
		problems = append(problems, compare(name, writes, held, name == doomed)...)
		if name == doomed {
			lost = len(slices.DeleteFunc(writes, (*write).completed))
		}
	}
	if given := s.dropped[doomed]; given == nil {
		problems = append(problems, fmt.Sprintf("the sender of %q was not dropped, or had nothing left", doomed))
	} else if n := given.Unsent + given.Unknown + given.Failed; n != lost {
		problems = append(problems, fmt.Sprintf("Drop has reported %d lost documents of %q, and their outcomes %d", n, doomed, lost))
	}
	if err := stage.Problems(problems); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%d documents were accepted; each has one outcome, and what was completed is in its index\n", accepted)
	return nil
}

// compare returns what is wrong with an index. Only of one that was deleted may something be lost: then documents are
// what it held at that moment.
func compare(index string, writes []*write, documents map[string]Item, deleted bool) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%q: ", index)+fmt.Sprintf(format, args...))
	}
	if len(writes) == 0 {
		problem("nothing was written to it")
	}
	last := map[string]int64{} // the version of each key that the index has to hold
	for _, w := range writes {
		switch {
		case w.accepted != 1:
			problem("%s, version %d, has an outcome and was accepted %d times", w.item.ID, w.item.Version, w.accepted)
		case len(w.outcomes) != 1:
			problem("%s, version %d, has %d outcomes", w.item.ID, w.item.Version, len(w.outcomes))
		case w.completed():
			last[w.item.ID] = w.item.Version
		case !deleted:
			problem("%s, version %d, was lost: %v", w.item.ID, w.item.Version, w.outcomes[0].Err)
		}
	}
	for key, version := range last {
		if doc, there := documents[key]; !there {
			problem("%s was completed, and is missing", key)
		} else if doc.Version != version {
			problem("%s has version %d, and version %d was completed last", key, doc.Version, version)
		}
	}
	for key := range documents {
		if _, ok := last[key]; !ok {
			problem("%s is there, and was not completed", key)
		}
	}
	return problems
}
