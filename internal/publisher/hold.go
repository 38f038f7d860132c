package publisher

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
)

// ErrReleased means that the Hold was released.
var ErrReleased = errors.New("hold was released")

// NotHeldError means that a Hold does not have a key.
type NotHeldError struct{ Key string }

func (e *NotHeldError) Error() string { return "the key " + e.Key + " is not held" }

// Hold keeps the lanes of some keys for one caller: items of them accepted from now on wait until Release, and items
// accepted by Add go first.
//
// In the lane of each key it has a place between earlier and later items. When everything before it has settled, the
// key is reached. Items accepted by Add are inserted in front of the place, behind everything before it:
//
//	accepted before → [what Add accepts] → place → accepted since
//
// A lane has one place for each hold of its key. Each hold takes its places in all lanes at once, so holds of the same
// keys follow one another and cannot deadlock.
type Hold[V, R any] struct {
	p       *Publisher[V, R]
	keys    []string      // unique, sorted
	name    func() string // of the code that has it
	reached chan struct{} // closed by the loop when all keys are reached

	released bool         // guarded by admission.mu, as is guest
	guest    *guest       // once reached
	waited   atomic.Int64 // keys with something waiting for Release

	// Owned by the loop.
	missing int            // keys not reached yet
	failed  failures       // of earlier items; read by the caller after reached is closed
	places  map[string]ref // by key; without released ones
	since   uint64         // number of the last earlier item
}

// Hold waits until all accepted items of the keys are settled and reported, and returns with their lanes held. Items
// that wait for a full batch are sent at once. If ctx ends first, nothing is held, and the error describes the wait.
// name returns the name of the code that has the hold, for the errors of waiting calls.
func (p *Publisher[V, R]) Hold(ctx context.Context, keys []string, name func() string) (*Hold[V, R], error) {
	if p.InsideHook(ctx) {
		return nil, ErrInCallback
	}
	if p.Closing() {
		return nil, ErrClosed
	}
	h := &Hold[V, R]{p: p, name: name, reached: make(chan struct{}), places: make(map[string]ref, len(keys))}
	h.keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	p.command(func() { p.loop.hold(h) })
	select {
	case <-h.reached:
		h.keep()
		return h, nil
	case <-p.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		h.Release()
		return nil, p.WaitError(ctx)
	}
}

// keep records the start of the holder's time.
func (h *Hold[V, R]) keep() {
	a := &h.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	h.guest = a.guests.come(guest{nameOf: h.name, waited: &h.waited})
}

// Failed returns a *FlushError if items of the keys failed while Hold waited. The next Flush gets these failures too.
func (h *Hold[V, R]) Failed() error { return h.failed.err() }

// Add accepts items of held keys, all or none. They are sent although the lanes are held, in the order of the calls,
// and before everything else that waits. Add does not wait, not even for room, because the calls that have the room may
// be waiting for this hold.
func (h *Hold[V, R]) Add(items ...Item[V]) error {
	for i := range items {
		if _, held := slices.BinarySearch(h.keys, items[i].Key); !held {
			return &NotHeldError{items[i].Key}
		}
	}
	a := &h.p.admission
	now := h.p.now()
	a.mu.Lock()
	switch {
	case a.closing:
		a.mu.Unlock()
		return ErrClosed
	case h.released:
		a.mu.Unlock()
		return ErrReleased
	}
	accepted := make([]entry[V], len(items))
	for i, it := range items {
		if !it.Own {
			it.Body, it.Own = bytes.Clone(it.Body), true
		}
		a.take(Want{Class: it.Class, Bytes: int64(len(it.Body)), Lend: true, Must: true})
		if a.adding == nil {
			a.adding = make(map[string]int)
		}
		a.adding[it.Key]++
		accepted[i] = entry[V]{item: it, seq: a.stats.Accepted, accepted: now}
	}
	a.commands = append(a.commands, func() { h.p.loop.addHeld(h, accepted) })
	a.mu.Unlock()
	h.p.signal()
	return nil
}

// Release lets the items accepted meanwhile be sent, behind the added ones. It may be called repeatedly.
func (h *Hold[V, R]) Release() {
	a := &h.p.admission
	a.mu.Lock()
	defer h.p.signal()
	defer a.mu.Unlock()
	if !h.released && !a.ended {
		a.commands = append(a.commands, func() { h.p.loop.release(h) })
	}
	h.released = true
	a.guests.gone(h.guest)
}

// hold takes a place in the lane of each key.
func (l *loop[V, R]) hold(h *Hold[V, R]) {
	h.since = l.pending.newest
	h.missing = len(h.keys)
	reached := func() {
		if h.missing--; h.missing == 0 {
			close(h.reached)
		}
	}
	if h.missing == 0 {
		close(h.reached)
	}
	for _, key := range h.keys {
		var before uint64
		h.places[key], before = l.pending.hold(key, reached, h.failed.add, func() { h.waited.Add(1) })
		l.flushes.through = max(l.flushes.through, before)
	}
}

// addHeld inserts items in front of the places of their keys.
func (l *loop[V, R]) addHeld(h *Hold[V, R], accepted []entry[V]) {
	now := l.p.now()
	l.pending.now = now
	a := &l.p.admission
	a.mu.Lock()
	for _, e := range accepted {
		if a.adding[e.item.Key]--; a.adding[e.item.Key] == 0 {
			delete(a.adding, e.item.Key)
		}
	}
	a.mu.Unlock()
	for _, e := range accepted {
		l.pending.addFront(h.places[e.item.Key], e.item, e.seq, now, h.since)
		if l.pending.places.waiting > 0 {
			l.flushes.through = max(l.flushes.through, e.seq)
		}
	}
	l.p.config.Hooks.Accepted(len(accepted))
}

// release gives up the places of a hold.
func (l *loop[V, R]) release(h *Hold[V, R]) {
	l.pending.now = l.p.now()
	for _, key := range h.keys {
		if r := l.pending.release(h.places[key]); r != none { // it was taken back
			l.delivery.dropped = append(l.delivery.dropped, dropped[R]{node: r})
		}
	}
	l.endDropped()
}

// place is a node that keeps a lane for a hold. It is not an action: it is in no queue, and counts only in the lanes.
type place struct {
	reached func() // called when everything before has settled; nil afterwards
	failed  func(err error, how ended)
	behind  func()  // called when something is behind the place; nil afterwards
	quiet   instant // until then the service may still process what was before it
}

// places are the places of all holds. Both maps are usually empty.
type places struct {
	of map[ref]*place
	// since orders the actions in front of a place behind those up to this number.
	since   map[ref]uint64
	first   int // places that are the first of their lane
	waiting int // places whose hold waits for what is before them
}

// hold takes a place at the end of a key's lane. It calls reached when everything before it has settled, and before
// that failed for each failure among these. before is the highest number of the earlier actions, 0 without any.
func (p *pending[V]) hold(key string, reached func(), failed func(error, ended), behind func()) (at ref, before uint64) {
	at = p.alloc()
	*p.at(at) = node[V]{item: Item[V]{Key: key}, next: none, prev: none, class: math.MaxUint8}
	if p.places.of == nil {
		p.places.of, p.places.since = make(map[ref]*place), make(map[ref]uint64)
	}
	s := &place{reached: reached, failed: failed, behind: behind}
	p.places.of[at] = s
	p.places.waiting++
	if tail, busy := p.append(at); busy {
		p.at(tail).next, p.at(at).prev = at, tail
		p.follows(tail)
		for r := tail; r != none; r = p.at(r).prev {
			before = max(before, p.at(r).seq)
		}
		return at, before
	}
	s.quiet = p.cuts.until(key, p.now)
	p.reach(s)
	return at, 0
}

// follows records that something waits behind the last node of a lane, which may be a place.
func (p *pending[V]) follows(tail ref) {
	if s := p.places.of[tail]; s != nil && s.behind != nil {
		s.behind()
		s.behind = nil
	}
}

// reach records that a place is the first of its lane.
func (p *pending[V]) reach(s *place) {
	p.places.first++
	if s.reached != nil {
		s.reached()
		s.reached = nil
		p.places.waiting--
	}
}

// failed reports a failure to the holds that wait for an action of the key.
func (p *pending[V]) failed(key string, err error, how ended) {
	if p.places.waiting == 0 {
		return
	}
	for r, found := p.tail(&Item[V]{Key: key}); found && r != none; r = p.at(r).prev {
		if s := p.places.of[r]; s != nil && s.reached != nil {
			s.failed(err, how)
		}
	}
}

// addFront inserts an action in front of a reached place.
func (p *pending[V]) addFront(at ref, item Item[V], seq uint64, now instant, since uint64) {
	n, r, before := p.at(at), p.alloc(), p.at(at).prev
	item.hash = n.item.hash
	*p.at(r) = node[V]{
		item: item, seq: seq, accepted: now, next: at, prev: before, class: min(item.Class, n.class), cut: n.cut, cutAt: n.cutAt,
		unknown: item.Unknown,
	}
	n = p.at(at) // alloc may have moved it
	n.prev = r
	p.use(item.Class)
	p.count++
	p.places.since[r] = since
	if before != none {
		p.at(before).next = r
		p.raise(before, p.at(r).class)
		return
	}
	p.places.first--
	if quiet := p.places.of[at].quiet; quiet > p.now {
		p.retry(r, quiet)
	} else {
		p.offer(r)
	}
}

// arrive records that everything before a place has settled.
func (p *pending[V]) arrive(at, settled ref, quiet instant) {
	s := p.places.of[at]
	p.at(at).takeCut(p.at(settled))
	s.quiet = max(s.quiet, quiet)
	p.reach(s)
}

// release gives up a place, unless that has happened already. It returns an action to drop, see remove.
func (p *pending[V]) release(at ref) (drop ref) {
	s := p.places.of[at]
	if s == nil {
		return none
	}
	if s.reached != nil {
		p.places.waiting--
	}
	delete(p.places.of, at)
	n := p.at(at)
	if n.prev == none {
		p.places.first--
		return p.remove(at, s.quiet)
	}
	if p.at(n.prev).next = n.next; n.next == none {
		p.lanes.slots[p.find(n.item.hash, n.item.Key)].tail = n.prev
	} else {
		p.at(n.next).prev = n.prev
	}
	p.recycle(at)
	return none
}

// releaseAll gives up all places because everything ends. No further hold is reached, because another one has its keys.
func (p *pending[V]) releaseAll() {
	for _, s := range p.places.of {
		s.reached = nil
	}
	p.places.waiting = 0
	for at := range p.places.of {
		p.release(at)
	}
}

// keys returns how many keys have something to send.
func (p *pending[V]) keys() int { return p.lanes.count - p.places.first }

// has reports whether the key has an unsettled action.
func (p *pending[V]) has(key string) bool {
	r, found := p.tail(&Item[V]{Key: key})
	for found && p.places.of[r] != nil {
		r = p.at(r).prev
		found = r != none
	}
	return found
}
