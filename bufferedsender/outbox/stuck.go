package outbox

import "time"

// place is the part that a relay has in the sharing of ranges. Its row in the table of leases has a slot of its own at
// each.
type place int64

const (
	sharing place = iota // it has its share
	aside                // it settles nothing: it has no range
	probing              // it tries one range
)

// Slots of relays; those of ranges are below 64.
const (
	placeBits  = 48                // the slot of a place: its number and one, then so many bits of the relay
	lastSlot   = "562949953421311" // of relays that share: 2<<placeBits - 1
	probeSlots = "844424930131968" // where those of relays that probe begin: 3<<placeBits
)

const (
	stuckAfter = 3 // RequestTimeouts with rows in hand of which none is settled
	probeFirst = 10 * time.Second
	probeLast  = time.Minute
	probeFor   = 10 * time.Second // how long a relay that probes has a range
)

// stuck is what a relay knows of its own work. It does no I/O and takes the time as an argument; the loop owns it.
type stuck struct {
	place  place
	since  time.Time     // since when there are rows in hand and none is settled; zero: this is not so
	left   time.Time     // when it stepped aside
	works  bool          // a row was settled since then
	until  time.Time     // of the place; zero: probing, and it has no range yet
	rests  time.Duration // before the next probe
	failed int64         // Stats.Failed when the probe began
}

// hand notes whether there are rows in hand that could be settled, and when one was settled last.
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

// move decides at which place the relay is, and reports whether it is another one. alone: no other relay shares the
// ranges. patience is how long a relay shares them that settles nothing, held how many it has, failed Stats.Failed.
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

// share is how many ranges belong to a relay at a place.
func (t *tally) share(at place) int {
	switch at {
	case aside:
		return 0
	case probing:
		return 1
	}
	return share(ranges-min(t.probing, ranges/2), max(t.members, 1), t.rank)
}

// judge decides after a tick at which place this relay is.
func (l *loop) judge(t *tally, now time.Time) {
	s := &l.stuck
	s.hand(len(l.desk.entries) > 0 && !l.paused, l.desk.settled, now)
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
	l.jobs[kindTick].retry.At = now // the table has its place at once
}
