package publisher

import (
	"math"
	"slices"
)

// take appends the next batch to out: a part unchanged, otherwise due retries and then new actions, oldest first, until
// a limit is reached. A single action is taken whatever its size. The actions are out until they are removed, retried
// or split. cut reports whether the limit in bytes ended the batch.
func (p *pending[V]) take(out []ref, l batchLimits) (batch []ref, cut bool) {
	if l.probe {
		r := none
		if l.elsewhere {
			r = p.takeElsewhere(l.class, l.newest, l.tried, l.fresh)
		}
		if r == none {
			r = p.takeProbe(l.class, l.newest)
		}
		if r != none {
			out = append(out, r)
		}
		return out, false
	}
	c := p.classes[l.class]
	if g := p.dueGroup(l.class); g != nil && (g.turn || c.waiting == 0 && p.duePart(l.class) < 0) {
		return append(out, g.take(p.sizeOf)), false
	} else if g != nil {
		g.turn = true
	}
	if i := p.duePart(l.class); i >= 0 {
		return p.takePart(out, l, i)
	}
	bytes := 0
	for len(out) < l.actions {
		r, retried := p.headOf(c), c.due.len() > 0
		if retried {
			r = c.due.front()
		}
		if r == none || !retried && p.place(r) > l.newest {
			break
		}
		size := len(p.at(r).item.Body)
		if len(out) > 0 && l.size(len(out)+1, bytes+size) > l.bytes {
			return out, true
		}
		// Actions that failed together are not mixed with others: otherwise the same batch would never fail again, and never be
		// divided.
		if len(out) > 0 && (p.at(out[0]).together > 0) != (p.at(r).together > 0) {
			break
		}
		if retried {
			c.due.pop()
			p.waits(r, -1)
		} else {
			p.popHead(c, r)
		}
		bytes += size
		out = append(out, r)
	}
	return out, false
}

// takePart takes a part, or as much of it as the limits allow, which may have become smaller since.
func (p *pending[V]) takePart(out []ref, l batchLimits, i int) (batch []ref, cut bool) {
	part, bytes, n := p.parts[i].refs, 0, 0
	for ; n < len(part) && n < max(l.partActions, 1); n++ {
		size := len(p.at(part[n]).item.Body)
		if n > 0 && l.size(n+1, bytes+size) > l.partBytes {
			break
		}
		bytes += size
	}
	p.takeFromPart(i, n)
	return append(out, part[:n]...), false
}

// takeFromPart removes the first n actions of a part.
func (p *pending[V]) takeFromPart(i, n int) {
	if p.parts[i].refs = p.parts[i].refs[n:]; len(p.parts[i].refs) == 0 {
		p.parts = slices.Delete(p.parts, i, i+1)
	}
}

// takeProbe takes one action as a probe, preferably one that no probe has carried before and that is not set apart.
func (p *pending[V]) takeProbe(class uint8, newest uint64) ref {
	c := p.classes[class]
	r := p.headOf(c)
	if r != none && p.place(r) > newest {
		r = none
	}
	i, g := p.duePart(class), p.dueGroup(class)
	switch {
	// An action that a probe has carried goes last, because it may be what the service refuses.
	case c.due.len() > 0 && (p.at(c.due.front()).probes == 0 || r == none && i < 0 && g == nil):
		r = c.due.pop()
		p.waits(r, -1)
	case r == none && i >= 0:
		r = p.parts[i].refs[0]
		p.takeFromPart(i, 1)
		return r
	case r == none && g != nil:
		return g.take(p.sizeOf)
	case r == none:
		return none
	default:
		p.popHead(c, r)
	}
	return r
}

// takeElsewhere takes an action to try after many in a row were refused for the same reason. If only these are refused,
// any other one shows it. It takes in turn the newest action, one from anywhere, because refused ones may be close
// together, and the oldest, or every other time the oldest that was never sent, so that each is tried however many
// arrive. fresh is true if the newest has just arrived. It returns none if all have been tried.
func (p *pending[V]) takeElsewhere(class uint8, newest uint64, tried int, fresh bool) ref {
	var refs []ref
	consider := func(r ref) {
		if n := p.at(r); n.probes == 0 && (n.sent || p.place(r) <= newest) {
			refs = append(refs, r)
		}
	}
	c := p.classes[class]
	c.ready.each(consider)
	for _, h := range []*refHeap{&c.freed, &c.due} {
		for _, r := range h.refs {
			consider(r)
		}
	}
	for _, part := range p.parts {
		if p.mostUrgent(part.refs) != class {
			continue
		}
		for _, r := range part.refs {
			consider(r)
		}
	}
	if len(refs) == 0 {
		return none
	}
	p.sort(refs)
	if tried == 0 {
		for _, other := range p.classes {
			other.elsewhere = 0
		}
	}
	chosen := refs[len(refs)-1]
	if !fresh {
		switch c.elsewhere % 3 {
		case 1:
			_, place := math.Modf(float64(c.elsewhere) * math.Phi) // multiples of the golden ratio are evenly spread
			chosen = refs[int(place*float64(len(refs)))]
		case 2:
			unsent := slices.IndexFunc(refs, func(r ref) bool { return !p.at(r).sent })
			chosen = refs[max(unsent, 0)*(1-c.elsewhere/3%2)]
		}
		c.elsewhere++
	}
	p.takeIf(func(r ref) bool { return r == chosen })
	return chosen
}

// takeOldest takes the oldest action of the least urgent class, of those that are the first of their key and not in
// flight. It returns none if all are more urgent than the given class.
func (p *pending[V]) takeOldest(class uint8) ref {
	oldest, take := none, func(ref) {}
	older := func(r ref) bool {
		if oldest == none || p.at(r).class != p.at(oldest).class {
			return p.at(r).class >= class && (oldest == none || p.at(r).class > p.at(oldest).class)
		}
		return p.before(r, oldest)
	}
	for _, c := range p.classes {
		if r := p.headOf(c); r != none && older(r) {
			oldest, take = r, func(r ref) { p.popHead(c, r) }
		}
		for i, r := range c.due.refs {
			if older(r) {
				oldest, take = r, func(r ref) { c.due.remove(i); p.waits(r, -1) }
			}
		}
	}
	for i, r := range p.delayed.refs {
		if older(r) {
			oldest, take = r, func(ref) { p.delayed.remove(i) }
		}
	}
	for i, part := range p.parts {
		for at, r := range part.refs {
			if older(r) {
				oldest, take = r, func(ref) {
					p.parts[i].refs = slices.Delete(slices.Clone(p.parts[i].refs), at, at+1)
					p.takeFromPart(i, 0)
				}
			}
		}
	}
	for _, g := range p.groups {
		for _, r := range g.refs {
			if older(r) {
				oldest, take = r, func(r ref) { g.remove(r, p.sizeOf(r)); p.at(r).held = nil }
			}
		}
	}
	if oldest != none {
		take(oldest)
	}
	return oldest
}

// takeAll takes every action that takeOldest could take, in the order of acceptance.
func (p *pending[V]) takeAll(class uint8) []ref {
	return p.takeIf(func(r ref) bool { return p.at(r).class >= class })
}

// takeIf takes the wanted actions, of those that are the first of their key and not in flight, oldest first.
func (p *pending[V]) takeIf(wanted func(r ref) bool) (taken []ref) {
	pick := func(refs []ref, counted bool) []ref {
		kept := refs[:0]
		for _, r := range refs {
			if !wanted(r) {
				kept = append(kept, r)
				continue
			}
			if counted {
				p.waits(r, -1)
			}
			taken = append(taken, r)
		}
		return kept
	}
	for _, c := range p.classes {
		for range c.ready.len() {
			r := c.ready.front()
			if c.ready.pop(); !wanted(r) {
				c.ready.push(r)
				continue
			}
			p.waits(r, -1)
			taken = append(taken, r)
		}
		for _, h := range []*refHeap{&c.freed, &c.due} {
			h.refs = pick(h.refs, true)
			h.restore()
		}
	}
	p.delayed.refs = pick(p.delayed.refs, false)
	p.delayed.restore()
	for i := range p.parts {
		p.parts[i].refs = pick(p.parts[i].refs, false)
	}
	p.parts = slices.DeleteFunc(p.parts, func(part part) bool { return len(part.refs) == 0 })
	for _, g := range p.groups {
		g.refs = pick(g.refs, false)
		g.bytes = 0
		for _, r := range g.refs {
			g.bytes += p.sizeOf(r)
		}
	}
	for _, r := range taken {
		p.at(r).held = nil
	}
	p.sort(taken)
	return taken
}
