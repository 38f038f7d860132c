package events

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Position is a place in what a program reads: an offset of Kafka, a log
// sequence number of PostgreSQL, a line, a byte.
type Position interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

// ErrPositionOrder says that a position was begun that does not lie above the
// last one.
var ErrPositionOrder = errors.New("positions must be begun in increasing order")

// LowWatermark turns ends that come in any order, because batches overlap and
// retries take their time, into one position: the mark, up to which all is
// settled. That is what Kafka, a replication slot or the reader of a file can
// take up again after a crash without a gap; what lies above it is sent twice.
//
// The program says Begin for each position, in increasing order, before its
// action can end, and Settle, in any order, when it is dealt with; [Track] does
// both from the events of a sender. Positions may have gaps: Kafka leaves some
// out, and the mark passes what was never begun.
//
// A LowWatermark is for one sequence of positions. A topic of eight partitions
// wants eight. The zero value is ready. It is safe for concurrent use, as long
// as the order of the calls of Begin is certain: one goroutine, usually the one
// that reads. It needs memory for the positions that are begun and not settled,
// about a hundred bytes each, and for no others, however long one of them holds
// the mark.
type LowWatermark[P Position] struct {
	mu sync.Mutex // guards the fields below; nothing blocks under it
	// begun holds the unsettled positions in increasing order and, between them,
	// settled ones that compact has not yet removed. The one at head is
	// unsettled.
	begun    []begunPosition[P]
	head     int
	open     int // how many are unsettled
	last     P   // the last that was begun
	any      bool
	mark     P
	marked   bool          // there is a mark
	advanced chan struct{} // see Advanced; nil until somebody asked
}

type begunPosition[P Position] struct {
	at P
	// before is the position begun just before, settled or not. When this one
	// is the lowest that is not settled, that is the mark: so nothing settled
	// needs to be remembered.
	before P
	first  bool // there is no before
	left   int  // calls of Settle that are missing
	// owed says that Forget has taken back some of its actions, and not those that are
	// left: it is the last one, and is not settled before it was begun again.
	owed bool
}

// Begin says that an action at pos is on its way. The error says that pos is
// not above the last one that was begun; then nothing has changed.
func (w *LowWatermark[P]) Begin(pos P) error { return w.BeginN(pos, 1) }

// BeginN is Begin for a position that stands for n actions, such as a message
// with n documents: the position is settled by the n-th Settle. n may be 0, for
// a message that was filtered out. Of a position of which Forget has taken back
// some actions n more are on their way.
func (w *LowWatermark[P]) BeginN(pos P, n int) error {
	if n < 0 {
		return fmt.Errorf("position %v cannot stand for %d actions", pos, n)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := w.lastBegun(); last != nil && last.owed {
		last.owed = false // begun again, or left out
		if pos == last.at {
			last.left += n
			return nil
		}
	}
	if w.any && pos <= w.last {
		return fmt.Errorf("%w: %v came after %v (add from one goroutine; call Forget before adding again what was refused)", ErrPositionOrder, pos, w.last)
	}
	if n > 0 {
		w.begun = append(w.begun, begunPosition[P]{at: pos, before: w.last, first: !w.any, left: n})
		w.open++
	}
	w.last, w.any = pos, true
	w.advance()
	return nil
}

// Settle says that one action at pos is dealt with: it is applied, or it failed
// and that has been seen to. It reports false, and changes nothing, if pos is
// not on its way: settled before, forgotten, or never begun.
func (w *LowWatermark[P]) Settle(pos P) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, found := w.find(pos)
	if !found || w.begun[i].left == 0 {
		return false
	}
	w.begun[i].left--
	if w.begun[i].left > 0 {
		return true
	}
	w.open--
	if w.begun[i].owed {
		w.cut(i)
	}
	for w.head < len(w.begun) && w.begun[w.head].left == 0 {
		w.head++
	}
	w.compact()
	w.advance()
	return true
}

// Forget takes back the Begin of refused actions at the position from, and of all
// at positions above it, and returns of how many positions something was taken back.
// They may be begun again, and must be before anything above them, or the mark would
// pass them as a gap.
//
// It is for actions that were refused by the adding call after the position was
// begun (the context ended while it waited for room, the buffer was full): no
// event follows, so that they would hold the mark for ever. An AddError of the
// sender says that all from Accepted on are refused; forget the position of that
// one, with how many of its actions are refused: 1 unless several share it. Begin
// those again, with BeginN, and add them again. The others of the position are
// on their way, and settle what was begun for them.
//
// Without Forget the mark stays below them, which is right if the program gives up.
// To pass an action on purpose, call Settle.
func (w *LowWatermark[P]) Forget(from P, refused int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, found := w.find(from)
	forgotten := 0
	if found && w.begun[i].left > refused {
		if i++; refused > 0 {
			forgotten = 1
			w.begun[i-1].left -= refused
			w.begun[i-1].owed = true
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
	if last := w.lastBegun(); last != nil && last.owed {
		w.last, w.any = last.at, true
	}
	w.compact()
	return forgotten
}

// cut removes the positions from i on, as if they had not been begun.
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

// Mark returns the highest position of which it is true that it and all below
// that were begun are settled; false until there is one. It never goes back.
// Consumers of Kafka commit the next offset to be read, which is one more.
func (w *LowWatermark[P]) Mark() (P, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mark, w.marked
}

// Oldest returns the lowest position that is not settled, the one that holds the
// mark; false if there is none.
func (w *LowWatermark[P]) Oldest() (P, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == 0 {
		var none P
		return none, false
	}
	return w.begun[w.head].at, true
}

// Outstanding returns how many positions are begun and not settled.
func (w *LowWatermark[P]) Outstanding() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// Advanced returns a channel for one receiver, always the same, that is sent to
// after the mark has moved: many moves make one message, and it may come when
// Mark has returned the news already. It is never closed. Settle never waits for the
// receiver.
func (w *LowWatermark[P]) Advanced() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.advanced == nil {
		w.advanced = make(chan struct{}, 1) // one message is as good as many
		if w.marked {
			w.advanced <- struct{}{}
		}
	}
	return w.advanced
}

// find returns the place of pos among the positions from head on, or where it
// would be.
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

// advance moves the mark to where it belongs.
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
	default: // there is a message already, or nobody has asked for the channel
	}
}

// compact removes what is settled when it is more than half, so that a position
// is moved about twice in its life.
func (w *LowWatermark[P]) compact() {
	const few, spare = 32, 1024 // not worth a move; not worth giving back
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
