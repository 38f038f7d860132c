package outbox

import "time"

// progress is how far the table was read. It does no I/O and takes the time as an argument; the loop owns it.
type progress struct {
	life        uint32 // how often all of this was dropped
	floor       floor
	after, seen [classes]int64 // where the next read begins; what has been read
	known       [classes]int64 // of a full pass: what it should not find anything new in
	restart     bool           // the next read begins at 0: there are new ranges
	full        bool           // a full pass is under way
	dry         bool           // all that was there at the last look was read
	most        int            // rows that one read asks for: fewer if they are large
	began       time.Time
	fullAt      time.Time
	wokenAt     time.Time // or when a read has found something
}

// begin notes that a read begins, and returns from where: a full pass begins at 0 if it is time for one. The copy
// belongs to whoever reads, with a floor that rises.
func (p *progress) begin(now time.Time, fullPass time.Duration) progress {
	if p.restart || !now.Before(p.fullAt) {
		if p.full, p.known = !p.restart, p.after; p.restart {
			p.seen, p.known, p.dry = [classes]int64{}, [classes]int64{}, false
		}
		lower(&p.known, p.floor.at())
		p.restart = false
		p.after, p.fullAt = [classes]int64{}, now.Add(fullPass)
	}
	p.began = now
	was := *p
	was.floor = p.floor.clone()
	return was
}

// done takes over what a read has found, fresh if it was new, and returns when the next read is due.
func (p *progress) done(a *answer, rose floor, fresh bool, now time.Time, o *RelayOptions) time.Time {
	switch {
	case a.bytes >= maxReadBytes/2: // what does not fit was sent in vain
		p.most = max(1, len(a.rows)*3/4)
	case a.more:
		p.most = min(2*p.most, maxRead)
	}
	woken := p.wokenAt.After(p.began)
	if fresh {
		p.wokenAt = now
	}
	if p.dry = false; !p.restart {
		p.floor, p.dry = rose, !a.more
		for i := range p.after {
			p.seen[i] = max(p.seen[i], a.last[i])
			p.after[i] = a.last[i]
			if !a.more {
				p.after[i] = rose.last
			}
		}
	}
	if a.more && len(a.rows) > 0 {
		return now
	}
	p.full, p.known = false, [classes]int64{}
	at := now.Add(p.pollAfter(now, o))
	switch {
	case woken || p.restart:
		return now
	case p.fullAt.Before(at):
		return p.fullAt
	}
	return at
}

// back has the read begin above a number at the latest, and reports whether rows that were read come again.
func (p *progress) back(from int64) (again bool) {
	lower(&p.after, from)
	for i := range p.after {
		again = again || p.after[i] < p.seen[i]
	}
	return again
}

func lower(numbers *[classes]int64, to int64) {
	for i := range numbers {
		numbers[i] = min(numbers[i], to)
	}
}

// pollAfter is how long nothing is read after a read that has found all there is.
//
// With Wake most reads come when it says so. But a process notifies only now and then, and a
// transaction that has not may end later: so a relay that was woken, or has found something, goes on reading, at
// intervals that grow with the time since then. What commits a second later waits a quarter of a second.
func (p *progress) pollAfter(now time.Time, o *RelayOptions) time.Duration {
	if o.Wake == nil || len(p.floor.open) > 0 { // a transaction that writes is open
		return o.Poll
	}
	return min(max(now.Sub(p.wokenAt)/4, notifyEvery/2), o.idlePoll)
}
