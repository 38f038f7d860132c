package publisher

import (
	"cmp"
	"slices"
	"time"
)

// instant is a point in time as the distance from the start of the publisher.
// It is monotonic, and a third of the size of a time.Time in every node.
type instant = time.Duration

// ref names a node of pending: an index into its slab. Nodes are linked by
// index rather than by pointer so that a key seen once costs no allocation.
type ref = int32

const none ref = -1

// node is one accepted action that is not settled.
type node[V any] struct {
	item     Item[V]
	seq      uint64  // order of acceptance, from 1
	accepted instant // when
	due      instant // not before this, while it waits for a retry
	wait     wait    // what it saw others get
	next     ref     // the action accepted next for the same key; the next free node in the free list
	unknown  bool    // a request that carried it was cut off
	sent     bool    // it is or was in a request
	counted  bool    // in waiting and waitingBytes
	carried  bool    // in Stats.Carried
	kept     int     // bytes charged for documents of its parts, beyond its body
	probes   uint8   // probes that carried it in vain
	err      error   // why its last attempt failed
}

// pending holds every accepted action that is not settled. It is pure data:
// the loop alone uses it, and passes the time in.
//
// The first unsettled action of each key is in exactly one of five places:
// ready, freed, delayed, due, or out (in a part or in flight). The later ones
// hang behind it in its lane and are nowhere else, which is what keeps one
// action per key in flight and the actions of a key in order.
type pending[V any] struct {
	blocks [][]node[V] // of nodesInBlock; all but the first never move, so that growing copies little
	free   ref
	count  int // nodes in use
	lanes  lanes

	ready   queue   // never sent, in order of acceptance
	freed   refHeap // never sent, was behind another action of its key; by seq
	delayed refHeap // waits for a retry; by due time
	due     refHeap // its retry is due; by seq
	parts   [][]ref // halves of refused batches, each to be sent as it is

	waiting      int // actions in ready, freed and due
	waitingBytes int // their size, without separators
}

func newPending[V any]() *pending[V] {
	p := &pending[V]{free: none, lanes: lanes{slots: make([]lane, 16)}}
	bySeq := func(a, b ref) bool { return p.at(a).seq < p.at(b).seq }
	p.freed.less = bySeq
	p.due.less = func(a, b ref) bool {
		// One that was a probe in vain lets others try first: it may be what the
		// service cannot digest.
		if p.at(a).probes != p.at(b).probes {
			return p.at(a).probes < p.at(b).probes
		}
		return bySeq(a, b)
	}
	p.delayed.less = func(a, b ref) bool {
		if p.at(a).due != p.at(b).due {
			return p.at(a).due < p.at(b).due
		}
		return bySeq(a, b)
	}
	return p
}

// add takes in an action, at the end of its key's lane.
func (p *pending[V]) add(item Item[V], seq uint64, now instant) {
	r := p.alloc()
	*p.at(r) = node[V]{item: item, seq: seq, accepted: now, next: none}
	p.count++
	if tail, busy := p.append(r); busy {
		p.at(tail).next = r
		p.at(r).item.moveOut() // it may wait for long
		return
	}
	p.ready.push(r)
	p.waits(r, +1)
}

// nodesInBlock makes a block some 50 kB large.
const nodesInBlock = 256

func (p *pending[V]) at(r ref) *node[V] { return &p.blocks[r/nodesInBlock][r%nodesInBlock] }

func (p *pending[V]) alloc() ref {
	if p.free == none {
		last := len(p.blocks) - 1
		switch {
		case last < 0:
			p.blocks = append(p.blocks, nil) // it grows as it is needed
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

// remove forgets a settled action that is out, and lets the next one of its key
// go. The node's contents are gone afterwards.
func (p *pending[V]) remove(r ref) {
	n := p.at(r)
	if n.next == none {
		p.end(r)
	} else {
		p.freed.push(n.next)
		p.waits(n.next, +1)
	}
	*n = node[V]{next: p.free} // drops the document for the garbage collector
	p.free = r
	p.count--
}

// retry puts back an action that is out, to be sent again at the time due.
func (p *pending[V]) retry(r ref, due instant) {
	p.at(r).due = due
	p.delayed.push(r)
}

// split puts back a batch that was refused as a whole, as parts to be sent as
// they are: merged with anything else, or with each other, they would be
// refused for ever. suspect is the position of the action that the service
// blamed, or -1; it gets a part of its own.
func (p *pending[V]) split(batch []ref, suspect int) {
	if suspect >= 0 && suspect < len(batch) {
		p.parts = append(p.parts, []ref{batch[suspect]})
		batch = slices.Delete(slices.Clone(batch), suspect, suspect+1)
	}
	if len(batch) < 2 {
		if len(batch) == 1 {
			p.parts = append(p.parts, slices.Clone(batch))
		}
		return
	}
	// Half of the bytes, not of the actions: one giant among small ones is cut
	// out in a few steps.
	total := 0
	for _, r := range batch {
		total += len(p.at(r).item.Body)
	}
	cut, sum := 0, 0
	for cut < len(batch)-1 && (cut == 0 || sum+len(p.at(batch[cut]).item.Body) <= total/2) {
		sum += len(p.at(batch[cut]).item.Body)
		cut++
	}
	p.parts = append(p.parts, slices.Clone(batch[:cut]), slices.Clone(batch[cut:]))
}

// promote makes the retries whose time has come sendable.
func (p *pending[V]) promote(now instant) {
	for p.delayed.len() > 0 && p.at(p.delayed.front()).due <= now {
		r := p.delayed.pop()
		p.due.push(r)
		p.waits(r, +1)
	}
}

// retryWaits reports whether something is to be sent again now, so that a
// batch goes out however small.
func (p *pending[V]) retryWaits() bool { return len(p.parts) > 0 || p.due.len() > 0 }

// full reports whether what waits fills a batch.
func (p *pending[V]) full(l batchLimits) bool {
	return p.waiting >= l.actions || p.waiting > 0 && l.size(p.waiting, p.waitingBytes) >= l.bytes
}

// oldest returns the sendable action that was accepted first and never sent.
func (p *pending[V]) oldest() (seq uint64, accepted instant, ok bool) {
	r := p.head()
	if r == none {
		return 0, 0, false
	}
	return p.at(r).seq, p.at(r).accepted, true
}

// head returns the oldest of freed and ready.
func (p *pending[V]) head() ref {
	switch {
	case p.freed.len() == 0 && p.ready.len() == 0:
		return none
	case p.freed.len() == 0:
		return p.ready.front()
	case p.ready.len() == 0:
		return p.freed.front()
	}
	if f, r := p.freed.front(), p.ready.front(); p.at(f).seq < p.at(r).seq {
		return f
	}
	return p.ready.front()
}

// nextRetry returns when the next delayed action is due.
func (p *pending[V]) nextRetry() (instant, bool) {
	if p.delayed.len() == 0 {
		return 0, false
	}
	return p.at(p.delayed.front()).due, true
}

// take appends the next batch to out: a part as it is, else retries that are
// due and then new actions, oldest first, until a limit is reached. A single
// action is taken whatever its size. The actions taken are out until they are
// removed, retried or split.
// cut says that the limit in bytes was what ended it.
func (p *pending[V]) take(out []ref, l batchLimits) (batch []ref, cut bool) {
	if l.probe {
		if r := p.takeProbe(l.newest); r != none {
			out = append(out, r)
		}
		return out, false
	}
	if len(p.parts) > 0 {
		return p.takePart(out, l)
	}
	bytes := 0
	for len(out) < l.actions {
		r, retried := p.head(), p.due.len() > 0
		if retried {
			r = p.due.front()
		}
		if r == none || !retried && p.at(r).seq > l.newest {
			break
		}
		size := len(p.at(r).item.Body)
		if len(out) > 0 && l.size(len(out)+1, bytes+size) > l.bytes {
			return out, true
		}
		switch {
		case retried:
			p.due.pop()
		case p.freed.len() > 0 && p.freed.front() == r:
			p.freed.pop()
		default:
			p.ready.pop()
		}
		p.waits(r, -1)
		bytes += size
		out = append(out, r)
	}
	return out, false
}

// takePart takes the first part, or what of it the limits allow: they may have
// become narrower since it was made.
func (p *pending[V]) takePart(out []ref, l batchLimits) (batch []ref, cut bool) {
	part, bytes, n := p.parts[0], 0, 0
	for ; n < len(part) && n < max(l.partActions, 1); n++ {
		size := len(p.at(part[n]).item.Body)
		if n > 0 && l.size(n+1, bytes+size) > l.partBytes {
			break
		}
		bytes += size
	}
	if p.parts[0] = part[n:]; n == len(part) {
		p.parts[0] = nil
		p.parts = p.parts[1:]
	}
	return append(out, part[:n]...), false
}

// takeProbe takes one action to find out with whether the service works: if it
// can be, one that no probe has carried in vain.
func (p *pending[V]) takeProbe(newest uint64) ref {
	r := p.head()
	if r != none && p.at(r).seq > newest {
		r = none
	}
	switch {
	case p.due.len() > 0 && (r == none || p.at(p.due.front()).probes == 0):
		r = p.due.pop()
	case r == none && len(p.parts) == 0:
		return none
	case r == none:
		part := p.parts[0]
		if p.parts[0] = part[1:]; len(part) == 1 {
			p.parts = p.parts[1:]
		}
		return part[0]
	case p.freed.len() > 0 && p.freed.front() == r:
		p.freed.pop()
	default:
		p.ready.pop()
	}
	p.waits(r, -1)
	return r
}

// replace gives an action that was never sent another body.
func (p *pending[V]) replace(r ref, body []byte) {
	n := p.at(r)
	if n.counted {
		p.waitingBytes += len(body) - len(n.item.Body)
	}
	n.item.Body = body
}

// takeOldest takes the action that was accepted first of those that are the
// first of their key and not in flight, or returns none.
func (p *pending[V]) takeOldest() ref {
	oldest, from, at := p.head(), (*refHeap)(nil), -1
	consider := func(r ref, h *refHeap, i int) {
		if oldest == none || p.at(r).seq < p.at(oldest).seq {
			oldest, from, at = r, h, i
		}
	}
	for _, h := range []*refHeap{&p.due, &p.delayed} {
		for i, r := range h.refs {
			consider(r, h, i)
		}
	}
	for i, part := range p.parts {
		for _, r := range part {
			consider(r, nil, i)
		}
	}
	switch {
	case oldest == none:
		return none
	case from == &p.delayed:
		from.remove(at)
		return oldest
	case from != nil:
		from.remove(at)
	case at >= 0:
		part := slices.DeleteFunc(slices.Clone(p.parts[at]), func(r ref) bool { return r == oldest })
		if p.parts[at] = part; len(part) == 0 {
			p.parts = slices.Delete(p.parts, at, at+1)
		}
		return oldest
	case p.freed.len() > 0 && p.freed.front() == oldest:
		p.freed.pop()
	default:
		p.ready.pop()
	}
	p.waits(oldest, -1)
	return oldest
}

// takeAll takes every action that takeOldest could take, oldest first.
func (p *pending[V]) takeAll() []ref {
	var refs []ref
	for ; p.ready.len() > 0; p.ready.pop() {
		refs = append(refs, p.ready.front())
	}
	refs = append(append(refs, p.freed.refs...), p.due.refs...)
	for _, r := range refs {
		p.waits(r, -1)
	}
	refs = append(refs, p.delayed.refs...)
	for _, part := range p.parts {
		refs = append(refs, part...)
	}
	p.freed.refs, p.due.refs, p.delayed.refs, p.parts = nil, nil, nil, nil
	p.sort(refs)
	return refs
}

func (p *pending[V]) sort(refs []ref) {
	slices.SortFunc(refs, func(a, b ref) int { return cmp.Compare(p.at(a).seq, p.at(b).seq) })
}

// all returns every action, in order of acceptance.
func (p *pending[V]) all() []ref {
	refs := make([]ref, 0, p.count)
	for b, block := range p.blocks {
		for i := range block {
			if block[i].seq != 0 { // a free node has none
				refs = append(refs, ref(b*nodesInBlock+i))
			}
		}
	}
	p.sort(refs)
	return refs
}

func (p *pending[V]) waits(r ref, n int) {
	p.waiting += n
	p.waitingBytes += n * len(p.at(r).item.Body)
	p.at(r).counted = n > 0
}
