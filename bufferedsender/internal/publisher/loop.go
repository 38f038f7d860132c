package publisher

import (
	"context"
	"math"
	"runtime/pprof"
	"sync/atomic"
	"time"
)

// loop is the publisher goroutine. Nothing in it is touched by another
// goroutine but goroutine and progress.
type loop[V, R any] struct {
	p         *Publisher[V, R]
	goroutine atomic.Uint64 // its number, see InsideHook; 0 before there was one
	// progress counts hooks begun and ended, so that Close can tell a hook that
	// is stuck from one that is followed by many others.
	progress atomic.Uint64

	pending *pending[V]
	limit   sizeLimit
	flushes flushes
	urgent  uint64 // actions accepted up to here do not wait for a full batch

	landings landings[V, R]
	idle     []*flight[V, R] // reused
	inFlight []*flight[V, R]

	pausedUntil instant
	epoch       int    // how many pauses were decided
	pauses      int    // in a row
	stalls      int    // of these, in a row and without any item applied
	appliedThen uint32 // crowd.applied when the last one was decided
	throttledBy error  // why the last one
	crowd       crowd
	carried     int   // items of which it is not known whether they were applied
	shut        error // why the gate holds requests back, or nil
	blocked     bool  // it lets none through at all
	pass        Pass  // for the next request, if the gate has given leave
	tuned       Tuned
	lastStart   instant // of a request
	started     bool    // there was one
	told        uint64  // actions settled and told

	configured Limits // as of this round
	hastened   uint64 // these become urgent
	hastenAt   instant
	paused     bool      // by Pause
	condition  Condition // as last told
	starved    bool      // adders wait for room, or were turned away
	closing    bool      // no more is accepted
	giveUp     bool      // Close's ctx has ended

	settled []Settlement[V, R] // of the reply at hand
	endings []ending           // more about each
	toldN   int                // how many of them are told
	ending  bool               // the Ending hook has seen them
	purged  []string           // keys that the Purged hook is to be told of

	moving []ref   // of the reply at hand, are to move out of their slabs
	left   []*slab // have been left

	abandoned  bool // requests were left behind
	drained    bool // everything is settled
	closedTold bool // the Closed hook was called
	ended      bool // Close may return
	end        CloseError
}

// ending is what the loop knows of a settlement and nobody else needs.
type ending struct {
	seq   uint64
	bytes int // to be given back
	node  ref // to be removed, or none
	slab  *slab
}

func newLoop[V, R any](p *Publisher[V, R]) *loop[V, R] {
	l := &loop[V, R]{
		p:       p,
		pending: newPending[V](),
		limit:   newSizeLimit(p.config.Limits.BatchBytes),
		tuned:   p.config.Tuned,
	}
	l.configured = p.config.Limits
	l.publishLimits(&p.admission.stats)
	l.condition.Since = time.Now()
	p.admission.condition = l.condition
	return l
}

// run is the goroutine. A handler may end it (runtime.Goexit, which is what
// FailNow of a test does); then another one takes over where it was.
func (l *loop[V, R]) run() {
	parked := false
	defer func() {
		switch {
		case parked: // all of l belongs to the next goroutine, if there is one already
		case !l.ended:
			go l.run()
		default:
			l.p.cancel()
			l.p.admission.publish(&l.end, l.p.closed)
		}
	}()
	l.goroutine.Store(goroutine())
	pprof.SetGoroutineLabels(context.Background()) // those of whoever woke the loop are not its own
	l.resume()
	parked = l.rounds()
	if parked {
		l.park()
	}
}

// park lets go of a loop that has nothing to wait for, so that an idle sender
// costs no stack: its goroutine ends, and signal starts the next one.
//
// The goroutine marks the loop parked and then looks for a wake-up; a signal
// leaves the wake-up and then looks for the mark. So at least one of the two finds
// what the other has left, and of all that do, the swap lets one start the next
// goroutine. This one must not go on itself: between its two steps others may have
// started a loop that has parked again, and the mark it takes is that one's.
func (l *loop[V, R]) park() {
	l.p.parked.Store(true)
	select {
	case <-l.p.wake: // taken, or the next goroutine would find it here, too
		l.p.unpark()
	default:
	}
}

// resume does what a goroutine that was ended in a hook has left undone.
func (l *loop[V, R]) resume() {
	if pass := l.pass; pass != nil { // ended between leave and start
		l.pass = nil
		pass.Done(ServiceUnclear, -1, nil)
	}
	l.tell()
	for _, f := range l.inFlight {
		if !f.started {
			l.start(f)
		}
	}
}

// rounds returns when everything has ended, or true when there is nothing to do.
func (l *loop[V, R]) rounds() (idle bool) {
	var timer *time.Timer // nil while nothing waits: an idle sender has none
	for {
		if f := l.landings.next(); f != nil {
			l.landed(f)
		}
		l.intake()
		if l.giveUp {
			l.abort()
			return false
		}
		now := l.p.now()
		l.pending.promote(now)
		l.autoFlush(now)
		l.look()
		l.overload()
		now = l.p.now()
		for l.ready(now) && l.enter() {
			l.send()
			l.refresh()
			now = l.p.now() // hooks ran
		}
		l.release()
		l.note()
		if l.closing && l.pending.count == 0 {
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
		if l.mustNotSleep() || l.landings.any() {
			continue
		}
		if expired == nil && l.pending.count == 0 {
			return true
		}
		select {
		case <-l.p.wake: // whoever lands, adds, flushes or changes something signals
		case <-expired:
		}
	}
}

// look finds out whether the gate lets requests through.
func (l *loop[V, R]) look() {
	if gate := l.p.config.Gate; gate != nil {
		s := gate.State()
		l.shut, l.blocked, l.crowd.served = s.Shut, s.Blocked, uint32(s.Served)
	}
}

// enter asks the gate for leave to start a request.
func (l *loop[V, R]) enter() bool {
	gate := l.p.config.Gate
	if gate == nil {
		return true
	}
	pass, ok := gate.Enter()
	l.pass = pass
	l.look()
	return ok
}

// intake takes over what adders, Flush and Close have left under the lock.
func (l *loop[V, R]) intake() {
	a := &l.p.admission
	a.mu.Lock()
	inbox, flushes := a.inbox, a.flushes
	a.inbox, a.spare, a.inboxBytes, a.flushes = a.spare, nil, 0, nil
	l.starved, l.closing, l.giveUp = len(a.adders) > 0 || a.refused, a.closing, a.giveup
	l.hastened, l.hastenAt = a.hastened, a.hastenAt
	l.takeOver(a)
	a.mu.Unlock()

	var fold folds
	for i := range inbox {
		if !l.fold(&inbox[i], &fold) {
			l.pending.add(inbox[i].item, inbox[i].seq, inbox[i].accepted)
		}
	}
	a.unfold(&fold)
	for _, f := range flushes {
		if f.arrived { // the second time: its caller gave up
			l.flushes.drop(f)
			continue
		}
		f.arrived = true
		// Everything told was accepted before the watermark: what came after it
		// is in this very inbox at the earliest.
		l.flushes.add(f, f.watermark-l.told)
		l.urgent = max(l.urgent, f.watermark)
	}
	if l.closing {
		l.urgent = math.MaxUint64
	}
	taken := len(inbox)
	if cap(inbox) > 0 {
		clear(inbox)
		a.mu.Lock()
		a.spare = inbox[:0]
		a.mu.Unlock()
	}
	if taken > 0 {
		l.p.config.Hooks.Accepted(taken) // last, because a hook may end the goroutine
	}
}

// refresh takes over what Pause and SetLimits have left under the lock.
func (l *loop[V, R]) refresh() {
	a := &l.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	l.takeOver(a)
}

// takeOver is refresh for a caller that holds the lock.
func (l *loop[V, R]) takeOver(a *admission[V]) {
	l.paused = a.paused
	if l.configured.BatchBytes != a.limits.BatchBytes {
		l.limit = newSizeLimit(a.limits.BatchBytes)
	}
	l.configured = a.limits
	if !a.ended {
		l.publishLimits(&a.stats)
	}
}

// autoFlush makes everything that waits urgent when the oldest has waited too
// long.
func (l *loop[V, R]) autoFlush(now instant) {
	if deadline, ok := l.autoFlushAt(); ok && now >= deadline {
		newest := l.p.admission.timerFired()
		l.urgent = max(l.urgent, newest)
	}
	if l.hastened != 0 && now >= l.hastenAt {
		l.urgent = max(l.urgent, l.p.admission.takeHastened())
		l.hastened = 0
	}
}

// autoFlushAt returns when the timer is to fire for what waits now.
func (l *loop[V, R]) autoFlushAt() (instant, bool) {
	if !l.p.config.AutoFlush || l.p.config.Interval <= 0 {
		return 0, false
	}
	seq, accepted, ok := l.pending.oldest()
	if !ok || seq <= l.urgent {
		return 0, false
	}
	return later(accepted, l.p.config.Interval), true
}

// ready reports whether a request is to be started now, if the gate gives leave.
func (l *loop[V, R]) ready(now instant) bool {
	return len(l.inFlight) < l.slots() && !l.paused && now >= l.notBefore() && !l.cancelled() && l.wanted()
}

// cancelled reports whether Close has given up. Unlike giveUp it is true at
// once, also in the middle of a round.
func (l *loop[V, R]) cancelled() bool { return l.p.requests.Err() != nil }

// wanted reports whether something is to be sent without waiting for more.
func (l *loop[V, R]) wanted() bool {
	if l.pending.retryWaits() {
		return true
	}
	seq, _, ok := l.pending.oldest()
	return ok && (seq <= l.urgent || l.starved || l.p.config.AutoFlush && l.pending.full(l.limits()))
}

// nextWake returns how long to sleep at the most; false means until woken.
func (l *loop[V, R]) nextWake(now instant) (time.Duration, bool) {
	next, ok := instant(math.MaxInt64), false
	at := func(t instant) {
		next, ok = min(next, t), true
	}
	if l.paused || l.blocked {
		return 0, false // Resume and the gate wake the loop
	}
	if t, waits := l.pending.nextRetry(); waits {
		at(t)
	}
	if l.wanted() {
		if now < l.notBefore() {
			at(l.notBefore())
		}
	} else {
		if t, waits := l.autoFlushAt(); waits {
			at(max(t, l.pausedUntil)) // never while paused
		}
		if l.hastened != 0 && l.pending.count > 0 {
			at(max(l.hastenAt, l.pausedUntil))
		}
	}
	return max(next-now, 0), ok
}

// mustNotSleep tells adders from how much on to wake the loop, and reports
// whether there is that much already. Waking it for each single item would cost
// more than everything else that is done for one.
func (l *loop[V, R]) mustNotSleep() bool {
	const sortIn = 256 // so that the loop keeps up while adders go on
	items, bytes := sortIn, int64(math.MaxInt64)
	switch {
	case len(l.inFlight) >= l.slots(), l.wanted(): // could not be sent now anyway
	case l.pending.waiting == 0: // the first one starts the timer
		items = 1
	default: // what a full batch lacks
		limits := l.limits()
		items = max(1, min(sortIn, limits.actions-l.pending.waiting))
		bytes = int64(limits.bytes - limits.size(l.pending.waiting, l.pending.waitingBytes))
	}
	a := &l.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.pending.count == 0 && len(a.inbox) == 0 { // an idle sender keeps none
		a.slab.release()
		a.slab = nil
	}
	a.wakeItems, a.wakeBytes = items, bytes
	_, a.oldest, a.waits = l.pending.oldest()
	return a.enough()
}

// release lets go the calls of Flush whose actions are all settled and told.
func (l *loop[V, R]) release() {
	for f := l.flushes.finished(); f != nil; f = l.flushes.finished() {
		a := &l.p.admission
		a.mu.Lock()
		abandoned := f.abandoned
		if !abandoned {
			f.done, f.result = true, f.failed
			a.reported += f.failed.count - f.failed.unsent
		}
		a.mu.Unlock()
		if abandoned {
			l.flushes.restore(&f.failed)
			continue
		}
		close(f.released)
	}
}

// takeHastened returns what is not to wait any longer.
func (a *admission[V]) takeHastened() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.hastened = 0 }()
	return a.hastened
}

// timerFired counts a flush by the timer, and returns the sequence number of the
// last accepted action.
func (a *admission[V]) timerFired() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Flushes++
	return a.stats.Accepted
}
