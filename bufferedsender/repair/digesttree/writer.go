package digesttree

import (
	"context"
	"errors"
	"time"
)

// How long the writer waits after an error: so long at first, then twice as long each time.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

const (
	// fullWrite is how many full chunks are written at once, without waiting for WriteEvery.
	fullWrite = 4
	// minFold and maxFold bound what is told before it is folded, in bytes. In between it is
	// as much as the base has.
	minFold = 4 << 20
	maxFold = 128 << 20
)

// writer is the goroutine that writes what the tree is told, and what others know of it.
type writer struct {
	// Its own.
	journal journal
	pause   time.Duration // after the last error
	next    time.Time     // when it tries again

	release func() error  // gives the folder back
	woken   chan struct{} // holds one: there may be something to do
	ended   chan struct{} // closed at the end
	closing error         // what went wrong there; read after ended

	// The mutex of the tree guards the rest.
	durable  int64 // of Tree.changes
	failures int64
	err      error         // of the last attempt
	attempt  int64         // number of the last one that has begun
	failed   int64         // number of the last one that has failed
	turn     chan struct{} // closed when something is durable or has failed
	hurry    bool          // somebody waits for the next one
}

func newWriter(j journal) *writer {
	return &writer{
		journal: j, release: func() error { return nil },
		woken: make(chan struct{}, 1), ended: make(chan struct{}), turn: make(chan struct{}),
	}
}

// wake lets the writer see whether there is something to do.
func (t *Tree) wake() {
	select {
	case t.writer.woken <- struct{}{}:
	default: // it will
	}
}

// run writes until the tree is closed.
func (t *Tree) run() {
	w := t.writer
	defer close(w.ended)
	for t.await() {
		_ = t.step() // Stats has the error
	}
	err := t.flush()
	if err != nil {
		err = t.flush() // to a new log, once
	}
	if err == nil {
		err = w.journal.end()
	}
	if closed := w.journal.close(); err == nil {
		err = closed
	}
	t.mu.Lock()
	b := t.base
	b.gone = true
	idle := b.users == 0
	rebuild := t.rebuild
	t.mu.Unlock()
	if rebuild != nil { // its files are in the folder
		<-rebuild.ended
	}
	if idle {
		err = errors.Join(err, b.close())
	}
	if released := w.release(); err == nil {
		err = released
	}
	w.closing = err
}

// await returns when there is something to do, and false if the tree is closed.
func (t *Tree) await() bool {
	w := t.writer
	for {
		now := time.Now()
		t.mu.Lock()
		closed, work, hurry := t.closed, t.changes > w.durable || t.foldable(), w.hurry
		full := len(t.chunks)-t.written >= fullWrite || t.foldable()
		due := t.since.Add(max(t.options.WriteEvery, 0))
		t.mu.Unlock()
		if full {
			due = now
		}
		if due.Before(w.next) {
			due = w.next
		}
		switch {
		case closed:
			return false
		case work && (hurry || !now.Before(due)):
			return true
		case !work:
			<-w.woken
		default:
			timer := time.NewTimer(due.Sub(now))
			select {
			case <-w.woken:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// foldable reports whether enough was told to be folded. The caller has the lock.
func (t *Tree) foldable() bool {
	return t.refold || t.pending > min(max(t.base.size, minFold), maxFold, t.options.MaxPending/2)
}

// step is one attempt to write all that there is, and to fold it if it is much.
func (t *Tree) step() error {
	w := t.writer
	err := t.flush()
	if err == nil {
		t.mu.Lock()
		fold := t.foldable()
		t.mu.Unlock()
		if fold {
			err = t.fold()
		}
	}
	if err == nil {
		w.pause, w.next = 0, time.Time{}
	} else {
		w.pause = min(max(2*w.pause, firstPause), lastPause)
		w.next = time.Now().Add(w.pause)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	w.err = err
	if err != nil {
		w.failed = w.attempt
		w.failures++
	}
	t.broadcast()
	return err
}

// broadcast lets those go on that wait for the writer. The caller has the lock.
func (t *Tree) broadcast() {
	close(t.writer.turn)
	t.writer.turn = make(chan struct{})
}

// flush makes durable what was told before.
func (t *Tree) flush() error {
	t.mu.Lock()
	t.seal()
	todo, end := t.chunks[t.written:], len(t.chunks)
	t.writer.attempt++
	t.writer.hurry = false
	t.mu.Unlock()
	return t.write(todo, end)
}

// write makes chunks durable, those before Tree.chunks[end] that are not yet.
func (t *Tree) write(todo []chunk, end int) error {
	if len(todo) == 0 {
		return nil
	}
	w, began := t.writer, time.Now()
	if w.journal.handle == nil {
		if err := w.journal.begin(kindContinues, nil); err != nil {
			return err
		}
	}
	if err := w.journal.append(todo); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written, w.durable, t.since = end, todo[len(todo)-1].end, began
	t.broadcast()
	return nil
}

// Sync waits until all that was told before is durable: it is there after a crash of the machine. If the disk fails, Sync has it tried
// at once, and returns the error; it is tried again later. ctx bounds the waiting. After Close the error is ErrClosed if something is not durable.
func (t *Tree) Sync(ctx context.Context) error {
	w := t.writer
	t.mu.Lock()
	target, attempt := t.changes, w.attempt
	for {
		turn := w.turn
		switch {
		case w.durable >= target:
			t.mu.Unlock()
			return nil
		case w.failed > attempt:
			err := w.err
			t.mu.Unlock()
			return err
		}
		w.hurry = true
		t.wake()
		t.mu.Unlock()
		select {
		case <-turn:
		case <-w.ended:
			if t.Stats().Unsynced == 0 {
				return nil
			}
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		t.mu.Lock()
	}
}
