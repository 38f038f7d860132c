package publisher

import (
	"iter"
	"math"
	"math/bits"
	"slices"
)

// class is what is sendable of one class of service, see Item.Class. A batch holds one
// class. The classes have their own queues, so that neither waits behind the other, and
// share everything that has to do with keys: the first action of a key takes the most
// urgent class of those behind it.
type class struct {
	ready queue   // never sent, in order of acceptance
	freed refHeap // never sent, was behind another action of its key; see before
	due   refHeap // its retry is due; see before

	waiting      int // actions in all three
	waitingBytes int // their size, without separators

	elsewhere int // actions that takeElsewhere has taken, since the index was suspected
}

// othersTurn is of how many turns, while several classes wait, one is not the most urgent
// class's.
const othersTurn = 4

// turns decide which class is next when several wait for a request, or for room. It is the
// most urgent one, but every fourth turn is one of the others', and probes go to each class
// in turn: what the service refuses may be all of one class. It is pure data.
type turns struct {
	inRow uint8 // turns of the most urgent class while others waited
	other uint8 // class that had the last turn of the others
	probe uint8 // class that had the last probe
}

// first returns which of some classes, as bits, is next; there is one.
func (t *turns) first(classes uint64, probe bool) uint8 {
	most := uint8(bits.TrailingZeros64(classes))
	switch {
	case probe:
		return after(classes, t.probe)
	case t.inRow >= othersTurn-1 && classes != 1<<most:
		return after(classes&^(1<<most), t.other)
	}
	return most
}

// order returns some classes, as bits, in the order in which they are next.
func (t *turns) order(classes uint64, probe bool) iter.Seq[uint8] {
	return func(yield func(class uint8) bool) {
		if classes == 0 {
			return
		}
		first := t.first(classes, probe)
		if !yield(first) {
			return
		}
		for rest := classes &^ (1 << first); rest != 0; rest &= rest - 1 {
			if !yield(uint8(bits.TrailingZeros64(rest))) {
				return
			}
		}
	}
}

// had notes that a class, of these that waited, had a turn.
func (t *turns) had(class uint8, classes uint64, probe bool) {
	most := uint8(bits.TrailingZeros64(classes))
	switch {
	case probe:
		t.probe = class
	case class != most:
		t.inRow, t.other = 0, class
	case classes != 1<<most:
		t.inRow = min(t.inRow+1, othersTurn)
	}
}

// pick returns which of some calls, in the order of their classes, is next, and all their
// classes, as bits.
func (t *turns) pick(n int, class func(i int) uint8) (next int, classes uint64) {
	if class(0) == class(n-1) { // mostly
		return 0, 1 << class(0)
	}
	for i := range n {
		classes |= 1 << class(i)
	}
	first := t.first(classes, false)
	for class(next) != first {
		next++
	}
	return next, classes
}

// placeOf returns where a call of a class belongs among those that wait, in the order of
// their classes and of a class in the order in which they came.
func placeOf[T any](class uint8, calls []T, classOf func(call T) uint8) int {
	if i := slices.IndexFunc(calls, func(c T) bool { return classOf(c) > class }); i >= 0 {
		return i
	}
	return len(calls)
}

// after returns the next of some classes, as bits, behind one, around; there is one.
func after(classes uint64, class uint8) uint8 {
	if behind := classes &^ (1<<(class+1) - 1); behind != 0 {
		classes = behind
	}
	return uint8(bits.TrailingZeros64(classes))
}

// newClass returns an empty class.
func (p *pending[V]) newClass() *class {
	c := &class{}
	c.freed.less = p.before
	c.due.less = func(a, b ref) bool {
		// One that was a probe that failed lets others try first: it may be what the
		// service cannot take.
		if p.at(a).probes != p.at(b).probes {
			return p.at(a).probes < p.at(b).probes
		}
		return p.before(a, b)
	}
	return c
}

// classOf returns the class of an action.
func (p *pending[V]) classOf(r ref) *class { return p.classes[p.at(r).class] }

// use makes sure that there is a class.
func (p *pending[V]) use(class uint8) {
	for int(class) >= len(p.classes) {
		p.classes = append(p.classes, p.newClass())
	}
}

// mostUrgent returns the most urgent class of some actions.
func (p *pending[V]) mostUrgent(refs []ref) uint8 {
	if len(p.classes) == 1 {
		return 0
	}
	most := p.at(refs[0]).class
	for _, r := range refs {
		most = min(most, p.at(r).class)
	}
	return most
}

// raise gives the last action of a lane, and all before it, a class that is as urgent as
// this one at least. Along a lane actions never become more urgent, so those that are
// less so are the last ones.
func (p *pending[V]) raise(r ref, class uint8) {
	for ; r != none && p.at(r).class > class; r = p.at(r).prev {
		n := p.at(r)
		if !n.counted {
			n.class = class // it is behind another, in flight, delayed or in a part, and sorted in later
			continue
		}
		p.unqueue(r)
		n.class = class
		if n.sent {
			p.classOf(r).due.push(r)
		} else {
			p.classOf(r).freed.push(r)
		}
		p.waits(r, +1)
	}
}

// unqueue takes an action out of the queue of its class.
func (p *pending[V]) unqueue(r ref) {
	c := p.classOf(r)
	p.waits(r, -1)
	if c.ready.remove(r) {
		return
	}
	for _, h := range []*refHeap{&c.freed, &c.due} {
		if i := slices.Index(h.refs, r); i >= 0 {
			h.remove(i)
			return
		}
	}
}

// seen returns the classes, as bits, of which something is sendable; all if nothing is, which
// is another matter.
func (p *pending[V]) seen() (classes uint64) {
	for class, c := range p.classes {
		if c.waiting > 0 {
			classes |= 1 << class
		}
	}
	if classes == 0 {
		return math.MaxUint64
	}
	return classes
}

// waiting returns how many actions are sendable, of all classes.
func (p *pending[V]) waiting() (n int) {
	for _, c := range p.classes {
		n += c.waiting
	}
	return n
}

// since returns the classes, as bits, in which an action waits that has never been sent, and
// came in after one, and not after another. It is asked in each round, so it looks at the
// newest only.
func (p *pending[V]) since(after, newest uint64) (classes uint64) {
	for class, c := range p.classes {
		note := func(r ref) (more bool) {
			place := p.place(r)
			if place > after && place <= newest {
				classes |= 1 << class
			}
			return place > newest
		}
		c.ready.newest(note)
		for _, r := range c.freed.refs {
			note(r)
		}
	}
	return classes
}

// headOf returns the oldest of freed and ready.
func (p *pending[V]) headOf(c *class) ref {
	switch {
	case c.freed.len() == 0 && c.ready.len() == 0:
		return none
	case c.freed.len() == 0:
		return c.ready.front()
	case c.ready.len() == 0:
		return c.freed.front()
	}
	if f, r := c.freed.front(), c.ready.front(); p.before(f, r) {
		return f
	}
	return c.ready.front()
}

// popHead takes the head.
func (p *pending[V]) popHead(c *class, head ref) {
	if c.freed.len() > 0 && c.freed.front() == head {
		c.freed.pop()
	} else {
		c.ready.pop()
	}
	p.waits(head, -1)
}
