package digesttree

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

// loading reads what is in a folder.
type loading struct {
	tree   *Tree
	fresh  bool // there was nothing
	broken bool // more is missing than what a crash takes
	closed bool // the last log that was read ends with a closed record: nothing is missing
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
	for _, n := range slices.Backward(bases) { // the newest that can be read
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
	if l.broken { // whatever built says: it was said of what is missing
		t.buildAll(0)
	}
	t.refold = t.stats.Unclean || l.broken // what was read need not be durable
	t.logs.bits, t.written = t.shape.bits, len(t.told.Sealed)
	return errors.Join(disk.Remove(folder, tmpName), tidy(folder, t.base.number))
}

// use begins with a base.
func (t *Tree) use(b *base) {
	t.base, t.shape, t.built = b, b.shape, make([]int64, len(b.table))
	for i, info := range b.table {
		t.built[i] = info.Built
	}
}

// expire has all segments that are known built again.
func (l *loading) expire() {
	for i := range l.tree.built {
		l.tree.built[i] = min(l.tree.built[i], dueSince)
	}
}

// loadLog reads a log as far as it can be. Where it ends needs no judgement: the next one says how many frames it must
// have.
func (l *loading) loadLog(n uint64) error {
	before := l.closed // whether nothing can be missing before this one
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

// apply applies a frame, which is well formed.
func (l *loading) apply(log uint64, b []byte, before bool) {
	t := l.tree
	first, _ := next(b[journal.HeaderSize:]) // nothing is malformed
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
