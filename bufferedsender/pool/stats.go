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
	s.member.counts[s.class].waited(d)
}

// ClassStats counts what has happened in a class since the pool, or the member, was made.
type ClassStats struct {
	// Waiting is how many wait now, InUse how many slots are in use. Under the strategies Single and None, and of a member, they are 0.
	Waiting, InUse int
	// Granted is how many slots were given and taken, Ended how many of them were released, Refused how often Do was told ErrFull.
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

// Stats is what a pool, or a member, has done.
type Stats struct {
	// Classes is by class.
	Classes [classes]ClassStats
	// Fallbacks is how often a class was asked for that there is none of, which is served as Expedited. Of a member it is 0.
	Fallbacks int64
	// Members is how many there are. Of a member it is 0.
	Members int
}

// Stats returns the counts of the pool. It does not block.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{Fallbacks: p.fellBack, Members: len(p.members)}
	for c := range s.Classes {
		s.Classes[c] = p.counts[c].public()
		if p.strategy == Classes { // otherwise a line is not that of one class
			s.Classes[c].InUse, s.Classes[c].Waiting = p.inUse[c], p.lines[c].waiting
		}
	}
	return s
}

// Stats returns the counts of the member. It does not block.
func (m *Member) Stats() Stats {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	var s Stats
	for c := range s.Classes {
		s.Classes[c] = m.counts[c].public()
	}
	return s
}
