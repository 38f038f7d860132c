package publisher

import (
	"bytes"
	"sync"
	"sync/atomic"
)

// slab is memory for bodies of items, side by side in the order of acceptance. It is reused when none of them is needed
// any more.
//
// One body would keep a whole slab. So an item that will not be settled about when its neighbours are is copied out of
// it: one that is sent again, or that waits for another of its key.
type slab struct {
	memory []byte
	used   int          // by its filler
	users  atomic.Int64 // items in it, and its filler
}

var (
	smallSlabs = sync.Pool{New: func() any { return &slab{memory: make([]byte, smallSlab)} }}
	largeSlabs = sync.Pool{New: func() any { return &slab{memory: make([]byte, largeSlab)} }}
)

// store gives an accepted item memory for its body.
func (a *admission[V]) store(it *Item[V]) {
	if it.Own {
		return
	}
	size := len(it.Body)
	if a.slab != nil {
		if body := a.slab.put(it.Body); body != nil {
			it.Body, it.slab = body, a.slab
			return
		}
	}
	next := newSlab(size, a.stored)
	a.stored = min(a.stored+size, largeSlab)
	if next == nil {
		it.Body = bytes.Clone(it.Body)
		return
	}
	a.slab.release()
	a.slab = next
	it.Body, it.slab = next.put(it.Body), next
}

// newSlab returns an empty slab for bodies about as large as the next one. It returns nil if the body should have its
// own memory, because little was stored so far or the body is large. The caller fills the slab and releases it when it
// is full.
func newSlab(next, soFar int) *slab {
	var pool *sync.Pool
	switch { // at most a quarter of a slab stays empty
	case soFar < slabsFrom:
		return nil
	case next <= smallSlab/4:
		pool = &smallSlabs
	case soFar >= largeSlab && next <= largeSlab/4:
		pool = &largeSlabs
	default:
		return nil
	}
	s := pool.Get().(*slab)
	s.used = 0
	s.users.Store(1)
	return s
}

// put copies body to the slab and returns the copy, which is one more user of the slab, or nil if there is no room.
func (s *slab) put(body []byte) []byte {
	at := s.used
	if len(body) > len(s.memory)-at {
		return nil
	}
	s.used += copy(s.memory[at:], body)
	s.users.Add(1)
	return s.memory[at:s.used:s.used]
}

// release removes one user of the slab. A user that is never released only costs memory until the slab is unreferenced.
func (s *slab) release() {
	if s != nil && s.users.Add(-1) == 0 {
		s.poison()
		if len(s.memory) == smallSlab {
			smallSlabs.Put(s)
		} else {
			largeSlabs.Put(s)
		}
	}
}

// copyOut gives an item its own memory.
func (it *Item[V]) copyOut() {
	if it.slab != nil {
		it.Body = bytes.Clone(it.Body)
		it.slab.release()
		it.slab = nil
	}
}

// bodies manages the memory of items that a reply has put back.
type bodies struct {
	moving   []ref   // items to copy out of their slabs
	released []*slab // slabs that items have left while the batch may still be read
}

// leave records that an item has left its slab.
func (b *bodies) leave(s *slab) {
	if s != nil {
		b.released = append(b.released, s)
	}
}

// free releases the slabs that items have left. reuse is false if they must not be filled again, because a request that
// Close has left behind may still read them.
func (b *bodies) free(reuse bool) {
	if reuse {
		for _, s := range b.released {
			s.release()
		}
	}
	clear(b.released)
	b.released = b.released[:0]
}

// take returns the items to copy. The result is valid until the next item is put back.
func (b *bodies) take() []ref {
	moving := b.moving
	b.moving = b.moving[:0]
	return moving
}

// copyOut gives items their own memory, with several small ones together. The old memory is released when the batch is
// no longer read.
func (l *loop[V, R]) copyOut(refs []ref) {
	for len(refs) > 0 {
		n, size := l.together(refs)
		memory := make([]byte, 0, size)
		for _, r := range refs[:n] {
			it := &l.pending.at(r).item
			at := len(memory)
			memory = append(memory, it.Body...)
			it.Body = memory[at:len(memory):len(memory)]
			l.bodies.leave(it.slab)
			it.slab = nil
		}
		refs = refs[n:]
	}
}

// together returns how many of the first items may share memory, and their total size: so few and so small that it does
// not matter if one of them keeps it for long.
func (l *loop[V, R]) together(refs []ref) (n, size int) {
	const most, small = 16, 1 << 10
	for n < min(most, len(refs)) {
		next := len(l.pending.at(refs[n]).item.Body)
		if n > 0 && next > small {
			break
		}
		n++
		if size += next; next > small {
			break
		}
	}
	return n, size
}
