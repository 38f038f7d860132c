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

// appender makes calls of a queue out of adding calls. While one call is under way the next
// adding calls gather, and make the one after it together: many callers share one fsync
// or one round trip, and nobody waits for a timer. The calls of an adder come one after the
// other, which is what makes a repeat harmless; so one whose answer is lost is repeated
// before the next is made.
//
// It has a goroutine while there is a call to make.
type appender struct {
	queue queue.Queue
	ctx   context.Context // ends when Close gives up
	keep  func(call *appending, from int, number uint64, places []int)
	drop  func(call *appending, from, to int)
	kept  func(calls []*appending, receipt *queue.Receipt)

	adder queue.ID

	mu      sync.Mutex
	waiting []*appending // not part of a call of the queue
	running bool
	full    error // the refusal of the queue, while it has no room for the first one that waits
	alone   int   // how many of those that wait are to be tried alone
	closed  bool
	room    chan struct{} // capacity 1: there may be room again
	idle    signal        // sent when the goroutine ends
	folds   []queue.Fold  // of the goroutine
	number  uint64        // of the goroutine: of the last call
	last    appended
}

// appended is what is in the queue.
type appended struct {
	position queue.Position
	number   uint64 // of the last call
	records  int64
}

// appending is one adding call, or a part of one.
type appending struct {
	records []queue.Record
	locals  []*local // what this process keeps of them, nil where nothing
	wait    bool     // for room
	bytes   int
	done    chan struct{}
	err     error // written before done is closed

	// Guarded by mu.
	kept  int  // records that are in the queue: some, if there was no room for all
	try   int  // how many of the others the next call holds at the most; 0: all
	taken bool // they are part of a call of the queue
	ended bool // done is closed
	left  bool // its caller has gone, and was given that it is unknown
}

// next returns the records that the next call of the queue holds.
func (c *appending) next() (from, to int) {
	if c.try == 0 {
		return c.kept, len(c.records)
	}
	return c.kept, min(c.kept+c.try, len(c.records))
}

// Bounds of one call of a queue, but for an adding call that is larger by itself.
const (
	callRecords = queue.MaxCall / 4
	callBytes   = 4 << 20
)

// add has records appended, waits for it, and returns how many were. If the error is an
// *unknownError those behind them may have been.
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

// start gives the appender its goroutine, if it has none.
func (a *appender) start() {
	if !a.running {
		a.running = true
		go a.run()
	}
}

// await waits for the end of a call, as long as ctx lasts.
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
		c.left = true // should the queue refuse it, nobody waits for room
		return c.kept, &unknownError{context.Cause(ctx)}
	}
	a.waiting = slices.DeleteFunc(a.waiting, func(w *appending) bool { return w == c })
	err := context.Cause(ctx)
	if a.full != nil {
		err = fmt.Errorf("%w: %w", a.full, err)
		a.makeRoom() // the goroutine may be waiting for this very call
	}
	c.end(err) // for another Continue
	return c.kept, err
}

// end tells the caller how it has ended, if nobody has. Called with the lock.
func (c *appending) end(err error) {
	if !c.ended {
		c.ended, c.err = true, err
		close(c.done)
	}
}

// unknownError says that records may have been appended.
type unknownError struct{ err error }

func (e *unknownError) Error() string {
	return fmt.Sprintf("it is not known whether the queue has kept them: %v", e.err)
}

func (e *unknownError) Unwrap() error { return e.err }

// run makes calls until there are none to make.
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

// take takes the adding calls for the next call of the queue: one at a time after a refusal.
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

// call makes one call of the queue, until its answer is known. False: those who are first in
// line have to wait for room.
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

// accepted ends adding calls that are in the queue, and puts one of which only a part is
// first in line again.
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
		a.waiting = slices.Insert(a.waiting, 0, c) // it is the only one
	}
}

// forget drops what was kept of calls that are not in the queue.
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

// append repeats a call until it is known whether it was applied, or that cannot be
// known. Once it may have been, only a receipt and ErrFull say whether it was.
//
// A queue of several servers may have room for a part of it only. Then the rest waits for
// room, and everybody else behind it: the call has to be repeated before the next one.
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
		_ = sleep.For(a.ctx, wait) // the next call says if it has ended
	}
}

// waitsFor lets those go that do not wait for room for the rest of a call, and reports
// whether somebody does.
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

// letGo ends those behind that do not wait for room: nor do they wait for those who do.
func (a *appender) letGo(err error) {
	a.waiting = slices.DeleteFunc(a.waiting, func(w *appending) bool {
		if !w.wait {
			w.end(err)
		}
		return !w.wait
	})
}

// refused is the end of a call for which the queue had no room. Each adding call of it may
// find some alone, and of a large one a half, and so on; the first one that finds none for a
// single record waits for it, and all others behind it, in their order. False: it is to.
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
		return true // folds alone, which make nothing larger
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

// awaitRoom waits until there may be room.
func (a *appender) awaitRoom() {
	t := time.NewTimer(time.Second) // others may have made it, in other processes
	defer t.Stop()
	select {
	case <-a.room:
	case <-t.C:
	case <-a.ctx.Done():
	}
}

// makeRoom says that there may be room in the queue.
func (a *appender) makeRoom() {
	select {
	case a.room <- struct{}{}:
	default:
	}
}

// close refuses further calls, lets those that wait for room go, and waits for the one under
// way until ctx ends.
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

// state returns what Flush and Stats want to know.
func (a *appender) state() appended {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}
