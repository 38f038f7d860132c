package publisher

import (
	"math"
	"slices"
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
	appliedThen uint32 // traffic.applied when the last one was decided
	throttledBy error  // why the last one
	inTrouble   bool   // nothing was applied since a request failed or was throttled, …
	troubleAt   instant
	traffic     traffic
	served      uint32  // as the gate said last
	others      uint64  // likewise
	passedAt    instant // of the last request that passed, if hasPassed
	passedBytes int     // its size
	hasPassed   bool
	silent      int // requests that failed, in a row, since something passed or a Ping was answered
	lonely      int // items that fail while nothing else is sent
	refusals    refusals
	innocent    map[string]instant // traits that are not the cause until then
	carried     int                // items of which it is not known whether they were applied
	shut        error              // why the gate holds requests back, or nil
	blocked     bool               // it lets none through at all
	wantsProbe  bool               // it waits for a probe
	yieldUntil  instant            // others may send it first
	pass        Pass               // for the next request, if the gate has given leave
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

	settled     []Settlement[V, R] // of the reply at hand
	endings     []ending           // more about each
	toldN       int                // how many of them are told
	counted     int                // how many of them are accounted for
	ending      bool               // the Ending hook has seen them
	dropped     []dropped[R]       // items that are to be settled without being sent
	victims     []ref              // that are to be purged
	commands    []func()           // of others, to be run
	withdrawals []*withdrawal[V, R]
	purged      []string // keys that the Purged hook is to be told of

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
		pending: newPending(p.config.Detach),
		limit:   newSizeLimit(p.config.Limits.BatchBytes),
		tuned:   p.config.Tuned,
	}
	l.configured = p.config.Limits
	l.publishLimits(&p.admission.stats)
	l.condition.Since = time.Now()
	p.admission.condition = l.condition
	return l
}

// rounds returns when everything has ended, or true when there is nothing to do.
func (l *loop[V, R]) rounds() (idle bool) {
	var timer *time.Timer // nil while nothing waits: an idle sender has none
	for {
		l.intake() // first, so that a version that is older than one under way is found to be
		l.land()
		if l.giveUp {
			l.abort()
			return false
		}
		now := l.p.now()
		l.pending.promote(now)
		l.autoFlush(now)
		l.look()
		l.limitGroups()
		l.overload()
		l.refresh() // hooks ran
		now = l.p.now()
		l.pending.promote(now)
		for l.ready(now) && l.enter() {
			l.send()
			l.refresh()
			now = l.p.now()
			l.pending.promote(now)
		}
		l.release()
		l.endWithdrawals()
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

// yield is how long a publisher whose items were refused, and not only one, leaves the
// next probe to others that share the gate: theirs may be applied.
const yield = 100 * time.Millisecond

// look finds out whether the gate lets requests through.
func (l *loop[V, R]) look() {
	if gate := l.p.config.Gate; gate != nil {
		s := gate.State()
		if s.Shut != nil && l.shut == nil {
			l.pending.dissolve()
		}
		l.others = s.Others
		if s.Shut == nil && l.shut != nil {
			l.exonerate()
		}
		if s.Ready && !l.wantsProbe && l.refusals.tried > 0 {
			l.yieldUntil = later(l.p.now(), yield)
		}
		l.shut, l.blocked, l.wantsProbe = s.Shut, s.Blocked, s.Ready
		if served := uint32(s.Served); served != l.served {
			l.traffic.passed += served - l.served
			l.served = served
		}
	}
}

// land takes in all replies that there are: what they ask for holds for the next
// request.
func (l *loop[V, R]) land() {
	for f := l.landings.next(); f != nil; f = l.landings.next() {
		l.landed(f)
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
	l.commands = append(l.commands, a.commands...)
	a.commands = nil
	l.takeOver(a)
	a.mu.Unlock()

	var fold folds
	l.pending.now = l.p.now()
	if len(inbox) > 0 && l.pending.blocks == nil {
		l.fetch()
	}
	for i := range inbox {
		folded, outdated := l.fold(&inbox[i], &fold)
		if folded {
			continue
		}
		r := l.pending.add(inbox[i].item, inbox[i].seq, inbox[i].accepted)
		n := l.pending.at(r)
		n.outdated, n.item.Outdated = outdated, outdated
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
	for len(l.commands) > 0 { // one may end the goroutine
		command := l.commands[0]
		l.commands = slices.Delete(l.commands, 0, 1)
		command()
	}
	l.endNow()
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
	if a.resumed {
		a.resumed = false
		l.pausedUntil = min(l.pausedUntil, l.p.now())
	}
	if l.configured.BatchBytes != a.limits.BatchBytes {
		l.limit = newSizeLimit(a.limits.BatchBytes)
	}
	l.configured = a.limits
	if !a.ended {
		l.publishLimits(&a.stats)
	}
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

// release lets go the calls of Flush whose actions are all settled and told.
func (l *loop[V, R]) release() {
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
