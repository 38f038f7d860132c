package publisher

import (
	"math"
	"time"
)

// No wait for a failing service exceeds the time for which it has failed, or recoverAtLeast if that is longer, nor
// recoverAtMost. So the service is used again soon after it recovers.
const (
	recoverAtLeast = time.Second
	recoverAtMost  = 30 * time.Second
	// leastPause is the shortest pause for a busy service even without back-off. Otherwise it would get requests as fast as
	// it answers.
	leastPause = 10 * time.Millisecond
)

// pace decides when the next request may start and how large it may be. It is pure data.
type pace struct {
	draw  func(attempt int) time.Duration // as Config.Backoff
	delay time.Duration                   // as Config.Delay

	pausedUntil instant
	generation  int    // number of pauses decided so far
	pauses      int    // consecutive pauses
	appliedThen uint32 // traffic.applied at the last decision
	reason      error  // of the last pause

	resends  int     // consecutive requests that the Tap did not confirm
	resendAt instant // the first of them

	inTrouble bool // nothing was applied since a request failed or was throttled
	troubleAt instant

	size      sizeLimit
	tuned     Tuned
	lastStart instant // start of the last request
	started   bool    // there was one
}

func newPace(batchBytes int, tuned Tuned, draw func(attempt int) time.Duration, delay time.Duration) pace {
	return pace{draw: draw, delay: delay, size: newSizeLimit(batchBytes), tuned: tuned}
}

// notBefore returns when the next request may start.
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

// trouble records whether a request sent at left indicates that the service is failing. applied is true if it applied
// something.
func (p *pace) trouble(applied, failed bool, left instant) {
	switch {
	case applied:
		p.inTrouble = false
	case failed && !p.inTrouble:
		p.inTrouble, p.troubleAt = true, left
	}
}

// pacing is the information about the pace in a reply.
type pacing struct {
	pause  bool          // the service asks for a pause
	header time.Duration // for how long, negative without a header
	err    error         // reason
	busy   bool          // the whole request was refused because the service is busy

	generation int    // pace.generation at the start of the request
	applied    uint32 // traffic.applied
	tapped     bool   // the Tap held the request back, or did not confirm it
	resend     bool   // it did not confirm it, so what was applied is sent again
	others     bool   // the gate, the Tuner or single items slow down instead, unless there is a header
}

// tapPause is the longest pause after the Tap held a request back. A Tap that delays writers lets them continue at once
// when it is done; a longer pause would outlast that. If it does not confirm a request, which is sent again as a whole,
// the pause grows as one for a failing service does.
const tapPause = time.Second

// tapped returns the pause after an error of the Tap.
func (p *pace) tapped(resend bool, now instant) time.Duration {
	attempt, longest := 1, tapPause
	if resend {
		if p.resends++; p.resends == 1 {
			p.resendAt = now
		}
		attempt, longest = p.resends, min(max(longest, now-p.resendAt), recoverAtMost)
	}
	return max(leastPause, min(p.draw(attempt), longest))
}

// after decides whether a reply pauses all sending, and returns by how much the pause is extended.
//
// Requests that were in flight when the last pause was decided carry no new information: eight requests refused at once
// are one overload, not eight, and one that passed does not show recovery. Their headers count anyway. Pauses grow
// while nothing is applied in between. A header can only lengthen a pause.
// longer and not shorter.
func (p *pace) after(reply pacing, now instant) (longer time.Duration) {
	news := reply.generation == p.generation
	if !reply.pause {
		if news {
			p.pauses, p.resends = 0, 0
		}
		return 0
	}
	wait := reply.header
	if wait < 0 && reply.others {
		return 0
	}
	p.reason = reply.err
	switch {
	case news && reply.tapped: // it says nothing about the service, and has waited itself
		p.generation++
		wait = max(wait, p.tapped(reply.resend, now))
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

// throttle updates the pace with a reply.
//
// While the gate is shut it decides when to try again, except for a header, and unless the publisher is spared. A Tuner
// slows down when only some items were refused. A request of items that failed before, while others pass, pauses
// nothing else.
func (l *loop[V, R]) throttle(f *flight[V, R], now instant, progress bool) (longer time.Duration) {
	if l.cancelled() {
		return 0 // a request cancelled by Close proves nothing about the service
	}
	return l.pace.after(pacing{
		pause: f.reply.Pause || l.gate.spared && f.probe && f.reply.Service == ServiceFails, header: f.reply.RetryAfter, err: f.reply.Err,
		busy:       f.reply.Service == ServiceThrottles && l.p.config.Gate != nil,
		generation: f.generation, applied: l.budget.traffic.applied, tapped: f.reply.Unconfirmed && f.reply.Pause, resend: f.reply.Resend,
		others: !f.reply.Unconfirmed && (f.quiet || l.gate.shut != nil && !l.gate.spared || progress && l.p.config.Tuner != nil),
	}, now)
}

// notBefore returns when the next request may start.
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
		limits.newest = l.flushes.through // no Flush has asked for more
	}
	return limits
}

// slots returns how many requests may be in flight.
func (l *loop[V, R]) slots() int {
	return atMost(l.pace.tuned.InFlight, l.settings.limits.InFlight)
}

// atMost returns limit, or wish if that is positive and smaller.
func atMost(wish, limit int) int {
	if wish > 0 {
		return min(wish, limit)
	}
	return limit
}

// publishLimits copies the current limits for Stats. admission.mu is held, or nothing runs yet.
func (l *loop[V, R]) publishLimits(s *Stats) {
	limits := l.limits()
	s.BatchItems, s.BatchBytes, s.Slots, s.Interval = limits.actions, limits.bytes, l.slots(), l.pace.tuned.Interval
}

// later returns t+wait, or the largest instant if that overflows.
func later(t instant, wait time.Duration) instant {
	if wait > math.MaxInt64-t {
		return math.MaxInt64
	}
	return t + wait
}
