package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// ledger records accepted writes and their outcomes. Outcomes arrive on other goroutines, possibly before the adding
// call returns.
type ledger struct {
	mu          sync.Mutex // guards the fields below and the writes
	indexes     map[string][]*write
	backfilling bool
}

// write is one added item. Writes of one key are in the order of adding.
type write struct {
	item        Item
	class       models.Class
	began       time.Time
	accepted    bool
	outcomes    []models.Outcome
	took        time.Duration // from the adding call to the outcome
	backfilling bool          // the backfill was running when the outcome came
}

// begin records items that are about to be added.
func (l *ledger) begin(index string, class models.Class, items []Item) (writes []*write) {
	for _, item := range items {
		writes = append(writes, &write{item: item, class: class, began: time.Now()})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.indexes[index] = append(l.indexes[index], writes...)
	return writes
}

// accepted records the writes that an adding call accepted.
func (l *ledger) accepted(writes []*write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range writes {
		w.accepted = true
	}
}

// settled records an outcome.
func (l *ledger) settled(w *write, o models.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.outcomes = append(w.outcomes, o)
	w.took, w.backfilling = time.Since(w.began), l.backfilling
}

func (w *write) completed() bool { return len(w.outcomes) > 0 && w.outcomes[0].Completed() }

// report prints the latency of live updates, and for each index the number of lost documents with the first reason.
func (s *story) report() {
	for i, word := range []string{"without", "with   "} {
		took := []time.Duration{0}
		for _, w := range s.ledger.indexes[products] {
			if w.completed() && w.class == live && w.backfilling == (i == 1) {
				took = append(took, w.took.Round(time.Millisecond))
			}
		}
		slices.Sort(took)
		fmt.Fprintf(s.out, "live updates %s the backfill: p50 %6s, p99 %6s\n", word, took[len(took)/2], took[len(took)*99/100])
	}
	waited := s.fleet.Pool().QueueTimes(backfill)
	fmt.Fprintf(s.out, "requests of the backfill waited for a slot: p50 %v, p99 %v\n", waited.Quantile(0.5), waited.Quantile(0.99))
	whole := 0
	for _, name := range s.names {
		writes := s.ledger.indexes[name]
		lost := slices.DeleteFunc(slices.Clone(writes), func(w *write) bool { return w.completed() || !w.accepted })
		if len(lost) == 0 {
			whole++
			continue
		}
		fmt.Fprintf(s.out, "%q has lost %d of %d accepted documents:\n", name, len(lost), len(writes))
		if first := lost[0]; len(first.outcomes) > 0 {
			fmt.Fprintf(s.out, "  %s, version %d, the first of them: %v: %v\n", first.item.ID, first.item.Version, first.outcomes[0].Reason, first.outcomes[0].Err)
		}
	}
	fmt.Fprintf(s.out, "%d of %d indexes have lost nothing\n", whole, len(s.names))
}

// verify compares accepted writes with their outcomes, and completed writes with the indexes.
func (s *story) verify() error {
	var problems []string
	accepted, lost := 0, 0
	for _, name := range s.names {
		held, err := stage.Documents[Item](s.service, name)
		if err != nil {
			return err
		}
		for _, w := range s.ledger.indexes[name] {
			if w.accepted {
				accepted++
			}
			if w.accepted && !w.completed() {
				lost++ // compare allows that for the doomed index only
			}
		}
		problems = append(problems, compare(name, s.ledger.indexes[name], held, name == doomed)...)
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

// compare returns the problems of an index. Only a deleted index may lose documents.
func compare(index string, writes []*write, documents map[string]Item, deleted bool) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%q: ", index)+fmt.Sprintf(format, args...))
	}
	if len(writes) == 0 {
		problem("nothing was written to it")
	}
	want := map[string]Item{} // what the index must contain
	for _, w := range writes {
		switch {
		case !w.accepted && len(w.outcomes) > 0:
			problem("%s, version %d, has an outcome and was not accepted", w.item.ID, w.item.Version)
		case w.accepted && len(w.outcomes) != 1:
			problem("%s, version %d, has %d outcomes", w.item.ID, w.item.Version, len(w.outcomes))
		case w.completed():
			want[w.item.ID] = w.item
		case w.accepted && !deleted:
			problem("%s, version %d, was lost: %v", w.item.ID, w.item.Version, w.outcomes[0].Err)
		}
	}
	if deleted {
		want = nil
	}
	for _, difference := range stage.Differences(want, documents) {
		problem("%s", difference)
	}
	return problems
}
