package book

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Contains reports whether the queue has records of a key.
func (b *Book[R]) Contains(key string) bool {
	n := b.find(key)
	return n != nil && !n.vacant()
}

// Position returns the present Position.
func (b *Book[R]) Position() queue.Position {
	return queue.Position(strconv.FormatUint(uint64(b.gen), 36))
}

// Settled reports whether everything up to a Position is settled or parked. The error is ErrLost if the book has not
// reached that Position, and another error if it is malformed.
func (b *Book[R]) Settled(now time.Time, at queue.Position) (bool, error) {
	b.advance(now)
	if at == "" { // before everything
		return true, nil
	}
	until, err := strconv.ParseUint(string(at), 36, 32)
	switch {
	case err != nil:
		return false, fmt.Errorf("malformed position %q", at)
	case until > uint64(b.gen):
		return false, fmt.Errorf("position %q, and the queue is at %q: %w", at, b.Position(), queue.ErrLost)
	case until == uint64(b.gen):
		b.gen++
	}
	for gen := range b.gens {
		if uint64(gen) <= until {
			return false, nil
		}
	}
	return true, nil
}

// Pause starts a pause, see queue.Admin.
func (b *Book[R]) Pause(reason string) { b.paused, b.pauseReason = true, reason }

// Resume ends a pause.
func (b *Book[R]) Resume() { b.paused, b.pauseReason = false, "" }

// Park parks waiting keys that are not leased.
func (b *Book[R]) Park(now time.Time, reason string, keys []string) (parked int) {
	b.advance(now)
	for _, key := range keys {
		n, i := b.lookup(b.hash(key))
		if n == nil || !n.waits() || n.isLeased() || n.isParked() {
			continue
		}
		var recs []Rec[R]
		b.eachWaiting(n, func(r *Rec[R]) { recs = append(recs, *r) })
		n.extra().rest = nil
		n.first = Rec[R]{}
		b.waiting--
		b.ungen(n.gen)
		b.park(n, recs, n.place, now, reason)
		b.settleIn(n, i, now)
		parked++
	}
	return parked
}

// Unpark makes parked keys wait again, at their old places, with their counts reset.
func (b *Book[R]) Unpark(now time.Time, keys []string) (unparked int) {
	b.advance(now)
	for _, key := range keys {
		n, i := b.lookup(b.hash(key))
		if n == nil || !n.isParked() {
			continue
		}
		recs := b.takeParked(n)
		m := n.more
		m.expired, m.deaths, m.tries = 0, 0, 0
		b.countAgain(n)
		m.leasedPlace, m.leasedGen = m.parkedPlace, b.gen
		b.putBack(n, recs)
		b.settleIn(n, i, now)
		unparked++
	}
	return unparked
}

// Drop removes the parked records of keys.
func (b *Book[R]) Drop(now time.Time, keys []string) (dropped int) {
	b.advance(now)
	for _, key := range keys {
		n, i := b.lookup(b.hash(key))
		if n == nil || !n.isParked() {
			continue
		}
		for _, r := range b.takeParked(n) {
			b.letGo(r.Ref)
		}
		b.forgetReplaced(n)
		n.more.expired, n.more.deaths, n.more.tries = 0, 0, 0
		b.countAgain(n)
		b.settleIn(n, i, now)
		dropped++
	}
	return dropped
}

// countAgain makes the records behind parked ones count for the present generation: for earlier ones they may have been
// reported as settled.
func (b *Book[R]) countAgain(n *node[R]) {
	if n.waits() {
		n.gen = b.gen
		b.gens[n.gen]++
	}
}

func (b *Book[R]) takeParked(n *node[R]) []Rec[R] {
	m := n.more
	recs := m.parked
	b.parkedBytes -= bytesOf(recs)
	m.parked, m.parkedAt = nil, 0
	b.say(&m.reason, "")
	b.parked--
	return recs
}

// Stats counts the content of the queue.
func (b *Book[R]) Stats(now time.Time) queue.Stats {
	b.advance(now)
	s := queue.Stats{
		Waiting: b.waiting, Leased: b.leased, Parked: b.parked, Bytes: b.bytes,
		Appended: b.counts.appended, Replaced: b.counts.replaced, Folded: b.counts.folded, Stale: b.counts.stale, Expired: b.counts.expired,
		Paused: b.paused, PauseReason: b.pauseReason, LastReserved: b.lastReserved,
	}
	if p, ok := b.oldest(); ok {
		s.Oldest = time.UnixMilli(p.ms())
	}
	return s
}

// oldest returns the first place of all waiting or leased keys.
func (b *Book[R]) oldest() (first place, ok bool) {
	look := func(p place) {
		if !ok || p < first {
			first, ok = p, true
		}
	}
	for _, h := range []*heap{&b.ready, &b.suspects, &b.lone} {
		if len(h.items) > 0 {
			look(b.nodes.at(h.items[0]).place)
		}
	}
	for _, h := range []*heap{&b.delayed, &b.leases} {
		for _, i := range h.items {
			n := b.nodes.at(i)
			if n.isLeased() {
				look(n.more.leasedPlace)
			}
			if n.waits() { // also behind a lease, if its Since is older
				look(n.place)
			}
		}
	}
	return first, ok
}

// Entry is the state of a key in the book.
type Entry[R Ref] struct {
	queue.Entry                 // without key and records
	Waits, Held, Aside []Rec[R] // waiting, leased, parked
	Gone               *Rec[R]  // the replaced record
	order              place
}

// Inspect returns the entries of the keys, nil for all, that are in one of the states, in the order of their places,
// parked ones last.
func (b *Book[R]) Inspect(now time.Time, states queue.State, keys []string, limit int) (all []Entry[R]) {
	b.advance(now)
	s := Search{States: states, Keys: keys, Limit: limit}
	for b.See(&s) {
		s.Sort()
	}
	s.Sort()
	for more := true; more; {
		var some []Entry[R]
		some, more = b.Entries(now, &s)
		all = append(all, some...)
	}
	return all
}

// Search is an Inspect in pieces, between which the book may change: call See until it returns false, each time
// followed by Sort, which does not use the book; then call Entries until there are no more.
type Search struct {
	States queue.State // 0: all
	Keys   []string    // nil: all
	Limit  int

	next, end  int  // index in Keys, or number of a node
	moves      int  // of the slab
	begun      bool // next, end and moves are set
	found      []found
	worst      found // if cut is set, keys behind it are not among the first Limit
	cut        bool
	taken, out int // of found; of those, returned
}

const (
	// seenAtOnce is how many keys one See visits, in about a tenth of a millisecond.
	seenAtOnce = 4096
	// takenAtOnce is how many keys one Entries copies, in about half a millisecond.
	takenAtOnce = 1024
)

// See visits some more keys, and reports whether there are others left. Keys added since the search began may be
// missing.
func (b *Book[R]) See(s *Search) (more bool) {
	if !s.begun || s.Keys == nil && s.moves != b.nodes.moves { // now other keys have these numbers; few are left
		*s = Search{States: s.States, Keys: s.Keys, Limit: s.Limit, begun: true, moves: b.nodes.moves, end: len(b.nodes.chunks) * slabNodes}
		if s.Keys != nil {
			s.end = len(s.Keys)
		}
	}
	for until := min(s.end, s.next+seenAtOnce); s.next < until; s.next++ {
		if s.Keys == nil {
			s.look(foundOf(b.nodes.at(int32(s.next)))) //nolint:gosec // see slab.take
		} else if n := b.find(s.Keys[s.next]); n != nil {
			s.look(foundOf(n))
		}
	}
	return s.next < s.end
}

func (s *Search) look(f found, state queue.State) {
	if state == 0 || s.States != 0 && state&s.States == 0 || s.cut && compareFound(f, s.worst) > 0 {
		return
	}
	s.found = append(s.found, f)
}

// Sort sorts the keys found by the time all were visited. Before that it drops those that cannot be among the first
// Limit, so that a queue of millions needs little memory.
func (s *Search) Sort() {
	many := len(s.found)/2 > max(s.Limit, 1024)
	if !many && s.next < s.end {
		return
	}
	slices.SortFunc(s.found, compareFound)
	if many {
		s.found = s.found[:s.Limit]
		s.worst, s.cut = s.found[s.Limit-1], true
	}
}

// Entries returns some more of the keys found, in their present state, if they are still in the book, and reports
// whether there are others. Keys that changed their state or place since they were visited are missing.
func (b *Book[R]) Entries(now time.Time, s *Search) (entries []Entry[R], more bool) {
	b.advance(now)
	for until := min(len(s.found), s.taken+takenAtOnce); s.taken < until && s.out < s.Limit; s.taken++ {
		f := s.found[s.taken]
		n, _ := b.lookup(f.id)
		if n == nil {
			continue
		}
		if is, state := foundOf(n); is == f && (s.States == 0 || state&s.States != 0) {
			entries = append(entries, b.entry(now, n))
			s.out++
		}
	}
	return entries, s.taken < len(s.found) && s.out < s.Limit
}

// found is a key that Inspect may return, with its sort criteria.
type found struct {
	parkedAt int64 // 0: not parked
	place    place
	id       hash
	parked   bool
}

func compareFound(x, y found) int {
	if x.parked != y.parked {
		if x.parked {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(x.parkedAt, y.parkedAt), cmp.Compare(x.place, y.place))
}

func foundOf[R Ref](n *node[R]) (f found, state queue.State) {
	f = found{id: n.id, place: n.place}
	if n.waits() {
		state |= queue.Waiting
	}
	if n.isLeased() {
		state |= queue.Leased
		f.place = n.more.leasedPlace
	}
	if n.isParked() {
		state |= queue.Parked
		f.parked, f.parkedAt, f.place = true, n.more.parkedAt, n.more.parkedPlace
	}
	return f, state
}

func (b *Book[R]) entry(now time.Time, n *node[R]) (e Entry[R]) {
	e.order = n.place
	b.eachWaiting(n, func(r *Rec[R]) { e.Waits = append(e.Waits, *r) })
	if n.waits() {
		e.State |= queue.Waiting
	}
	if m := n.more; m != nil {
		e.Expired, e.Deaths, e.Tries = m.expired, m.deaths, m.tries
		e.Held, e.Aside, e.Gone, e.ReplacedReason = slices.Clone(m.leased), slices.Clone(m.parked), m.replaced, m.replacedReason
		if m.dueAt() > b.instant(now) {
			e.Due = b.time(m.dueAt())
		}
		if n.isLeased() {
			e.State |= queue.Leased
			e.Holder, e.Until, e.order = m.from.name, b.time(m.until), m.leasedPlace
		}
		if n.isParked() {
			e.State |= queue.Parked
			e.Reason, e.ParkedAt, e.order = m.reason, time.UnixMilli(m.parkedAt), m.parkedPlace
		}
	}
	e.Since, e.Class = time.UnixMilli(e.order.ms()), e.order.class()
	return e
}
