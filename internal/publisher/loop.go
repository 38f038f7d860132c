package publisher

import (
	"slices"
	"sync/atomic"
	"time"
)

// loop is the publisher goroutine. It owns every part below; only outside is touched by
// other goroutines. The parts know nothing of each other: what one decides is handed to
// the next here.
type loop[V, R any] struct {
	p       *Publisher[V, R]
	outside outside

	mail     mail     // from the callers, as of the last round
	settings settings // of the callers, as of now
	commands commands[V, R]

	pending     *pending[V]
	flushes     flushes
	flights     flights[V, R]     // requests under way
	completions completions[V, R] // and those that have ended

	gate     gateView // may a request leave
	pace     pace     // when, and how large
	budget   budget   // how often may an action be tried
	refusals refusals // is it the action or the index
	delivery delivery[V, R]
	bodies   bodies

	turns     turns     // of the classes
	class     uint8     // of the request that may leave
	trial     int       // it is for a trial of so many items, see Slot; 0: for none
	slotless  bool      // one is ready, and there is no slot for it
	asked     uint64    // the classes, as bits, in which slots were asked for in this round
	condition Condition // as last reported
	shutdown  shutdown
}

// outside is what other goroutines read.
type outside struct {
	goroutine atomic.Uint64 // the number of the loop's, see InsideHook; 0 before there was one
	// progress counts hooks begun and ended, so that Close can tell a hook that
	// is stuck from one that is followed by many others.
	progress atomic.Uint64
	kept     atomic.Uint64 // calls of the Ending hook that have kept something
	round    atomic.Int64  // since when a round lasts, an instant; 0 while the goroutine waits
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

// rounds returns when everything has ended, or true when there is nothing to do.
func (l *loop[V, R]) rounds() (idle bool) {
	var timer *time.Timer // nil while nothing waits: an idle sender has none
	defer l.outside.round.Store(0)
	for {
		l.outside.round.Store(int64(max(l.p.now(), 1)))
		l.takeMail() // first, so that a version that is older than one under way is found to be
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
		l.refresh() // hooks ran
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
		case <-l.p.wake: // whoever completes, adds, flushes or changes something signals
		case <-expired:
		}
	}
}

// ready reports whether a request is to be started now, if it may leave.
func (l *loop[V, R]) ready(now instant) bool {
	l.slotless, l.asked = l.flights.standing(), 0
	return (len(l.flights.inFlight) < l.slots() || l.p.config.Slots != nil) &&
		!l.settings.paused && now >= l.notBefore() && !l.cancelled() && l.wanted()
}

// cancelled reports whether Close has given up. Unlike shutdown.giveUp it is true at
// once, also in the middle of a round.
func (l *loop[V, R]) cancelled() bool { return l.p.requests.Err() != nil }

// wanted reports whether something is to be sent without waiting for more.
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

// takeCompletions judges all requests that have ended: what their replies ask for holds
// for the next request.
func (l *loop[V, R]) takeCompletions() {
	for f := l.completions.next(); f != nil; f = l.completions.next() {
		if slices.Contains(l.flights.inFlight, f) { // else Close has left it behind
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
