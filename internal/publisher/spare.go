package publisher

// spare is the memory of a sender whose buffer was full. While the sender is idle it is in a pool that the garbage
// collector empties: ten thousand idle senders must not keep their largest memory, and a sender used again soon need
// not allocate it again.
type spare[V, R any] struct {
	blocks [][]node[V]
	free   ref
	lanes  lanes
	ready  queue    // of the first class
	heaps  [3][]ref // freed and due of the first class, and delayed

	settled []Settlement[V, R]
	endings []ending
	moving  []ref
	left    []*slab
	idle    []*flight[V, R]
}

// lend puts the memory into the pool. admission.mu is held, and nothing is pending.
func (l *loop[V, R]) lend(a *admission[V]) {
	const few = 64 // nodes that an idle sender may keep
	p := l.pending
	if len(p.blocks) == 0 || len(p.blocks) == 1 && cap(p.blocks[0]) <= few {
		return
	}
	for _, inbox := range [][]entry[V]{a.inbox, a.spare} {
		if cap(inbox) > few {
			a.inboxes.Put(&inbox)
		}
	}
	first := p.classes[0]
	l.p.spare.Put(&spare[V, R]{
		blocks: p.blocks, free: p.free, lanes: p.lanes, ready: first.ready,
		heaps:   [3][]ref{first.freed.refs, first.due.refs, p.delayed.refs},
		settled: l.delivery.settled, endings: l.delivery.endings, moving: l.bodies.moving, left: l.bodies.released, idle: l.flights.idle,
	})
	p.blocks, p.free, p.lanes, p.classes = nil, none, newLanes(), p.classes[:1]
	first.ready, first.freed.refs, first.due.refs, p.delayed.refs = queue{}, nil, nil, nil
	a.inbox, a.spare = nil, nil
	l.delivery.settled, l.delivery.endings, l.bodies.moving, l.bodies.released, l.flights.idle = nil, nil, nil, nil, nil
}

// fetch takes the memory back, if it is still there. Nothing is pending.
func (l *loop[V, R]) fetch() {
	s, ok := l.p.spare.Get().(*spare[V, R])
	if !ok {
		return
	}
	p := l.pending
	first := p.classes[0]
	p.blocks, p.free, p.lanes, first.ready = s.blocks, s.free, s.lanes, s.ready
	first.freed.refs, first.due.refs, p.delayed.refs = s.heaps[0], s.heaps[1], s.heaps[2]
	l.delivery.settled, l.delivery.endings, l.bodies.moving, l.bodies.released, l.flights.idle = s.settled, s.endings, s.moving, s.left, s.idle
}

// newInbox returns an empty inbox for n entries, a pooled one if there is one.
func (a *admission[V]) newInbox(n int) []entry[V] {
	if inbox, ok := a.inboxes.Get().(*[]entry[V]); ok {
		return (*inbox)[:0]
	}
	return make([]entry[V], 0, n)
}
