package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/sleep"
)

// appender groups adding calls into calls of a queue. While one queue call is in flight, further adding calls gather
// and form the next one: many callers share one fsync or one round trip without waiting for a timer. Queue calls of an
// adder are made one after the other, which makes repeats idempotent: a call whose answer is lost is repeated before
// the next one is made.
//
// Its goroutine runs only while there are calls to make.
type appender struct {
	queue queue.Queue
	ctx   context.Context // ends when Close gives up
	keep  func(call *appending, from int, number uint64, places []int)
	drop  func(call *appending, from, to int)
	kept  func(calls []*appending, receipt *queue.Receipt)

	adder queue.ID

	mu      sync.Mutex
	waiting []*appending // not yet part of a queue call
	running bool
	full    error // the queue's refusal while the first waiting call has no room
	alone   int   // number of waiting calls to try alone
	closed  bool
	room    chan struct{} // capacity 1: there may be room again
	idle    signal        // sent when the goroutine ends
	folds   []queue.Fold  // owned by the goroutine
	number  uint64        // of the last call; owned by the goroutine
	last    appended
}

// appended describes the records in the queue.
type appended struct {
	position queue.Position
	number   uint64 // of the last call
	records  int64
}

// appending is one adding call, or a piece of one.
type appending struct {
	records []queue.Record
	locals  []*local // state kept in this process for each record; nil entries have none
	wait    bool     // wait for room
	bytes   int
	done    chan struct{}
	err     error // written before done is closed

	// Guarded by mu.
	kept  int  // records in the queue so far; fewer than all if there was no room
	try   int  // most further records in the next call; 0: all
	taken bool // part of a queue call
	ended bool // done is closed
	left  bool // the caller returned with an unknown outcome
}

// next returns the range of records for the next queue call.
func (c *appending) next() (from, to int) {
	if c.try == 0 {
		return c.kept, len(c.records)
	}
	return c.kept, min(c.kept+c.try, len(c.records))
}

// Bounds of one queue call. A larger adding call is sent alone.
const (
	callRecords = queue.MaxCall / 4
	callBytes   = 4 << 20
)

// add appends records, blocks until the queue has answered, and returns how many it keeps. If the error is an
// *unknownError, the queue may also have kept the rest.
func (a *appender) add(ctx context.Context, c *appending) (int, error) {
	c.done = make(chan struct{})
	a.mu.Lock()
	switch {
	case a.closed:
		a.mu.Unlock()
		return 0, ErrClosed
	case a.full != nil && !c.wait:
		defer a.mu.Unlock()
		return 0, a.full
	}
	a.waiting = append(a.waiting, c)
	a.start()
	a.mu.Unlock()
	return a.await(ctx, c)
}

// start starts the goroutine unless it runs.
func (a *appender) start() {
	if !a.running {
		a.running = true
		go a.run()
	}
}

// await waits until the call has ended or ctx ends.
func (a *appender) await(ctx context.Context, c *appending) (int, error) {
	a.mu.Lock()
	c.left = false
	a.mu.Unlock()
	select {
	case <-c.done:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-c.done:
		return c.kept, c.err
	default:
	}
	if c.taken {
		c.left = true // if the queue refuses the call, no caller waits for room
		return c.kept, &unknownError{context.Cause(ctx)}
	}
	a.waiting = slices.DeleteFunc(a.waiting, func(w *appending) bool { return w == c })
	err := context.Cause(ctx)
	if a.full != nil {
		err = fmt.Errorf("%w: %w", a.full, err)
		a.makeRoom() // the goroutine may be waiting for room for this call
	}
	c.end(err) // for a later Continue
	return c.kept, err
}

// end reports the result to the caller, once. Called with the lock.
func (c *appending) end(err error) {
	if !c.ended {
		c.ended, c.err = true, err
		close(c.done)
	}
}

// unknownError means that records may have been appended.
type unknownError struct{ err error }

func (e *unknownError) Error() string {
	return fmt.Sprintf("the queue may have kept them: %v", e.err)
}

func (e *unknownError) Unwrap() error { return e.err }

// run makes queue calls until none are left.
func (a *appender) run() {
	for {
		a.mu.Lock()
		calls := a.take()
		if len(calls) == 0 && len(a.folds) == 0 {
			a.running, a.full = false, nil
			a.idle.send()
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		if !a.call(calls) {
			a.awaitRoom()
		}
	}
}

// take removes the adding calls that form the next queue call: one at a time after a refusal.
func (a *appender) take() []*appending {
	n, records, bytes := 0, len(a.folds), 0
	for n < len(a.waiting) {
		c := a.waiting[n]
		from, to := c.next()
		if n > 0 && (a.alone > 0 || c.try > 0 || records+to-from > callRecords || bytes+c.bytes > callBytes) {
			break
		}
		records, bytes = records+to-from, bytes+c.bytes
		c.taken = true
		if n++; c.try > 0 {
			break
		}
	}
	a.alone = max(0, a.alone-1)
	calls := a.waiting[:n:n]
	a.waiting = a.waiting[n:]
	return calls
}

// call makes one queue call and waits for its answer. It returns false if the first waiting call needs room.
func (a *appender) call(calls []*appending) bool {
	a.number++
	call := queue.Call{Adder: a.adder, Number: a.number, Folds: a.folds}
	a.folds = nil
	n := a.fill(&call, calls)
	receipt, err := a.append(call, calls)
	switch {
	case err == nil:
		a.kept(calls, &receipt)
		a.folds = foldPiles(receipt.Piles)
		a.accepted(calls, appended{receipt.Position, call.Number, int64(n)})
	case errors.Is(err, queue.ErrUnknown):
		a.finish(calls, &unknownError{err})
	case errors.Is(err, queue.ErrFull):
		a.forget(calls)
		return a.refused(calls, fmt.Errorf("%w: %w", ErrQueueFull, err))
	default:
		a.forget(calls)
		a.finish(calls, err)
	}
	return true
}

// accepted ends adding calls that are completely in the queue. A call that is only partly there becomes the first in
// line again.
func (a *appender) accepted(calls []*appending, last appended) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last.records += a.last.records
	a.last, a.full = last, nil
	for _, c := range calls {
		if _, c.kept = c.next(); c.kept == len(c.records) || c.ended {
			c.end(nil)
			continue
		}
		c.taken = false
		a.waiting = slices.Insert(a.waiting, 0, c) // a partial call is always alone
	}
}

// Drops the local state of calls that the queue has not accepted.
func (a *appender) forget(calls []*appending) {
	for _, c := range calls {
		from, to := c.next()
		a.drop(c, from, to)
	}
}

func (a *appender) finish(calls []*appending, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range calls {
		c.end(err)
	}
}

// append repeats a queue call until its outcome is known, or can no longer be learned. Once the call may have been
// applied, only a receipt or ErrFull settles it.
//
// A queue of several servers may have room for only some of the records. Then the rest waits for room, and all later
// calls wait behind it, because this call must be repeated before the next one.
func (a *appender) append(call queue.Call, calls []*appending) (queue.Receipt, error) {
	unknown := false
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		receipt, err := a.queue.Append(a.ctx, call)
		full := errors.Is(err, queue.ErrFull)
		if err == nil || full && !errors.Is(err, queue.ErrUnknown) {
			return receipt, err
		}
		if full && a.ctx.Err() == nil && a.waitsFor(calls, err) {
			unknown = true
			a.awaitRoom()
			continue
		}
		unknown = unknown || errors.Is(err, queue.ErrUnknown)
		over := a.ctx.Err() != nil || full || errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrFailed) ||
			errors.Is(err, queue.ErrTooOld) || errors.Is(err, queue.ErrLost)
		switch {
		case !unknown:
			return receipt, err
		case over:
			return receipt, fmt.Errorf("%w: %w", queue.ErrUnknown, err)
		}
		_ = sleep.For(a.ctx, wait) // the next iteration detects the end of ctx
	}
}

// waitsFor ends the calls that do not wait for room for the rest, and reports whether any call does.
func (a *appender) waitsFor(calls []*appending, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	waits := false
	for _, c := range calls {
		if waits = waits || c.wait; !c.wait {
			c.end(&unknownError{err})
		}
	}
	a.full = nil
	if waits {
		a.full = fmt.Errorf("%w: %w", ErrQueueFull, err)
		a.letGo(a.full)
	}
	return waits
}

// letGo ends the calls further back that do not wait for room.
func (a *appender) letGo(err error) {
	a.waiting = slices.DeleteFunc(a.waiting, func(w *appending) bool {
		if !w.wait {
			w.end(err)
		}
		return !w.wait
	})
}

// refused handles a queue call without room. Each of its adding calls is tried alone; a large one is tried in halves,
// quarters and so on. The first call without room for a single record waits, all others behind it in order. It returns
// false if the caller must wait for room.
func (a *appender) refused(calls []*appending, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range calls {
		c.taken = false
	}
	a.waiting = append(slices.Clone(calls), a.waiting...)
	if len(calls) > 1 {
		a.alone = len(calls)
		return true
	}
	if len(calls) == 0 {
		return true // only folds, which make the queue no larger
	}
	c := calls[0]
	from, to := c.next()
	switch {
	case !c.wait || c.left || a.closed:
		a.waiting = a.waiting[1:]
		c.end(err)
		return true
	case to-from > 1:
		c.try = (to - from) / 2
		return true
	}
	c.try = 0
	a.full = err
	a.letGo(err)
	return false
}

// awaitRoom waits until there may be room, at most a second.
func (a *appender) awaitRoom() {
	t := time.NewTimer(time.Second) // another process may have made room
	defer t.Stop()
	select {
	case <-a.room:
	case <-t.C:
	case <-a.ctx.Done():
	}
}

// makeRoom signals that there may be room in the queue.
func (a *appender) makeRoom() {
	select {
	case a.room <- struct{}{}:
	default:
	}
}

// close refuses further calls, ends those that wait for room, and waits for the queue call in flight until ctx ends.
func (a *appender) close(ctx context.Context) {
	a.mu.Lock()
	a.closed = true
	waiting := a.waiting
	if a.full != nil {
		a.waiting = nil
	} else {
		waiting = nil
	}
	a.mu.Unlock()
	a.makeRoom()
	a.finish(waiting, ErrClosed)
	for {
		ended := a.idle.wait()
		a.mu.Lock()
		running := a.running
		a.mu.Unlock()
		if !running {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// state returns the last appended position, for Flush and Stats.
func (a *appender) state() appended {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}
