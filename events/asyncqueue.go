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
	working bool   // a worker runs
	busy    bool   // the worker has an event
	taken   uint64 // events put into the lane and not dropped
	done    uint64 // how many of these are handled

	// Only for the worker. Workers of a lane follow each other without overlap, synchronized by the mutex.
	event  queuedEvent     // being handled
	plain  context.Context // context of the previous event
	marked context.Context // plain with insideKey
}

// queuedEvent is an event for a handler.
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
	ended chan struct{} // closed when the event is in its lane, or dropped
}

// drain is a call of Flush or Close.
type drain struct {
	until []uint64 // by lane: the value that done must reach
	left  int      // lanes below that
	ended chan struct{}
}

// queued returns a handler that queues events for h, or nil if h is nil.
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

// put queues an event, waits for room and queues it, or drops it. It ignores the event's context, which must not cause
// a loss.
func (a *Async[T]) put(lane int, e queuedEvent) {
	a.mu.Lock()
	switch {
	case !a.closed && a.held < a.size: // then no event waits either, see admit
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

// enqueue puts an event into its lane. The caller has the lock and has checked for room.
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

// work is the goroutine of a lane. It ends when the lane is empty; enqueue starts another. If a handler ends it
// (runtime.Goexit), another goroutine continues, and counts the current event as failed.
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

// next finishes the current event, if any, and takes another. If it returns false the lane is empty, and the caller
// must end.
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

// release ends the Flush and Close calls that waited for lane i. The caller has the lock.
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

// admit queues waiting events as far as there is room. The caller has the lock.
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

// insideKey marks the contexts of handlers, so that Flush and Close detect calls from inside.
type insideKey struct{ async any }

// contextOf returns the marked context of the current event. All events of a sender have the same context, so the
// result is cached.
func (a *Async[T]) contextOf(l *lane) context.Context {
	ctx := l.event.ctx
	if reflect.TypeOf(ctx).Kind() != reflect.Pointer { // its type may not be comparable
		return context.WithValue(ctx, insideKey{a}, true)
	}
	if ctx != l.plain {
		l.plain, l.marked = ctx, context.WithValue(ctx, insideKey{a}, true)
	}
	return l.marked
}

// log calls message and ignores a panic of the logger.
func (a *Async[T]) log(message func()) {
	defer func() { _ = recover() }()
	message()
}

// wait waits until every reported event is handled. If closing is set no event is accepted any more, and the rest is
// dropped when ctx ends.
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
		err = nil // both ended at once
	}
	if err != nil {
		a.drains = slices.DeleteFunc(a.drains, func(other *drain) bool { return other == d })
		if closing {
			a.discard()
		}
	}
	if err == nil && a.thrown == 0 && d.left == 0 { // otherwise Close has ended the wait
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

// drain registers a call that waits. The caller has the lock.
func (a *Async[T]) drain() *drain {
	d := &drain{until: make([]uint64, len(a.lanes)), ended: make(chan struct{})}
	for i := range a.lanes {
		d.until[i] = a.lanes[i].taken
	}
	for _, w := range a.waiting { // later events cannot overtake them
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

// discard drops the events that no handler has begun, and ends all waiting calls. The caller has the lock.
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

// contextError returns the error of ctx, with the caller's cause in its chain.
func contextError(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}
