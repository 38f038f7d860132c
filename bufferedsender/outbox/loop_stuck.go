package outbox

import (
	"time"
)

// stuck is what the loop knows of a relay that has rows and settles none: its Loader is missing, or its service refuses
// it. Other relays may work, so it gives its ranges away but for one, whose rows it tries again and again.
type stuck struct {
	movedAt time.Time // when a row was settled last, or there was none
	failed  int64     // Stats.Failed then
	doubled int       // how often it was alone when it had given its ranges away
	since   time.Time // when it began to give ranges away; zero: it does not
	probe   int       // the range that it keeps
}

const (
	stuckTries = 8                // failures, if nothing is under way: a few keys may fail whatever relay sends them
	stuckAfter = 3                // RequestTimeouts without a row that is settled
	probeEvery = 10 * time.Second // is how often a row of the range that is kept is tried
)

// moved notes that a row was settled.
func (l *loop) moved(now time.Time) { l.stuck.movedAt, l.stuck.failed = now, l.stats.Failed }

// judge decides after a tick whether this relay gives its ranges away or takes its share again.
func (l *loop) judge(t *tally, now time.Time) {
	s := &l.stuck
	patience := stuckAfter * l.r.info.RequestTimeout << min(s.doubled, 6)
	probe, works := l.probe()
	if !works || l.paused || s.movedAt.IsZero() {
		l.moved(now)
	}
	if s.since.IsZero() {
		tried := l.flights.planned() > 0 || l.stats.Failed-s.failed >= stuckTries
		if t.members < 2 || !tried || now.Sub(s.movedAt) < patience {
			return
		}
		s.since, s.probe = now, probe
		l.r.opts.Logger.Warn("outbox: no row settled; ranges given away", "queue", l.r.table.Queue, "since", s.movedAt, "next", "see the errors of this relay and the Health of its sender")
	}
	if settled := s.movedAt.After(s.since); settled || t.members == 0 || l.holds.parts[s.probe].lease == nil {
		l.r.opts.Logger.Info("outbox: ranges taken again", "queue", l.r.table.Queue, "settled", settled, "other_relays", t.members)
		if s.since, s.doubled = (time.Time{}), s.doubled+1; settled {
			s.doubled = 0
		}
		l.moved(now)
		return
	}
	for i := range l.holds.parts {
		if p := &l.holds.parts[i]; i != s.probe && p.lease != nil && !p.draining {
			l.drain(i)
		}
	}
	l.desk.hasten(now.Add(probeEvery))
}

// probe returns the range of the row that is due first.
func (l *loop) probe() (part int, has bool) {
	for _, e := range l.desk.aside {
		return int(e.part), true
	}
	for _, e := range l.desk.entries {
		return int(e.part), true
	}
	return 0, false
}
