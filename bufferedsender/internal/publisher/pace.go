package publisher

import "math"

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
	if l.started && l.tuned.Interval > 0 {
		return max(l.pausedUntil, later(l.lastStart, l.tuned.Interval))
	}
	return l.pausedUntil
}

// publishLimits copies the limits in force for Stats. admission.mu is held, or
// nothing runs yet.
func (l *loop[V, R]) publishLimits(s *Stats) {
	limits := l.limits()
	s.BatchItems, s.BatchBytes, s.Slots, s.Interval = limits.actions, limits.bytes, l.slots(), l.tuned.Interval
}
