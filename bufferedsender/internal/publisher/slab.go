package publisher

import (
	"bytes"
	"sync"
	"sync/atomic"
)

// Slab is memory that bodies of items lie in side by side, in the order in which
// they were encoded. It is used again when nothing in it is needed any more.
//
// One body would keep a whole slab, so an item that is not to be settled about
// when its neighbours are, which is one that is sent again and one that waits
// for another of its key, moves out of it.
type Slab struct {
	memory []byte
	used   int          // its filler's
	users  atomic.Int64 // items in it, and its filler
}

var (
	smallSlabs = sync.Pool{New: func() any { return &Slab{memory: make([]byte, smallSlab)} }}
	largeSlabs = sync.Pool{New: func() any { return &Slab{memory: make([]byte, largeSlab)} }}
)

// NewSlab returns an empty slab for bodies about as large as the next one, or
// nil: then so little was encoded so far, or the body is so large, that it
// should have its own memory. The caller fills the slab, and releases it when
// it is full.
func NewSlab(next, soFar int) *Slab {
	var pool *sync.Pool
	switch { // no more than a quarter of a slab stays empty
	case soFar < slabsFrom:
		return nil
	case next <= smallSlab/4:
		pool = &smallSlabs
	case soFar >= largeSlab && next <= largeSlab/4:
		pool = &largeSlabs
	default:
		return nil
	}
	s := pool.Get().(*Slab)
	s.used = 0
	s.users.Store(1)
	return s
}

// Append copies body to the slab and returns the copy, which is one more user of
// the slab, or nil if there is no room.
func (s *Slab) Append(body []byte) []byte {
	at := s.used
	if len(body) > len(s.memory)-at {
		return nil
	}
	s.used += copy(s.memory[at:], body)
	s.users.Add(1)
	return s.memory[at:s.used:s.used]
}

// Release says that one of its users needs the slab no more. A user that is
// never released costs no more than the memory, until nothing refers to it.
func (s *Slab) Release() {
	if s != nil && s.users.Add(-1) == 0 {
		s.poison()
		if len(s.memory) == smallSlab {
			smallSlabs.Put(s)
		} else {
			largeSlabs.Put(s)
		}
	}
}

// moveOut gives an item its own memory.
func (it *Item[V]) moveOut() {
	if it.Slab != nil {
		it.Body = bytes.Clone(it.Body)
		it.Slab.Release()
		it.Slab = nil
	}
}

// moveOut gives items of their own memory, several together. What they leave is
// released by free, when nobody looks at the batch any more.
func (l *loop[V, R]) moveOut(refs []ref) {
	const together = 16 // so that one cannot keep more than so many
	for len(refs) > 0 {
		n := min(together, len(refs))
		size := 0
		for _, r := range refs[:n] {
			size += len(l.pending.at(r).item.Body)
		}
		memory := make([]byte, 0, size)
		for _, r := range refs[:n] {
			it := &l.pending.at(r).item
			at := len(memory)
			memory = append(memory, it.Body...)
			it.Body = memory[at:len(memory):len(memory)]
			l.left = append(l.left, it.Slab)
			it.Slab = nil
		}
		refs = refs[n:]
	}
}

// free releases the slabs that items have left. What Close has left behind may
// still be read.
func (l *loop[V, R]) free() {
	if !l.cancelled() {
		for _, s := range l.left {
			s.Release()
		}
	}
	clear(l.left)
	l.left = l.left[:0]
}
