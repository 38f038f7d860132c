package digesttree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

const (
	writeEvery = time.Second // how long changes stay in memory only; a crash loses as much
	fullWrite  = 4           // so many full frames are written without waiting
	minFold    = 4 << 20     // bounds in bytes for the size of changes that causes a fold;
	maxFold    = 128 << 20   // between them it is the size of the base
)

// Open opens the folder of a tree, and creates it if it does not exist. Only one Tree at a time can have a folder open.
// Open reads the changes that are not folded, up to some 128 MiB.
//
// The error is that of the disk, or names the process that has the folder open. Damaged files are not an error: see
// Stats.Damaged. Close the Tree when done.
func Open(folder string, opts *Options) (*Tree, error) {
	options, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Tree{options: options, most: maxDifferences}
	release, err := disk.OpenLocked(folder, lockName, errLocked, t.open)
	if err != nil {
		return nil, fmt.Errorf("digesttree: %w", err)
	}
	go t.run(release)
	return t, nil
}

// open is Open for a locked folder. The writing goroutine does not run yet.
func (t *Tree) open(folder disk.Folder) error {
	t.fruitless, t.logs.folder = make(map[int]int), folder
	t.life, t.end = context.WithCancelCause(context.Background())
	t.loop = journal.NewLoop(&t.mu, t.due, t.attempt)
	l := loading{tree: t, frames: make(map[uint64]uint32)}
	if err := l.run(); err != nil {
		return errors.Join(err, t.leave(t.base))
	}
	first := kindBegin
	if l.closed {
		first = kindContinues
	}
	var extra []byte
	if l.fresh && t.options.Empty {
		now := time.Now().Unix()
		extra = appendBuilt(nil, allSegments, now)
		t.buildAll(now)
	}
	if err := t.logs.begin(first, extra); err != nil { // O1
		return errors.Join(err, t.logs.file.Close(), t.leave(t.base))
	}
	return nil
}

// buildAll sets the time at which all segments were built.
func (t *Tree) buildAll(at int64) {
	for i := range t.built {
		t.built[i] = at
	}
}

// run writes until the tree is closed.
func (t *Tree) run(release func() error) {
	t.loop.Run(func() error {
		if err := t.flush(); err != nil {
			return err
		}
		return t.logs.end()
	}, t.logs.file.Close, func() error {
		t.mu.Lock()
		rebuild := t.rebuild
		t.mu.Unlock()
		if rebuild != nil { // it still uses files in the folder
			<-rebuild.ended
		}
		return t.leave(t.base) // no fold runs any more
	}, release)
}

// due returns the time of the next write or fold, if there is something to do. The caller has the lock.
func (t *Tree) due(now time.Time) (at time.Time, something bool) {
	unsynced := t.loop.Changes > t.loop.Durable
	switch {
	case t.foldable():
		return now, true
	case len(t.told.Sealed)-t.written >= fullWrite:
		return now, unsynced
	}
	return t.since.Add(writeEvery), unsynced
}

// foldable reports whether a fold is needed. The caller has the lock.
func (t *Tree) foldable() bool {
	return t.refold || t.told.Size > min(max(t.base.size, minFold), maxFold, t.options.MaxPending/2)
}

// attempt writes all changes, and folds them if needed.
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

// flush makes all changes recorded before the call durable.
func (t *Tree) flush() error { return t.cut(nil) }

// cut is flush. It also sets v, if not nil, to the snapshot that it writes.
func (t *Tree) cut(v *view) error {
	t.mu.Lock()
	t.told.Seal()
	frames, changes, began := slices.Clip(t.told.Sealed), t.loop.Changes, time.Now()
	todo := frames[t.written:]
	if v != nil {
		*v = view{tree: t, base: t.base, frames: frames, built: slices.Clone(t.built)}
	}
	t.mu.Unlock()
	if len(todo) == 0 {
		return nil
	}
	if err := t.logs.append(todo...); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written, t.loop.Durable, t.since = len(frames), changes, began
	t.loop.Broadcast()
	return nil
}

// fold merges the old base and the changes into a new base: R1 and F1 to F3. Later changes are written meanwhile. The
// time at which a segment was built is taken at R1, see DESIGN.md.
func (t *Tree) fold() error {
	v := new(view)
	if err := t.cut(v); err != nil {
		return err
	}
	if err := t.logs.begin(kindContinues, nil); err != nil { // R1
		return err
	}
	folder, number := t.logs.folder, t.logs.number
	v.told, v.window.wide = newChanges(v.frames, t.shape, nil), wideWindow
	last := time.Now()
	segment := func(i int) (entries []byte, info segmentInfo, err error) {
		if i%64 == 0 && time.Since(last) > writeEvery {
			_ = t.flush() // the next flush retries in a new log, or returns the error
			last = time.Now()
		}
		entries, info.Keys, info.Digest, err = v.content(i)
		err = v.damaged(i, err)
		info.Built = v.built[i]
		return entries, info, err
	}
	if err := disk.Replace(folder, tmpName, baseName(number), func(to *bufio.Writer) error { // F1 and F2
		return writeBase(to, number, t.shape, segment)
	}); err != nil {
		return err
	}
	b, err := openBase(folder, number)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.told.Drop(len(v.frames))
	t.written -= len(v.frames)
	t.base, t.refold = b, false
	t.stats.Folds++
	t.mu.Unlock()
	return errors.Join(t.leave(v.base), tidy(folder, number)) // F3
}
