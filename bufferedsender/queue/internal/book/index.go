package book

// index finds nodes by the hash of their key. It uses open addressing and stores only the numbers of nodes; the hashes
// are in the nodes. It needs 5 to 11 bytes a key, where a map needs 34. It is divided into parts, so that growing
// blocks callers only briefly: one part of a million keys takes a tenth of a millisecond.
type index [indexParts]indexPart

const indexParts = 256

type indexPart struct {
	slots []int32 // 0: free, otherwise the number of a node + 1; the length is a power of two
	used  int
}

func (x *index) part(id hash) *indexPart { return &x[id[1]%indexParts] }

// findNode returns the number of the node with a hash, or -1.
func (b *Book[R]) findNode(id hash) int32 {
	p := b.index.part(id)
	if p.used == 0 {
		return -1
	}
	for at := p.home(id); ; at = p.next(at) {
		switch i := p.slots[at] - 1; {
		case i < 0:
			return -1
		case b.nodes.at(i).id == id:
			return i
		}
	}
}

// enter adds a node that is not in the index.
func (b *Book[R]) enter(i int32) {
	id := b.nodes.at(i).id
	p := b.index.part(id)
	if 4*(p.used+1) > 3*len(p.slots) {
		b.grow(p)
	}
	p.used++
	p.put(id, i)
}

// strike removes a node, and moves later ones that would otherwise not be found any more.
func (b *Book[R]) strike(i int32) {
	id := b.nodes.at(i).id
	p := b.index.part(id)
	p.used--
	at := p.home(id)
	for p.slots[at] != i+1 {
		at = p.next(at)
	}
	p.slots[at] = 0
	for from := p.next(at); p.slots[from] != 0; from = p.next(from) {
		home := p.home(b.nodes.at(p.slots[from] - 1).id)
		// It may stay if its home lies behind the hole, going round.
		if mask := len(p.slots) - 1; (from-home)&mask >= (from-at)&mask {
			p.slots[at], p.slots[from] = p.slots[from], 0
			at = from
		}
	}
}

func (b *Book[R]) grow(p *indexPart) {
	old := p.slots
	p.slots = make([]int32, max(8, 2*len(old)))
	for _, slot := range old {
		if slot != 0 {
			p.put(b.nodes.at(slot-1).id, slot-1)
		}
	}
}

func (p *indexPart) home(id hash) int { return int(id[0] & uint64(len(p.slots)-1)) } //nolint:gosec // masked

func (p *indexPart) next(at int) int { return (at + 1) & (len(p.slots) - 1) }

func (p *indexPart) put(id hash, i int32) {
	at := p.home(id)
	for p.slots[at] != 0 {
		at = p.next(at)
	}
	p.slots[at] = i + 1
}

// each calls f with every node.
func (b *Book[R]) each(f func(n *node[R], i int32)) {
	for part := range b.index {
		for _, slot := range b.index[part].slots {
			if slot != 0 {
				f(b.nodes.at(slot-1), slot-1)
			}
		}
	}
}
