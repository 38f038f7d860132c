package publisher

import (
	"context"
	"slices"
	"time"
)

// Calls of Add encode their items before there is room for them, and what they hold
// meanwhile no limit counts. So not all may encode at once: as many as there seems to
// be room for, and while others wait for room a few, as long as those hold less than
// a share of the buffer.
const (
	waitingShare = 4
	encodeAtOnce = 8
	// However long those take that encode, one more may each time this is up, if there is
	// room: they may wait for it.
	oneMoreAfter = 100 * time.Millisecond
)

// encoder is a call that waits for its turn to encode.
type encoder struct {
	class uint8
	turn  chan struct{} // closed when it has it
}

// mayEncode reports whether one more call of a class may encode its items. It assumes that
// these are as large as what was accepted of late, and while nothing was, that each fills the
// buffer. What less urgent calls hold that wait for room does not count.
func (a *admission[V]) mayEncode(class uint8) bool {
	few := a.encoding < encodeAtOnce
	switch {
	case a.closing:
		return true
	case a.outside > 0, len(a.waiters) > 0 && a.waiters[0].class <= class:
		return few && a.fewWait()
	case few:
		return true
	}
	room := min(int64(a.settings.limits.Items-a.stats.Items), (a.settings.limits.Bytes-a.stats.Bytes)/max(1, a.largeBytes))
	return int64(a.encoding) < room
}

// fewWait reports whether what calls hold that wait is less than its share.
func (a *admission[V]) fewWait() bool {
	return a.waitingBytes+a.outsideBytes < a.settings.limits.Bytes/waitingShare
}

// Outside notes calls that wait for something else than room in the buffer, and bytes that they hold; with negative
// numbers those that do not any more. They count as calls do that wait for room.
func (p *Publisher[V, R]) Outside(calls int, bytes int64) {
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outside, a.outsideBytes = a.outside+calls, a.outsideBytes+bytes
	a.nextTurns()
}

// Turn waits until the caller may encode its items, of a class. Then it has the turn, which
// ends with Add or with EndTurn. If ctx ends first, Turn returns an error, and in a hook it
// does not wait.
func (p *Publisher[V, R]) Turn(ctx context.Context, class uint8) error {
	a := &p.admission
	a.mu.Lock()
	if a.mayEncode(class) {
		a.encoding++
		a.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	behind := placeOf(class, a.encoders, func(e encoder) uint8 { return e.class })
	a.encoders = slices.Insert(a.encoders, behind, encoder{class, turn})
	a.nextTurns() // for the timer
	a.mu.Unlock()
	if p.InsideHook(ctx) {
		p.leaveTurn(turn, true)
		return nil
	}
	a.waited(turn)
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		p.leaveTurn(turn, false)
		return p.WaitError(ctx)
	}
}

// leaveTurn takes a call out of the queue, with the turn or without.
func (p *Publisher[V, R]) leaveTurn(turn chan struct{}, with bool) {
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	has := true // it has just been its turn
	if i := slices.IndexFunc(a.encoders, func(e encoder) bool { return e.turn == turn }); i >= 0 {
		a.encoders = slices.Delete(a.encoders, i, i+1)
		has = false
	}
	switch {
	case with && !has:
		a.encoding++
	case !with && has:
		a.endTurn()
	}
}

// EndTurn ends a turn without Add.
func (p *Publisher[V, R]) EndTurn() {
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endTurn()
}

// endTurn is EndTurn for a caller that holds the lock.
func (a *admission[V]) endTurn() {
	a.encoding--
	a.nextTurns()
}

// nextTurns wakes the calls that may encode now, in the order in which they came, of
// several classes by turns. The lock is held.
func (a *admission[V]) nextTurns() {
	if len(a.encoders) == 0 { // mostly
		return
	}
	for len(a.encoders) > 0 && a.letGo() {
	}
	if len(a.encoders) > 0 && len(a.waiters) == 0 && a.later == nil {
		a.later = time.AfterFunc(oneMoreAfter, a.oneMore)
	}
}

// letGo ends the waiting of the call that is next, or of the most urgent one if that may not
// encode, and reports whether one of them may.
func (a *admission[V]) letGo() bool {
	next, classes := a.nextEncoder()
	if !a.mayEncode(a.encoders[next].class) {
		if next = 0; !a.mayEncode(a.encoders[0].class) {
			return false
		}
	}
	a.encode(next, classes)
	return true
}

// nextEncoder returns the place of the call whose turn is next, and the classes of all that
// wait, as bits.
func (a *admission[V]) nextEncoder() (next int, classes uint64) {
	return a.encodeTurns.pick(len(a.encoders), func(i int) uint8 { return a.encoders[i].class })
}

// encode ends the waiting of a call.
func (a *admission[V]) encode(i int, classes uint64) {
	a.encoding++
	a.encodeTurns.had(a.encoders[i].class, classes, false)
	close(a.encoders[i].turn)
	a.encoders = slices.Delete(a.encoders, i, i+1)
}

// oneMore lets the next call go although those before it have not come back.
func (a *admission[V]) oneMore() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.later = nil
	if len(a.encoders) > 0 && len(a.waiters) == 0 && a.fewWait() {
		a.encode(a.nextEncoder())
	}
	a.nextTurns()
}
