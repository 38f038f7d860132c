package breaker

import (
	"container/list"
	"time"
)

// Change is a change of state.
type Change struct {
	// From and To differ, except when a Neutral probe or an early request has ended and requests were refused because of
	// it. One of these may now be allowed.
	From, To State
	// At is the time of the change.
	At time.Time
	// Err is the reason why the breaker is open, if To is Open or HalfOpen; otherwise nil.
	Err error
}

// subscriber is one call of Subscribe. The mutex of the breaker guards all fields but f.
type subscriber struct {
	f     func(Change)
	place *list.Element // in Breaker.subscribers; nil when cancelled
}

// `notice` is a change with the subscribers at that time. Those from index next on must still be notified, except
// cancelled ones.
type notice struct {
	change Change
	to     []*subscriber
	next   int
}

// Subscribe calls f after each later change of state: once per change, in order, never concurrently, and without a lock
// of the breaker, so f may call all its methods and cancel. To miss no change, subscribe before you read Status.
//
// f runs on the goroutine whose call caused a change, or on the goroutine of the breaker's timer. It must not block,
// because all notifications wait meanwhile: f usually sends on a channel with a buffer of one, or does nothing. A
// change that f itself causes, or that another goroutine causes while f runs, is reported after f has returned, and its
// call does not wait for that. Subscribers are notified in the order of their Subscribe calls, one change after
// another.
//
// If f panics, the other subscribers are notified, and then the panic continues in the call that caused the change; on
// the timer's goroutine it ends the program.
//
// After cancel f is not called for later changes. Like the stop function of context.AfterFunc, cancel does not wait for
// a call under way or about to begin; if you must know that f has ended, let f signal it. cancel may be called again.
//
// A change takes time in proportion to the number of subscribers; Subscribe and cancel take constant time.
func (b *Breaker) Subscribe(f func(Change)) (cancel func()) {
	s := &subscriber{f: f}
	b.mu.Lock()
	s.place = b.subscribers.PushBack(s)
	b.mu.Unlock()
	return func() { b.unsubscribe(s) }
}

func (b *Breaker) unsubscribe(s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.place != nil {
		b.subscribers.Remove(s.place)
		s.place = nil // so that queued changes skip it
	}
}

// notify queues a change for every subscriber. The caller has mu, and must call unlock afterwards.
func (b *Breaker) notify(c Change) {
	n := &notice{change: c, to: make([]*subscriber, 0, b.subscribers.Len())}
	for e := b.subscribers.Front(); e != nil; e = e.Next() {
		n.to = append(n.to, e.Value.(*subscriber))
	}
	b.queue = append(b.queue, n)
}

// unlock releases mu and then delivers the queued changes, unless another goroutine, or a caller of this function on
// the same stack, is delivering.
func (b *Breaker) unlock() {
	due := len(b.queue) > 0 && !b.delivering
	b.mu.Unlock()
	if due {
		b.deliver()
	}
}

func (b *Breaker) deliver() {
	finished := false
	defer func() {
		if !finished {
			b.deliver() // f panicked: notify the others
		}
	}()
	for b.deliverOne() {
	}
	finished = true
}

// deliverOne notifies one subscriber. It returns false if there was none.
func (b *Breaker) deliverOne() bool {
	b.mu.Lock()
	if b.delivering {
		b.mu.Unlock()
		return false
	}
	s, change := b.take()
	if s == nil {
		b.mu.Unlock()
		return false
	}
	b.delivering = true
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.delivering = false
		b.mu.Unlock()
	}()
	s.f(change)
	return true
}

// take removes the next notification from the queue and returns its subscriber and change; nil if there is none.
func (b *Breaker) take() (*subscriber, Change) {
	for len(b.queue) > 0 {
		n := b.queue[0]
		for n.next < len(n.to) {
			s := n.to[n.next]
			n.to[n.next] = nil
			n.next++
			if s.place != nil {
				return s, n.change
			}
		}
		b.queue[0] = nil
		b.queue = b.queue[1:]
	}
	return nil, Change{}
}
