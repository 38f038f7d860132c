package queuelab

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Settle implements Queue.Settle. A model has no failed ends.
func (m *Model) Settle(now time.Time, ends ...queue.End) (stale []queue.Lease, err error) {
	if err := queue.CheckEnds(ends); err != nil {
		return nil, err
	}
	m.endLeases(now) // rule 1
	for _, end := range ends {
		e := m.held(end.Lease)
		if e == nil {
			stale = append(stale, end.Lease)
			continue
		}
		if end.Done >= len(e.leased) {
			end.Fate = queue.Commit
		}
		switch end.Fate {
		case queue.Commit: // rule 2
			e.leased = nil
			e.expired, e.deaths, e.tries, e.replaced, e.replacedReason = 0, 0, 0, nil, ""
		case queue.Release: // rule 3
			m.giveBack(e, end.Done)
			if end.After > 0 {
				e.due = now.Add(end.After)
			}
			if end.Again {
				e.tries++
			}
		case queue.Park: // rule 4
			m.park(e, end.Done, now, end.Reason)
		}
		e.lease = nil
		if end.Uncertain > 0 { // rule 5
			e.uncertain = later(e.uncertain, now.Add(end.Uncertain))
		}
	}
	m.stats.Stale += int64(len(stale))
	m.tidy(now)
	return stale, nil
}

// Extend is Queue.Extend, rule 6.
func (m *Model) Extend(now time.Time, d time.Duration, leases ...queue.Lease) (lost []queue.Lease, err error) {
	m.endLeases(now)
	for _, l := range leases {
		if e := m.held(l); e != nil {
			e.until = now.Add(d)
			e.requested = e.requested || l.Requested
		} else {
			lost = append(lost, l)
		}
	}
	m.stats.Stale += int64(len(lost))
	return lost, nil
}

// Exchange implements Exchanger.Exchange.
func (m *Model) Exchange(now time.Time, want queue.Want, ends ...queue.End) (leases, stale []queue.Lease, err error) {
	if err := queue.CheckWant(&want); err != nil {
		return nil, nil, err
	}
	if stale, err = m.Settle(now, ends...); err != nil {
		return nil, nil, err
	}
	leases, err = m.Reserve(now, want)
	return leases, stale, err
}

// held returns the entry of a valid lease, nil if the lease has ended.
func (m *Model) held(l queue.Lease) *entry {
	if e := m.keys[l.Key]; e != nil && len(e.leased) > 0 && e.lease.token == l.Token {
		return e
	}
	return nil
}

// giveBack puts the leased records, except the first done ones, in front of the pile.
func (m *Model) giveBack(e *entry, done int) {
	back := e.leased[min(done, len(e.leased)):]
	e.leased = nil
	switch {
	case len(back) == 0:
	case len(e.pile) == 0:
		e.pile, e.place = back, e.leasedPlace
	case e.pile[0].Replaces():
		m.stats.Replaced += int64(len(back))
		e.place = e.leasedPlace.withClass(e.place.class, e.place.generation)
	default:
		e.pile = append(back[:len(back):len(back)], e.pile...)
		e.place = e.leasedPlace.withClass(min(e.leasedPlace.class, e.place.class), e.place.generation)
	}
}

// park parks the leased records, except the first done ones.
func (m *Model) park(e *entry, done int, at time.Time, reason string) {
	e.parked, e.leased = e.leased[min(done, len(e.leased)):], nil
	if len(e.parked) == 0 {
		return
	}
	e.reason, e.parkedAt, e.parkedPlace = reason, at, e.leasedPlace
	if len(e.pile) > 0 && e.pile[0].Replaces() {
		m.stats.Replaced += int64(len(e.parked))
		e.giveWay()
	}
}

// Settled implements Queue.Settled.
func (m *Model) Settled(at queue.Position) (bool, error) {
	if at == "" {
		return true, nil
	}
	g, err := strconv.ParseUint(string(at), 10, 64)
	switch {
	case err != nil:
		return false, fmt.Errorf("position %q: %w", at, err)
	case g > m.generation:
		return false, queue.ErrLost
	case g == m.generation:
		m.generation++
	}
	for _, e := range m.keys {
		switch {
		case len(e.parked) > 0: // records behind parked ones do not count either
		case len(e.leased) > 0 && e.leasedPlace.generation <= g, len(e.pile) > 0 && e.place.generation <= g:
			return false, nil
		}
	}
	return true, nil
}
