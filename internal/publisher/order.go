package publisher

// queue is a first-in, first-out ring of refs.
type queue struct {
	refs       []ref // its length is a power of two
	start, end uint  // only grow, so that end-start is the count
}

func (q *queue) len() int   { return int(q.end - q.start) }
func (q *queue) front() ref { return q.refs[q.start&uint(len(q.refs)-1)] }
func (q *queue) pop()       { q.start++ }

func (q *queue) each(f func(r ref)) {
	for i := q.start; i != q.end; i++ {
		f(q.refs[i&uint(len(q.refs)-1)])
	}
}

// newest calls f with each ref from the back, until f returns false.
func (q *queue) newest(f func(r ref) bool) {
	for i := q.end; i != q.start && f(q.refs[(i-1)&uint(len(q.refs)-1)]); i-- {
	}
}

// remove removes a ref from anywhere, and reports whether it was there.
func (q *queue) remove(r ref) bool {
	mask := uint(len(q.refs) - 1)
	for i := q.start; i != q.end; i++ {
		if q.refs[i&mask] != r {
			continue
		}
		for ; i != q.start; i-- { // move up those before it
			q.refs[i&mask] = q.refs[(i-1)&mask]
		}
		q.start++
		return true
	}
	return false
}

func (q *queue) push(r ref) {
	if q.len() == len(q.refs) {
		bigger := make([]ref, max(8, 2*len(q.refs)))
		n := q.len()
		for i := range n {
			bigger[i] = q.refs[(q.start+uint(i))&uint(len(q.refs)-1)]
		}
		q.refs, q.start, q.end = bigger, 0, uint(n)
	}
	q.refs[q.end&uint(len(q.refs)-1)] = r
	q.end++
}

// refHeap is a binary heap of refs. container/heap would box each ref, an allocation for every action of a key that is
// written repeatedly.
type refHeap struct {
	refs []ref
	less func(a, b ref) bool
}

func (h *refHeap) len() int   { return len(h.refs) }
func (h *refHeap) front() ref { return h.refs[0] }

func (h *refHeap) push(r ref) {
	h.refs = append(h.refs, r)
	h.up(len(h.refs) - 1)
}

func (h *refHeap) pop() ref {
	top := h.refs[0]
	h.remove(0)
	return top
}

// remove removes the ref at index i.
func (h *refHeap) remove(i int) {
	last := len(h.refs) - 1
	h.refs[i] = h.refs[last]
	h.refs = h.refs[:last]
	if i < last {
		h.down(i)
		h.up(i)
	}
}

func (h *refHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.refs[i], h.refs[parent]) {
			return
		}
		h.refs[i], h.refs[parent] = h.refs[parent], h.refs[i]
		i = parent
	}
}

func (h *refHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.refs) {
			return
		}
		if child+1 < len(h.refs) && h.less(h.refs[child+1], h.refs[child]) {
			child++
		}
		if !h.less(h.refs[child], h.refs[i]) {
			return
		}
		h.refs[i], h.refs[child] = h.refs[child], h.refs[i]
		i = child
	}
}

// restore rebuilds the heap after refs were removed.
func (h *refHeap) restore() {
	for i := len(h.refs)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}
