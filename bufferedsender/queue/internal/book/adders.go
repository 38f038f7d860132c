package book

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Adders remembers the last call of each adder, with its receipt.
type Adders struct {
	last  map[queue.ID]answer
	prune int // prune when there are this many adders
}

type answer struct {
	number  uint64
	at      time.Time
	receipt queue.Receipt
}

// Answer returns the receipt of a repeated call, with true; false if the call is new; an error if the call is too old
// to decide.
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

// Remember records the receipt of an applied call. It is kept for twice queue.Memory, so that a repeat that comes too
// late is recognized as one.
func (a *Adders) Remember(now time.Time, c *queue.Call, receipt queue.Receipt) {
	if a.last == nil {
		a.last, a.prune = make(map[queue.ID]answer), 1024
	}
	receipt.Piles = nil // the next call for the key finds them again
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

// Len returns the number of adders remembered.
func (a *Adders) Len() int { return len(a.last) }

// Each calls f with the record of each adder, for a log.
func (a *Adders) Each(f func(adder queue.ID, number uint64, at time.Time, receipt queue.Receipt)) {
	for id, last := range a.last {
		f(id, last.number, last.at, last.receipt)
	}
}
