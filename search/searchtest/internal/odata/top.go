package odata

import "slices"

// Top selects the first rows of an order without sorting all rows. It keeps the best rows in a heap with the last of
// them on top; most rows are rejected after one comparison. It is not safe for concurrent use.
type Top struct {
	order *Order
	limit int

	// Rows are not moved; the heap has their indexes.
	rows []Row
	keys []sortValue // len(order.keys) per row
	heap []int32
}

// NewTop returns a Top for the first limit rows in the given order.
func NewTop(order *Order, limit int) *Top {
	return &Top{order: order, limit: limit}
}

// Add adds a row. The document must not change until Rows was called.
func (t *Top) Add(r Row) {
	if len(t.rows) == t.limit {
		t.replaceLast(&r)
		return
	}
	for i := range t.order.keys {
		t.keys = append(t.keys, t.order.keys[i].value(&r))
	}
	t.rows = append(t.rows, r)
	t.heap = append(t.heap, int32(len(t.rows)-1))
	t.up(len(t.heap) - 1)
}

// Rows returns the selected rows in order. Do not call Add afterwards.
func (t *Top) Rows() []Row {
	slices.SortFunc(t.heap, t.compare)
	rows := make([]Row, len(t.heap))
	for i, place := range t.heap {
		rows[i] = t.rows[place]
	}
	return rows
}

// replaceLast replaces the last row by r if r comes before it.
func (t *Top) replaceLast(r *Row) {
	if t.limit == 0 {
		return
	}
	last := t.heap[0]
	keys := t.keys[int(last)*len(t.order.keys):]
	decided := 0
	for i := range t.order.keys {
		k := &t.order.keys[i]
		if decided = k.compare(k.value(r), keys[i]); decided != 0 {
			break
		}
	}
	if decided == 0 {
		decided = compareRest(r, &t.rows[last])
	}
	if decided >= 0 {
		return
	}
	for i := range t.order.keys {
		keys[i] = t.order.keys[i].value(r)
	}
	t.rows[last] = *r
	t.down(0)
}

func (t *Top) compare(a, b int32) int {
	n := len(t.order.keys)
	for i := range t.order.keys {
		if c := t.order.keys[i].compare(t.keys[int(a)*n+i], t.keys[int(b)*n+i]); c != 0 {
			return c
		}
	}
	return compareRest(&t.rows[a], &t.rows[b])
}

func (t *Top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.compare(t.heap[i], t.heap[parent]) <= 0 {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *Top) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if child+1 < len(t.heap) && t.compare(t.heap[child+1], t.heap[child]) > 0 {
			child++
		}
		if t.compare(t.heap[i], t.heap[child]) >= 0 {
			return
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		i = child
	}
}
