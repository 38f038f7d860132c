package filequeue

import "time"

// clock is the time of a queue: it never goes back, goes on with the monotonic clock, and jumps
// forward with the wall clock. Its times can be written down and read again, so they have no
// monotonic part of their own.
type clock struct {
	base   time.Time // without a monotonic part
	anchor time.Time // with one: when base was
}

// jump is how far the wall clock has to be ahead of the monotonic one to have been set, or the
// machine to have slept.
const jump = time.Second

// newClock returns a clock that shows no less than last.
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
		// Not further than the wall clock: a machine that starts in the past is told the time only then.
		c.base, c.anchor = later(c.base.Add(passed), now.Round(0)), now
		return c.base
	}
	return c.base.Add(passed)
}

// real returns the moment of the process that a time of the clock stands for; zero for zero.
func (c *clock) real(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return c.anchor.Add(at.Sub(c.base))
}
