package publisher

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func doubling(attempt int) time.Duration { return time.Second << (attempt - 1) }

// Each row is a series of replies, one per second, with the time until which sending pauses after each.
func TestPausesGrowWhileNothingIsAppliedAndHeadersOnlyLengthenThem(t *testing.T) {
	const second = time.Second
	busy := pacing{pause: true, header: -1, generation: -1} // -1: started after the last pause
	with := func(change func(*pacing)) pacing {
		p := busy
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		replies []pacing
		until   []instant
	}{
		"one pause": {[]pacing{busy}, []instant{1 * second}},
		"the second pause is longer, but not longer than the failures have lasted": {
			[]pacing{busy, busy, busy, busy, busy}, []instant{1 * second, 2 * second, 4 * second, 6 * second, 8 * second},
		},
		"something was applied in between": {
			[]pacing{busy, busy, with(func(p *pacing) { p.applied = 1 })}, []instant{1 * second, 2 * second, 3 * second},
		},
		"requests in flight when the pause began do not lengthen it": {
			[]pacing{busy, with(func(p *pacing) { p.generation = 0 })}, []instant{1 * second, 1 * second},
		},
		"their header lengthens the pause": {
			[]pacing{busy, with(func(p *pacing) { p.generation, p.header = 0, 9*second })}, []instant{1 * second, 10 * second},
		},
		"a header makes a pause longer":            {[]pacing{with(func(p *pacing) { p.header = 7 * second })}, []instant{7 * second}},
		"a header does not shorten a pause":        {[]pacing{with(func(p *pacing) { p.header = 0 })}, []instant{1 * second}},
		"a header that overflows":                  {[]pacing{busy, with(func(p *pacing) { p.header = 1<<63 - 1 })}, []instant{1 * second, 1<<63 - 1}},
		"a controller slows down":                  {[]pacing{with(func(p *pacing) { p.others = true })}, []instant{0}},
		"a controller does, but there is a header": {[]pacing{with(func(p *pacing) { p.others, p.header = true, 3*second })}, []instant{3 * second}},
		"a reply that asks for nothing":            {[]pacing{{header: -1, generation: -1}}, []instant{0}},
		"after which the next pause is the first":  {[]pacing{busy, {header: -1, generation: -1}, busy}, []instant{1 * second, 1 * second, 3 * second}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPace(1000, Tuned{}, doubling, second)
			for i, reply := range c.replies {
				now := instant(i) * second
				if reply.generation < 0 {
					reply.generation = p.generation
				}
				p.trouble(false, reply.pause, now)
				before := max(p.pausedUntil, now)
				longer := p.after(reply, now)
				assert.Equal(t, c.until[i], p.pausedUntil, "after reply %d", i)
				assert.Equal(t, max(p.pausedUntil, now)-before, longer, "how much longer, reply %d", i)
			}
		})
	}
}

func TestAPauseNamesItsReasonAndResumeEndsIt(t *testing.T) {
	p := newPace(1000, Tuned{Interval: time.Second}, doubling, time.Second)
	p.after(pacing{pause: true, header: time.Minute, err: errors.ErrUnsupported}, 0)
	assert.ErrorIs(t, p.reason, errors.ErrUnsupported)
	assert.Equal(t, time.Minute, p.notBefore())
	p.resume(time.Second)
	assert.Equal(t, time.Second, p.notBefore())
	p.resume(time.Hour)
	assert.Equal(t, time.Second, p.notBefore(), "a Resume without a pause holds nothing")
	p.lastStart, p.started = 5*time.Second, true
	assert.Equal(t, 6*time.Second, p.notBefore(), "the interval between two requests")
}

// A busy service gets a short pause also without a back-off.
func TestABusyServiceIsLeftAloneForAMoment(t *testing.T) {
	p := newPace(1000, Tuned{}, func(int) time.Duration { return 0 }, 0)
	assert.Equal(t, leastPause, p.after(pacing{pause: true, header: -1, busy: true}, 0))
	assert.Zero(t, p.after(pacing{pause: true, header: -1, generation: 1}, time.Hour))
}

func TestNothingWaitsLongerThanTheServiceHasFailed(t *testing.T) {
	p := newPace(1000, Tuned{}, func(int) time.Duration { return time.Hour }, 0)
	assert.Equal(t, recoverAtLeast, p.backoff(time.Hour, 9), "the service does not fail")
	p.trouble(false, true, 10*time.Second)
	p.trouble(false, true, 15*time.Second) // began before
	assert.Equal(t, recoverAtLeast, p.backoff(10*time.Second, 9))
	assert.Equal(t, 12*time.Second, p.backoff(22*time.Second, 9))
	assert.Equal(t, recoverAtMost, p.backoff(time.Hour, 9))
	p.trouble(true, false, 0)
	assert.Equal(t, recoverAtLeast, p.backoff(time.Hour, 9), "something was applied")
}
