package pool

import "time"

// counts are what has happened in a class.
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

// ClassStats counts what has happened in a class since the pool was made.
type ClassStats struct {
	// Waiting is how many wait now, InUse how many slots are in use, those of late requests not counted.
	Waiting, InUse int
	// Granted is how many slots were given and taken, Ended how many of them were used and are released: neither in use
	// nor given back unused. Refused is how often Do has returned ErrFull.
	Granted, Ended, Refused int64
	// QueueTime and WorkTime are how long slots were waited for, which is 0 for who did not have to wait, and used; the
	// sums of all and the longest.
	QueueTime, WorkTime           time.Duration
	LongestQueueTime, LongestWork time.Duration
}

func (c *counts) public() ClassStats {
	return ClassStats{
		Granted: c.granted, Ended: c.ended, Refused: c.refused, QueueTime: c.queue, WorkTime: c.work,
		LongestQueueTime: c.longestQueue, LongestWork: c.longestWork,
	}
}

// Stats is what a pool has done.
type Stats struct {
	// Classes is by class.
	Classes [classes]ClassStats
	// Fallbacks is how often a class was asked for that there is none of, which is served as Expedited.
	Fallbacks int64
	// Members is how many there are, and Slots how many slots are in force, see SetLimit.
	Members, Slots int
	// Late is how many requests have not been answered for so long that their slots went to others.
	Late int

	// GrantedActions and GrantedBytes are the room that was granted: the floors of members, whether they use them or
	// not, and what was lent. What is buffered is at most that; the members' own statistics say how much it is.
	GrantedActions, GrantedBytes int64
	// BudgetActions and BudgetBytes are how much may be granted, 0 for no bound.
	BudgetActions, BudgetBytes int64
	// Active is how many members have a floor, and WaitingForRoom how many wait for room.
	Active, WaitingForRoom int
}

// stats adds what is known about room.
func (b *budget) stats(s *Stats) {
	b.mu.Lock()
	defer b.mu.Unlock()
	granted, limit := b.floors.plus(b.loans), b.bounded(b.limit)
	s.GrantedActions, s.GrantedBytes = granted.actions, granted.bytes
	s.BudgetActions, s.BudgetBytes = limit.actions, limit.bytes
	s.Active, s.WaitingForRoom = b.active, b.waiting
}

// Stats returns the counts of the pool. It does not block.
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
