package queuelab

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Reserve is Queue.Reserve.
func (m *Model) Reserve(now time.Time, want queue.Want) ([]queue.Lease, error) {
	if err := queue.CheckWant(&want); err != nil {
		return nil, err
	}
	m.endLeases(now) // rule 1
	m.stats.LastReserved = now
	if r := m.reservations[want.Token]; r != nil { // rule 7
		return m.leasesOf(r), nil
	}
	if m.paused { // rule 2
		return nil, nil
	}
	r := &reservation{token: want.Token, holder: want.Holder, name: want.Name, uncertain: want.Uncertain}
	var chosen []*entry
	if len(want.Only) > 0 {
		chosen = m.named(now, want)
	} else {
		chosen, r.suspects = m.turn(now, want)
	}
	m.reservations[r.token] = r
	left := want.Bytes
	for _, e := range chosen { // rule 4
		n := 0
		for n < len(e.pile) && (size(e.pile[n]) <= left || n == 0 && r.open == 0) {
			left -= size(e.pile[n])
			n++
		}
		if n == 0 {
			break // Bytes is reached
		}
		e.leased, e.pile = e.pile[:n:n], e.pile[n:]
		e.leasedPlace = e.place // what stays keeps its place, too
		e.lease, e.until, e.due = r, now.Add(want.For), time.Time{}
		r.keys = append(r.keys, e.key)
		r.open++
	}
	return m.leasesOf(r), nil
}

// free reports whether something of the key waits and nobody has it.
func (e *entry) free(now time.Time) bool {
	return len(e.pile) > 0 && len(e.leased) == 0 && len(e.parked) == 0 && !e.uncertain.After(now)
}

// turn chooses by place, and says whether those are suspects, rule 5.
func (m *Model) turn(now time.Time, want queue.Want) (chosen []*entry, tasting bool) {
	if want.Keys == 0 {
		return nil, false
	}
	var suspects, others []*entry
	for _, e := range m.keys {
		switch {
		case !e.free(now) || e.due.After(now): // rule 3
		case e.suspect():
			suspects = append(suspects, e)
		default:
			others = append(others, e)
		}
	}
	byPlace(suspects)
	byPlace(others)
	if len(suspects) > 0 && !m.taster.until.After(now) && !m.holds(m.taster.holder, true) {
		m.taster = taster{want.Holder, now.Add(want.For)}
	}
	if m.taster.holder == want.Holder {
		switch {
		case m.holds(want.Holder, true), len(suspects) > 0 && m.taster.until.After(now) && m.holds(want.Holder, false):
			return nil, false
		case len(suspects) > 0 && m.taster.until.After(now):
			return suspects[:min(m.company(suspects), want.Keys)], true
		}
	}
	return others[:min(len(others), want.Keys)], false
}

// company is how many of the suspects may go together.
func (m *Model) company(suspects []*entry) int {
	n := 0
	for n < len(suspects) && n < m.group {
		if suspects[n].deaths > 0 {
			return max(n, 1) // it goes alone: a group ends before it
		}
		n++
	}
	return n
}

// holds reports whether a holder has leases, or such that it got as suspects.
func (m *Model) holds(holder queue.ID, suspects bool) bool {
	for _, e := range m.keys {
		if len(e.leased) > 0 && e.lease.holder == holder && (!suspects || e.lease.suspects) {
			return true
		}
	}
	return false
}

// named chooses by Want.Only, rule 6.
func (m *Model) named(now time.Time, want queue.Want) (chosen []*entry) {
	for i, k := range want.Only {
		if e := m.keys[k]; e != nil && e.free(now) && !slices.Contains(want.Only[:i], k) {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// leasesOf is what a reservation still has.
func (m *Model) leasesOf(r *reservation) (leases []queue.Lease) {
	for _, k := range r.keys {
		if e := m.keys[k]; e != nil && len(e.leased) > 0 && e.lease == r {
			leases = append(leases, queue.Lease{
				Key: k, Token: r.token, Records: copies(e.leased), Expired: e.expired, Tries: e.tries,
			})
		}
	}
	return leases
}

// endLeases ends those that have run out.
func (m *Model) endLeases(now time.Time) {
	var over []*entry
	for _, e := range m.keys {
		if len(e.leased) > 0 && !e.until.After(now) {
			over = append(over, e)
		}
	}
	slices.SortFunc(over, func(a, b *entry) int {
		return cmp.Or(a.until.Compare(b.until), cmp.Compare(a.key, b.key))
	})
	for _, e := range over {
		m.runOut(e)
	}
	m.tidy(now)
}

// runOut ends the lease of a key at its end.
func (m *Model) runOut(e *entry) {
	r, end := e.lease, e.until
	e.uncertain = later(e.uncertain, end.Add(r.uncertain))
	if e.suspect() && len(r.keys) == 1 { // it was one when it was reserved
		e.deaths++
	}
	e.expired++
	m.stats.Expired++
	if e.deaths >= queue.MaxDeaths && len(r.keys) == 1 {
		m.park(e, 0, end, fmt.Sprintf("%d holders died while they held nothing else", e.deaths))
	} else {
		m.giveBack(e, 0)
	}
	r.open--
	r.ranOut = true
	if e.suspect() {
		size := max(1, len(r.keys)/8)
		if m.group > 0 {
			size = min(size, m.group)
		}
		m.group = size
	}
}

// byPlace sorts keys of which something waits.
func byPlace(entries []*entry) {
	slices.SortFunc(entries, func(a, b *entry) int {
		if a.place.before(b.place) {
			return -1
		}
		return 1
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
