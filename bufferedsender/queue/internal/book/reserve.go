package book

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Lease is a key that is reserved. The back end reads its name where a record lies.
type Lease[R Ref] struct {
	Recs           []Rec[R] // not to be changed
	Expired, Tries int
}

// Reserve leases keys.
func (b *Book[R]) Reserve(now time.Time, want *queue.Want) []Lease[R] {
	b.advance(now)
	b.lastReserved = now
	if r := b.reservations[want.Token]; r != nil {
		return b.leasesOf(r)
	}
	if b.paused {
		return nil
	}
	r := &reservation{token: want.Token, holder: want.Holder, name: want.Name}
	t := taking[R]{b: b, want: want, r: r, now: b.instant(now), bytes: want.Bytes}
	switch {
	case want.Only != nil:
		t.named()
	case b.tastes(want, now):
		r.suspects = true
		t.few()
	case b.mustDrain(want, now):
	default:
		t.oldest(&b.ready)
	}
	return t.done()
}

// done books the reservation and returns what it has taken.
func (t *taking[R]) done() []Lease[R] {
	if size := len(t.leases); size > 0 {
		t.r.size, t.r.live = size, size
		t.b.reservations[t.r.token] = t.r
		t.b.held[t.r.holder] += size
		if t.r.suspects {
			t.b.suspectsHeld += size
		}
	}
	return t.leases
}

// leasesOf returns what is leased in a reservation, by place.
func (b *Book[R]) leasesOf(r *reservation) (leases []Lease[R]) {
	var nodes []*node[R]
	for _, i := range b.leases.items {
		if n := b.nodes.at(i); n.more.from == r {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(x, y *node[R]) int {
		switch {
		case x.more.leasedPlace < y.more.leasedPlace:
			return -1
		case x.more.leasedPlace > y.more.leasedPlace:
			return 1
		}
		return 0
	})
	for _, n := range nodes {
		leases = append(leases, n.lease())
	}
	return leases
}

func (n *node[R]) lease() Lease[R] {
	return Lease[R]{Recs: slices.Clone(n.more.leased), Expired: n.more.expired, Tries: n.more.tries}
}

// taking is one Reserve at work.
type taking[R Ref] struct {
	b      *Book[R]
	want   *queue.Want
	r      *reservation
	now    instant
	bytes  int // left
	leases []Lease[R]
}

// oldest takes the first ones of a heap.
func (t *taking[R]) oldest(h *heap) {
	for len(t.leases) < t.want.Keys && len(h.items) > 0 {
		if !t.take(h.items[0]) {
			return
		}
	}
}

// few takes suspects: as many as the group may hold, and one that has died alone alone.
func (t *taking[R]) few() {
	h := &t.b.suspects
	for len(t.leases) < min(t.want.Keys, t.b.group) && len(h.items) > 0 {
		died := t.b.nodes.at(h.items[0]).more.deaths > 0
		if died && len(t.leases) > 0 || !t.take(h.items[0]) || died {
			return
		}
	}
}

// named takes the keys that the caller names.
func (t *taking[R]) named() {
	for _, key := range t.want.Only {
		n, i := t.b.lookup(t.b.hash(key))
		if n == nil || !n.waits() || n.isLeased() || n.isParked() || n.more != nil && n.more.quiet > t.now {
			continue
		}
		if !t.take(i) {
			return
		}
	}
}

// take leases a key, as much of it as fits. False: there is no room for it.
func (t *taking[R]) take(i int32) bool {
	b, n := t.b, t.b.nodes.at(i)
	if size := n.first.Ref.Bytes(); size > t.bytes && len(t.leases) > 0 {
		return false
	}
	b.leave(n)
	m := n.extra()
	count := 0
	b.eachWaiting(n, func(r *Rec[R]) {
		size := r.Ref.Bytes()
		if len(m.leased) == count && (count == 0 || size <= t.bytes) {
			m.leased = append(m.leased, *r)
			t.bytes -= size
		}
		count++
	})
	m.leasedPlace, m.leasedGen = n.place, n.gen
	b.leased++
	if rest := n.pile() - len(m.leased); rest > 0 {
		left := m.rest[len(m.rest)-rest:]
		n.first = left[0]
		m.rest = slices.Clone(left[1:])
		b.gens[n.gen]++ // it keeps its place and its generation
	} else {
		n.first, m.rest = Rec[R]{}, nil
		b.waiting--
	}
	m.from, m.until, m.uncertain = t.r, t.now.after(t.want.For), t.want.Uncertain
	m.due = 0
	b.push(inLeases, i)
	t.leases = append(t.leases, n.lease())
	return true
}

// tastes reports whether a reservation is to be one of suspects.
func (b *Book[R]) tastes(want *queue.Want, now time.Time) bool {
	return want.Keys > 0 && len(b.suspects.items) > 0 && b.suspectsHeld == 0 && b.becomesTaster(want, now) && b.held[want.Holder] == 0
}

// mustDrain reports whether the holder gets nothing until its leases have ended: it is the
// taster, or has suspects.
func (b *Book[R]) mustDrain(want *queue.Want, now time.Time) bool {
	if b.suspectsHeld > 0 {
		return b.holdsSuspects(want.Holder)
	}
	return len(b.suspects.items) > 0 && b.taster == want.Holder && b.tasting > b.instant(now)
}

func (b *Book[R]) holdsSuspects(holder queue.ID) bool {
	for _, r := range b.reservations {
		if r.suspects && r.holder == holder {
			return true
		}
	}
	return false
}

// becomesTaster makes the holder the one that tries suspects, if there is none, or says
// that it is. Asking again does not make it so for longer: a holder whose other leases
// never end would keep the suspects from everybody.
func (b *Book[R]) becomesTaster(want *queue.Want, now time.Time) bool {
	at := b.instant(now)
	if b.tasting > at {
		return b.taster == want.Holder
	}
	b.taster, b.tasting = want.Holder, at.after(want.For)
	return true
}

// OfSuspects reports whether a reservation is one of suspects, for a log to tell.
func (b *Book[R]) OfSuspects(token queue.ID) bool {
	r := b.reservations[token]
	return r != nil && r.suspects
}
