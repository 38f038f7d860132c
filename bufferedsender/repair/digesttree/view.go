package digesttree

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// view is what a tree had at a moment: a base, and what was told since. One goroutine uses it.
type view struct {
	tree  *Tree
	base  *base
	built []int64
	told  changes

	digests []uint64 // by segment, filled in by digest
	window  window   // for blocks
	merged  []byte   // for what they become
}

// changes are records by segment.
type changes struct {
	chunks []chunk
	refs   []ref    // by segment, and there in the order in which they were told
	sorted []record // for of
	begin  []uint32 // by segment, where its refs begin, and one more
	whole  []bool   // by segment, whether its digest is to be computed from all of its keys; nil: none is
}

// ref is where a record is.
type ref struct{ chunk, at uint32 }

// newChanges puts records in the order of their segments: of those in only, or of all if that is nil. Millions are sorted by counting, which keeps those of
// a key in their order.
func newChanges(chunks []chunk, s shape, only []bool) changes {
	c := changes{chunks: chunks, begin: make([]uint32, s.segments()+1)}
	total := 0
	if only == nil {
		for _, ch := range chunks {
			total += len(ch.data)
		}
	}
	segments := make([]uint32, 0, total/40)
	all := make([]ref, 0, total/40)
	for i, ch := range chunks {
		for at := header; at < len(ch.data); {
			r, size := next(ch.data[at:])
			switch {
			case r.kind == kindBuilt && r.time != 0 && r.segment < uint32(s.segments()): //nolint:gosec // at most 2^20
				if c.whole == nil {
					c.whole = make([]bool, s.segments())
				}
				c.whole[r.segment] = true
			case r.key != nil:
				segment := s.segment(hashOf(r.key))
				if only != nil && !only[segment] {
					break
				}
				c.begin[segment+1]++
				segments = append(segments, uint32(segment))  //nolint:gosec // less than 2^20
				all = append(all, ref{uint32(i), uint32(at)}) //nolint:gosec // a chunk is less than a MiB
			}
			at += size
		}
	}
	for i := range s.segments() {
		c.begin[i+1] += c.begin[i]
	}
	c.refs = make([]ref, len(all))
	place := slices.Clone(c.begin)
	for i, r := range all {
		c.refs[place[segments[i]]] = r
		place[segments[i]]++
	}
	return c
}

// of returns what was told last of each key of a segment, sorted by key. It is valid until the next call.
func (c *changes) of(segment int) []record {
	c.sorted = c.sorted[:0]
	for _, r := range c.refs[c.begin[segment]:c.begin[segment+1]] {
		rec, _ := next(c.chunks[r.chunk].data[r.at:])
		c.sorted = append(c.sorted, rec)
	}
	slices.SortStableFunc(c.sorted, func(a, b record) int { return bytes.Compare(a.key, b.key) })
	last := c.sorted[:0]
	for i, r := range c.sorted {
		if i+1 == len(c.sorted) || !bytes.Equal(c.sorted[i+1].key, r.key) {
			last = append(last, r)
		}
	}
	return last
}

// touched reports whether a segment may have another digest than in the base.
func (c *changes) touched(segment int) bool {
	return c.begin[segment] < c.begin[segment+1] || c.whole != nil && c.whole[segment]
}

// view returns one, which is to be released. If only is not nil, it is good for these segments. The error is ErrClosed.
func (t *Tree) view(only []bool) (*view, error) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, ErrClosed
	}
	t.seal()
	chunks := slices.Clip(t.chunks)
	v := &view{tree: t, base: t.base, built: slices.Clone(t.built)}
	v.base.users++
	t.mu.Unlock()
	v.told = newChanges(chunks, t.shape, only)
	return v, nil
}

func (v *view) release() error {
	v.tree.mu.Lock()
	v.base.users--
	idle := v.base.users == 0 && v.base.gone
	v.tree.mu.Unlock()
	if idle {
		return v.base.close()
	}
	return nil
}

// content returns the entries of a segment in the order of their keys, valid until the next call, how many there are, and their digest. The
// error is errDamaged if what is in the base is not what was written; then there is only what was told since.
func (v *view) content(segment int) (entries []byte, keys uint32, digest uint64, err error) {
	block, err := v.base.block(segment, &v.window)
	info := v.base.table[segment]
	if errors.Is(err, errDamaged) {
		block, info = nil, segmentInfo{}
	} else if err != nil {
		return nil, 0, 0, err
	}
	if !v.told.touched(segment) {
		return block, info.keys, info.digest, err
	}
	m := merge{rest: block, out: v.merged[:0], keys: info.keys, digest: info.digest}
	for _, r := range v.told.of(segment) {
		m.apply(r)
	}
	m.out = append(m.out, m.rest...)
	v.merged = m.out
	if v.told.whole != nil && v.told.whole[segment] {
		m.keys, m.digest = count(m.out)
	}
	return m.out, m.keys, m.digest, err
}

// merge makes new entries of old ones.
type merge struct {
	rest, out []byte
	keys      uint32
	digest    uint64
}

func (m *merge) apply(r record) {
	smaller := 0 // bytes of entries before the key
	for smaller < len(m.rest) {
		key, version, size := entry(m.rest[smaller:])
		if size == 0 {
			break
		}
		order := bytes.Compare(key, r.key)
		if order > 0 {
			break
		}
		if order == 0 {
			m.out = append(m.out, m.rest[:smaller]...)
			m.rest, smaller = m.rest[smaller+size:], 0
			m.keys--
			m.digest -= digestOf(hashOf(key), version)
			break
		}
		smaller += size
	}
	m.out = append(m.out, m.rest[:smaller]...)
	m.rest = m.rest[smaller:]
	if r.kind == kindSet {
		m.out = appendEntry(m.out, r.key, r.version)
		m.keys++
		m.digest += digestOf(hashOf(r.key), r.version)
	}
}

// count computes what is known of entries from them.
func count(entries []byte) (keys uint32, digest uint64) {
	for len(entries) > 0 {
		key, version, size := entry(entries)
		if size == 0 {
			break
		}
		digest += digestOf(hashOf(key), version)
		keys++
		entries = entries[size:]
	}
	return keys, digest
}

// compute fills in the digests. What was told since the base is merged with it, segment by segment; all others are known.
func (v *view) compute(ctx context.Context) error {
	v.digests = make([]uint64, v.base.shape.segments())
	if len(v.told.refs) > len(v.digests)/2 {
		v.window.wide = wideWindow
		defer func() { v.window.wide = 0 }()
	}
	for i := range v.digests {
		if !v.told.touched(i) {
			v.digests[i] = v.base.table[i].digest
			continue
		}
		if i%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, _, digest, err := v.content(i)
		if err = v.damaged(i, err); err != nil {
			return err
		}
		v.digests[i] = digest
	}
	return nil
}

// damaged makes a segment unknown that is not what was written, and has it folded, which leaves the damage behind. It returns other errors.
func (v *view) damaged(segment int, err error) error {
	if !errors.Is(err, errDamaged) {
		return err
	}
	v.built[segment] = 0
	v.tree.mu.Lock()
	defer v.tree.mu.Unlock()
	if v.tree.built[segment] != 0 {
		v.tree.stats.Damaged++
		v.tree.forget(segment)
	}
	v.tree.refold = true
	v.tree.wake()
	return nil
}

// rows returns what a segment has, in the order of keys. The error is errDamaged if that is not known any more.
func (v *view) rows(segment int) ([]models.Row, error) {
	entries, keys, _, err := v.content(segment)
	if err != nil {
		return nil, errors.Join(err, v.damaged(segment, err))
	}
	rows := make([]models.Row, 0, keys)
	for len(entries) > 0 {
		key, version, size := entry(entries)
		if size == 0 {
			break
		}
		rows = append(rows, models.Row{Key: string(key), Version: version})
		entries = entries[size:]
	}
	return rows, nil
}
