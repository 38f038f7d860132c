package publisher

import (
	"math"
	"time"
)

// autoFlush makes all waiting items be sent when the oldest has waited too long.
func (l *loop[V, R]) autoFlush(now instant) {
	if deadline, ok := l.autoFlushAt(); ok && now >= deadline {
		newest := l.p.admission.timerFired()
		l.flushes.through = max(l.flushes.through, newest)
	}
	if l.mail.flushLater.through != 0 && now >= l.mail.flushLater.at {
		l.flushes.through = max(l.flushes.through, l.p.admission.takeFlushLater())
		l.mail.flushLater.through = 0
	}
}

// autoFlushAt returns when the timer should fire for the waiting items.
func (l *loop[V, R]) autoFlushAt() (instant, bool) {
	if !l.p.config.AutoFlush || l.settings.interval <= 0 {
		return 0, false
	}
	oldest, ok := instant(0), false
	for _, c := range l.pending.classes { // each class separately, whether or not another one is wanted
		if r := l.pending.headOf(c); r != none && l.pending.place(r) > l.flushes.through && (!ok || l.pending.at(r).accepted < oldest) {
			oldest, ok = l.pending.at(r).accepted, true
		}
	}
	return later(oldest, l.settings.interval), ok
}

// nextWake returns the longest time to sleep; false means until woken.
func (l *loop[V, R]) nextWake(now instant) (time.Duration, bool) {
	next, ok := instant(math.MaxInt64), false
	at := func(t instant) {
		next, ok = min(next, t), true
	}
	if l.pace.pausedUntil > now {
		at(l.pace.pausedUntil) // for the condition
	}
	if len(l.pending.cuts.order) > 0 {
		at(l.pending.cuts.at[l.pending.cuts.order[0]]) // to remove it
	}
	if l.settings.paused || l.gate.locked {
		return max(next-now, 0), ok // Resume and the gate wake the loop
	}
	if t, waits := l.pending.nextRetry(); waits {
		at(t)
	}
	wanted := l.wanted()
	if wanted {
		if now < l.notBefore() {
			at(l.notBefore())
		}
	}
	if !wanted || l.p.config.Slots != nil { // then another class may have a slot
		if t, waits := l.autoFlushAt(); waits {
			at(max(t, l.pace.pausedUntil)) // never while paused
		}
		if l.mail.flushLater.through != 0 && l.pending.count > 0 {
			at(max(l.mail.flushLater.at, l.pace.pausedUntil))
		}
	}
	return max(next-now, 0), ok
}

// mustNotSleep sets how much producers must add to wake the loop, and reports whether that much has arrived already.
// Waking it for every item would cost more than everything else done for an item.
func (l *loop[V, R]) mustNotSleep() bool {
	const sortIn = 256 // so that the loop keeps up with producers
	items, bytes := sortIn, int64(math.MaxInt64)
	switch {
	case len(l.flights.inFlight) >= l.slots() && l.p.config.Slots == nil, l.wanted() && !l.slotless: // more could not be sent now anyway
	case l.pending.waiting() == 0: // the first one starts the timer
		items = 1
	default: // what a batch still lacks
		limits := l.limits()
		for _, c := range l.pending.classes {
			lack, lackBytes := limits.enough-c.waiting, int64(limits.bytes-limits.size(c.waiting, c.waitingBytes))
			if lack <= 0 || lackBytes <= 0 {
				continue // it lacks a slot
			}
			items, bytes = min(items, lack), min(bytes, lackBytes)
		}
	}
	a := &l.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.pending.lanes.count == 0 && len(a.inbox) == 0 { // an idle sender keeps nothing
		a.slab.release()
		a.slab = nil
		l.lend(a)
	}
	a.wakeItems, a.wakeBytes, a.wakeSeen = items, bytes, l.pending.seen()
	_, a.oldest, a.waits = l.pending.oldest()
	return a.enough()
}

// takeFlushLater returns up to which number items must not wait any longer.
func (a *admission[V]) takeFlushLater() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.flushLater.through = 0 }()
	return a.flushLater.through
}

// timerFired counts a flush by the timer, and returns the number of the last accepted action.
func (a *admission[V]) timerFired() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Flushes++
	return a.stats.Accepted
}
