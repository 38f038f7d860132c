package digesttree

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

// loading reads a folder at Open.
type loading struct {
	tree   *Tree
	fresh  bool // the folder had no files of a tree
	broken bool // more is missing than a crash can lose
	closed bool // the last log read ends with a closed record: nothing is missing
	frames map[uint64]uint32
}

func (l *loading) run() error {
	t, folder := l.tree, l.tree.logs.folder
	entries, err := folder.ReadDir(".")
	if err != nil {
		return err
	}
	bases, files := numbered(entries, basePrefix), numbered(entries, logPrefix)
	for _, n := range slices.Concat(bases, files) {
		t.logs.number = max(t.logs.number, n)
	}
	for _, n := range slices.Backward(bases) { // the newest readable one
		b, err := openBase(folder, n)
		if err == nil {
			t.use(b)
			break
		}
		if !errors.Is(err, errDamaged) {
			return err
		}
		t.stats.Damaged++
		l.broken = true
	}
	for _, n := range files {
		if t.base == nil || n >= t.base.number {
			if err := l.loadLog(n); err != nil {
				return err
			}
		}
	}
	if t.base == nil {
		t.use(emptyBase(shape{t.options.SegmentBits}))
	}
	l.fresh = len(bases)+len(files) == 0
	if !l.fresh && !l.closed {
		t.stats.Unclean = true
		l.expire()
	}
	if l.broken { // built records may count on missing changes
		t.buildAll(0)
	}
	t.refold = t.stats.Unclean || l.broken // the changes that were read need not be durable
	t.logs.bits, t.written = t.shape.bits, len(t.told.Sealed)
	return errors.Join(disk.Remove(folder, tmpName), tidy(folder, t.base.number))
}

// use sets the base of a tree that is being opened.
func (t *Tree) use(b *base) {
	t.base, t.shape, t.built = b, b.shape, make([]int64, len(b.table))
	for i, info := range b.table {
		t.built[i] = info.Built
	}
}

// expire makes all known segments due.
func (l *loading) expire() {
	for i := range l.tree.built {
		l.tree.built[i] = min(l.tree.built[i], dueSince)
	}
}

// loadLog reads a log as far as possible. A log that ends early is judged by the next log, which records how many
// frames it must have.
func (l *loading) loadLog(n uint64) error {
	before := l.closed // whether all logs before this one are complete
	l.closed = false
	err := format.Read(l.tree.logs.folder, logName(n), func(frame []byte, number uint32) error {
		l.frames[n] = number
		l.apply(n, bytes.Clone(frame), before)
		return nil
	})
	if errors.As(err, new(*journal.Damage)) {
		return nil
	}
	return err
}

// apply applies a well-formed frame.
func (l *loading) apply(log uint64, b []byte, before bool) {
	t := l.tree
	first, _ := next(b[journal.HeaderSize:]) // the frame is well formed
	l.closed = first.kind == kindClosed
	switch first.kind {
	case kindBegin, kindContinues:
		if t.base == nil {
			if first.bits < minSegmentBits || first.bits > maxSegmentBits {
				return
			}
			t.use(emptyBase(shape{int(first.bits)}))
		}
		if first.kind == kindBegin && !before {
			l.expire()
		}
		if first.log >= t.base.number && l.frames[first.log] < first.frames {
			t.stats.Damaged++
			l.broken = true
		}
	case kindSet, kindDeleted, kindBuilt:
		t.told.Add(b)
	}
	for rest := b[journal.HeaderSize:]; len(rest) > 0; {
		r, size := next(rest)
		rest = rest[size:]
		switch {
		case r.kind != kindBuilt || t.base == nil:
		case r.segment == allSegments:
			t.buildAll(r.time)
		case uint64(r.segment) < uint64(len(t.built)):
			t.built[r.segment] = r.time
		}
	}
	t.logs.before, t.logs.durable = log, l.frames[log]
}
