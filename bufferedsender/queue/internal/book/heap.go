package book

// heap is a binary heap of nodes, smallest first. Each node is in at most one heap, and stores its slot there, so that
// it can be removed.
type heap struct {
	kind  kind
	items []int32
}

// kind is the heap of a node, which also determines its order.
type kind uint32

const (
	inReady    kind = iota // due, by place
	inSuspects             // due suspects, reserved several at a time (DESIGN.md: suspects), by place
	inLone                 // due suspects that go alone, by place
	inDelayed              // not due yet, by due time
	inLeases               // leased, by the end of the lease
	kinds
)

// slot is a heap and an index in it.
type slot uint32

const (
	nowhere   slot = 1<<32 - 1
	slotIndex      = 29
)

func newSlot(k kind, i int) slot { return slot(k)<<slotIndex | slot(i) } //nolint:gosec // see slab.take

func (s slot) split() (kind, int) { return kind(s >> slotIndex), int(s & (1<<slotIndex - 1)) }

func (b *Book[R]) heapOf(k kind) *heap {
	switch k {
	case inReady:
		return &b.ready
	case inSuspects:
		return &b.suspects
	case inLone:
		return &b.lone
	case inDelayed:
		return &b.delayed
	default:
		return &b.leases
	}
}

func (b *Book[R]) before(k kind, i, j int32) bool {
	x, y := b.nodes.at(i), b.nodes.at(j)
	switch k {
	case inDelayed:
		return x.more.dueAt() < y.more.dueAt()
	case inLeases:
		return x.more.until < y.more.until
	default:
		return x.place < y.place
	}
}

func (b *Book[R]) push(k kind, i int32) {
	h := b.heapOf(k)
	h.items = append(h.items, i)
	b.up(h, len(h.items)-1)
}

// leave removes a node from its heap, if it is in one.
func (b *Book[R]) leave(n *node[R]) {
	if n.at == nowhere {
		return
	}
	k, at := n.at.split()
	h := b.heapOf(k)
	last := len(h.items) - 1
	moved := h.items[last]
	h.items = h.items[:last]
	n.at = nowhere
	if at < last {
		h.items[at] = moved
		b.fix(h, at)
	}
}

// fix restores the heap after the order of an item has changed.
func (b *Book[R]) fix(h *heap, at int) {
	if at > 0 && b.before(h.kind, h.items[at], h.items[(at-1)/2]) {
		b.up(h, at)
		return
	}
	b.down(h, at)
}

func (b *Book[R]) up(h *heap, at int) {
	item := h.items[at]
	for at > 0 {
		parent := (at - 1) / 2
		if !b.before(h.kind, item, h.items[parent]) {
			break
		}
		b.set(h, at, h.items[parent])
		at = parent
	}
	b.set(h, at, item)
}

func (b *Book[R]) down(h *heap, at int) {
	item := h.items[at]
	for {
		child := 2*at + 1
		if child >= len(h.items) {
			break
		}
		if child+1 < len(h.items) && b.before(h.kind, h.items[child+1], h.items[child]) {
			child++
		}
		if !b.before(h.kind, h.items[child], item) {
			break
		}
		b.set(h, at, h.items[child])
		at = child
	}
	b.set(h, at, item)
}

func (b *Book[R]) set(h *heap, at int, item int32) {
	h.items[at] = item
	b.nodes.at(item).at = newSlot(h.kind, at)
}
