package publisher

import (
	"cmp"
	"slices"
	"time"
)

// instant is a point in time, as the distance from the start of the publisher. It is monotonic, and a third of the size
// of a time.Time in every node.
type instant = time.Duration

// ref is the index of a node in the slab of pending. Nodes are linked by index, not by pointer, so that a key with one
// action costs no allocation.
type ref = int32

const none ref = -1

// node is one accepted, unsettled action.
type node[V any] struct {
	item     Item[V]
	seq      uint64  // order of acceptance, from 1
	accepted instant // time of acceptance
	due      instant // not before this, while it waits for a retry
	history
	next     ref     // next action of the same key; in the free list the next free node
	prev     ref     // previous action of the same key; none if it is the first
	class    uint8   // service class: its own, or a more urgent one of an action behind it
	held     *group  // the group in which it waits, or nil
	cutAt    instant // when a request with it was last cut off, if cut
	probes   uint8   // failed probes with it
	unknown  bool    // a request with it may have been applied
	cut      bool    // a request with it had no answer
	sent     bool    // it is or was in a request
	counted  bool    // in waiting and waitingBytes
	carried  bool    // in Stats.Carried
	removed  bool    // taken back, must not be sent again
	outdated bool    // an older one of its key has a newer version; sent only if that fails
	kept     int     // bytes charged for documents of its parts, beyond its body
	err      error   // why its last attempt failed
}

// pending holds every accepted, unsettled action. It is pure data: only the loop uses it, and passes the time in.
//
// The first unsettled action of each key is in exactly one of six places: ready, freed, delayed, due, a group, or out
// (in a part or in flight). Later ones are linked behind it in its lane and are nowhere else. This keeps one action per
// key in flight and the actions of a key in order.
type pending[V any] struct {
	blocks [][]node[V] // of nodesInBlock; all except the first never move, so that growing copies little
	free   ref
	count  int // actions
	lanes  lanes
	places places

	classes []*class // sendable actions, by class, most urgent first
	delayed refHeap  // by due time: waits for a retry, or until the service can no longer process an earlier action
	parts   []part   // of batches that were refused or failed, each sent unchanged
	groups  []*group
	newest  uint64  // number of the last action added
	now     instant // of the last promote
	cuts    cutKeys
}

func newPending[V any]() *pending[V] {
	p := &pending[V]{free: none, lanes: newLanes()}
	p.classes = []*class{p.newClass()}
	p.delayed.less = func(a, b ref) bool {
		if p.at(a).due != p.at(b).due {
			return p.at(a).due < p.at(b).due
		}
		return p.before(a, b)
	}
	return p
}

// add appends an action to the lane of its key.
func (p *pending[V]) add(item Item[V], seq uint64, now instant) (r ref) {
	r = p.alloc()
	*p.at(r) = node[V]{item: item, seq: seq, accepted: now, next: none, prev: none, class: item.Class, unknown: item.Unknown}
	p.use(item.Class)
	p.count++
	if tail, busy := p.append(r); busy {
		p.at(tail).next, p.at(r).prev = r, tail
		p.follows(tail)
		p.raise(tail, item.Class)
		p.at(r).item.copyOut() // it may wait for long
		return r
	}
	if until := p.cuts.until(item.Key, p.now); until > 0 {
		p.at(r).item.copyOut()
		p.retry(r, until)
		return r
	}
	if p.holdApart(r) {
		return r
	}
	p.classOf(r).ready.push(r)
	p.waits(r, +1)
	return r
}

// nodesInBlock makes a block about 50 kB large.
const nodesInBlock = 256

func (p *pending[V]) at(r ref) *node[V] { return &p.blocks[r/nodesInBlock][r%nodesInBlock] }

func (p *pending[V]) alloc() ref {
	if p.free == none {
		last := len(p.blocks) - 1
		switch {
		case last < 0:
			p.blocks = append(p.blocks, nil) // it grows on demand
			last = 0
		case len(p.blocks[last]) == nodesInBlock:
			p.blocks = append(p.blocks, make([]node[V], 0, nodesInBlock))
			last++
		}
		p.blocks[last] = append(p.blocks[last], node[V]{})
		return ref(last*nodesInBlock + len(p.blocks[last]) - 1)
	}
	r := p.free
	p.free = p.at(r).next
	return r
}

// remove removes a settled action that is out, and lets the next one of its key be sent, but not before quiet: until
// then the service may still process this one. It returns the next one, which is then out, if that must not be sent.
// The contents of the node are lost.
func (p *pending[V]) remove(r ref, quiet instant) (drop ref) {
	n, drop := p.at(r), none
	if p.cuts.at != nil {
		quiet = max(quiet, p.cuts.until(n.item.Key, p.now)) // of an earlier one
	}
	if n.next == none {
		if quiet > p.now {
			p.cuts.add(n.item.Key, quiet, p.now)
		}
		p.end(r)
	} else {
		next := p.at(n.next)
		next.prev = none
		switch {
		case len(p.places.of) > 0 && p.places.of[n.next] != nil:
			p.arrive(n.next, r, quiet)
		case next.outdated, next.removed:
			drop = n.next
			next.takeCut(n)
		case quiet > p.now:
			next.cut, next.cutAt = n.cut, n.cutAt // for the one behind it, if this one is taken back
			p.retry(n.next, quiet)
		default:
			p.offer(n.next)
		}
	}
	if n.seq != 0 { // otherwise it was a place
		p.count--
		if len(p.places.since) > 0 {
			delete(p.places.since, r)
		}
	}
	p.recycle(r)
	return drop
}

// takeCut copies the cut of the action before, if that is newer, for the actions behind this one.
func (n *node[V]) takeCut(before *node[V]) {
	if before.cut && (!n.cut || before.cutAt > n.cutAt) {
		n.cut, n.cutAt = true, before.cutAt
	}
}

// recycle frees a node.
func (p *pending[V]) recycle(r ref) {
	*p.at(r) = node[V]{next: p.free} // drops the document for the garbage collector
	p.free = r
}

// offer makes an action sendable that was never sent and was behind another.
func (p *pending[V]) offer(r ref) {
	if !p.holdApart(r) {
		p.classOf(r).freed.push(r)
		p.waits(r, +1)
	}
}

// retry puts back an action that is out, to be sent again at due.
func (p *pending[V]) retry(r ref, due instant) {
	p.at(r).due = due
	p.delayed.push(r)
}

// promote makes due retries sendable.
func (p *pending[V]) promote(now instant) {
	p.now = now
	p.cuts.prune(now)
	for p.delayed.len() > 0 && p.at(p.delayed.front()).due <= now {
		r := p.delayed.pop()
		switch {
		case !p.at(r).sent:
			p.offer(r)
		case !p.holdApart(r):
			p.classOf(r).due.push(r)
			p.waits(r, +1)
		}
	}
}

// retryWaits reports whether something of a class should be sent again now, in a batch of any size.
func (p *pending[V]) retryWaits(class uint8) bool {
	return p.classes[class].due.len() > 0 || p.duePart(class) >= 0 || p.dueGroup(class) != nil
}

// full reports whether the waiting actions fill a batch, or as much of one as is wanted.
func (c *class) full(l batchLimits) bool {
	return c.waiting >= l.enough || c.waiting > 0 && l.size(c.waiting, c.waitingBytes) >= l.bytes
}

// oldest returns the place of the first sendable action that was never sent.
func (p *pending[V]) oldest() (place uint64, accepted instant, ok bool) {
	oldest := none
	for _, c := range p.classes {
		if r := p.headOf(c); r != none && (oldest == none || p.before(r, oldest)) {
			oldest = r
		}
	}
	if oldest == none {
		return 0, 0, false
	}
	return p.place(oldest), p.at(oldest).accepted, true
}

// nextRetry returns the earliest due time in the future of a delayed action, part or group.
func (p *pending[V]) nextRetry() (next instant, ok bool) {
	at := func(t instant) {
		if !ok || t < next {
			next, ok = t, true
		}
	}
	if p.delayed.len() > 0 {
		at(p.at(p.delayed.front()).due)
	}
	for _, part := range p.parts {
		if part.due > p.now {
			at(part.due)
		}
	}
	for _, g := range p.groups {
		if g.sendable() && g.due > p.now {
			at(g.due)
		}
	}
	return next, ok
}

// replace replaces the body of an action that was never sent.
func (p *pending[V]) replace(r ref, body []byte) {
	n := p.at(r)
	if n.counted {
		p.classOf(r).waitingBytes += len(body) - len(n.item.Body)
	}
	if g := n.held; g != nil {
		g.remove(r, len(n.item.Body))
		n.held = nil
		defer p.offer(r) // the new body may not have the trait of the old one
	}
	n.item.Body = body
}

// sort sorts actions by acceptance, except that those of a hold come before what was accepted since.
func (p *pending[V]) sort(refs []ref) {
	slices.SortFunc(refs, p.compare)
}

// compare compares two actions in the order of sort.
func (p *pending[V]) compare(a, b ref) int {
	if c := cmp.Compare(p.place(a), p.place(b)); c != 0 {
		return c
	}
	return cmp.Compare(p.at(a).seq, p.at(b).seq)
}

func (p *pending[V]) before(a, b ref) bool {
	if len(p.places.since) == 0 { // the usual case
		return p.at(a).seq < p.at(b).seq
	}
	return p.compare(a, b) < 0
}

// place returns the place of an action in the order of acceptance. An action of a hold has the place of the last one
// accepted before the hold, so that a request for everything up to a later action includes it.
func (p *pending[V]) place(r ref) uint64 {
	if len(p.places.since) == 0 { // the usual case
		return p.at(r).seq
	}
	return p.places.place(r, p.at(r).seq)
}

func (s *places) place(r ref, seq uint64) uint64 {
	if since, held := s.since[r]; held {
		return since
	}
	return seq
}

// all returns every action in the order of sort.
func (p *pending[V]) all() []ref {
	refs := make([]ref, 0, p.count)
	p.each(func(r ref) { refs = append(refs, r) })
	p.sort(refs)
	return refs
}

// each calls f for every action, in no particular order.
func (p *pending[V]) each(f func(r ref)) {
	for b, block := range p.blocks {
		for i := range block {
			if block[i].seq != 0 { // a free node has none
				f(ref(b*nodesInBlock + i))
			}
		}
	}
}

func (p *pending[V]) sizeOf(r ref) int { return len(p.at(r).item.Body) }

func (p *pending[V]) waits(r ref, n int) {
	c := p.classOf(r)
	c.waiting += n
	c.waitingBytes += n * len(p.at(r).item.Body)
	p.at(r).counted = n > 0
}
