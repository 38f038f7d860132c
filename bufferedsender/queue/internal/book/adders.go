package book

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Adders remembers the last call of each adder, and what it was answered.
type Adders struct {
	last  map[queue.ID]answer
	prune int // at that many adders
}

type answer struct {
	number  uint64
	at      time.Time
	receipt queue.Receipt
}

// Answer returns the receipt of a call that is a repeat, with true; an error if nobody can
// tell; false if the call is new.
func (a *Adders) Answer(now time.Time, c *queue.Call) (queue.Receipt, bool, error) {
	last, ok := a.last[c.Adder]
	if !ok || c.Number > last.number {
		return queue.Receipt{}, false, nil
	}
	if c.Number < last.number {
		return queue.Receipt{}, false, fmt.Errorf("%w: it has the number %d, and %d was appended since", queue.ErrTooOld, c.Number, last.number)
	}
	if age := now.Sub(last.at); age > queue.Memory {
		return queue.Receipt{}, false, fmt.Errorf("%w: it was made %v ago", queue.ErrTooOld, age)
	}
	return last.receipt, true, nil
}

// Remember keeps the answer to a call that was applied, for twice as long as it is given, so
// that a repeat that comes too late is known as one.
func (a *Adders) Remember(now time.Time, c *queue.Call, receipt queue.Receipt) {
	if a.last == nil {
		a.last, a.prune = make(map[queue.ID]answer), 1024
	}
	receipt.Piles = nil // the adder that repeats a call finds them again
	a.last[c.Adder] = answer{c.Number, now, receipt}
	if len(a.last) < a.prune {
		return
	}
	for id, last := range a.last {
		if now.Sub(last.at) > 2*queue.Memory {
			delete(a.last, id)
		}
	}
	a.prune = max(1024, 2*len(a.last))
}

// Len returns how many adders are remembered.
func (a *Adders) Len() int { return len(a.last) }

// Each calls f with what is remembered of each adder, for a log.
func (a *Adders) Each(f func(adder queue.ID, number uint64, at time.Time, receipt queue.Receipt)) {
	for id, last := range a.last {
		f(id, last.number, last.at, last.receipt)
	}
}
