package events

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Position is a position in an input: an offset of Kafka, a log sequence number of PostgreSQL, a line, a byte.
type Position interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

// ErrPositionOrder means that Begin got a position that is not above the last one, or is above one that must be begun
// again first, because Forget has taken back some of its actions.
var ErrPositionOrder = errors.New("positions must be begun in increasing order")

// LowWatermark computes a position, the mark, up to which everything is settled, from outcomes that come in any order
// because batches overlap and retries take time. After a crash Kafka, a replication slot or the reader of a file can
// resume at the mark without a gap; positions above it are sent again.
//
// The program calls Begin for each position, in increasing order, before its action can end, and Settle, in any order,
// when the action is dealt with. [Track] does both from the events of a sender. Positions may have gaps, as in Kafka:
// the mark passes positions without Begin.
//
// A LowWatermark serves one sequence of positions: a topic of eight partitions needs eight. The zero value is ready to
// use. It is safe for concurrent use, but the calls of Begin must be in order, usually from one goroutine that reads.
// It needs about a hundred bytes for each position begun and not settled, and nothing for others, however long one
// position holds the mark.
type LowWatermark[P Position] struct {
	mu sync.Mutex // guards the fields below; nothing blocks under it
	// begun has the unsettled positions in increasing order, and settled ones that compact has not removed yet. The one at
	// head is unsettled.
	begun    []begunPosition[P]
	head     int
	open     int // number of unsettled positions
	last     P   // the last one begun
	any      bool
	owed     P    // Forget has taken back some of its actions; none above it is begun
	owing    bool // owed is valid, until it is begun again
	mark     P
	marked   bool          // mark is valid
	advanced chan struct{} // see Advanced; nil until its first call
}

type begunPosition[P Position] struct {
	at P
	// before is the position begun just before, settled or not. It is the mark when this position is the lowest unsettled
	// one. So settled positions need not be kept.
	before P
	first  bool // before is not valid
	left   int  // calls of Settle still expected

	settled bool // there was one
}

// Begin announces an action at pos. If pos is not above the last position begun, or is above one that Forget has taken
// back in part, it changes nothing and returns ErrPositionOrder.
func (w *LowWatermark[P]) Begin(pos P) error { return w.BeginN(pos, 1) }

// BeginN is Begin for a position with n actions, such as a message with n documents: the n-th Settle settles the
// position. n may be 0, for a message that was filtered out. If Forget has taken back actions of this position, n more
// are announced.
func (w *LowWatermark[P]) BeginN(pos P, n int) error {
	if n < 0 {
		return fmt.Errorf("position %v cannot stand for %d actions", pos, n)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owing && pos > w.owed {
		return fmt.Errorf("%w: %v came before the actions of %v that Forget has taken back (begin those again first)", ErrPositionOrder, pos, w.owed)
	}
	if w.owing && pos == w.owed {
		w.owing = false
		if last := w.lastBegun(); last != nil && last.at == pos {
			last.left += n
			return nil
		}
	}
	if w.any && pos <= w.last {
		return fmt.Errorf("%w: %v came after %v (add from one goroutine; call Forget before adding refused actions again)", ErrPositionOrder, pos, w.last)
	}
	if n > 0 {
		w.begun = append(w.begun, begunPosition[P]{at: pos, before: w.last, first: !w.any, left: n})
		w.open++
	}
	w.last, w.any = pos, true
	w.advance()
	return nil
}

// Settle reports one action at pos as dealt with: it was applied, or its failure was handled. It returns false and
// changes nothing if pos is not open: settled before, taken back, or never begun.
func (w *LowWatermark[P]) Settle(pos P) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, found := w.find(pos)
	if !found || w.begun[i].left == 0 {
		return false
	}
	w.begun[i].left--
	w.begun[i].settled = true
	if w.begun[i].left > 0 {
		return true
	}
	w.open--
	if w.owing && pos == w.owed {
		w.cut(i)
	}
	for w.head < len(w.begun) && w.begun[w.head].left == 0 {
		w.head++
	}
	w.compact()
	w.advance()
	return true
}

// Forget takes back the Begin of refused actions at the position from, and of all actions at positions above it. It
// returns the number of affected positions. They may be begun again, and must be before any position above them, or the
// mark would pass them as a gap. If only some actions of from were refused, Begin of a position above it is an error
// until then; BeginN(from, 0) gives those up.
//
// Use it for actions that the adding call refused after their Begin (the context ended while it waited for room, the
// buffer was full): no event follows, so they would hold the mark forever. An AddError of the sender means that all
// documents from Accepted on are refused. Pass the position of that one, and how many of its actions are refused: 1
// unless several share it. Begin those again with BeginN and add them again. Other actions of the position are on
// their way and settle as begun.
//
// Without this call the mark stays below them, which is right if the program gives up. To pass an action deliberately,
// call Settle.
func (w *LowWatermark[P]) Forget(from P, refused int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, found := w.find(from)
	forgotten := 0
	if found && refused > 0 && w.begun[i].settled && w.begun[i].left > 0 && w.begun[i].left <= refused {
		w.owed, w.owing = from, true // what is left of it is refused, and the rest has settled
	}
	if found && w.begun[i].left > refused {
		if i++; refused > 0 {
			forgotten = 1
			w.begun[i-1].left -= refused
			w.owed, w.owing = from, true
		}
	}
	for forgotten == 0 && i < len(w.begun) && w.begun[i].left == 0 {
		i++
	}
	for _, b := range w.begun[i:] {
		if b.left > 0 {
			forgotten++
			w.open--
		}
	}
	if i < len(w.begun) {
		w.cut(i)
	}
	if last := w.lastBegun(); last != nil && w.owing && last.at == w.owed {
		w.last, w.any = last.at, true
	}
	w.compact()
	return forgotten
}

// cut removes the positions from index i on, as if they had not been begun.
func (w *LowWatermark[P]) cut(i int) {
	w.last, w.any = w.begun[i].before, !w.begun[i].first
	w.begun = w.begun[:i]
}

// lastBegun returns the last position that is kept, or nil.
func (w *LowWatermark[P]) lastBegun() *begunPosition[P] {
	if len(w.begun) == 0 {
		return nil
	}
	return &w.begun[len(w.begun)-1]
}

// Mark returns the highest position up to which all begun positions are settled; false if there is none yet. It never
// decreases. Consumers of Kafka commit the next offset to read, which is one more.
func (w *LowWatermark[P]) Mark() (P, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mark, w.marked
}

// Oldest returns the lowest unsettled position, which holds the mark; false if there is none.
func (w *LowWatermark[P]) Oldest() (P, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == 0 {
		var none P
		return none, false
	}
	return w.begun[w.head].at, true
}

// Outstanding returns the number of unsettled positions.
func (w *LowWatermark[P]) Outstanding() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// Advanced returns a channel for one receiver, always the same one, with a message after the mark has moved. Several
// moves may cause one message, and Mark may already have returned the new value. The channel is never closed. Settle
// never waits for the receiver.
func (w *LowWatermark[P]) Advanced() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.advanced == nil {
		w.advanced = make(chan struct{}, 1) // one message is enough
		if w.marked {
			w.advanced <- struct{}{}
		}
	}
	return w.advanced
}

// find returns the index of pos among the positions from head on, or where it would be inserted.
func (w *LowWatermark[P]) find(pos P) (int, bool) {
	i, found := slices.BinarySearchFunc(w.begun[w.head:], pos, func(b begunPosition[P], pos P) int {
		switch {
		case b.at < pos:
			return -1
		case b.at > pos:
			return 1
		}
		return 0
	})
	return w.head + i, found
}

// advance updates the mark.
func (w *LowWatermark[P]) advance() {
	to, ok := w.last, w.any
	if w.open > 0 {
		to, ok = w.begun[w.head].before, !w.begun[w.head].first
	}
	if !ok || w.marked && to <= w.mark {
		return
	}
	w.mark, w.marked = to, true
	select {
	case w.advanced <- struct{}{}:
	default: // a message is waiting, or Advanced was not called
	}
}

// compact removes settled positions when they are more than half, so that a position is moved about twice in its life.
func (w *LowWatermark[P]) compact() {
	const few, spare = 32, 1024 // too few to move; too few to shrink
	if w.open > 0 && len(w.begun) <= 2*w.open+few {
		return
	}
	kept := w.begun[:0]
	if cap(w.begun) > 4*w.open+spare {
		kept = make([]begunPosition[P], 0, 2*w.open)
	}
	for _, b := range w.begun[w.head:] {
		if b.left > 0 {
			kept = append(kept, b)
		}
	}
	w.begun, w.head = kept, 0
}
