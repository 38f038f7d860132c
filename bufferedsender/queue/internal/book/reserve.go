package book

import (
	"math"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Lease is a reserved key. The back end reads its name from a record.
type Lease[R Ref] struct {
	Recs           []Rec[R] // read-only
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
	t := b.begin(now, want)
	t.bytes = want.Bytes
	if want.Only != nil {
		t.named()
	} else if want.Keys > 0 {
		t.turn()
	}
	return t.leases
}

// begin begins a reservation. It enters the book with the first key that it takes.
func (b *Book[R]) begin(now time.Time, want *queue.Want) *taking[R] {
	by := b.holders[want.Holder]
	if by == nil {
		by = &holder{id: want.Holder}
	}
	return &taking[R]{b: b, want: want, r: &reservation{token: want.Token, by: by, name: want.Name}, now: b.instant(now)}
}

// leasesOf returns the leases of a reservation, by place.
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

// taking is a Reserve in progress.
type taking[R Ref] struct {
	b      *Book[R]
	want   *queue.Want
	r      *reservation
	now    instant
	bytes  int // left
	leases []Lease[R]
}

// turn takes the next keys: a suspect that goes alone, a part of the other suspects, or keys that are not suspects.
func (t *taking[R]) turn() {
	b, by := t.b, t.r.by
	switch alone := len(b.lone.items) > 0; {
	case alone && by.leases == 0:
		b.emptying = longAgo
		t.oldest(&b.lone, 1)
		return
	case alone || by.alone:
		if t.now >= b.emptying.after(t.want.For) {
			b.emptying = t.now.after(t.want.For)
		}
		if t.now < b.emptying {
			return
		}
	}
	if n := len(b.suspects.items); n > 0 && by.suspects == 0 {
		t.oldest(&b.suspects, int(math.Ceil(math.Sqrt(float64(n)))))
	} else {
		t.oldest(&b.ready, t.want.Keys)
	}
}

// oldest takes keys from the front of a heap, until the reservation has n.
func (t *taking[R]) oldest(h *heap, n int) {
	for len(t.leases) < min(n, t.want.Keys) && len(h.items) > 0 {
		if !t.take(h.items[0]) {
			return
		}
	}
}

// lend adds a key to a reservation.
func (b *Book[R]) lend(n *node[R], i int32, r *reservation, until instant, uncertain time.Duration) {
	m := n.more
	m.from, m.until, m.uncertain, m.requested = r, until, uncertain, false
	b.reservations[r.token], b.holders[r.by.id] = r, r.by
	r.live++
	r.by.company = r.by.leases > 0
	r.by.alone = !r.by.company && m.deaths > 1
	r.by.leases++
	if n.isSuspect() {
		r.by.suspects++
	}
	b.push(inLeases, i)
}

// named takes the keys of Want.Only.
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

// take leases a key, with as many records as fit. It returns false if there is no room.
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
	b.lend(n, i, t.r, t.now.after(t.want.For), t.want.Uncertain)
	m.due = 0
	t.leases = append(t.leases, n.lease())
	return true
}

// InCompany reports whether the holder of a reservation was given anything else, for a log to record.
func (b *Book[R]) InCompany(token queue.ID) bool {
	r := b.reservations[token]
	return r != nil && r.by.company
}
