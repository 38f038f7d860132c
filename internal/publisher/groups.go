package publisher

import "slices"

// group sets items apart that the service refuses for a common trait while others pass: for example a property that the
// index does not have yet and half of the producers send. One item at a time is sent alone. The first refused ones
// fail, like any item that is refused alone. After manyKeys of them the index is the cause, not the items: the rest
// waits, and periodic probes detect when the index was changed. It belongs to pending.
type group struct {
	trait   *Trait
	refs    []ref // next one first
	bytes   int
	refused map[string]struct{} // keys that failed because of it, at most manyKeys
	out     bool                // one of its items is in a request
	turn    bool                // a batch of others was sent in between
	due     instant             // not before this
	probes  int                 // refused ones since the index was found guilty
	err     error               // explanation of the service
	why     *IndexError         // the same, once the group is guilty
	applied uint32              // traffic.applied at its creation
	last    instant             // last refusal
}

// manyKeys is how many different keys must be refused for one reason, with none applied in between, until the index
// counts as the cause.
const manyKeys = 20

// guilty reports whether the index is the cause.
func (g *group) guilty() bool { return len(g.refused) >= manyKeys }

func (g *group) sendable() bool { return len(g.refs) > 0 && !g.out }

// take removes and returns the next item to send.
func (g *group) take(size func(ref) int) ref {
	r := g.refs[0]
	g.refs = g.refs[1:]
	g.bytes -= size(r)
	g.out, g.turn = true, false
	return r
}

// push appends an item.
func (g *group) push(r ref, size int) {
	g.refs = append(g.refs, r)
	g.bytes += size
}

// remove removes an item.
func (g *group) remove(r ref, size int) {
	if i := slices.Index(g.refs, r); i >= 0 {
		g.refs = slices.Delete(g.refs, i, i+1)
		g.bytes -= size
	}
}

// dueGroup returns a group of the class that is due to send one of its items, or nil.
func (p *pending[V]) dueGroup(class uint8) *group {
	for _, g := range p.groups {
		if g.sendable() && g.due <= p.now && p.at(g.refs[0]).class == class {
			return g
		}
	}
	return nil
}

// groupOf returns the group of a trait, or nil.
func (p *pending[V]) groupOf(t *Trait) *group {
	for _, g := range p.groups {
		if t != nil && g.trait.Name == t.Name {
			return g
		}
	}
	return nil
}

// newGroup creates a group and moves waiting items with the trait into it.
func (p *pending[V]) newGroup(t *Trait, applied uint32) *group {
	g := &group{trait: t, refused: make(map[string]struct{}), applied: applied}
	p.groups = append(p.groups, g)
	// Items that are not due yet are moved later, by promote.
	for _, r := range p.takeIf(func(r ref) bool { return p.at(r).held == nil && p.at(r).due <= p.now && t.Has(p.at(r).item.Body) }) {
		p.at(r).item.copyOut()
		p.holdIn(g, r)
	}
	return g
}

// holdApart puts the first action of a key into the group that it belongs to, and reports whether there is one. A
// caller may wait for a new action, so the next probe is soon.
func (p *pending[V]) holdApart(r ref) bool {
	for _, g := range p.groups { // usually none
		if g.trait.Has(p.at(r).item.Body) {
			p.at(r).item.copyOut()
			p.holdIn(g, r)
			if p.at(r).err == nil {
				g.due = min(g.due, later(g.last, recoverAtLeast))
			}
			return true
		}
	}
	return false
}

func (p *pending[V]) holdIn(g *group, r ref) {
	p.at(r).held = g
	g.push(r, p.sizeOf(r))
}

// endGroup removes a group whose trait the service no longer refuses, and releases its items.
func (p *pending[V]) endGroup(g *group) {
	p.groups = slices.DeleteFunc(p.groups, func(o *group) bool { return o == g })
	for _, r := range g.refs {
		p.at(r).held = nil
		p.retry(r, p.now)
	}
	g.refs, g.bytes = nil, 0
	if g.why != nil {
		g.why.released.Store(true)
	}
}

// heldApart returns how many actions are in guilty groups, how many more of them are in requests as probes, and why.
func (p *pending[V]) heldApart() (n, out int, why error) {
	for _, g := range p.groups {
		if !g.guilty() || len(g.refs) == 0 && !g.out {
			continue
		}
		n += len(g.refs)
		if g.out {
			out++
		}
		why = g.err
	}
	return n, out, why
}

// cutKeys holds, for keys without unsettled actions, until when a new action must wait because a request with the key
// was cut off.
type cutKeys struct {
	at    map[string]instant
	order []string // in the order of adding
}

func (c *cutKeys) add(key string, until, now instant) {
	c.prune(now)
	if c.at == nil {
		c.at = make(map[string]instant)
	}
	c.at[key] = max(c.at[key], until)
	c.order = append(c.order, key)
}

// until returns when an action of the key may be sent, 0 for at once.
func (c *cutKeys) until(key string, now instant) instant {
	if len(c.at) == 0 {
		return 0
	}
	c.prune(now)
	return c.at[key]
}

// prune removes expired keys.
func (c *cutKeys) prune(now instant) {
	n := 0
	for n < len(c.order) && c.at[c.order[n]] <= now {
		delete(c.at, c.order[n])
		n++
	}
	if c.order = c.order[n:]; len(c.order) == 0 {
		c.order, c.at = nil, nil
	}
}
