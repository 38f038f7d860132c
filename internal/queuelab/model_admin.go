package queuelab

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Stats implements Queue.Stats.
func (m *Model) Stats(now time.Time) queue.Stats {
	m.endLeases(now)
	s := m.stats
	s.Paused, s.PauseReason = m.paused, m.pauseReason
	all, _ := m.size()
	s.Bytes = all.bytes
	var oldest *place
	for _, e := range m.keys {
		var its []place
		if len(e.pile) > 0 {
			s.Waiting++
			its = append(its, e.place)
		}
		if len(e.leased) > 0 {
			s.Leased++
			its = append(its, e.leasedPlace)
		}
		if len(e.parked) > 0 {
			s.Parked++
			its = nil
		}
		for _, p := range its {
			if oldest == nil || p.before(*oldest) {
				oldest = &p
			}
		}
	}
	if oldest != nil {
		s.Oldest = time.UnixMilli(oldest.ms)
	}
	return s
}

// Contains implements Membership.Contains.
func (m *Model) Contains(keys ...string) []bool {
	found := make([]bool, len(keys))
	for i, k := range keys {
		e := m.keys[k]
		found[i] = e != nil && e.holdsSomething()
	}
	return found
}

// Park implements Admin.Park.
func (m *Model) Park(now time.Time, reason string, keys ...string) (parked int) {
	m.endLeases(now)
	for _, k := range keys {
		if e := m.keys[k]; e != nil && len(e.pile) > 0 && len(e.leased)+len(e.parked) == 0 {
			e.parked, e.pile, e.parkedPlace = e.pile, nil, e.place
			e.reason, e.parkedAt, e.due = reason, now, time.Time{}
			parked++
		}
	}
	m.tidy(now)
	return parked
}

// Unpark implements Admin.Unpark.
func (m *Model) Unpark(now time.Time, keys ...string) (unparked int) {
	m.endLeases(now)
	for _, k := range keys {
		if e := m.keys[k]; e != nil && len(e.parked) > 0 {
			p := e.parkedPlace
			p.generation = m.generation // for earlier ones it may have been reported as settled
			if len(e.pile) > 0 {
				p.class = min(p.class, e.place.class)
			}
			e.pile, e.place = append(e.parked, e.pile...), p
			e.parked, e.reason, e.parkedAt = nil, "", time.Time{}
			e.expired, e.deaths, e.tries = 0, 0, 0
			unparked++
		}
	}
	m.tidy(now)
	return unparked
}

// Drop implements Admin.Drop.
func (m *Model) Drop(now time.Time, keys ...string) (dropped int) {
	m.endLeases(now)
	for _, k := range keys {
		if e := m.keys[k]; e != nil && len(e.parked) > 0 {
			*e = entry{key: k, pile: e.pile, place: e.place, uncertain: e.uncertain}
			e.place.generation = m.generation // as in Unpark
			dropped++
		}
	}
	m.tidy(now)
	return dropped
}

// Pause implements Admin.Pause.
func (m *Model) Pause(reason string) { m.paused, m.pauseReason = true, reason }

// Resume implements Admin.Resume.
func (m *Model) Resume() { m.paused, m.pauseReason = false, "" }

// Inspect implements Admin.Inspect.
func (m *Model) Inspect(now time.Time, what queue.Inspection) (entries []queue.Entry) {
	m.endLeases(now)
	var found []*entry
	for k, e := range m.keys {
		if e.holdsSomething() && (what.States == 0 || e.state()&what.States != 0) && (what.Keys == nil || slices.Contains(what.Keys, k)) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b *entry) int {
		switch aside, bside := len(a.parked) > 0, len(b.parked) > 0; {
		case aside != bside:
			return map[bool]int{true: 1, false: -1}[aside] // parked ones last
		case !a.parkedAt.Equal(b.parkedAt):
			return a.parkedAt.Compare(b.parkedAt)
		case a.stands().before(b.stands()):
			return -1
		}
		return 1
	})
	limit := what.Limit
	if limit <= 0 {
		limit = 100
	}
	for _, e := range found[:min(len(found), limit)] {
		entries = append(entries, e.inspect(now, what.Bodies))
	}
	return entries
}

func (e *entry) state() (s queue.State) {
	if len(e.pile) > 0 {
		s |= queue.Waiting
	}
	if len(e.leased) > 0 {
		s |= queue.Leased
	}
	if len(e.parked) > 0 {
		s |= queue.Parked
	}
	return s
}

// stands returns the place of the oldest records of the key.
func (e *entry) stands() place {
	switch {
	case len(e.parked) > 0:
		return e.parkedPlace
	case len(e.leased) > 0:
		return e.leasedPlace
	}
	return e.place
}

func (e *entry) inspect(now time.Time, bodies bool) queue.Entry {
	records := func(records []queue.Record) []queue.Record {
		records = copies(records)
		for i := range records {
			if !bodies {
				records[i].Body = nil
			}
		}
		return records
	}
	out := queue.Entry{
		Key: e.key, State: e.state(), Since: time.UnixMilli(e.stands().ms), Class: e.stands().class,
		Leased: records(e.leased), Parked: records(e.parked), Waiting: records(e.pile),
		Reason: e.reason, ParkedAt: e.parkedAt, ReplacedReason: e.replacedReason,
		Expired: e.expired, Deaths: e.deaths, Tries: e.tries,
	}
	if len(e.leased) > 0 {
		out.Holder, out.Until = e.lease.name, e.until
	}
	if due := later(e.due, e.uncertain); due.After(now) {
		out.Due = due
	}
	if e.replaced != nil {
		out.Replaced = &records([]queue.Record{*e.replaced})[0]
	}
	return out
}
