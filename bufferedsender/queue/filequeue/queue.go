package filequeue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/watch"
)

// Queue is a queue.Queue in a directory, with all the second interfaces. It is safe for
// concurrent use: callers of Append that come at the same time share a sync of the disk, so many
// of them get much more done than one. Several senders may share it.
type Queue struct {
	options  Options
	path     string                // "" in tests, where log.dir is everything
	release  func() error          // gives the directory back
	control  func() error          // ends the control socket
	watchers watch.Watchers        //
	work     sync.WaitGroup        // goroutines that sync, prepare and compact; none while idle
	quit     context.Context       //nolint:containedctx // ends with Close, for the compaction
	cancel   context.CancelFunc    // of quit
	closing  sync.Once             //
	closeErr error                 // of closing
	noRoom   atomic.Pointer[error] // log.full, likewise
	fault    atomic.Pointer[error] // set by fail and keep; not guarded by mu, which is held while a slow disk is written to
	parked   atomic.Pointer[error] // Fault of book, likewise

	mu         sync.Mutex // guards what follows
	log        log
	book       *book.Book[ref]
	adders     book.Adders
	clock      clock
	compacting bool
	kept       bool          // compaction has stopped, see keptError
	moving     bool          // compaction writes keys again
	moved      chan struct{} // closed when moving has changed
	unopened   bool          // the log does not say yet that the leases of before have run out: see call.opens
	closed     bool
}

var (
	_ queue.Queue      = (*Queue)(nil)
	_ queue.Admin      = (*Queue)(nil)
	_ queue.Membership = (*Queue)(nil)
	_ queue.Exchanger  = (*Queue)(nil)
	_ queue.Faulty     = (*Queue)(nil)
)

// call is a method at work, which has the lock of the queue.
type call struct {
	q      *Queue
	now    time.Time
	ranOut int64   // leases, before the call
	wake   bool    // there may be more to reserve than before
	read   readers // to be done after the lock is given back
}

// begin locks the queue for a call, unless it cannot be made.
func (q *Queue) begin(ctx context.Context, wrong error) (*call, error) {
	if err := errors.Join(ctx.Err(), wrong); err != nil {
		return nil, fmt.Errorf("filequeue: %w", err)
	}
	q.mu.Lock()
	if err := q.usable(); err != nil {
		q.mu.Unlock()
		return nil, err
	}
	return &call{q: q, now: q.clock.now(), ranOut: q.book.RanOut()}, nil
}

func (q *Queue) usable() error {
	switch {
	case q.closed:
		return fmt.Errorf("filequeue: %w", queue.ErrClosed)
	case q.log.failed != nil:
		return q.log.failed
	}
	return nil
}

// change is begin for a call that writes a frame of at most this size. It waits for room, if that is being made; one
// that adds also while compaction is slower than those who add.
func (q *Queue) change(ctx context.Context, u use, size int, wrong error) (*call, error) {
	if q.options.ReadOnly {
		wrong = errors.Join(wrong, ErrReadOnly)
	}
	c, err := q.begin(ctx, wrong)
	if err != nil {
		return nil, err
	}
	for u == adds && q.overgrown() {
		if err := q.wait(ctx, q.moved); err != nil {
			return nil, err
		}
		c.now = q.clock.now()
	}
	for q.lacks(u, size) {
		q.provide()
		if q.log.making {
			if err := q.wait(ctx, q.log.made); err != nil {
				return nil, err
			}
		}
		if q.log.full != nil && q.lacks(u, size) {
			q.tidy() // which may make room by the next call
			defer q.mu.Unlock()
			return nil, q.log.full
		}
		c.now = q.clock.now()
	}
	if err := c.opens(size); err != nil {
		q.mu.Unlock()
		return nil, err
	}
	return c, nil
}

// wait gives the lock back until something is done, or ctx ends. With an error it does not have the lock.
func (q *Queue) wait(ctx context.Context, done <-chan struct{}) error {
	q.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("filequeue: %w", ctx.Err())
	}
	q.mu.Lock()
	err := q.usable()
	if err != nil {
		q.mu.Unlock()
	}
	return err
}

// end unlocks the queue and reads what the call wants to have read.
func (c *call) end() error {
	q := c.q
	var view *log
	if len(c.read.all) > 0 {
		view = q.log.snapshot()
		view.segments[0].readers.Add(1)
	}
	if !q.options.ReadOnly {
		if q.book.RanOut() != c.ranOut && q.usable() == nil && q.log.fits(frameHeader) {
			_ = c.write(kindRanOut, newFrame(0)) // or the queue has failed
		}
		if q.log.full == nil || c.now.Sub(q.log.tried) >= askFullDisk { // else Append asks for it
			q.provide()
		}
		q.tidy()
	}
	next, _ := q.book.Next(c.now)         // zero is never, for the watchers too
	q.watchers.WakeAt(q.clock.real(next)) // with the lock: of two calls the later one must have the last word
	wake := q.book.Ripe() || c.wake
	q.parked.Store(q.book.Fault())
	q.mu.Unlock()
	if wake {
		q.watchers.Wake()
	}
	if view == nil {
		return nil
	}
	defer view.segments[0].readers.Done()
	if err := view.read(c.read.all); err != nil {
		return fmt.Errorf("filequeue: %w", err)
	}
	return nil
}

// write writes the frame of an operation that has been applied. If that fails, the log and the
// book differ, and the queue has failed.
func (c *call) write(k kind, b []byte) error {
	_, err := c.q.log.place(len(b), c.now)
	if err == nil {
		c.q.book.Era = c.q.log.head().number
		err = c.q.log.write(b, k, c.now)
	}
	if k != kindState {
		c.q.log.burn(len(b))
	}
	if err != nil {
		c.q.fail(err)
		return c.q.log.failed
	}
	return nil
}

// Settled is of queue.Queue.
func (q *Queue) Settled(ctx context.Context, at queue.Position) (bool, error) {
	q.mu.Lock()
	size := len(q.globals())
	q.mu.Unlock()
	begin := func() (*call, error) { return q.change(ctx, makes, size, nil) }
	if q.options.ReadOnly {
		begin = func() (*call, error) { return q.begin(ctx, nil) }
	}
	c, err := begin()
	if err != nil {
		return false, err
	}
	before := q.book.Position()
	settled, err := q.book.Settled(c.now, at)
	if err != nil {
		return false, errors.Join(fmt.Errorf("filequeue: %w", err), c.end())
	}
	if q.book.Position() != before && !q.options.ReadOnly {
		// Places of the new generation must not be counted with those of this one after a restart.
		if err := c.write(kindGlobals, q.globals()); err != nil {
			return false, errors.Join(err, c.end())
		}
	}
	return settled, c.end()
}

// Watch is of queue.Queue.
func (q *Queue) Watch(wake func()) (stop func()) { return q.watchers.Watch(wake) }

// Stats is of queue.Queue.
func (q *Queue) Stats(ctx context.Context) (queue.Stats, error) {
	c, err := q.begin(ctx, nil)
	if err != nil {
		return queue.Stats{}, err
	}
	s := q.book.Stats(c.now)
	return s, c.end()
}

// Fault is of queue.Faulty: an error of the disk after which nothing is acknowledged any more, a segment that
// compaction has kept, or, as long as that lasts, queue.ErrFull for a disk without room, or for parked keys that have
// used up their share.
func (q *Queue) Fault() error {
	for _, err := range []*error{q.fault.Load(), q.noRoom.Load()} {
		if err != nil {
			return *err
		}
	}
	if err := q.parked.Load(); err != nil {
		return fmt.Errorf("filequeue: %w", *err)
	}
	return nil
}

// Close is of queue.Queue. It syncs what was written.
func (q *Queue) Close() error {
	q.closing.Do(func() { q.closeErr = q.close() })
	return q.closeErr
}

func (q *Queue) close() error {
	q.cancel()
	stopped := q.control() // before closed, so that the command under way gets its reply
	q.mu.Lock()
	q.closed = true
	if q.options.ReadOnly {
		q.mu.Unlock()
		q.watchers.Close()
		return errors.Join(q.log.close(), q.release())
	}
	var err error
	switch {
	case q.log.failed != nil:
		err = q.log.failed
	default:
		err = q.writeClose()
	}
	until := q.log.end()
	q.mu.Unlock()
	if err == nil {
		err = q.sync(context.Background(), until)
	}
	q.watchers.Close()
	q.work.Wait()
	return errors.Join(err, stopped, q.log.close(), q.release())
}

// writeClose says that everything before is durable, which it has to be first. That costs a second sync, and
// has damage of the last frames found that would look like a torn end. The caller has the lock.
func (q *Queue) writeClose() error {
	until := q.log.end()
	q.mu.Unlock()
	err := q.sync(context.Background(), until)
	q.mu.Lock()
	if err != nil || !q.log.fits(frameHeader) {
		return err
	}
	c := call{q: q, now: q.clock.now()}
	return c.write(kindClose, newFrame(0))
}

// close closes the files.
func (l *log) close() (err error) {
	for _, s := range l.segments {
		s.readers.Wait()
		err = errors.Join(err, s.area.Close())
	}
	if l.next != nil {
		err = errors.Join(err, l.next.area.Close())
	}
	return err
}
