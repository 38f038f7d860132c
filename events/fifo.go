package events

// fifo is a queue in a slice. The zero value is empty.
type fifo[E any] struct {
	items []E
	head  int
	keep  int // capacity that is kept when the queue is empty
}

func (q *fifo[E]) len() int { return len(q.items) - q.head }

func (q *fifo[E]) push(e E) {
	if q.head > q.len() { // more than half is free
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, e)
}

func (q *fifo[E]) pop() (E, bool) {
	var none E
	if q.len() == 0 {
		return none, false
	}
	e := q.items[q.head]
	q.items[q.head] = none // release the event
	q.head++
	if q.len() == 0 {
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > q.keep {
			q.items = nil
		}
	}
	return e, true
}
