package publisher

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"
)

// flight is a request with its resources.
type flight[V, R any] struct {
	refs       []ref
	batch      Batch[V]
	cut        bool   // the size limit ended it
	generation int    // pace.generation at its start
	class      uint8  // service class
	probe      bool   // it was prepared while the gate was shut
	permit     Permit // of the gate, or nil
	slot       Slot   // shared with other publishers, or nil
	trial      bool   // it has a short time limit, and reaching it proves nothing
	group      *group // the group of its only item, or nil
	fresh      bool   // nothing in it has failed before
	quiet      bool   // everything in it has failed before, and others pass
	sized      bool   // a missing answer would be due to its size
	ping       bool   // if it fails, send a Ping

	pinged  bool        // the Ping was answered
	refusal *IndexError // why the index is the cause

	reported  bool // to the gate, by the loop
	left      instant
	announced bool // the Sent hook was called
	stands    bool // ready, but waiting for a slot
	recalled  bool // a waiting caller wants it back
	started   bool
	took      time.Duration
	reply     Reply[R]
}

// giveBack returns the resources of a request that is not sent, or is left behind.
func (f *flight[V, R]) giveBack() {
	switch {
	case f.slot == nil:
	case f.started:
		f.slot.Release(false)
	default:
		f.slot.GiveBack()
	}
	if f.permit != nil {
		f.permit.Done(ServiceUnclear, -1, nil)
	}
}

// flights are the requests in flight.
type flights[V, R any] struct {
	inFlight []*flight[V, R]
	idle     []*flight[V, R] // for reuse
	carried  int             // items that may have been applied
}

// get returns an empty flight.
func (fs *flights[V, R]) get() *flight[V, R] {
	n := len(fs.idle)
	if n == 0 {
		return new(flight[V, R])
	}
	f := fs.idle[n-1]
	fs.idle = fs.idle[:n-1]
	return f
}

// put keeps a flight for reuse.
func (fs *flights[V, R]) put(f *flight[V, R]) {
	clear(f.batch.Items) // drops the documents for the garbage collector
	*f = flight[V, R]{refs: f.refs[:0], batch: Batch[V]{Items: f.batch.Items[:0]}}
	fs.idle = append(fs.idle, f)
}

// end removes a finished request.
func (fs *flights[V, R]) end(f *flight[V, R]) {
	fs.inFlight = slices.DeleteFunc(fs.inFlight, func(g *flight[V, R]) bool { return g == f })
}

// olderThan reports whether a request in flight was sent before f.
func (fs *flights[V, R]) olderThan(f *flight[V, R]) bool {
	return slices.ContainsFunc(fs.inFlight, func(g *flight[V, R]) bool { return g.started && g.left < f.left })
}

// carries reports whether an item is in any of them.
func (fs *flights[V, R]) carries(r ref) bool {
	return slices.ContainsFunc(fs.inFlight, func(f *flight[V, R]) bool { return slices.Contains(f.refs, r) })
}

// of returns the number of flights of a class, and whether one of them stands.
func (fs *flights[V, R]) of(class uint8) (n int, stands bool) {
	for _, f := range fs.inFlight {
		if f.class == class {
			n++
			stands = stands || f.stands
		}
	}
	return n, stands
}

// started returns how many requests have been sent.
func (fs *flights[V, R]) started() (n int) {
	for _, f := range fs.inFlight {
		if f.started {
			n++
		}
	}
	return n
}

// standing reports whether any flight stands.
func (fs *flights[V, R]) standing() bool {
	return slices.ContainsFunc(fs.inFlight, func(f *flight[V, R]) bool { return f.stands })
}

// send prepares the next request and starts it.
func (l *loop[V, R]) send() {
	if f := l.prepare(); f != nil {
		l.announce(f)
		l.launch(f)
	}
	l.settleNow() // of items that were taken back
}

// announce calls the Sent hook, only once even if that ends the goroutine.
func (l *loop[V, R]) announce(f *flight[V, R]) {
	if f.announced {
		return
	}
	f.announced = true
	l.outside.progress.Add(1)
	l.away(true, true)
	l.p.config.Hooks.Sent(&f.batch)
	l.away(false, true)
	l.outside.progress.Add(1)
}

// prepare creates the next request. It returns nil if all its items were taken back. It calls no hook, because a hook
// could end the goroutine before the request is announced, or pause the sender.
func (l *loop[V, R]) prepare() *flight[V, R] {
	now := l.p.now()
	f := l.flights.get()
	limits := l.limits()
	f.class, limits.class = l.class, l.class
	if f.probe = l.gate.shut != nil; f.probe {
		limits.actions = 1
		limits.probe = true
		limits.elsewhere, limits.tried = errors.As(l.gate.shut, new(*IndexError)), l.refusals.tried
		if skips := l.skipsFresh(); !skips {
			limits.fresh = l.fresh() != 0
			l.refusals.seen = max(l.refusals.seen, min(l.pending.newest, limits.newest))
		}
		l.refusals.probedFresh = limits.fresh
	} else if l.trial > 0 {
		limits.actions, limits.probe = min(limits.actions, l.trial), l.trial == 1
		limits.partActions = min(limits.partActions, l.trial)
	}
	f.refs, f.cut = l.pending.take(f.refs[:0], limits)
	f.refs = l.leaving(f, now)
	if len(f.refs) == 0 {
		l.flights.put(f)
		l.accountNow()
		return nil
	}
	f.batch = Batch[V]{ID: l.p.config.NewID(), Items: f.batch.Items[:0]}
	f.fresh = true
	bytes, suspects := 0, 0
	for _, r := range f.refs {
		n := l.pending.at(r)
		n.item.Attempt++
		n.item.Waited, n.item.Again = now-n.accepted, n.sent
		if !n.sent {
			n.sent, n.passed, n.applied = true, l.budget.traffic.passed, l.budget.traffic.applied
		}
		if n.hasFailed() {
			suspects++
		}
		bytes += len(n.item.Body)
		f.batch.Items = append(f.batch.Items, n.item)
	}
	first := l.pending.at(f.refs[0])
	f.fresh = suspects == 0
	// Repeated failures carry no information while others pass, except in a probe. If a few requests failed and none passed
	// in between, only a Ping shows whether others would.
	const few = 3
	canPing, doubt := l.p.config.Ping != nil, l.budget.traffic.silent >= few-1
	f.quiet = suspects == len(f.refs) && l.budget.traffic.hasPassed && now-l.budget.traffic.passedAt < time.Minute && !limits.probe && l.p.config.Gate != nil && (canPing || !doubt)
	f.ping = canPing && (f.quiet && doubt || len(f.refs) == 1 && first.lonely && first.passed == l.budget.traffic.passed && l.budget.allLonely(l.pending.keys()))
	f.batch.Bytes = limits.size(len(f.refs), bytes)
	f.sized = len(f.refs) > 1 && l.pace.size.suspect(f.batch.Bytes)
	f.left = now
	l.flights.inFlight = append(l.flights.inFlight, f)
	l.accountNow()
	return f
}

// leaving asks Leave about each item, settles those that were taken back, and returns the others.
func (l *loop[V, R]) leaving(f *flight[V, R], now instant) []ref {
	kept := f.refs[:0]
	for _, r := range f.refs {
		n := l.pending.at(r)
		if g := n.held; g != nil { // an item of a group is sent alone
			n.held, f.group = nil, g
		}
		if leave := l.p.config.Leave; leave != nil && !leave(&n.item) {
			if f.group != nil {
				f.group.out = false
			}
			l.takenBack(r, now)
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// launch starts an announced request, unless it must not be sent any more. The hook may have taken long, and replies or
// a Pause meanwhile count. Then its items wait again. If it only lacks a slot it stands.
func (l *loop[V, R]) launch(f *flight[V, R]) {
	f.stands = false
	if l.p.config.Fold != nil { // as in rounds
		l.takeMail()
	}
	l.takeCompletions()
	l.refresh()
	now := l.p.now()
	if l.cancelled() || l.settings.paused || now < l.pace.pausedUntil || f.recalled {
		l.takeBack(f, now)
		return
	}
	switch l.acquire(f) {
	case allowed:
		l.start(f, now)
	case slotless:
		f.stands = true
	default:
		l.takeBack(f, now)
	}
}

// launchStanding starts standing requests that now have a slot, and takes back those that must not be sent any more.
func (l *loop[V, R]) launchStanding() {
	if !l.flights.standing() {
		return
	}
	for _, f := range slices.Clone(l.flights.inFlight) {
		if !f.stands {
			continue
		}
		if class := l.pending.mostUrgent(f.refs); class < f.class { // an urgent action is behind one of these
			f.class = class
		}
		l.launch(f)
	}
}

// ErrNotSent is the error of a request that was stopped at the last moment.
var ErrNotSent = errors.New("not sent: sending was suspended meanwhile")

// takeBack undoes prepare.
func (l *loop[V, R]) takeBack(f *flight[V, R], now instant) {
	l.flights.end(f)
	l.noteEnd(f)
	if f.group != nil {
		f.group.out = false
	}
	for _, r := range f.refs {
		l.againForFree(l.pending.at(r), r, now)
	}
	l.copyOut(l.bodies.take())
	retried := len(f.refs)
	if !l.account(func(*Stats) {}) {
		l.markUnknown()
	}
	defer func() { // also if a subscriber of the gate ends the goroutine
		l.enterHook()
		l.p.config.Hooks.Replied(&f.batch, &Reply[R]{Err: ErrNotSent}, 0, Counts{Retried: retried})
		l.leaveHook()
		l.report()
		l.flights.put(f)
	}()
	f.giveBack()
}

// start hands a request to a worker.
func (l *loop[V, R]) start(f *flight[V, R], now instant) {
	f.started, f.left, f.generation = true, now, l.pace.generation
	l.pace.lastStart, l.pace.started = now, true
	retries := 0
	for _, r := range f.refs {
		n := l.pending.at(r)
		if !n.carried {
			n.carried = true
			l.flights.carried += n.item.travelling()
		}
		if n.item.Attempt > 1 {
			retries++
		}
	}
	a := &l.p.admission
	a.mu.Lock()
	if !a.ended { // otherwise a Close that stopped waiting has settled everything
		a.stats.Requests++
		a.stats.Retries += uint64(retries)
		a.stats.BytesSent += uint64(f.batch.Bytes)
		a.stats.InFlight++
		if a.silent.IsZero() {
			a.silent = time.Now()
		}
		a.stats.Carried = l.flights.carried
	}
	a.mu.Unlock()
	if l.cancelled() { // by Close, while the Sent hook ran
		if f.slot != nil {
			f.slot.GiveBack()
		}
		f.reply = Reply[R]{Err: ErrAbandoned, Results: make([]Result[R], len(f.refs))}
		l.completions.add(f)
		return
	}
	f.reply = Reply[R]{Err: errGoexit, Pause: true, RetryAfter: -1, Service: ServiceFails} // replaced unless the worker's goroutine is ended
	l.p.workers.Add(1)
	go l.work(f)
}

// work sends the batch of a flight, on a goroutine of its own.
func (l *loop[V, R]) work(f *flight[V, R]) {
	defer l.p.workers.Done()
	started := l.p.now()
	slot, within, trial := f.slot, l.p.config.RequestTimeout, time.Duration(0)
	if slot != nil {
		trial, _ = slot.Trial()
	}
	defer func() {
		if f.took == 0 {
			f.took = l.p.now() - started
		}
		if slot != nil {
			slot.Release(!f.reply.TimedOut)
		}
		l.completions.add(f)
		l.p.signal()
	}()
	f.trial = trial > 0 && (within <= 0 || trial < within)
	f.reply = l.p.sendBatch(&f.batch, within, trial, slot)
	f.took = l.p.now() - started // without the Ping
	f.quiet = f.quiet || f.sized && f.reply.cut()
	if f.undecided() {
		f.reply.undecide(len(f.refs))
	}
	if f.ping && f.reply.Service != ServiceSound {
		f.pinged = l.p.ping()
		f.quiet = f.quiet && f.pinged
	}
	l.p.reportEarly(f)
}

// undecided reports whether it was a trial that timed out.
func (f *flight[V, R]) undecided() bool { return f.trial && f.reply.TimedOut }

// undecide turns the reply of such a trial into one without information about the service: its n items are sent again
// and use no attempt.
func (r *Reply[R]) undecide(n int) {
	item := Result[R]{Err: r.Err, Unknown: true, Cut: true, Free: true}
	*r = Reply[R]{Results: slices.Repeat([]Result[R]{item}, n), TimedOut: true, RetryAfter: -1, Err: r.Err, Status: r.Status, RequestID: r.RequestID}
}

// ping sends the service a request without any item.
func (p *Publisher[V, R]) ping() (answered bool) {
	const longest = 3 * time.Second
	ctx, cancel := context.WithTimeout(p.requests, longest)
	defer cancel()
	defer func() {
		if recover() != nil {
			answered = false
		}
	}()
	return p.config.Ping(ctx) == nil
}

var errGoexit = errors.New("the client has ended its goroutine")

// sendBatch runs on the worker's goroutine. within limits the whole call, trial only the service's part of it; 0 or
// less means no limit.
func (p *Publisher[V, R]) sendBatch(batch *Batch[V], within, trial time.Duration, slot Slot) (reply Reply[R]) {
	ctx, cancel := p.requests, context.CancelFunc(func() {})
	if within > 0 {
		ctx, cancel = context.WithTimeout(ctx, within)
	}
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			// Without results every item is retried.
			reply = Reply[R]{Err: &PanicError{v, debug.Stack()}, Pause: true, RetryAfter: -1, Service: ServiceFails}
		}
	}()
	return p.sendTapped(ctx, batch, trial, slot)
}

// reportEarly reports the result of a request to the gate, unless only the loop can judge it. It runs on the worker's
// goroutine, so that a hook that keeps the loop does not keep other senders from probing.
func (p *Publisher[V, R]) reportEarly(f *flight[V, R]) {
	permit, r := f.permit, &f.reply
	if permit == nil {
		return
	}
	health := r.Service
	switch {
	case p.requests.Err() == nil && (r.Reason != "" || slices.ContainsFunc(r.Results, func(r Result[R]) bool { return r.Reason != "" })):
		permit.Answered()
		return // the index may be the cause
	case p.requests.Err() == nil && f.quiet && (health == ServiceFails || health == ServiceThrottles):
		health = ServiceUnclear
	case p.requests.Err() != nil:
		health = ServiceUnclear // a request cancelled by Close proves nothing about the service
	case health == ServiceThrottles && r.progress():
		health = ServiceSound
	case health == ServiceThrottles && permit.Probe():
		health = ServiceFails // although it was one small request
	case health == ServiceThrottles:
		return
	}
	p.visit("a subscriber of the breaker", len(f.refs), func() { permit.Done(health, r.RetryAfter, r.Err) })
}
