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
	// assumedBytes is the size of an item of which nothing is known yet.
	assumedBytes = 64 << 10
)

// mayEncode reports whether one more call may encode its items. It assumes that these
// are as large as what was accepted of late.
func (a *admission[V]) mayEncode() bool {
	few := a.encoding < encodeAtOnce
	switch {
	case a.closing:
		return true
	case len(a.waiters) > 0:
		return few && a.waitingBytes < a.settings.limits.Bytes/waitingShare
	case few:
		return true
	}
	room := min(int64(a.settings.limits.Items-a.stats.Items), (a.settings.limits.Bytes-a.stats.Bytes)/max(1, a.meanBytes))
	return int64(a.encoding) < room
}

// Turn waits until the caller may encode its items. Then it has the turn, which ends
// with Add or with EndTurn. If ctx ends first, Turn returns an error, and in a hook it
// does not wait.
func (p *Publisher[V, R]) Turn(ctx context.Context) error {
	a := &p.admission
	a.mu.Lock()
	if a.mayEncode() {
		a.encoding++
		a.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	a.turns = append(a.turns, turn)
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
	if i := slices.Index(a.turns, turn); i >= 0 {
		a.turns = slices.Delete(a.turns, i, i+1)
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

// nextTurns wakes the calls that may encode now, in the order in which they came.
// The lock is held.
func (a *admission[V]) nextTurns() {
	if len(a.turns) == 0 { // mostly
		return
	}
	for len(a.turns) > 0 && a.mayEncode() {
		a.letGo()
	}
	if len(a.turns) > 0 && len(a.waiters) == 0 && a.later == nil {
		a.later = time.AfterFunc(oneMoreAfter, a.oneMore)
	}
}

// letGo ends the waiting of the first call.
func (a *admission[V]) letGo() {
	close(a.turns[0])
	a.turns = slices.Delete(a.turns, 0, 1)
	a.encoding++
}

// oneMore lets the next call go although those before it have not come back.
func (a *admission[V]) oneMore() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.later = nil
	if len(a.turns) > 0 && len(a.waiters) == 0 {
		a.letGo()
	}
	a.nextTurns()
}
