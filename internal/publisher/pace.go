package publisher

import (
	"math"
	"time"
)

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

// pace decides when the next request may start and how large it may be. It is pure data.
type pace struct {
	draw  func(attempt int) time.Duration // as Config.Backoff
	delay time.Duration                   // as Config.Delay

	pausedUntil instant
	generation  int    // how many pauses were decided
	pauses      int    // in a row
	appliedThen uint32 // traffic.applied when the last one was decided
	reason      error  // of the last one

	inTrouble bool // nothing was applied since a request failed or was throttled, …
	troubleAt instant

	size      sizeLimit
	tuned     Tuned
	lastStart instant // of a request
	started   bool    // there was one
}

func newPace(batchBytes int, tuned Tuned, draw func(attempt int) time.Duration, delay time.Duration) pace {
	return pace{draw: draw, delay: delay, size: newSizeLimit(batchBytes), tuned: tuned}
}

// notBefore is when the next request may start.
func (p *pace) notBefore() instant {
	if p.started && p.tuned.Interval > 0 {
		return max(p.pausedUntil, later(p.lastStart, p.tuned.Interval))
	}
	return p.pausedUntil
}

// resume ends a pause.
func (p *pace) resume(now instant) { p.pausedUntil = min(p.pausedUntil, now) }

// backoff returns how long to wait before the service is tried again.
func (p *pace) backoff(now instant, attempt int) time.Duration {
	longest := max(recoverAtLeast, p.delay)
	if p.inTrouble {
		longest = min(max(longest, now-p.troubleAt), recoverAtMost)
	}
	return min(p.draw(attempt), longest)
}

// trouble notes whether a request that left then was a sign that the service is in
// trouble; applied says that it has applied something.
func (p *pace) trouble(applied, failed bool, left instant) {
	switch {
	case applied:
		p.inTrouble = false
	case failed && !p.inTrouble:
		p.inTrouble, p.troubleAt = true, left
	}
}

// pacing is what a reply says about the pace.
type pacing struct {
	pause  bool          // the service asks to be left alone
	header time.Duration // for how long, negative if it does not say
	err    error         // why
	busy   bool          // it is too busy, and says so of the request as a whole

	generation int    // pace.generation when the request started
	applied    uint32 // traffic.applied
	tapped     bool   // the Tap has not let the request go, or has not confirmed it
	others     bool   // somebody else slows down, unless there is a header: the gate, the Tuner, or the items alone
}

// tapPause is how long a publisher pauses at the most when its Tap holds a request back: whoever keeps writers waiting
// lets them go on at once when it is done, and a pause that grew in the meantime would outlast that.
const tapPause = time.Second

// after decides whether to hold all sending because of a reply, and returns for how
// much longer.
//
// Requests that were already under way when the last pause was decided say nothing
// new: eight slots refused at once are one overload, not eight, and one that was let
// through is no sign of recovery. What they ask for in a header is obeyed all the same.
// Pauses grow as long as nothing is applied in between. A header can make a pause
// longer and not shorter.
func (p *pace) after(reply pacing, now instant) (longer time.Duration) {
	news := reply.generation == p.generation
	if !reply.pause {
		if news {
			p.pauses = 0
		}
		return 0
	}
	wait := reply.header
	if wait < 0 && reply.others {
		return 0
	}
	p.reason = reply.err
	switch {
	case news && reply.tapped: // which says nothing about the service, and has waited itself
		p.generation++
		wait = max(wait, min(p.draw(1), tapPause))
	case news:
		if p.pauses++; reply.applied != p.appliedThen {
			p.pauses = 1
		}
		p.generation++
		p.appliedThen = reply.applied
		wait = max(wait, p.backoff(now, p.pauses))
		if reply.busy {
			wait = max(wait, leastPause)
		}
	case wait < 0:
		return 0
	}
	until := later(now, wait)
	held := max(p.pausedUntil, now)
	if until <= held {
		return 0
	}
	p.pausedUntil = until
	return until - held
}

// throttle lets the pace know of a reply.
//
// While the gate is shut it decides when to try again, but for what a header asks. A
// Tuner slows down by itself when only a part of the items was refused. What failed
// before, while others pass, holds nobody but itself.
func (l *loop[V, R]) throttle(f *flight[V, R], now instant, progress bool) (longer time.Duration) {
	if l.cancelled() {
		return 0 // what was cut by Close says nothing about the service
	}
	return l.pace.after(pacing{
		pause: f.reply.Pause, header: f.reply.RetryAfter, err: f.reply.Err,
		busy:       f.reply.Service == ServiceThrottles && l.p.config.Gate != nil,
		generation: f.generation, applied: l.budget.traffic.applied, tapped: f.reply.Unconfirmed && f.reply.Pause,
		others: !f.reply.Unconfirmed && (f.quiet || l.gate.shut != nil || progress && l.p.config.Tuner != nil),
	}, now)
}

// notBefore is when the next request may start.
func (l *loop[V, R]) notBefore() instant {
	if l.gate.ready {
		return max(l.pace.notBefore(), l.gate.yieldUntil)
	}
	return l.pace.notBefore()
}

func (l *loop[V, R]) limits() batchLimits {
	c := &l.p.config
	limits := batchLimits{
		actions: atMost(l.pace.tuned.BatchItems, l.settings.limits.BatchItems), bytes: atMost(l.pace.tuned.BatchBytes, l.pace.size.current),
		envelope: c.Envelope, comma: c.Comma, newest: math.MaxUint64,
		partActions: l.settings.limits.BatchItems, partBytes: l.settings.limits.BatchBytes,
	}
	limits.enough = atMost(l.settings.limits.Enough, limits.actions)
	if !c.AutoFlush {
		limits.newest = l.flushes.through // nobody has asked for more
	}
	return limits
}

// slots is how many requests may be under way.
func (l *loop[V, R]) slots() int {
	return atMost(l.pace.tuned.InFlight, l.settings.limits.InFlight)
}

// atMost returns limit, or wish if that is narrower.
func atMost(wish, limit int) int {
	if wish > 0 {
		return min(wish, limit)
	}
	return limit
}

// publishLimits copies the limits in force for Stats. admission.mu is held, or
// nothing runs yet.
func (l *loop[V, R]) publishLimits(s *Stats) {
	limits := l.limits()
	s.BatchItems, s.BatchBytes, s.Slots, s.Interval = limits.actions, limits.bytes, l.slots(), l.pace.tuned.Interval
}

// later returns t+wait, or the end of time if that overflows.
func later(t instant, wait time.Duration) instant {
	if wait > math.MaxInt64-t {
		return math.MaxInt64
	}
	return t + wait
}
