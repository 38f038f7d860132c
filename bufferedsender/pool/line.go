package pool

import (
	"container/heap"

	"github.com/go-azsearch/azsearch/models"
)

// mostBytes is what a request counts at the most, which is more than any service takes.
const mostBytes = 4 << 30

// line is what waits in a class, by member.
type line struct {
	lane    models.Class // its own
	waiting int          // seats
	bounded int          // of these, those that maxWaiting counts
	tag     int64        // that of who was served last, before it was
	joined  uint64       // numbers the arrivals of places, for those with equal tags
	usual   int64        // bytes of a request, smoothed; 0: there was none
	places  places       // of members that wait and may have a slot
}

// place is a member in a line.
type place struct {
	tag         int64 // bytes it was given, or where it came in
	raised      uint  // how often it came in with a larger tag than it had
	arrived     uint64
	at          int // in places, from 1; 0: it is not among those that may be served
	first, last *Seat
}

// push has a seat wait, in a place that is put where it belongs then.
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

// put has a place among those that may be served, or takes it out.
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

// remove takes a seat out of its place, which is put where it belongs then.
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

// pop takes out who is next, and counts its bytes.
func (l *line) pop() *Seat {
	p := l.places[0]
	s := p.first
	l.remove(s)
	l.charge(p, s)
	return s
}

// raise has a member that was idle begin where the others are.
func (l *line) raise(p *place) {
	if p.tag < l.tag {
		p.tag = l.tag
		p.raised++
	}
}

// charge counts the bytes of a seat that is given a slot.
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

// turn is what a request counts: such that no sum of them is out of range.
func turn(bytes int64) int64 { return min(max(bytes, 1), mostBytes) }

// refund takes back what charge has counted, unless the member has come in with a larger tag since and
// has paid for nothing. It comes before nobody who was served already.
func (l *line) refund(p *place, bytes int64, raised uint) {
	if raised != p.raised {
		return
	}
	p.tag = max(p.tag-turn(bytes), l.tag)
	if p.at > 0 {
		heap.Fix(&l.places, p.at-1)
	}
}

// places are a heap: the smallest tag first, then who has come first.
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
