package pool

import (
	"container/heap"

	"github.com/go-azsearch/azsearch/models"
)

// mostBytes is the most that a request counts in turns, more than any service accepts.
const mostBytes = 4 << 30

// line holds the waiting seats of a class, by member.
type line struct {
	lane    models.Class // class of this line
	waiting int          // seats
	bounded int          // seats that maxWaiting limits
	tag     int64        // tag of the place served last, before it was charged
	joined  uint64       // sequence number of arrivals, to order equal tags
	usual   int64        // smoothed bytes of a request; 0 before the first
	places  places       // of members that wait and may get a slot
	pace    pace
}

// place is a member's place in a line.
type place struct {
	tag         int64 // bytes the member was given, or the tag at which it came in
	raised      uint  // how often its tag was raised on arrival
	arrived     uint64
	at          int // index in places, from 1; 0: it may not be served
	first, last *Seat
}

// push adds a seat to its place. The caller then updates the place with put.
func (l *line) push(s *Seat) {
	p := &s.member.places[l.lane]
	l.waiting++
	l.bounded += s.bounded
	if p.first == nil {
		p.first, p.last = s, s
	} else {
		s.prev, p.last.next, p.last = p.last, s, s
	}
}

// put adds a place to those that may be served, or removes it.
func (l *line) put(p *place, served bool) {
	switch {
	case served && p.at == 0:
		l.joined++
		p.arrived = l.joined
		l.raise(p)
		heap.Push(&l.places, p)
	case !served && p.at > 0:
		heap.Remove(&l.places, p.at-1)
	}
}

// remove removes a seat from its place. The caller then updates the place with put.
func (l *line) remove(s *Seat) {
	p := &s.member.places[l.lane]
	l.waiting--
	l.bounded -= s.bounded
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		p.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		p.last = s.prev
	}
	s.prev, s.next = nil, nil
}

// pop removes the next seat and charges its bytes.
func (l *line) pop() *Seat {
	p := l.places[0]
	s := p.first
	l.remove(s)
	l.charge(p, s)
	return s
}

// raise sets the tag of a member that was idle to that of the others.
func (l *line) raise(p *place) {
	if p.tag < l.tag {
		p.tag = l.tag
		p.raised++
	}
}

// charge counts the bytes of a seat that gets a slot.
func (l *line) charge(p *place, s *Seat) {
	l.raise(p)
	l.tag = p.tag
	p.tag = l.tag + turn(s.bytes)
	if s.bounded == 0 {
		l.usual += (turn(s.bytes) - l.usual + 7) / 8
	}
	s.paid.raised = p.raised
	if p.at > 0 {
		l.joined++
		p.arrived = l.joined
		heap.Fix(&l.places, p.at-1)
	}
}

// delay counts additional bytes of a member.
func (l *line) delay(p *place, bytes int64) {
	p.tag += bytes
	if p.at > 0 {
		heap.Fix(&l.places, p.at-1)
	}
}

// turn returns the bytes that a request counts, bounded so that sums do not overflow.
func turn(bytes int64) int64 { return min(max(bytes, 1), mostBytes) }

// refund undoes charge, unless the member's tag was raised since, so that it has paid nothing. The tag stays at or
// above that of the place served last.
func (l *line) refund(p *place, bytes int64, raised uint) {
	if raised != p.raised {
		return
	}
	p.tag = max(p.tag-bytes, l.tag)
	if p.at > 0 {
		heap.Fix(&l.places, p.at-1)
	}
}

// places are a heap ordered by tag, then by arrival.
type places []*place

func (h places) Len() int { return len(h) }

func (h places) Less(i, j int) bool {
	if h[i].tag != h[j].tag {
		return h[i].tag < h[j].tag
	}
	return h[i].arrived < h[j].arrived
}

func (h places) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i+1, j+1
}

// Push implements heap.Interface.
func (h *places) Push(x any) {
	p := x.(*place) //nolint:forcetypeassert // there is nothing else in it
	*h = append(*h, p)
	p.at = len(*h)
}

// Pop implements heap.Interface.
func (h *places) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	p.at = 0
	return p
}
