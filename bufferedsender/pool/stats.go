package pool

import (
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// counts are the counters of a class.
type counts struct {
	granted, ended, refused int64
	queue, work             time.Duration
	longestQueue            time.Duration
	longestWork             time.Duration
}

func (c *counts) waited(d time.Duration) {
	c.granted++
	c.queue += d
	c.longestQueue = max(c.longestQueue, d)
}

func (c *counts) worked(d time.Duration) {
	c.ended++
	c.work += d
	c.longestWork = max(c.longestWork, d)
}

// waited counts a slot that a seat takes. mu must be held.
func (p *Pool) waited(s *Seat, d time.Duration) {
	p.counts[s.class].waited(d)
	p.queued[s.class].add(d)
}

// ClassStats counts events of a class since the pool was created.
type ClassStats struct {
	// Waiting is how many requests wait now; InUse is how many slots are in use, without those of late requests.
	Waiting, InUse int
	// Granted counts slots that were given and taken. Ended counts slots that were used and released; it excludes those in
	// use and those returned unused. Refused counts the calls of Do that returned ErrFull.
	Granted, Ended, Refused int64
	// QueueTime and WorkTime are the total times of waiting for slots and of using them. Both have a maximum. A slot
	// granted at once has a waiting time of 0.
	QueueTime, WorkTime           time.Duration
	LongestQueueTime, LongestWork time.Duration
}

func (c *counts) public() ClassStats {
	return ClassStats{
		Granted: c.granted, Ended: c.ended, Refused: c.refused, QueueTime: c.queue, WorkTime: c.work,
		LongestQueueTime: c.longestQueue, LongestWork: c.longestWork,
	}
}

// Stats holds the counters and levels of a pool.
type Stats struct {
	// Classes is indexed by class.
	Classes [classes]ClassStats
	// Fallbacks counts requests of an unknown class, served as Expedited.
	Fallbacks int64
	// Members is the number of members, Slots the current number of slots, see SetLimit.
	Members, Slots int
	// Late is how many requests have lost their slots because they were not answered for long.
	Late int

	// GrantedActions and GrantedBytes are the granted room: the floors of members, used or not, and loans. It is an upper
	// bound of what is buffered; see the members' own statistics for the actual amount.
	GrantedActions, GrantedBytes int64
	// BudgetActions and BudgetBytes are the most that may be granted, 0 for no bound.
	BudgetActions, BudgetBytes int64
	// Active is how many members have a floor, WaitingForRoom how many wait for room.
	Active, WaitingForRoom int
	// WaitingClass is the most urgent class of those that wait for room, if WaitingForRoom is not 0.
	WaitingClass models.Class
}

// stats sets the fields about room.
func (b *budget) stats(s *Stats) {
	b.mu.Lock()
	defer b.mu.Unlock()
	granted, limit := b.floors.plus(b.loans), b.bounded(b.limit)
	s.GrantedActions, s.GrantedBytes = granted.actions, granted.bytes
	s.BudgetActions, s.BudgetBytes = limit.actions, limit.bytes
	s.Active, s.WaitingForRoom = b.active, b.waiting
	s.WaitingClass = models.ClassBestEffort
	for r := b.large.first; r != nil; r = r.next {
		s.WaitingClass = min(s.WaitingClass, r.lane)
	}
	for _, q := range []*roomLines{&b.entering, &b.lending} {
		for lane := range q.lines {
			if q.lines[lane].first != nil {
				s.WaitingClass = min(s.WaitingClass, models.Class(lane))
			}
		}
	}
}

// Stats returns the counters of the pool. It does not block.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{Fallbacks: p.fellBack, Members: len(p.members), Slots: p.slots(), Late: p.late}
	for c := range s.Classes {
		s.Classes[c] = p.counts[c].public()
		s.Classes[c].InUse, s.Classes[c].Waiting = p.inUse[c], p.lines[c].waiting
	}
	p.budget.stats(&s)
	return s
}
