package publisher

import (
	"math"
	"time"
)

func (l *loop[V, R]) limits() batchLimits {
	c := &l.p.config
	limits := batchLimits{
		actions: atMost(l.tuned.BatchItems, l.configured.BatchItems), bytes: atMost(l.tuned.BatchBytes, l.limit.current),
		envelope: c.Envelope, comma: c.Comma, newest: math.MaxUint64,
		partActions: l.configured.BatchItems, partBytes: l.configured.BatchBytes,
	}
	if !c.AutoFlush {
		limits.newest = l.urgent // nobody has asked for more
	}
	return limits
}

// atMost returns limit, or wish if that is narrower.
func atMost(wish, limit int) int {
	if wish > 0 {
		return min(wish, limit)
	}
	return limit
}

// slots is how many requests may be under way.
func (l *loop[V, R]) slots() int { return atMost(l.tuned.InFlight, l.configured.InFlight) }

// notBefore is when the next request may start.
func (l *loop[V, R]) notBefore() instant {
	at := l.pausedUntil
	if l.started && l.tuned.Interval > 0 {
		at = max(at, later(l.lastStart, l.tuned.Interval))
	}
	if l.wantsProbe {
		at = max(at, l.yieldUntil)
	}
	return at
}

// publishLimits copies the limits in force for Stats. admission.mu is held, or
// nothing runs yet.
func (l *loop[V, R]) publishLimits(s *Stats) {
	limits := l.limits()
	s.BatchItems, s.BatchBytes, s.Slots, s.Interval = limits.actions, limits.bytes, l.slots(), l.tuned.Interval
}

// Nothing waits longer for a service that does not work than it has not worked,
// or recoverAtLeast if that is longer, and recoverAtMost in any case: so it is used
// again soon after it is back.
const (
	recoverAtLeast = time.Second
	recoverAtMost  = 30 * time.Second
	// leastPause is how long a service that is too busy is left alone even without
	// any back-off: nothing else would keep it from being asked as fast as it answers.
	leastPause = 10 * time.Millisecond
)

// backoff returns how long to wait before the service is tried again.
func (l *loop[V, R]) backoff(now instant, attempt int) time.Duration {
	longest := max(recoverAtLeast, l.p.config.Delay)
	if l.inTrouble {
		longest = min(max(longest, now-l.troubleAt), recoverAtMost)
	}
	return min(l.p.config.Backoff(attempt), longest)
}

// throttle decides whether to hold all sending, and returns for how much longer.
// Requests that were already under way when the last pause was decided tell
// nothing new: eight slots refused at once are one overload, not eight, and one
// that was let through is no sign of recovery. What they ask for in a header is
// obeyed all the same. Pauses grow as long as nothing is applied in between. A
// header can make a pause longer and not shorter.
//
// While the gate is shut it decides when to try again, but for what a header
// asks. A Tuner slows down by itself when only a part of the items was refused.
// What failed before, while others pass, holds nobody but itself.
func (l *loop[V, R]) throttle(f *flight[V, R], now instant, progress bool) time.Duration {
	if l.cancelled() {
		return 0 // what was cut by Close says nothing about the service
	}
	fresh := f.epoch == l.epoch
	if !f.reply.Pause {
		if fresh {
			l.pauses = 0
		}
		return 0
	}
	wait := f.reply.RetryAfter
	if wait < 0 && (f.quiet || l.shut != nil || progress && l.p.config.Tuner != nil) {
		return 0
	}
	l.throttledBy = f.reply.Err
	switch {
	case fresh:
		if l.pauses++; l.traffic.applied != l.appliedThen {
			l.pauses = 1
		}
		l.epoch++
		l.appliedThen = l.traffic.applied
		wait = max(wait, l.backoff(now, l.pauses))
		if f.reply.Service == ServiceThrottles && l.p.config.Gate != nil {
			wait = max(wait, leastPause)
		}
	case wait < 0:
		return 0
	}
	until := later(now, wait)
	held := max(l.pausedUntil, now)
	if until <= held {
		return 0
	}
	l.pausedUntil = until
	return until - held
}

// later returns t+wait, or the end of time if that overflows.
func later(t instant, wait time.Duration) instant {
	if wait > math.MaxInt64-t {
		return math.MaxInt64
	}
	return t + wait
}
