package filequeue

import "time"

// clock is the time of a queue. It never goes back, follows the monotonic clock, and jumps forward with the wall clock.
// Its times have no monotonic part, because they are written to the log and read again.
type clock struct {
	base   time.Time // without a monotonic part
	anchor time.Time // the process time, with a monotonic part, of base
}

// jump is how far the wall clock must be ahead of the monotonic one before the clock follows: it was set, or the
// machine has slept.
const jump = time.Second

// newClock returns a clock that starts no earlier than last.
func newClock(last time.Time) clock {
	now := time.Now()
	base := now.Round(0)
	if base.Before(last) {
		base = last
	}
	return clock{base, now}
}

func (c *clock) now() time.Time {
	now := time.Now()
	passed := now.Sub(c.anchor)
	if wall := now.Round(0).Sub(c.anchor.Round(0)); wall > passed+jump {
		// Not beyond the wall clock: a machine that starts in the past gets the right time only now.
		c.base, c.anchor = later(c.base.Add(passed), now.Round(0)), now
		return c.base
	}
	return c.base.Add(passed)
}

// real converts a time of the clock to a time of the process; zero stays zero.
func (c *clock) real(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return c.anchor.Add(at.Sub(c.base))
}
