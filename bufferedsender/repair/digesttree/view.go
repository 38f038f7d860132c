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
	tree   *Tree
	base   *base
	frames [][]byte // told since the base
	built  []int64
	told   changes // of the frames

	digests []uint64 // by segment, filled in by digest
	window  window   // for blocks
	merged  []byte   // for what they become
}

// view returns one, which is to be released. If only is not nil, it is good for these segments. The error is ErrClosed.
func (t *Tree) view(only []bool) (*view, error) {
	t.mu.Lock()
	if t.life.Err() != nil {
		t.mu.Unlock()
		return nil, errClosed
	}
	t.told.Seal()
	v := &view{tree: t, base: t.base, frames: slices.Clip(t.told.Sealed), built: slices.Clone(t.built)}
	v.base.users++
	t.mu.Unlock()
	v.told = newChanges(v.frames, t.shape, only)
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

// content returns the entries of a segment in the order of their keys, valid until the next call, how many there are,
// and their digest. The error is errDamaged if what is in the base is not what was written; then there is only what
// was told since.
func (v *view) content(segment int) (entries []byte, keys uint32, digest uint64, err error) {
	block, err := v.base.block(segment, &v.window)
	info := v.base.table[segment]
	if errors.Is(err, errDamaged) {
		block, info = nil, segmentInfo{}
	} else if err != nil {
		return nil, 0, 0, err
	}
	if !v.told.told[segment] {
		return block, info.Keys, info.Digest, err
	}
	m := merge{out: append(v.merged[:0], block...)}
	m.apply(v.told.of(segment), &v.told)
	v.merged = m.out
	return m.out, m.keys, m.digest, err
}

// merge makes new entries of old ones, and computes what is known of them.
type merge struct {
	out    []byte
	keys   uint32
	digest uint64
}

// apply changes the entries of a segment to what was told of it. Keys that it has stay where they are, so only new
// ones are sorted.
func (m *merge) apply(all []toldKey, told *changes) {
	m.update(told)
	var news []toldKey
	for _, t := range all {
		if !t.there && !t.deleted {
			news = append(news, t)
		}
	}
	slices.SortFunc(news, func(a, b toldKey) int { return bytes.Compare(a.key, b.key) })
	m.insert(news)
}

func (m *merge) count(hash uint64, version int64) {
	m.keys++
	m.digest += digestOf(hash, version)
}

// update writes the versions of keys that are there, and takes out those that were deleted.
func (m *merge) update(told *changes) {
	end, from := 0, 0 // what is kept is out[:end] and all from there to at
	at := 0
	for at < len(m.out) {
		key, version, size := entry(m.out[at:])
		if size == 0 {
			break
		}
		hash := hashOf(key)
		_, t := told.find(hash, key)
		if t != nil {
			t.there = true
			version = t.version
			setVersion(m.out[at:], version)
		}
		if t != nil && t.deleted {
			end += copy(m.out[end:], m.out[from:at])
			from = at + size
		} else {
			m.count(hash, version)
		}
		at += size
	}
	m.out = m.out[:end+copy(m.out[end:], m.out[from:])]
}

// insert adds keys that are not there, in order.
func (m *merge) insert(news []toldKey) {
	if len(news) == 0 {
		return
	}
	old, more := m.out, 0
	for _, t := range news {
		more += entryHead + len(t.key)
	}
	m.out = make([]byte, 0, len(old)+more)
	for _, t := range news {
		smaller := 0 // bytes of entries before the key
		for {
			key, _, size := entry(old[smaller:])
			if size == 0 || bytes.Compare(key, t.key) > 0 {
				break
			}
			smaller += size
		}
		m.out = appendEntry(append(m.out, old[:smaller]...), t.key, t.version)
		old = old[smaller:]
		m.count(t.hash, t.version)
	}
	m.out = append(m.out, old...)
}

// compute fills in the digests. What was told since the base is merged with it, segment by segment; all others are
// known.
func (v *view) compute(ctx context.Context) error {
	v.digests = make([]uint64, v.base.shape.segments())
	if v.told.records > len(v.digests)/2 {
		v.window.wide = wideWindow
		defer func() { v.window.wide = 0 }()
	}
	for i := range v.digests {
		if !v.told.told[i] {
			v.digests[i] = v.base.table[i].Digest
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

// damaged makes a segment unknown that is not what was written, and has it folded, which leaves the damage behind. It
// returns other errors.
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
	v.tree.loop.Wake()
	return nil
}

// rows returns what a segment has, in the order of keys. The error is errDamaged if that is not known any more.
func (v *view) rows(segment int) ([]models.Row, error) {
	entries, keys, _, err := v.content(segment)
	if err != nil {
		return nil, errors.Join(err, v.damaged(segment, err))
	}
	rows := make([]models.Row, 0, keys)
	for key, version := range entriesOf(entries) {
		rows = append(rows, models.Row{Key: string(key), Version: version})
	}
	return rows, nil
}
