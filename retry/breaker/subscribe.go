package breaker

import (
	"runtime"
	"slices"
	"strings"
	"time"
)

// Change is a change of state.
type Change struct {
	// From and To differ, with one exception: both are HalfOpen when a probe has
	// ended as Neutral and requests were refused because of it. One of them may
	// now be the probe.
	From, To State
	// At is when.
	At time.Time
	// Err is why the breaker is open, when To is Open or HalfOpen; nil otherwise.
	Err error
}

// subscriber is one f of Subscribe.
type subscriber struct {
	f func(Change)
	// running is closed when the call of f that is under way has ended; nil when
	// there is none. Guarded by the mutex of the breaker.
	running chan struct{}
}

// delivery is a change that a subscriber has not been told yet.
type delivery struct {
	to     *subscriber
	change Change
}

// Subscribe has f called after each change of state from now on: once for each,
// in order, never twice at the same time, and with no lock of the breaker held,
// so f may call every method of the breaker and its own cancel. To miss nothing,
// subscribe first and look at Status then.
//
// f runs on the goroutine whose call caused a change, or on that of the
// breaker's timer. It must not block, because nobody hears of anything
// meanwhile: the usual f sends on a channel with room for one, or does nothing.
// A change that f itself causes, or that another goroutine causes while f runs,
// is told after f has returned, and the call that caused it does not wait for
// that.
//
// If f panics, the others are told all the same and then the panic goes up to
// whoever caused the change; on the timer's goroutine it ends the program.
//
// After cancel has returned f is not called any more and does not run: cancel
// waits for a call that is under way, so do not hold a lock that f takes. Only
// when a subscriber calls it, it does not wait. It may be called more than once.
func (b *Breaker) Subscribe(f func(Change)) (cancel func()) {
	s := &subscriber{f: f}
	b.mu.Lock()
	b.subscribers = append(b.subscribers, s)
	b.mu.Unlock()
	return func() { b.unsubscribe(s) }
}

func (b *Breaker) unsubscribe(s *subscriber) {
	b.mu.Lock()
	b.subscribers = slices.DeleteFunc(b.subscribers, func(o *subscriber) bool { return o == s })
	b.queue = slices.DeleteFunc(b.queue, func(d delivery) bool { return d.to == s })
	running := s.running
	b.mu.Unlock()
	if running != nil && !insideSubscriber() {
		<-running
	}
}

// tell notes a change for every subscriber. Whoever holds mu calls it, and then
// unlock.
func (b *Breaker) tell(c Change) {
	for _, s := range b.subscribers {
		b.queue = append(b.queue, delivery{to: s, change: c})
	}
}

// unlock releases mu and then tells the subscribers what is in the queue,
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
			b.deliver() // f panicked: the others are told all the same
		}
	}()
	for b.deliverOne() {
	}
	finished = true
}

// deliverOne reports whether there was something to tell.
func (b *Breaker) deliverOne() bool {
	b.mu.Lock()
	if b.delivering || len(b.queue) == 0 {
		b.mu.Unlock()
		return false
	}
	d := b.queue[0]
	b.queue = slices.Delete(b.queue, 0, 1)
	b.delivering = true
	running := make(chan struct{})
	d.to.running = running
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.delivering = false
		d.to.running = nil
		b.mu.Unlock()
		close(running)
	}()
	d.to.f(d.change)
	return true
}

// insideSubscriber reports whether the calling goroutine is in a subscriber's
// f, which must not wait for itself. Only the stack can tell.
func insideSubscriber() bool {
	pcs := make([]uintptr, 32)
	for runtime.Callers(2, pcs) == len(pcs) {
		pcs = make([]uintptr, 2*len(pcs))
	}
	pcs = pcs[:runtime.Callers(2, pcs)]
	for frames := runtime.CallersFrames(pcs); ; {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "/breaker.(*Breaker).deliverOne") {
			return true
		}
		if !more {
			return false
		}
	}
}
