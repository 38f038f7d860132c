package publisher

import (
	"math"
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
