package publisher

import (
	"context"
	"errors"
	"slices"
)

// waiter is one call of Add that waits for room.
type waiter[V any] struct {
	items    []Item[V] // not accepted yet
	accepted int
	class    uint8 // of its first item
	now      instant
	err      error
	ended    chan struct{} // closed under the lock when items is empty or err is set
}

// size returns how many bytes wait.
func (c *waiter[V]) size() (n int64) {
	for i := range c.items {
		n += int64(len(c.items[i].Body))
	}
	return n
}

// await waits until call is accepted or rejected, or ctx ends. Whatever ends
// it, a panic of ctx's own methods too, the call has left the queue then: its
// items belong to the caller again.
func (p *Publisher[V, R]) await(ctx context.Context, call *waiter[V]) {
	err := ErrFull
	defer func() {
		p.admission.leave(call, err, p.config.AutoFlush)
		p.signal() // one behind it may have been accepted
	}()
	// Asked only now, because it costs more than a place in the queue.
	if p.InsideHook(ctx) {
		return
	}
	p.admission.waited(call.ended)
	select {
	case <-call.ended:
	case <-ctx.Done():
		err = p.WaitError(ctx)
	}
}

// waited counts a call that waits, unless it has ended already.
func (a *admission[V]) waited(ended <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-ended:
	default:
		a.stats.Waits++
	}
}

// leave takes a waiter out of the queue, unless it was accepted or rejected
// in the meantime.
func (a *admission[V]) leave(call *waiter[V], err error, autoFlush bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.waiters, call)
	if i < 0 {
		return
	}
	a.waiters = slices.Delete(a.waiters, i, i+1)
	a.waitingBytes -= call.size()
	call.err = err
	a.admit() // a smaller one behind it may fit
	a.quitRoom()
	a.rejected = autoFlush && errors.Is(err, ErrFull) // of a hook
}

// admit gives room to the waiters, in the order in which they came, of several classes by
// turns.
func (a *admission[V]) admit() {
	a.rejected, a.rejectedOutside = false, false
	if len(a.waiters) > 0 {
		defer a.quitRoom()
	}
	for len(a.waiters) > 0 {
		i, classes := a.nextWaiter()
		call := a.waiters[i]
		some := call.items
		if classes != 1<<call.class {
			some = some[:1]
		}
		n := a.accept(some, call.now, a.waiters[0].class)
		for _, it := range call.items[:n] {
			a.waitingBytes -= int64(len(it.Body))
		}
		call.items = call.items[n:]
		call.accepted += n
		if len(call.items) == 0 {
			close(call.ended)
			a.waiters = slices.Delete(a.waiters, i, i+1)
		}
		if n < len(some) {
			break
		}
		a.roomTurns.had(call.class, classes, false)
	}
	a.nextTurns()
}

// nextWaiter returns the place of the waiter that is to have room next, and the classes of
// those that could, as bits. It is the most urgent one while what is accepted does not go
// away: what it has given up to make room, see PurgeOldest, is for it.
func (a *admission[V]) nextWaiter() (i int, classes uint64) {
	if !a.flows() {
		return 0, 1 << a.waiters[0].class
	}
	return a.roomTurns.pick(len(a.waiters), func(i int) uint8 { return a.waiters[i].class })
}

// reject refuses all waiters.
func (a *admission[V]) reject(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, call := range a.waiters {
		call.err = err
		close(call.ended)
	}
	a.waiters, a.waitingBytes, a.rejected, a.rejectedOutside = nil, 0, false, false
	a.quitRoom()
	a.nextTurns()
}

// lack is what those lack who wait for room.
type lack struct {
	waits  bool   // somebody does, or was rejected
	class  uint8  // of the most urgent of them
	bytes  int64  // that the first of them waits for
	limits Limits // that are in force
}

// lacks returns what those lack who wait for room.
func (a *admission[V]) lacks() lack {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := lack{waits: len(a.waiters) > 0 || a.rejectedOutside, class: a.rejectedClass, limits: a.settings.limits}
	if len(a.waiters) > 0 {
		l.bytes = int64(len(a.waiters[0].items[0].Body))
		if l.class = a.waiters[0].class; a.rejectedOutside {
			l.class = min(l.class, a.rejectedClass)
		}
	}
	if l.class > 0 { // what is left to the most urgent class is not theirs
		l.limits = a.limitsOf(l.class)
	}
	if a.room != nil { // while it is held it has its floor, and no more is lent
		items, floor := a.room.Floor()
		l.limits.Items, l.limits.Bytes = min(l.limits.Items, items), min(l.limits.Bytes, floor)
	}
	return l
}

// full refuses a call that does not wait, and ends the lock that is held. The call will come
// again, so the loop is to make room as for those that wait. A hook that adds more than was
// purged must not have more purged for it, and so on.
func (p *Publisher[V, R]) full(ctx context.Context, class uint8) error {
	a := &p.admission
	a.rejected = p.config.AutoFlush
	a.quitRoom()
	held := a.current().Held()
	a.nextTurns()
	a.mu.Unlock()
	inside := p.InsideHook(ctx)
	a.mu.Lock()
	if a.rejected && !inside {
		if !a.rejectedOutside || class < a.rejectedClass {
			a.rejectedClass = class
		}
		a.rejectedOutside = true
	}
	a.mu.Unlock()
	p.signal()
	if held != nil {
		return &FullError{held}
	}
	return ErrFull
}
