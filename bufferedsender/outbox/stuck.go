package outbox

import "time"

// place is a relay's role in the sharing of ranges. For each place its row in the table of leases has another slot.
type place int64

const (
	sharing place = iota // it has its share
	aside                // it settles nothing, so it has no range
	probing              // it tries one range
)

// Slots of relays; slots of ranges are below 64.
const (
	placeBits  = 48                // the slot of a place is its number plus one, followed by this many bits of the relay
	lastSlot   = "562949953421311" // of relays that share: 2<<placeBits - 1
	probeSlots = "844424930131968" // first slot of relays that probe: 3<<placeBits
)

const (
	stuckAfter = 3 // RequestTimeouts during which rows are buffered, or cannot be read, and none is settled
	probeFirst = 10 * time.Second
	probeLast  = time.Minute
	probeFor   = 10 * time.Second // how long a probing relay keeps a range
)

// stuck tracks whether a relay settles rows. It does no I/O and gets the time as an argument; the loop owns it.
type stuck struct {
	place  place
	since  time.Time     // since when rows are buffered and none is settled; zero: not so
	left   time.Time     // when it gave up its share
	works  bool          // a row was settled since then
	until  time.Time     // end of the place; zero: probing without a range yet
	rests  time.Duration // pause before the next probe
	failed int64         // Stats.Failed at the start of the probe
}

// hand records whether there are buffered rows that could be settled, and when the last one was settled.
func (s *stuck) hand(rows bool, settled, now time.Time) {
	switch {
	case !rows:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = now
	case settled.After(s.since):
		s.since = settled
	}
	s.works = s.place != sharing && settled.After(s.left)
}

// move decides the place of the relay, and reports whether it changed. alone: no other relay shares the ranges.
// patience is how long a relay that settles nothing keeps its share, held its number of ranges, failed Stats.Failed.
func (s *stuck) move(now time.Time, alone bool, patience time.Duration, held int, failed int64) (changed bool) {
	was := s.place
	switch {
	case s.place == sharing:
		if !alone && !s.since.IsZero() && now.Sub(s.since) >= patience {
			*s = stuck{place: aside, left: now, rests: probeFirst, until: now.Add(probeFirst)}
		}
	case alone || s.works:
		*s = stuck{works: s.works}
	case s.place == aside:
		if !now.Before(s.until) {
			s.place, s.until, s.failed = probing, time.Time{}, failed
		}
	case s.until.IsZero():
		if held > 0 {
			s.until = now.Add(probeFor)
		}
	case failed > s.failed || !now.Before(s.until):
		s.place, s.rests = aside, min(2*s.rests, probeLast)
		s.until = now.Add(s.rests)
	}
	return s.place != was
}

// share returns the number of ranges for a relay at a place.
func (t *tally) share(at place) int {
	switch at {
	case aside:
		return 0
	case probing:
		return 1
	}
	return share(ranges-min(t.probing, ranges/2), max(t.members, 1), t.rank)
}

// judge decides the place of this relay after a tick.
func (l *loop) judge(t *tally, now time.Time) {
	s := &l.stuck
	s.hand((len(l.desk.entries) > 0 || l.jobs[kindRead].retry.Failures > 0) && !l.paused, l.desk.settled, now)
	was, since := s.place, s.since
	patience := stuckAfter*l.r.info.RequestTimeout + time.Duration(2*t.rank)*l.r.opts.renew
	held, _ := l.holds.count()
	if !s.move(now, t.members < 2, patience, held, l.stats.Failed) {
		return
	}
	switch {
	case was == sharing:
		l.r.opts.Logger.Warn("outbox: no row settled; ranges given away", "queue", l.r.table.Queue, "since", since, "next", "see the errors of this relay and the Health of its sender")
	case s.place == sharing:
		l.r.opts.Logger.Info("outbox: ranges taken again", "queue", l.r.table.Queue, "works", s.works, "other_relays", t.members-1)
	}
	l.jobs[kindTick].retry.At = now // the table must show its place at once
}
