package publisher

import "slices"

// group holds the items apart that have what the service refuses, while others
// pass: half of the producers send a property that the index does not have yet.
// One of them at a time is sent alone. The first ones that are refused fail, as
// any item that the service refuses by itself; when there were so many that it is
// the index and not they, the rest waits, and one that is sent now and then finds
// out whether the index was changed. It belongs to pending.
type group struct {
	trait   *Trait
	refs    []ref // the next one to be sent first
	bytes   int
	refused map[string]struct{} // keys that failed because of it, at most manyKeys
	out     bool                // one of its items is in a request
	turn    bool                // a batch of others has gone in between
	due     instant             // not before this
	probes  int                 // that were refused, since the index was found guilty
	err     error               // what the service says
	why     *IndexError         // the same, once it is guilty
	applied uint32              // traffic.applied when it was made
	last    instant             // it was refused last
}

// manyKeys is how many different keys must have been refused for one reason, with
// none applied in between, until the index is the cause and not the items.
const manyKeys = 20

// guilty reports whether the index is the cause.
func (g *group) guilty() bool { return len(g.refused) >= manyKeys }

func (g *group) sendable() bool { return len(g.refs) > 0 && !g.out }

// take takes the item that is to be sent next.
func (g *group) take(size func(ref) int) ref {
	r := g.refs[0]
	g.refs = g.refs[1:]
	g.bytes -= size(r)
	g.out, g.turn = true, false
	return r
}

// push puts an item at the end.
func (g *group) push(r ref, size int) {
	g.refs = append(g.refs, r)
	g.bytes += size
}

// remove takes an item out.
func (g *group) remove(r ref, size int) {
	if i := slices.Index(g.refs, r); i >= 0 {
		g.refs = slices.Delete(g.refs, i, i+1)
		g.bytes -= size
	}
}

// dueGroup returns the group of the class whose turn it is to send one of its items, or
// nil.
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

// newGroup makes a group, and moves what waits and belongs there.
func (p *pending[V]) newGroup(t *Trait, applied uint32) *group {
	g := &group{trait: t, refused: make(map[string]struct{}), applied: applied}
	p.groups = append(p.groups, g)
	// What waits for its time has none yet: promote sorts it in then.
	for _, r := range p.takeIf(func(r ref) bool { return p.at(r).held == nil && p.at(r).due <= p.now && t.Has(p.at(r).item.Body) }) {
		p.at(r).item.copyOut()
		p.holdIn(g, r)
	}
	return g
}

// holdApart puts an action that is the first of its key into the group that it
// belongs to, and reports whether there is one. The call that has just
// added it may wait for its outcome, so the next probe is soon.
func (p *pending[V]) holdApart(r ref) bool {
	for _, g := range p.groups { // mostly none
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

// endGroup forgets a group whose trait is nothing that the service refuses any
// more, and releases what it holds.
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

// heldApart returns how many actions groups hold that were found guilty, how many of
// these are in requests, which find out whether it is still so, and why.
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

// cutKeys remembers when the next action of a key may go whose last one was in a
// request that was cut, and has settled since.
type cutKeys struct {
	at    map[string]instant
	order []string // as they were added
}

func (c *cutKeys) add(key string, until, now instant) {
	c.prune(now)
	if c.at == nil {
		c.at = make(map[string]instant)
	}
	c.at[key] = max(c.at[key], until)
	c.order = append(c.order, key)
}

// until returns when an action of the key may go, 0 for at once.
func (c *cutKeys) until(key string, now instant) instant {
	if len(c.at) == 0 {
		return 0
	}
	c.prune(now)
	return c.at[key]
}

// prune forgets what is over.
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
