package publisher

import (
	"context"
	"slices"
	"time"
)

// Calls of Add encode their items before there is room for them, in memory that no limit counts. So not all may encode
// at once: as many as there seems to be room for. While others wait for room, only a few may, as long as the waiting
// ones hold less than a share of the buffer.
const (
	waitingShare = 4
	encodeAtOnce = 8
	// Each time this has passed, one more call may encode if there is room: the calls that encode may be waiting for it.
	oneMoreAfter = 100 * time.Millisecond
)

// encoder is a call that waits for a turn to encode.
type encoder struct {
	class uint8
	turn  chan struct{} // closed when it gets the turn
}

// mayEncode reports whether one more call of a class may encode its items. It assumes that these are as large as
// recently accepted ones or, before the first, that each fills the buffer. Actions of less urgent calls that wait for
// room do not count.
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

// fewWait reports whether waiting calls hold less than their share.
func (a *admission[V]) fewWait() bool {
	return a.waitingBytes+a.outsideBytes < a.settings.limits.Bytes/waitingShare
}

// Outside adds calls that wait for something other than room in the buffer, and the bytes that they hold; negative
// numbers remove them. They count like calls that wait for room.
func (p *Publisher[V, R]) Outside(calls int, bytes int64) {
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outside, a.outsideBytes = a.outside+calls, a.outsideBytes+bytes
	a.nextTurns()
}

// Turn waits until the caller may encode items of a class. The turn ends with Add or EndTurn. If ctx ends first Turn
// returns an error. In a hook it does not wait.
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

// leaveTurn removes a call from the queue, with the turn or without.
func (p *Publisher[V, R]) leaveTurn(turn chan struct{}, with bool) {
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	has := true // its turn has just come
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

// nextTurns wakes the calls that may encode now, in the order of arrival, alternating between classes. The lock is
// held.
func (a *admission[V]) nextTurns() {
	if len(a.encoders) == 0 { // the usual case
		return
	}
	for len(a.encoders) > 0 && a.letGo() {
	}
	if len(a.encoders) > 0 && len(a.waiters) == 0 && a.later == nil {
		a.later = time.AfterFunc(oneMoreAfter, a.oneMore)
	}
}

// letGo wakes the next call, or the most urgent one if the next may not encode. It reports whether one of them may.
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

// nextEncoder returns the index of the next call, and the bit set of all waiting classes.
func (a *admission[V]) nextEncoder() (next int, classes uint64) {
	return a.encodeTurns.pick(len(a.encoders), func(i int) uint8 { return a.encoders[i].class })
}

// encode wakes a waiting call.
func (a *admission[V]) encode(i int, classes uint64) {
	a.encoding++
	a.encodeTurns.had(a.encoders[i].class, classes, false)
	close(a.encoders[i].turn)
	a.encoders = slices.Delete(a.encoders, i, i+1)
}

// oneMore lets the next call encode although earlier ones have not returned.
func (a *admission[V]) oneMore() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.later = nil
	if len(a.encoders) > 0 && len(a.waiters) == 0 && a.fewWait() {
		a.encode(a.nextEncoder())
	}
	a.nextTurns()
}
