package pool

import "github.com/go-azsearch/azsearch/models"

// roomLine is a line of rooms, the longest waiting one first.
type roomLine struct{ first, last *Room }

func (l *roomLine) push(r *Room) {
	r.line, r.prev, r.next = l, l.last, nil
	if l.last != nil {
		l.last.next = r
	} else {
		l.first = r
	}
	l.last = r
}

func (l *roomLine) remove(r *Room) {
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		l.first = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	} else {
		l.last = r.prev
	}
	r.line, r.prev, r.next = nil, nil, nil
}

// roomLines has one line per class.
type roomLines struct {
	lines [classes]roomLine
	turns turns
	count int // number of waiting rooms
}

// verdict is whether a request for room can be granted.
type verdict uint8

const (
	never   verdict = iota // not even if all loans were returned
	blocked                // others must return something first
	kept                   // the available room is reserved for Expedited
	fits
)

// next returns the room whose turn it is, or nil if it does not fit. Every second grant is Expedited's, if it waits;
// the others rotate. No room takes what the one in turn waits for. But if that is only reserved for Expedited,
// Expedited may go first, which does not count as a turn.
func (q *roomLines) next(b *budget, judge func(*budget, *Room) verdict) *Room {
	if q.count == 0 {
		return nil
	}
	first, second := q.lines[models.ClassExpedited].first, q.rotation()
	if first == nil || second != nil && q.turns.mine {
		first, second = second, first
	}
	v := judge(b, first)
	if v == kept && second != nil {
		first, v = second, judge(b, second)
	}
	if v != fits {
		return nil
	}
	return first
}

// rotation returns the first room of the next waiting class other than Expedited, or nil.
func (q *roomLines) rotation() *Room {
	const lanes = classes - 1
	for i := 1; i <= lanes; i++ {
		if r := q.lines[(q.turns.rotation+i)%lanes+1].first; r != nil {
			return r
		}
	}
	return nil
}

// served counts a turn of a class.
func (q *roomLines) served(lane models.Class) {
	q.turns.mine = lane == models.ClassExpedited
	if lane != models.ClassExpedited {
		q.turns.rotation = int(lane) - 1
	}
}
