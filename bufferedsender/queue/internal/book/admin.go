package book

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Contains reports whether anything of a key is in the queue.
func (b *Book[R]) Contains(key string) bool {
	n := b.find(key)
	return n != nil && !n.vacant()
}

// Position is the present one.
func (b *Book[R]) Position() queue.Position {
	return queue.Position(strconv.FormatUint(uint64(b.gen), 36))
}

// Settled reports whether everything until a Position is settled or parked. The error is ErrLost if the book has not
// come to that Position, and another one if it is not a Position of a book.
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

// Pause and Resume are of queue.Admin.
func (b *Book[R]) Pause(reason string) { b.paused, b.pauseReason = true, reason }

// Resume ends Pause.
func (b *Book[R]) Resume() { b.paused, b.pauseReason = false, "" }

// Park sets keys aside that wait, and are not leased.
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

// Unpark makes parked keys wait again, at their old places, with a clean slate.
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
		if n.waits() {
			b.gens[n.gen]++
		}
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
		if n.waits() {
			b.gens[n.gen]++
		}
		b.settleIn(n, i, now)
		dropped++
	}
	return dropped
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

// Stats counts what is in the queue.
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

// oldest returns the place that comes first of all that wait or are leased.
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
			if n.waits() { // also behind a lease, with a Since that is older
				look(n.place)
			}
		}
	}
	return first, ok
}

// Entry is what is in the book about a key.
type Entry[R Ref] struct {
	queue.Entry                 // without key and records
	Waits, Held, Aside []Rec[R] // what waits, is leased, is parked
	Gone               *Rec[R]  // what was replaced
	order              place
}

// Inspect returns the entries of the keys, nil for all, that are in one of the states,
// in the order of their places, parked ones last.
func (b *Book[R]) Inspect(now time.Time, states queue.State, keys []string, limit int) []Entry[R] {
	b.advance(now)
	s := Search{States: states, Limit: limit}
	if keys != nil {
		for _, key := range keys {
			if n, i := b.lookup(b.hash(key)); n != nil {
				s.look(b.foundOf(n, i))
			}
		}
	} else {
		for part := range Parts {
			b.SearchPart(&s, part)
		}
	}
	return b.Entries(now, &s)
}

// Search is an Inspect of all keys that sees one part of the book after the other, so that the book is not locked for
// as long as it takes to see millions.
type Search struct {
	States queue.State // 0: all
	Limit  int
	found  []found
}

// SearchPart sees one part of the book, 0 to Parts-1.
func (b *Book[R]) SearchPart(s *Search, part int) {
	for _, slot := range b.index[part].slots {
		if slot != 0 {
			s.look(b.foundOf(b.nodes.at(slot-1), slot-1))
		}
	}
}

func (s *Search) look(f found, state queue.State) {
	if s.States != 0 && state&s.States == 0 {
		return
	}
	// No more than those that may be among the first, for a queue of millions.
	if s.found = append(s.found, f); len(s.found)/2 > max(s.Limit, 1024) {
		slices.SortFunc(s.found, compareFound)
		s.found = s.found[:s.Limit]
	}
}

// Entries returns what was found, as far as it is in the book still, and as it is now. Keys that came into a state, or
// into the book, since their part was seen are missing.
func (b *Book[R]) Entries(now time.Time, s *Search) []Entry[R] {
	slices.SortFunc(s.found, compareFound)
	var entries []Entry[R]
	for _, f := range s.found {
		if len(entries) == s.Limit {
			break
		}
		n := b.nodes.at(f.node)
		if is, state := b.foundOf(n, f.node); is == f && state != 0 && (s.States == 0 || state&s.States != 0) {
			entries = append(entries, b.entry(now, n))
		}
	}
	return entries
}

// found is a key that Inspect may return, with what it is ordered by.
type found struct {
	parkedAt int64 // 0: it is not parked
	place    place
	node     int32
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

func (b *Book[R]) foundOf(n *node[R], i int32) (f found, state queue.State) {
	f = found{node: i, place: n.place}
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
