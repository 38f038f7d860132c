package book

// shrinkAbove is the number of nodes that are kept for later keys.
const shrinkAbove = 64 * slabNodes

// shrink frees memory when most nodes are unused: one parked key must not keep the memory of millions. It takes time in
// proportion to the remaining keys, and runs only after at least fifteen times as many keys have left.
func (b *Book[R]) shrink() {
	if size := len(b.nodes.chunks) * slabNodes; size <= shrinkAbove || 16*b.nodes.used > size {
		return
	}
	nodes, index := b.nodes, b.index
	b.nodes, b.index = slab[R]{moves: nodes.moves + 1}, [indexParts]indexPart{}
	for part := range index {
		for _, slot := range index[part].slots {
			if slot == 0 {
				continue
			}
			i := b.nodes.take()
			n := b.nodes.at(i)
			*n = *nodes.at(slot - 1)
			b.enter(i)
			if n.at != nowhere {
				k, at := n.at.split()
				b.heapOf(k).items[at] = i
			}
		}
	}
	for k := range kinds {
		h := b.heapOf(k)
		h.items = append([]int32(nil), h.items...)
	}
}
