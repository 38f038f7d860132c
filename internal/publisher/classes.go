package publisher

import (
	"iter"
	"math"
	"math/bits"
	"slices"
)

// class holds the sendable actions of one service class, see Item.Class. A batch holds one class. Each class has its
// own queues, so that none waits behind another. Everything about keys is shared: the first action of a key takes the
// most urgent class of those behind it.
type class struct {
	ready queue   // never sent, in order of acceptance
	freed refHeap // never sent, was behind another action of its key; ordered by before
	due   refHeap // due for a retry; ordered by before

	waiting      int // actions in these three
	waitingBytes int // their size, without separators

	elsewhere int // actions that takeElsewhere has taken since the index was suspected
}

// While several classes wait, one of othersTurn turns does not go to the most urgent class.
const othersTurn = 4

// turns decide which class is next when several wait for a request or for room. It is the most urgent one, but every
// fourth turn belongs to the others. Probes go to each class in turn, because the service may refuse only one class. It
// is pure data.
type turns struct {
	inRow uint8 // consecutive turns of the most urgent class while others waited
	other uint8 // class with the last turn of the others
	probe uint8 // class with the last probe
}

// first returns the next class of a non-empty bit set.
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

// order yields the classes of a bit set, next one first.
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

// had records a turn of class. classes is the bit set of the classes that waited.
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

// pick returns the index of the next of n calls, sorted by class, and the bit set of their classes.
func (t *turns) pick(n int, class func(i int) uint8) (next int, classes uint64) {
	if class(0) == class(n-1) { // the usual case
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

// placeOf returns where to insert a call of a class among waiting calls, which are ordered by class, then by arrival.
func placeOf[T any](class uint8, calls []T, classOf func(call T) uint8) int {
	if i := slices.IndexFunc(calls, func(c T) bool { return classOf(c) > class }); i >= 0 {
		return i
	}
	return len(calls)
}

// after returns the class that follows class in a non-empty bit set, cyclically.
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
		// An action whose probe failed lets others go first: the service may refuse that action.
		if p.at(a).probes != p.at(b).probes {
			return p.at(a).probes < p.at(b).probes
		}
		return p.before(a, b)
	}
	return c
}

// classOf returns the class of an action.
func (p *pending[V]) classOf(r ref) *class { return p.classes[p.at(r).class] }

// use makes sure that the class exists.
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

// raise makes the last action of a lane, and all before it, at least as urgent as class. Along a lane actions never
// become more urgent, so the less urgent ones are the last ones.
func (p *pending[V]) raise(r ref, class uint8) {
	for ; r != none && p.at(r).class > class; r = p.at(r).prev {
		n := p.at(r)
		if !n.counted {
			n.class = class // behind another, in flight, delayed or in a part; sorted in later
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

// unqueue removes an action from the queue of its class.
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

// seen returns the bit set of classes with something sendable. If there is none it returns all classes, because the
// loop then waits for the first item.
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

// waiting returns the number of sendable actions of all classes.
func (p *pending[V]) waiting() (n int) {
	for _, c := range p.classes {
		n += c.waiting
	}
	return n
}

// since returns the bit set of classes with a waiting action that was never sent and is placed after `after`, up to
// `newest`. It is called in each round, so it checks only the newest actions.
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

// headOf returns the oldest action of freed and ready.
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

// popHead removes the head.
func (p *pending[V]) popHead(c *class, head ref) {
	if c.freed.len() > 0 && c.freed.front() == head {
		c.freed.pop()
	} else {
		c.ready.pop()
	}
	p.waits(head, -1)
}
