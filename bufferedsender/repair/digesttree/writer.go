package digesttree

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/internal/journal"
)

const (
	// fullWrite is how many full chunks are written at once, without waiting for WriteEvery.
	fullWrite = 4
	// minFold and maxFold bound what is told before it is folded, in bytes. In between it is
	// as much as the base has.
	minFold = 4 << 20
	maxFold = 128 << 20
)

// writer is the goroutine that writes what the tree is told.
type writer struct {
	*journal.Loop
	journal logs         // of the goroutine
	release func() error // gives the folder back
}

// run writes until the tree is closed.
func (t *Tree) run() {
	w := t.writer
	w.Run(func() error {
		if err := t.flush(); err != nil {
			return err
		}
		return w.journal.end()
	}, w.journal.file.Close, func() (err error) {
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
			err = b.close()
		}
		return err
	}, w.release)
}

// due returns when to write, if there is something to write or to fold. The caller has the lock.
func (t *Tree) due(now time.Time) (at time.Time, something bool) {
	fold := t.foldable()
	if fold || len(t.chunks)-t.written >= fullWrite {
		return now, fold || t.writer.Changes > t.writer.Durable
	}
	return t.since.Add(max(t.options.WriteEvery, 0)), t.writer.Changes > t.writer.Durable
}

// foldable reports whether enough was told to be folded. The caller has the lock.
func (t *Tree) foldable() bool {
	return t.refold || t.pending > min(max(t.base.size, minFold), maxFold, t.options.MaxPending/2)
}

// attempt writes all that there is, and folds it if it is much.
func (t *Tree) attempt() error {
	if err := t.flush(); err != nil {
		return err
	}
	t.mu.Lock()
	fold := t.foldable()
	t.mu.Unlock()
	if !fold {
		return nil
	}
	return t.fold()
}

// flush makes durable what was told before.
func (t *Tree) flush() error {
	t.mu.Lock()
	t.seal()
	todo, end := t.chunks[t.written:], len(t.chunks)
	t.mu.Unlock()
	return t.write(todo, end)
}

// write makes chunks durable, those before Tree.chunks[end] that are not yet.
func (t *Tree) write(todo []chunk, end int) error {
	if len(todo) == 0 {
		return nil
	}
	w, began := t.writer, time.Now()
	if !w.journal.file.IsOpen() {
		if err := w.journal.begin(kindContinues, nil); err != nil {
			return err
		}
	}
	if err := w.journal.append(todo); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written, w.Durable, t.since = end, todo[len(todo)-1].end, began
	w.Broadcast()
	return nil
}

// Sync waits until all that was told before is durable: it is there after a crash of the machine. If the disk fails,
// Sync has it tried at once, and returns the error; it is tried again later. ctx bounds the waiting. After Close the
// error is ErrClosed if something is not durable.
func (t *Tree) Sync(ctx context.Context) error { return t.writer.Sync(ctx, ErrClosed) }
