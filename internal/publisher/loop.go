package publisher

import (
	"slices"
	"sync/atomic"
	"time"
)

// loop is the publisher goroutine. It owns all parts below; other goroutines access only outside. The parts are
// independent of each other: loop passes the decision of one to the next.
type loop[V, R any] struct {
	p       *Publisher[V, R]
	outside outside

	mail     mail     // from the callers, as of the last round
	settings settings // of the callers, current
	commands commands[V, R]

	pending     *pending[V]
	flushes     flushes
	flights     flights[V, R]     // requests in flight
	completions completions[V, R] // finished requests

	gate     gateView // whether a request may be sent
	pace     pace     // when, and how large
	budget   budget   // how often an action is tried
	refusals refusals // whether the action or the index is the cause
	delivery delivery[V, R]
	bodies   bodies

	turns     turns     // of the classes
	class     uint8     // of the request that may be sent
	trial     int       // most items if it is a trial, see Slot; otherwise 0
	slotless  bool      // one is ready but has no slot
	asked     uint64    // bit set of classes that asked for slots in this round
	condition Condition // as last reported
	shutdown  shutdown
}

// outside is the part that other goroutines access.
type outside struct {
	goroutine atomic.Uint64 // number of the loop's goroutine, see InsideHook; 0 before the first one
	// progress counts starts and ends of hooks, so that Close can distinguish a stuck hook from a sequence of hooks.
	progress atomic.Uint64
	kept     atomic.Uint64 // calls of the Ending hook that kept something
	round    atomic.Int64  // start of the current round, an instant; 0 while the goroutine waits
}

func newLoop[V, R any](p *Publisher[V, R]) *loop[V, R] {
	c := &p.config
	l := &loop[V, R]{
		p:        p,
		settings: p.admission.settings,
		pending:  newPending[V](),
		pace:     newPace(c.Limits.BatchBytes, c.Tuned, c.Backoff, c.Delay),
		budget:   budget{attempts: c.MaxAttempts, gated: c.Gate != nil, canPing: c.Ping != nil},
	}
	l.publishLimits(&p.admission.stats)
	l.condition.Since = time.Now()
	p.admission.condition = l.condition
	return l
}

// rounds returns false when everything has ended, or true when there is nothing to do.
func (l *loop[V, R]) rounds() (idle bool) {
	var timer *time.Timer // nil while nothing waits: an idle sender has none
	defer l.outside.round.Store(0)
	for {
		l.outside.round.Store(int64(max(l.p.now(), 1)))
		l.takeMail() // first, to detect a version older than one in flight
		l.takeCompletions()
		if l.shutdown.giveUp {
			l.abort()
			return false
		}
		now := l.p.now()
		l.pending.promote(now)
		l.autoFlush(now)
		l.refreshGate()
		l.limitGroups()
		l.overload()
		l.refresh() // hooks may have run
		now = l.p.now()
		l.pending.promote(now)
		l.launchStanding()
		for l.ready(now) && l.mayLeave() {
			l.send()
			l.refresh()
			now = l.p.now()
			l.pending.promote(now)
		}
		l.quitSlots()
		l.releaseFlushes()
		l.endWithdrawals()
		l.reportCondition()
		if l.mail.closing && l.pending.count == 0 {
			l.finish()
			return false
		}
		var expired <-chan time.Time
		if wait, ok := l.nextWake(now); ok {
			if timer == nil {
				timer = time.NewTimer(wait)
			} else {
				timer.Reset(wait)
			}
			expired = timer.C
		} else if timer != nil {
			timer.Stop()
			timer = nil
		}
		if l.mustNotSleep() || l.completions.any() {
			continue
		}
		if expired == nil && l.pending.count == 0 {
			return true
		}
		l.outside.round.Store(0)
		select {
		case <-l.p.wake: // every completion, addition, flush or change sends a signal
		case <-expired:
		}
	}
}

// ready reports whether a request should be started now, if it may be sent.
func (l *loop[V, R]) ready(now instant) bool {
	l.slotless, l.asked = l.flights.standing(), 0
	return (len(l.flights.inFlight) < l.slots() || l.p.config.Slots != nil) &&
		!l.settings.paused && now >= l.notBefore() && !l.cancelled() && l.wanted()
}

// cancelled reports whether Close has given up. Unlike shutdown.giveUp it becomes true at once, even within a round.
func (l *loop[V, R]) cancelled() bool { return l.p.requests.Err() != nil }

// wanted reports whether something should be sent without waiting for more.
func (l *loop[V, R]) wanted() bool {
	for class := range l.pending.classes {
		if l.wantedOf(uint8(class)) {
			return true
		}
	}
	return false
}

// wantedOf is wanted for one class.
func (l *loop[V, R]) wantedOf(class uint8) bool {
	if l.pending.retryWaits(class) || l.gate.shut != nil && l.fresh()&(1<<class) != 0 {
		return true
	}
	c := l.pending.classes[class]
	head := l.pending.headOf(c)
	return head != none && (l.pending.place(head) <= l.flushes.through || l.mail.producersWaiting || l.p.config.AutoFlush && c.full(l.limits()))
}

// takeCompletions judges all finished requests, so that their replies affect the next request.
func (l *loop[V, R]) takeCompletions() {
	for f := l.completions.next(); f != nil; f = l.completions.next() {
		if slices.Contains(l.flights.inFlight, f) { // otherwise Close has left it behind
			l.complete(f)
		}
	}
}

// releaseFlushes releases the calls of Flush whose actions are all settled and reported.
func (l *loop[V, R]) releaseFlushes() {
	for f := l.flushes.finished(); f != nil; f = l.flushes.finished() {
		a := &l.p.admission
		a.mu.Lock()
		abandoned := f.abandoned
		if !abandoned {
			result, news := l.flushes.deliver(f)
			f.done, f.result = true, result
			a.reported += news
		}
		a.mu.Unlock()
		if abandoned {
			l.flushes.restore(f)
			continue
		}
		close(f.released)
	}
}
