package events

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"runtime/debug"
	"slices"
)

// lane holds the events of one worker.
type lane struct {
	// Guarded by Async.mu.
	queue   fifo[queuedEvent]
	working bool   // there is a worker
	busy    bool   // it has an event in hand
	taken   uint64 // how many events were put into the lane and not thrown away
	done    uint64 // how many of these are handled

	// The worker's own. Workers of a lane follow each other, never overlap, and
	// meet at the mutex.
	event  queuedEvent     // in hand
	plain  context.Context // of the event before
	marked context.Context // what was made of it
}

// queuedEvent is an event on its way to a handler.
type queuedEvent struct {
	ctx   context.Context
	call  func(context.Context, any)
	event any // a pointer
	kind  Kind
}

// arrival is an event that waits for room.
type arrival struct {
	lane  int
	event queuedEvent
	ended chan struct{} // closed when it is in its lane, or thrown away
}

// drain is a call of Flush or Close.
type drain struct {
	until []uint64 // by lane: what done has to reach
	left  int      // lanes that have not
	ended chan struct{}
}

// queued returns a handler that queues the event for h, or nil if there is no h.
func queued[T, E any](a *Async[T], kind Kind, h func(context.Context, *E), laneOf func(*E) int) func(context.Context, *E) {
	if h == nil {
		return nil
	}
	call := func(ctx context.Context, e any) { h(ctx, e.(*E)) }
	return func(ctx context.Context, e *E) {
		a.put(laneOf(e), queuedEvent{ctx: ctx, call: call, event: e, kind: kind})
	}
}

// laneOf returns the lane of a key. Events without a key are in lane 0.
func (a *Async[T]) laneOf(key string) int {
	if len(a.lanes) == 1 {
		return 0
	}
	return int(maphash.String(a.seed, key) % uint64(len(a.lanes)))
}

// put queues an event, waits for room and queues it, or drops it. It does not
// look at the event's context: the end of that is no reason to lose an event.
func (a *Async[T]) put(lane int, e queuedEvent) {
	a.mu.Lock()
	switch {
	case !a.closed && a.held < a.size: // so nobody waits either, see admit
		a.enqueue(lane, e)
		a.mu.Unlock()
	case !a.closed && a.drop&e.kind == 0:
		w := &arrival{lane: lane, event: e, ended: make(chan struct{})}
		a.waiting = append(a.waiting, w)
		a.mu.Unlock()
		<-w.ended
	default:
		a.counts[e.kind.index()].Dropped++
		closed := a.closed
		a.mu.Unlock()
		if a.warned.Swap(true) {
			return
		}
		why := "the queue is full"
		if closed {
			why = "the Async is closed"
		}
		a.log(func() {
			a.logger.Warn("azsearch: events dropped; Async.Stats counts them", "first", e.kind.String(), "because", why)
		})
	}
}

// enqueue puts an event into its lane. The caller holds the lock and has made
// sure of room.
func (a *Async[T]) enqueue(i int, e queuedEvent) {
	l := &a.lanes[i]
	l.queue.push(e)
	l.taken++
	a.held++
	a.counts[e.kind.index()].Queued++
	if !l.working {
		l.working = true
		go a.work(i, false)
	}
}

// work is the goroutine of a lane. It ends when the lane is empty; enqueue
// starts another. A handler may end it too (runtime.Goexit): then another one
// goes on, for which the event in hand has failed.
func (a *Async[T]) work(i int, failed bool) {
	empty := false
	defer func() {
		if !empty {
			go a.work(i, true)
		}
	}()
	l := &a.lanes[i]
	for a.next(i, failed) {
		failed = a.handle(l)
	}
	empty = true
}

// next puts down the event in hand, if any, and takes up another. If it returns
// false there is none, and the caller is the lane's worker no more.
func (a *Async[T]) next(i int, failed bool) bool {
	l := &a.lanes[i]
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.busy {
		n := &a.counts[l.event.kind.index()]
		n.Queued--
		n.Handled++
		if failed {
			n.Panicked++
		}
		l.done++
		a.held--
		a.release(i)
		a.admit()
	}
	l.event, l.busy = l.queue.pop()
	l.working = l.busy
	return l.busy
}

// release lets go the calls that waited for what lane i has just done. The
// caller holds the lock.
func (a *Async[T]) release(i int) {
	a.drains = slices.DeleteFunc(a.drains, func(d *drain) bool {
		if d.until[i] == a.lanes[i].done {
			d.left--
		}
		if d.left > 0 {
			return false
		}
		close(d.ended)
		return true
	})
}

// admit gives room to the events that wait for it. The caller holds the lock.
func (a *Async[T]) admit() {
	for len(a.waiting) > 0 && a.held < a.size {
		w := a.waiting[0]
		a.waiting = slices.Delete(a.waiting, 0, 1)
		a.enqueue(w.lane, w.event)
		close(w.ended)
	}
}

// handle calls the handler and reports whether it panicked.
func (a *Async[T]) handle(l *lane) (failed bool) {
	returned := false
	defer func() {
		v := recover()
		if returned {
			return
		}
		failed = true
		if v == nil {
			v = "it ended its goroutine"
		}
		stack := string(debug.Stack())
		a.log(func() {
			a.logger.Error("azsearch: handler panicked", "handler", l.event.kind.String(), "panic", fmt.Sprint(v), "stack", stack)
		})
	}()
	l.event.call(a.contextOf(l), l.event.event)
	returned = true
	return false
}

// insideKey marks the contexts of handlers, so that a call of Flush or Close from
// inside is recognised.
type insideKey struct{ async any }

// contextOf marks the context of the event in hand. A sender gives all its
// events the same one, so it is marked once.
func (a *Async[T]) contextOf(l *lane) context.Context {
	ctx := l.event.ctx
	if reflect.TypeOf(ctx).Kind() != reflect.Pointer { // may be of a type that cannot be compared
		return context.WithValue(ctx, insideKey{a}, true)
	}
	if ctx != l.plain {
		l.plain, l.marked = ctx, context.WithValue(ctx, insideKey{a}, true)
	}
	return l.marked
}

// log survives a logger that panics: what it was to tell is counted anyway.
func (a *Async[T]) log(message func()) {
	defer func() { _ = recover() }()
	message()
}

// wait waits until everything that was reported is handled. A closing call lets in
// nothing more, and throws away what is left when ctx ends.
func (a *Async[T]) wait(ctx context.Context, closing bool) error {
	a.mu.Lock()
	a.closed = a.closed || closing
	d := a.drain()
	a.mu.Unlock()
	var err error
	select {
	case <-d.ended:
	case <-ctx.Done():
		err = contextError(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if d.left == 0 {
		err = nil // both at once
	}
	if err != nil {
		a.drains = slices.DeleteFunc(a.drains, func(other *drain) bool { return other == d })
		if closing {
			a.discard()
		}
	}
	if err == nil && a.thrown == 0 {
		return nil
	}
	unhandled := &UnhandledError{Queued: len(a.waiting), Discarded: a.thrown, Err: err}
	for i := range a.lanes {
		unhandled.Queued += a.lanes[i].queue.len()
		if a.lanes[i].busy {
			unhandled.Running++
		}
	}
	return unhandled
}

// drain registers a call that waits. The caller holds the lock.
func (a *Async[T]) drain() *drain {
	d := &drain{until: make([]uint64, len(a.lanes)), ended: make(chan struct{})}
	for i := range a.lanes {
		d.until[i] = a.lanes[i].taken
	}
	for _, w := range a.waiting { // nothing overtakes them
		d.until[w.lane]++
	}
	for i := range a.lanes {
		if d.until[i] > a.lanes[i].done {
			d.left++
		}
	}
	if d.left == 0 {
		close(d.ended)
	} else {
		a.drains = append(a.drains, d)
	}
	return d
}

// discard throws away what no handler has begun, and lets go everybody who waits.
// The caller holds the lock.
func (a *Async[T]) discard() {
	throw := func(e queuedEvent) {
		a.counts[e.kind.index()].Dropped++
		a.thrown++
	}
	for i := range a.lanes {
		l := &a.lanes[i]
		for e, ok := l.queue.pop(); ok; e, ok = l.queue.pop() {
			a.counts[e.kind.index()].Queued--
			l.taken--
			a.held--
			throw(e)
		}
	}
	for _, w := range a.waiting {
		throw(w.event)
		close(w.ended)
	}
	for _, d := range a.drains {
		close(d.ended)
	}
	a.waiting, a.drains = nil, nil
}

// contextError says why ctx ended, and errors.Is finds both the usual error and
// the cause that the caller gave.
func contextError(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}
