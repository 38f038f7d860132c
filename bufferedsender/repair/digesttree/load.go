package digesttree

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

// loading reads what is in a folder.
type loading struct {
	tree    *Tree
	folder  disk.Folder
	journal logs
	fresh   bool // there was nothing
	clean   bool // there was, and nothing of it is missing
	broken  bool // more is missing than what a crash takes
	closed  bool // the last log that was read ends with a closed record
	frames  map[uint64]uint32
}

func (l *loading) run() error {
	entries, err := l.folder.ReadDir(".")
	if err != nil {
		return err
	}
	bases, logs := numbered(entries, basePrefix), numbered(entries, logPrefix)
	l.fresh = len(bases)+len(logs) == 0
	for _, e := range entries {
		if e.Name() == tmpName || strings.HasPrefix(e.Name(), rebuildPrefix) {
			if err := disk.Remove(l.folder, e.Name()); err != nil {
				return err
			}
		}
	}
	if err := l.loadBase(bases); err != nil {
		return err
	}
	t := l.tree
	l.frames = make(map[uint64]uint32)
	for _, n := range logs {
		if t.base != nil && n < t.base.number {
			continue
		}
		if err := l.loadLog(n); err != nil {
			return err
		}
	}
	if t.base == nil {
		if err := l.make(t.options.SegmentBits); err != nil {
			return err
		}
	}
	l.clean = !l.fresh && l.closed
	if !l.fresh && !l.clean {
		t.stats.Unclean = true
		l.expire()
	}
	if l.broken { // whatever built says: it was said of what is missing
		l.tree.buildAll(0)
	}
	t.refold = t.stats.Unclean || l.broken // what was read need not be durable
	l.journal.folder, l.journal.bits = l.folder, t.shape.bits
	for _, n := range slices.Concat(bases, logs) {
		l.journal.number = max(l.journal.number, n)
	}
	t.written, t.options.SegmentBits = len(t.chunks), t.shape.bits
	return l.tidy(bases, logs)
}

// loadBase reads the newest base that can be read.
func (l *loading) loadBase(bases []uint64) error {
	for _, n := range slices.Backward(bases) {
		b, built, err := openBase(l.folder, n)
		if errors.Is(err, errDamaged) {
			l.tree.stats.Damaged++
			l.broken = true
			continue
		}
		if err != nil {
			return err
		}
		l.tree.base, l.tree.shape, l.tree.built = b, b.shape, built
		return l.check(b.shape.bits)
	}
	return nil
}

// make begins without a base.
func (l *loading) make(bits int) error {
	if bits == 0 {
		bits = defaultSegmentBits
	}
	t := l.tree
	t.shape = shape{bits}
	t.base, t.built = emptyBase(t.shape), make([]int64, t.shape.segments())
	return l.check(bits)
}

func (l *loading) check(bits int) error {
	if want := l.tree.options.SegmentBits; want != 0 && want != bits {
		return fmt.Errorf("%w: SegmentBits is %d, the folder has %d", ErrShape, want, bits)
	}
	return nil
}

// expire has all segments that are known be built anew.
func (l *loading) expire() {
	for i := range l.tree.built {
		l.tree.built[i] = min(l.tree.built[i], dueSince)
	}
}

// loadLog reads a log as far as it can be. Where it ends needs no judgement: the next one says how many frames it
// must have.
func (l *loading) loadLog(n uint64) error {
	before := l.closed // whether nothing can be missing before this one
	l.closed = false
	err := format.Read(l.folder, logName(n), func(frame []byte, number uint32) error {
		l.frames[n] = number
		return l.apply(n, bytes.Clone(frame), before)
	})
	if errors.As(err, new(*journal.Damage)) {
		return nil
	}
	return err
}

// apply applies a frame, which is well-formed.
func (l *loading) apply(log uint64, b []byte, before bool) error {
	t := l.tree
	first, _ := next(b[header:])
	l.closed = first.kind == kindClosed
	switch first.kind {
	case kindBegin, kindContinues:
		if t.base == nil {
			if first.bits < minSegmentBits || first.bits > maxSegmentBits {
				return nil
			}
			if err := l.make(int(first.bits)); err != nil {
				return err
			}
		}
		if first.kind == kindBegin && !before {
			l.expire()
		}
		if first.log >= t.base.number && l.frames[first.log] < first.frames {
			t.stats.Damaged++
			l.broken = true
		}
	case kindSet, kindDeleted, kindBuilt:
		t.chunks = append(t.chunks, chunk{data: b})
		t.pending += int64(len(b) - header)
	}
	for rest := b[header:]; len(rest) > 0; {
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
	l.journal.before, l.journal.durable = log, l.frames[log]
	return nil
}

// tidy removes what the base replaces: F3.
func (l *loading) tidy(bases, logs []uint64) error {
	for _, n := range bases {
		if n != l.tree.base.number {
			if err := disk.Remove(l.folder, baseName(n)); err != nil {
				return err
			}
		}
	}
	for _, n := range logs {
		if n < l.tree.base.number {
			if err := disk.Remove(l.folder, logName(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loading) close() error {
	if l.tree.base == nil {
		return nil
	}
	return l.tree.base.close()
}
