package digesttree

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// view is a snapshot of a tree: a base and the changes since. It is not safe for concurrent use.
type view struct {
	tree   *Tree
	base   *base
	frames [][]byte // changes since the base
	built  []int64
	told   changes // of the frames

	window window // buffer for blocks
	merged []byte // buffer for merged blocks
}

// view returns a snapshot, to be released. If only is not nil, just these segments are usable. The error is errClosed.
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

// content returns the entries of a segment in key order, valid until the next call, their number, and their digest. The
// error is errDamaged if the base is damaged there; the entries are then just the changes.
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

// merge computes new entries from old ones and changes, with their number and digest.
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

// apply merges the changes of a segment into its entries. Existing keys keep their place, so only new keys are sorted.
// Entries between changes are copied in one piece.
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

// digest returns the digest of a segment. If the segment is damaged it becomes unknown.
func (v *view) digest(segment int) (uint64, error) {
	if !v.told.told[segment] {
		return v.base.table[segment].Digest, nil
	}
	_, _, digest, err := v.content(segment)
	return digest, v.damaged(segment, err)
}

// damaged makes a segment unknown if err is errDamaged, and requests a fold, which drops the damaged data. It returns
// other errors.
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

// rows returns the rows of a segment in key order. If the segment is damaged, the error is errDamaged and the segment
// becomes unknown.
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
