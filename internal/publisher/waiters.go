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
	ended    chan struct{} // closed under the lock once items is empty or err is set
}

// size returns the number of waiting bytes.
func (c *waiter[V]) size() (n int64) {
	for i := range c.items {
		n += int64(len(c.items[i].Body))
	}
	return n
}

// await waits until call is accepted or rejected, or ctx ends. In any case, even after a panic of ctx's methods, the
// call has then left the queue and its items belong to the caller again.
func (p *Publisher[V, R]) await(ctx context.Context, call *waiter[V]) {
	err := ErrFull
	defer func() {
		p.admission.leave(call, err, p.config.AutoFlush)
		p.signal() // one behind it may have been accepted
	}()
	// Checked only now, because it costs more than a place in the queue.
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

// waited counts a waiting call, unless it has ended already.
func (a *admission[V]) waited(ended <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-ended:
	default:
		a.stats.Waits++
	}
}

// leave removes a waiter from the queue, unless it was accepted or rejected meanwhile.
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
	a.rejected = autoFlush && errors.Is(err, ErrFull) // by a hook
}

// admit gives room to the waiters, in the order of arrival, alternating between classes.
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

// nextWaiter returns the index of the next waiter to get room, and the bit set of classes that could. While accepted
// items do not leave, it is the most urgent one, because a purge has made the room for it.
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

// lack describes the room missing for waiting calls.
type lack struct {
	waits  bool   // a call waits, or was rejected
	class  uint8  // most urgent class of these calls
	bytes  int64  // missing for the first waiting call
	limits Limits // current limits
}

// lacks returns the room missing for waiting calls.
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
	if l.class > 0 { // without the part reserved for the most urgent class
		l.limits = a.limitsOf(l.class)
	}
	if a.room != nil { // while sending is suspended only the floor is available
		items, floor := a.room.Floor()
		l.limits.Items, l.limits.Bytes = min(l.limits.Items, items), min(l.limits.Bytes, floor)
	}
	return l
}

// full refuses a call that does not wait, and releases the lock, which must be held. The call will be repeated, so the
// loop makes room as for waiting calls. It does not for a hook: one that adds more than was purged would cause further
// purging without end.
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
