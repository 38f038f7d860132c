package fold

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"github.com/go-azsearch/azsearch/models"
)

// merger computes a ⊕ b. Mergers are pooled.
type merger struct {
	a, b scanner
	typ  models.ActionType // of the result

	out   []byte
	table []int32 // see pair
}

// Larger buffers are not kept in the pool.
const (
	largestPooledText    = 1 << 20
	largestPooledMembers = 1 << 14
)

var mergers = sync.Pool{New: func() any { return new(merger) }}

// mergeActions returns a ⊕ b as an action of type aType.
func mergeActions(aType models.ActionType, a []byte, bType models.ActionType, b []byte) (body []byte, ok bool) {
	m := mergers.Get().(*merger)
	defer m.release()
	if !m.a.action(a, len(header(aType))) || !m.b.action(b, len(header(bType))) {
		return nil, false
	}
	m.typ = aType
	m.out = append(m.out[:0], header(aType)...)
	if !m.members(0, int32(len(m.a.members)), 0, int32(len(m.b.members))) {
		return nil, false
	}
	body = make([]byte, len(m.out)) // it may wait for long, so without spare capacity
	copy(body, m.out)
	return body, true
}

// release returns the merger to the pool, without the text that it has read.
func (m *merger) release() {
	for _, s := range []*scanner{&m.a, &m.b} {
		clear(s.odd)
		s.text = nil
	}
	if cap(m.out) <= largestPooledText && max(cap(m.a.members), cap(m.b.members)) <= largestPooledMembers {
		mergers.Put(m)
	}
}

// members appends a[aFrom:aTo] ⊕ b[bFrom:bTo], the members of two objects, separated by commas and followed by the
// closing brace. The members of a come first in their order, then those that only b has in theirs.
func (m *merger) members(aFrom, aTo, bFrom, bTo int32) bool {
	if !m.pair(aFrom, aTo, bFrom, bTo) {
		return false
	}
	for i := aFrom; i < aTo; i = m.a.members[i].next {
		x := &m.a.members[i]
		m.comma()
		if x.pair == 0 {
			m.out = append(m.out, m.a.text[x.start:x.end]...)
			continue
		}
		j := x.pair - 1
		y := &m.b.members[j]
		switch choose(m.typ, x, y, x.next == i+1, y.next == j+1) {
		case keepA:
			m.out = append(m.out, m.a.text[x.start:x.end]...)
		case takeB:
			m.out = append(m.out, m.b.text[y.start:y.end]...)
		case mergeBoth:
			m.out = append(m.out, m.a.text[x.start:x.value]...)
			m.out = append(m.out, '{')
			if !m.members(i+1, x.next, j+1, y.next) {
				return false
			}
		default:
			return false
		}
	}
	for j := bFrom; j < bTo; j = m.b.members[j].next {
		y := &m.b.members[j]
		if y.pair != 0 {
			continue
		}
		if !addable(m.typ, y, y.next == j+1) {
			return false
		}
		m.comma()
		m.out = append(m.out, m.b.text[y.start:y.end]...)
	}
	m.out = append(m.out, '}')
	return true
}

func (m *merger) comma() {
	if m.out[len(m.out)-1] != '{' {
		m.out = append(m.out, ',')
	}
}

// choice is the decision about two values of one field.
type choice uint8

const (
	refuse choice = iota
	keepA
	takeB
	mergeBoth
)

// choose decides about a field that both have. xEmpty and yEmpty are true for an object without members. For the
// reasons see the package documentation.
func choose(typ models.ActionType, x, y *member, xEmpty, yEmpty bool) choice {
	switch {
	case y.kind != object:
		if y.kind == null || x.kind == null || x.kind == y.kind {
			return takeB
		}
		return refuse // no field accepts values of both shapes
	case x.kind == null:
		if typ == models.ActionTypeUpload && addable(typ, y, yEmpty) {
			return takeB
		}
		return refuse // the value in the index must be removed, then partly restored
	case x.kind != object:
		return refuse
	case yEmpty:
		return keepA
	case xEmpty:
		if addable(typ, y, false) {
			return takeB
		}
		return refuse
	}
	return mergeBoth
}

// addable reports whether y, which b merges where a has nothing, may be copied to the result. Merging drops empty
// objects there, creating does not.
func addable(typ models.ActionType, y *member, empty bool) bool {
	return typ == models.ActionTypeMerge || y.kind != object || !empty && !y.hollow
}

var seed = maphash.MakeSeed()

// pair links the members with the same name in two objects. It returns false if a name occurs twice in one object,
// which the service refuses, or is an annotation.
func (m *merger) pair(aFrom, aTo, bFrom, bTo int32) bool {
	n := 0
	for i := aFrom; i < aTo; i = m.a.members[i].next {
		n++
	}
	for j := bFrom; j < bTo; j = m.b.members[j].next {
		n++
	}
	// An open-addressing table, at most half full: i+1 for a member of a, -(j+1) for one that only b has.
	size := 1 << bits.Len(uint(2*n))
	if cap(m.table) < size {
		m.table = make([]int32, size)
	}
	table := m.table[:size]
	clear(table)
	find := func(name []byte) (slot int) {
		for slot = int(maphash.Bytes(seed, name)) & (size - 1); ; slot = (slot + 1) & (size - 1) {
			var there []byte
			switch at := table[slot]; {
			case at > 0:
				there = m.a.nameOf(&m.a.members[at-1])
			case at < 0:
				there = m.b.nameOf(&m.b.members[-at-1])
			default:
				return slot
			}
			if string(there) == string(name) {
				return slot
			}
		}
	}
	for i := aFrom; i < aTo; i = m.a.members[i].next {
		x := &m.a.members[i]
		slot := find(m.a.nameOf(x))
		if table[slot] != 0 || x.annotation {
			return false
		}
		table[slot] = i + 1
	}
	for j := bFrom; j < bTo; j = m.b.members[j].next {
		y := &m.b.members[j]
		slot := find(m.b.nameOf(y))
		at := table[slot]
		switch {
		case y.annotation, at < 0, at > 0 && m.a.members[at-1].pair != 0:
			return false
		case at > 0:
			m.a.members[at-1].pair, y.pair = j+1, at
		default:
			table[slot] = -(j + 1)
		}
	}
	return true
}
