package digesttree

import (
	"bytes"
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

	window window // for blocks
	merged []byte // for what they become
}

// view returns one, which is to be released. If only is not nil, it is good for these segments. The error is errClosed.
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

func (v *view) release() error { return v.tree.leave(v.base) }

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
	m := merge{out: v.merged[:0]}
	m.apply(block, v.told.of(segment), &v.told)
	v.merged = m.out
	return m.out, m.keys, m.digest, err
}

// merge makes new entries of old ones, and computes what is known of them.
type merge struct {
	out    []byte
	keys   uint32
	digest uint64
}

func (m *merge) count(hash uint64, version int64) {
	m.keys++
	m.digest += digestOf(hash, version)
}

func (m *merge) add(t *toldKey) {
	m.out = appendEntry(m.out, t.key, t.version)
	m.count(t.hash, t.version)
}

// apply changes the entries of a segment to what was told of it. Keys that it has stay where they are, so only new
// ones are sorted. What lies between changes is copied at once.
func (m *merge) apply(block []byte, all []toldKey, told *changes) {
	from, at := 0, 0
	for key, version := range entriesOf(block) {
		hash, begin := hashOf(key), at
		at += entryHead + len(key)
		_, t := told.find(hash, key)
		if t == nil {
			m.count(hash, version)
			continue
		}
		m.out = append(m.out, block[from:begin]...)
		from, t.there = at, true
		if !t.deleted {
			m.add(t)
		}
	}
	m.out = append(m.out, block[from:at]...)
	var news []*toldKey
	for i := range all {
		if !all[i].there && !all[i].deleted {
			news = append(news, &all[i])
		}
	}
	if len(news) == 0 {
		return
	}
	slices.SortFunc(news, func(a, b *toldKey) int { return bytes.Compare(a.key, b.key) })
	old := m.out
	m.out = make([]byte, 0, len(old)+len(news)*(entryHead+2*len(news[0].key)))
	from, at = 0, 0
	for key := range entriesOf(old) {
		for ; len(news) > 0 && bytes.Compare(news[0].key, key) < 0; news = news[1:] {
			m.out = append(m.out, old[from:at]...)
			from = at
			m.add(news[0])
		}
		at += entryHead + len(key)
	}
	m.out = append(m.out, old[from:]...)
	for _, t := range news {
		m.add(t)
	}
}

// digest returns the digest of a segment. A damaged one is unknown from now on.
func (v *view) digest(segment int) (uint64, error) {
	if !v.told.told[segment] {
		return v.base.table[segment].Digest, nil
	}
	_, _, digest, err := v.content(segment)
	return digest, v.damaged(segment, err)
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
