package vectors

// candidate is a document with its closeness.
type candidate struct {
	closeness float32
	id        uint32
}

// before reports whether c is better than d: closer, or equally close with a smaller id.
func (c candidate) before(d candidate) bool {
	return c.closeness > d.closeness || c.closeness == d.closeness && c.id < d.id
}

// nearest keeps the best candidates in a heap with the worst on top.
type nearest struct {
	limit int
	heap  []candidate
}

func (n *nearest) add(c candidate) {
	if len(n.heap) < n.limit {
		n.heap = append(n.heap, c)
		n.up(len(n.heap) - 1)
		return
	}
	if n.limit > 0 && c.before(n.heap[0]) {
		n.heap[0] = c
		n.down()
	}
}

func (n *nearest) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !n.heap[parent].before(n.heap[i]) {
			return
		}
		n.heap[i], n.heap[parent] = n.heap[parent], n.heap[i]
		i = parent
	}
}

func (n *nearest) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(n.heap) {
			return
		}
		if child+1 < len(n.heap) && n.heap[child].before(n.heap[child+1]) {
			child++
		}
		if !n.heap[i].before(n.heap[child]) {
			return
		}
		n.heap[i], n.heap[child] = n.heap[child], n.heap[i]
		i = child
	}
}
