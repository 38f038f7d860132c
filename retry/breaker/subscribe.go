package breaker

import (
	"container/list"
	"time"
)

// Change is a change of state.
type Change struct {
	// From and To differ, but when a probe has ended as Neutral, or a request of AllowEarly
	// has ended, and requests were refused because of it. One of them may now be let
	// through.
	From, To State
	// At is when.
	At time.Time
	// Err is why the breaker is open, when To is Open or HalfOpen; nil otherwise.
	Err error
}

// subscriber is one f of Subscribe. The mutex of the breaker guards all but f.
type subscriber struct {
	f     func(Change)
	place *list.Element // in Breaker.subscribers; nil once it is cancelled
}

// notice is a change and who has yet to be notified of it: of those who were
// subscribed when it happened the ones from next on, but for the cancelled.
type notice struct {
	change Change
	to     []*subscriber
	next   int
}

// Subscribe has f called after each change of state from now on: once for each,
// in order, never twice at the same time, and with no lock of the breaker held,
// so f may call every method of the breaker and its own cancel. To miss nothing,
// subscribe first and look at Status then.
//
// f runs on the goroutine whose call caused a change, or on that of the
// breaker's timer. It must not block, because nobody is notified of anything
// meanwhile: the usual f sends on a channel with room for one, or does nothing.
// A change that f itself causes, or that another goroutine causes while f runs,
// is reported after f has returned, and the call that caused it does not wait for
// that. Subscribers are notified in the order in which they subscribed, of one
// change after the other.
//
// If f panics, the others are notified all the same and then the panic goes up to
// whoever caused the change; on the timer's goroutine it ends the program.
//
// After cancel f is not called for any other change. As with the stop function of
// context.AfterFunc, a call that is under way or about to begin is not waited for:
// whoever needs to know that f has ended arranges that with f. It may be called more
// than once.
//
// A change costs time in proportion to the number of subscribers; Subscribe and
// cancel take the same short time however many there are.
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
		s.place = nil // so the notices pass it over
	}
}

// notify notes a change for every subscriber. Whoever holds mu calls it, and
// then unlock.
func (b *Breaker) notify(c Change) {
	n := &notice{change: c, to: make([]*subscriber, 0, b.subscribers.Len())}
	for e := b.subscribers.Front(); e != nil; e = e.Next() {
		n.to = append(n.to, e.Value.(*subscriber))
	}
	b.queue = append(b.queue, n)
}

// unlock releases mu and then notifies the subscribers of what is in the queue,
// unless another goroutine is at it, or this one, further up its stack.
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
			b.deliver() // f panicked: the others are notified all the same
		}
	}()
	for b.deliverOne() {
	}
	finished = true
}

// deliverOne reports whether there was somebody to notify.
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

// take takes the next subscriber to notify, and of what, out of the queue; nil if
// there is none.
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
