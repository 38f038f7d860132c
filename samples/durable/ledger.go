package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// keyOf returns the key of write n of an adder. A quarter of the writes go to eight keys that change all the time.
// The other keys change only within one stretch of writes, so a lost write of them is never overwritten, and verify
// finds it.
func keyOf(adder int, n int64) string {
	x := uint64(n) * 0x9e3779b97f4a7c15 //nolint:gosec // a hash
	if x>>20%4 == 0 {
		return fmt.Sprintf("adder%d-hot%d", adder, x>>32%8)
	}
	return fmt.Sprintf("adder%d-stretch%d-key%03d", adder, n/stretch, x>>32%keysEach)
}

// ledger has the writes that an adder has reported. A write that was tried and not acknowledged may be in the index,
// because the process died in between.
type ledger struct {
	adder        int
	tried, acked int64            // numbers of the last writes
	unsure       int64            // writes that were tried and not acknowledged
	last         map[string]int64 // by key: the last acknowledged write
}

func newLedger(adder int) *ledger { return &ledger{adder: adder, last: make(map[string]int64)} }

// try records that writes are about to be added.
func (l *ledger) try(first, last int64) error {
	if first != l.tried+1 || last < first {
		return fmt.Errorf("adder %d tries writes %d to %d after %d", l.adder, first, last, l.tried)
	}
	l.tried = last
	return nil
}

// ack records that the queue has accepted them.
func (l *ledger) ack(first, last int64) error {
	if last != l.tried || first <= l.acked {
		return fmt.Errorf("adder %d acknowledges writes %d to %d, and has tried %d", l.adder, first, last, l.tried)
	}
	for n := first; n <= last; n++ {
		l.last[keyOf(l.adder, n)] = n
	}
	l.acked = last
	return nil
}

// died records the end of the adder's process.
func (l *ledger) died() {
	l.unsure += l.tried - l.acked
	l.acked = l.tried
}

// compare returns the problems of an index. Each key must have the last acknowledged write or a later one.
func compare(ledgers []*ledger, documents map[string]Doc) (problems []string) {
	for _, l := range ledgers {
		for _, key := range slices.Sorted(maps.Keys(l.last)) {
			got, there := documents[key]
			if !there {
				problems = append(problems, fmt.Sprintf("%s: write %d was acknowledged, and the index does not have the document", key, l.last[key]))
			} else if got.Version < l.last[key] {
				problems = append(problems, fmt.Sprintf("%s: write %d was the last one that was acknowledged, and the index has write %d", key, l.last[key], got.Version))
			}
		}
	}
	for key, doc := range documents {
		added := func(l *ledger) bool { return doc.Version <= l.tried && keyOf(l.adder, doc.Version) == key }
		if !slices.ContainsFunc(ledgers, added) {
			problems = append(problems, key+": no adder has added it")
		}
	}
	return problems
}

// verify prints the figures and compares the index with the acknowledged writes.
func (t *theatre) verify() error {
	var added, unsure, keys int64
	var ledgers []*ledger
	for _, p := range t.posts {
		l := p.ledger
		if l == nil {
			continue
		}
		ledgers = append(ledgers, l)
		added += l.tried
		unsure += l.unsure
		keys += int64(len(l.last))
	}
	requests, sent := t.service.Sent()
	took := time.Since(t.beginning).Seconds()
	fmt.Fprintf(t.out, "added     %d writes of %d keys in %.1f s; %d unknown, because their process was killed\n", added, keys, took, unsure)
	if t.Kill {
		fmt.Fprintf(t.out, "disturbed %d kills, %d freezes\n", t.kills, t.freezes)
	} else {
		fmt.Fprintf(t.out, "restarted %d times\n", t.restarts)
	}
	fmt.Fprintf(t.out, "sent      %d documents in %d requests: frequent changes are folded\n", sent, requests)
	documents, err := stage.Documents[Doc](t.service, indexName)
	if err != nil {
		return err
	}
	if err := stage.Problems(compare(ledgers, documents)); err != nil {
		return fmt.Errorf("the index is wrong: %w", err)
	}
	if added == 0 || sent == 0 {
		return fmt.Errorf("nothing has happened: %d writes were added and %d sent", added, sent)
	}
	fmt.Fprintf(t.out, "index     %d documents: each has the last write that was acknowledged, or one after it whose process was killed\n", len(documents))
	return nil
}
