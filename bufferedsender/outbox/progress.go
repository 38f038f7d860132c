package outbox

import "time"

// progress is how far the table was read. It does no I/O and gets the time as an argument; the loop owns it.
type progress struct {
	life        uint32 // how often all of this was reset
	floor       floor
	after, seen [classes]int64 // where the next read begins; what was read
	known       [classes]int64 // in a full pass: rows up to here are not new
	restart     bool           // the next read begins at 0 because of new ranges
	full        bool           // a full pass is running
	pass        bool           // it is, or a read from the beginning because of new ranges
	passed      time.Time      // when the last of either ended
	dry         bool           // the last read has read all rows that there were
	most        int            // rows per read: fewer if they are large
	past        uint64         // looks up to this number are over: they were used, or rows or notifications came after them
	began       time.Time      // start of the read; of a copy, of its look
	fullAt      time.Time
	wokenAt     time.Time // or when a read has found something
}

// begin records the start of a read, and returns the position from which to read: 0 if a full pass is due. The reader
// owns the returned copy, whose floor rises.
func (p *progress) begin(now time.Time, fullPass time.Duration) progress {
	if p.restart || !now.Before(p.fullAt) {
		if p.full, p.known = !p.restart, p.after; p.restart {
			p.seen, p.known, p.dry = [classes]int64{}, [classes]int64{}, false
		}
		lower(&p.known, p.floor.at())
		p.restart, p.pass = false, true
		p.after, p.fullAt = [classes]int64{}, now.Add(fullPass)
	}
	p.began = now
	was := *p
	was.floor = p.floor.clone()
	return was
}

// done takes over the result of a read, fresh if it had new rows, and returns when the next read is due: counted from
// the look, so that relays which used the same one meet again. was is the reader's copy.
func (p *progress) done(a *answer, was *progress, fresh bool, now time.Time, o *RelayOptions) time.Time {
	rose := was.floor
	p.past = max(p.past, was.past)
	switch {
	case a.bytes >= maxReadBytes/2: // rows that did not fit were sent for nothing
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
	if p.pass && !p.restart {
		p.pass, p.passed = false, now
	}
	at := was.began.Add(p.pollAfter(now, o))
	if !at.After(now) {
		at = now.Add(p.pollAfter(now, o))
	}
	switch {
	case woken || p.restart:
		return now
	case p.fullAt.Before(at):
		return p.fullAt
	}
	return at
}

// back makes the next read begin no later than above a number, and reports whether rows will be read again.
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

// pollAfter returns the time between a read that found everything and the next one.
//
// With Wake most reads follow a notification. But a process notifies only every 50 ms, and a transaction that did not
// notify may commit later. So after a notification, or a read with rows, the relay keeps polling at growing intervals:
// a row committed one second later waits a quarter of a second.
func (p *progress) pollAfter(now time.Time, o *RelayOptions) time.Duration {
	if o.Wake == nil || len(p.floor.open) > 0 { // a writing transaction is open
		return o.Poll
	}
	return min(max(now.Sub(p.wokenAt)/4, notifyEvery/2), o.idlePoll)
}
