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

// Queue is a queue.Queue in a directory, with all optional interfaces. It is safe for concurrent use. Concurrent calls
// of Append share one sync of the disk, so many callers get a much higher throughput than one. Several senders may
// share it.
type Queue struct {
	options  Options
	path     string                // "" in tests, which use log.dir only
	release  func() error          // unlocks the directory
	control  func() error          // closes the control socket
	watchers watch.Watchers        //
	work     sync.WaitGroup        // goroutines that sync, prepare and compact; none while idle
	quit     context.Context       //nolint:containedctx // canceled by Close, for the compaction
	cancel   context.CancelFunc    // of quit
	closing  sync.Once             //
	closeErr error                 // result of close
	noRoom   atomic.Pointer[error] // log.full, readable without mu
	fault    atomic.Pointer[error] // set by fail and keep; not guarded by mu, which is held during writes to a slow disk
	parked   atomic.Pointer[error] // fault of book, readable without mu

	mu         sync.Mutex // guards the fields below
	log        log
	book       *book.Book[ref]
	adders     book.Adders
	clock      clock
	compacting bool
	kept       bool          // compaction has stopped for good, see keptError
	moving     bool          // compaction is rewriting keys
	moved      chan struct{} // closed and replaced when moving changes
	unopened   bool          // the log does not yet record that the earlier leases have run out: see call.opens
	closed     bool
}

var (
	_ queue.Queue      = (*Queue)(nil)
	_ queue.Admin      = (*Queue)(nil)
	_ queue.Membership = (*Queue)(nil)
	_ queue.Exchanger  = (*Queue)(nil)
	_ queue.Faulty     = (*Queue)(nil)
)

// call is one method call that holds the lock of the queue.
type call struct {
	q      *Queue
	now    time.Time
	ranOut int64   // leases that had run out before the call
	wake   bool    // there may be more to reserve than before
	read   readers // reads to do after unlocking
}

// begin locks the queue for a call. It returns an error, without the lock, if the call must not proceed.
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

// change is begin for a call that writes a frame of at most size bytes. It waits while room is being made. A call that
// adds records also waits while compaction is slower than the writers.
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
			q.tidy() // may make room for the next call
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

// wait releases the lock until done is closed or ctx ends. If it returns an error, the lock is not held.
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

// end unlocks the queue and does the reads that the call has collected.
func (c *call) end() error {
	q := c.q
	var view *log
	if len(c.read.all) > 0 {
		view = q.log.snapshot()
		view.segments[0].readers.Add(1)
	}
	if !q.options.ReadOnly {
		if q.book.RanOut() != c.ranOut && q.usable() == nil && q.log.fits(frameHeader) {
			_ = c.write(kindRanOut, newFrame(0)) // on failure the queue has failed, see write
		}
		if q.log.full == nil || c.now.Sub(q.log.tried) >= askFullDisk { // otherwise Append asks for room
			q.provide()
		}
		q.tidy()
	}
	next, _ := q.book.Next(c.now)         // zero means never, as in WakeAt
	q.watchers.WakeAt(q.clock.real(next)) // under the lock, so that the time of the later call wins
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

// write writes the frame of an operation that the book has already applied. On failure the log and the book differ, so
// the queue fails.
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

// Settled implements queue.Queue.
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
		// After a restart, places of the new generation must not be counted with those of this one.
		if err := c.write(kindGlobals, q.globals()); err != nil {
			return false, errors.Join(err, c.end())
		}
	}
	return settled, c.end()
}

// Watch implements queue.Queue.
func (q *Queue) Watch(wake func()) (stop func()) { return q.watchers.Watch(wake) }

// Stats implements queue.Queue.
func (q *Queue) Stats(ctx context.Context) (queue.Stats, error) {
	c, err := q.begin(ctx, nil)
	if err != nil {
		return queue.Stats{}, err
	}
	s := q.book.Stats(c.now)
	return s, c.end()
}

// Fault implements queue.Faulty. It returns an error of the disk after which nothing is acknowledged any more, or a
// segment that compaction has kept, or queue.ErrFull while the disk has no room or parked keys have used up their
// share.
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

// Close implements queue.Queue. It syncs what was written.
func (q *Queue) Close() error {
	q.closing.Do(func() { q.closeErr = q.close() })
	return q.closeErr
}

func (q *Queue) close() error {
	q.cancel()
	stopped := q.control() // before closed is set, so that a running command gets its reply
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

// writeClose writes a frame which attests that everything before it is durable, after syncing that. The second sync
// lets recovery detect damage of the last frames, which would otherwise look like a torn end. The caller holds the
// lock.
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
	if l.mark != nil {
		err = l.mark.Close()
	}
	for _, s := range l.segments {
		s.readers.Wait()
		err = errors.Join(err, s.area.Close())
	}
	if l.next != nil {
		err = errors.Join(err, l.next.area.Close())
	}
	return err
}
