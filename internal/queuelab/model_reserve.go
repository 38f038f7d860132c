package queuelab

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Reserve implements Queue.Reserve.
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
		chosen = m.turn(now, want)
	}
	m.reservations[r.token] = r
	left, has := want.Bytes, len(m.holds(r.holder)) > 0
	for _, e := range chosen { // rule 4
		n := 0
		for n < len(e.pile) && (size(e.pile[n]) <= left || n == 0 && len(r.keys) == 0) {
			left -= size(e.pile[n])
			n++
		}
		if n == 0 {
			break // Bytes is reached
		}
		m.company[r.holder] = has || len(r.keys) > 0
		e.leased, e.pile = e.pile[:n:n], e.pile[n:]
		e.leasedPlace = e.place // waiting records keep the place, too
		e.lease, e.until, e.requested, e.due = r, now.Add(want.For), false, time.Time{}
		r.keys = append(r.keys, e.key)
	}
	return m.leasesOf(r), nil
}

// free reports whether the key has waiting records and can be leased.
func (e *entry) free(now time.Time) bool {
	return len(e.pile) > 0 && len(e.leased) == 0 && len(e.parked) == 0 && !e.uncertain.After(now)
}

// turn chooses entries by place, rule 5.
func (m *Model) turn(now time.Time, want queue.Want) []*entry {
	var alone, part, others []*entry
	for _, e := range m.keys {
		switch {
		case !e.free(now) || e.due.After(now): // rule 3
		case e.lone():
			alone = append(alone, e)
		case e.suspect():
			part = append(part, e)
		default:
			others = append(others, e)
		}
	}
	byPlace(alone)
	byPlace(part)
	byPlace(others)
	has := m.holds(want.Holder)
	switch {
	case want.Keys == 0:
		return nil
	case len(alone) > 0 && len(has) == 0:
		m.alone = time.Time{}
		return alone[:1]
	case len(alone) > 0 || len(has) == 1 && has[0].lone() && !m.company[want.Holder]:
		if !now.Before(m.alone.Add(want.For)) {
			m.alone = now.Add(want.For)
		}
		if now.Before(m.alone) {
			return nil
		}
	}
	if len(part) > 0 && !slices.ContainsFunc(has, (*entry).suspect) {
		n := 1
		for n*n < len(part) {
			n++
		}
		return part[:min(n, want.Keys)]
	}
	return others[:min(len(others), want.Keys)]
}

// holds returns the entries leased by a holder.
func (m *Model) holds(holder queue.ID) (entries []*entry) {
	for _, e := range m.keys {
		if len(e.leased) > 0 && e.lease.holder == holder {
			entries = append(entries, e)
		}
	}
	return entries
}

// named chooses entries by Want.Only, rule 6.
func (m *Model) named(now time.Time, want queue.Want) (chosen []*entry) {
	for i, k := range want.Only {
		if e := m.keys[k]; e != nil && e.free(now) && !slices.Contains(want.Only[:i], k) {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// leasesOf returns the remaining leases of a reservation.
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

// endLeases ends the leases that have run out.
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
	alone := e.requested && !m.company[r.holder]
	if e.deaths == 0 || e.deaths == 1 && e.requested || alone {
		e.deaths++
	}
	e.expired++
	m.stats.Expired++
	if alone && e.deaths >= queue.MaxDeaths {
		m.park(e, 0, end, fmt.Sprintf("%d holders died with it, the last one with nothing else", e.deaths))
	} else {
		m.giveBack(e, 0)
	}
}

// byPlace sorts keys with waiting records.
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
