package publisher

import "time"

// State is what a publisher does, or what keeps it from doing it.
type State uint8

// The states. Of several that are true the last one counts.
const (
	Sending   State = iota
	Slotless        // a request is ready, and others have all the slots
	Throttled       // a reply asked for less, and the time is not over
	Ready           // the gate is shut, and wants a request to try with
	Held            // the gate is shut, or the index refuses all there is, or there are no slots any more
	Paused          // by Pause
	Closing         // draining
	Closed
)

// Condition is a state and how it came to be.
type Condition struct {
	State State
	Since time.Time
	// Err is why: of a throttled reply, or of the gate. A publisher that is
	// closing while it is paused or held has that reason here.
	Err error
	// Apart says that it is Held only because all that waits is held apart: what is added now
	// may pass.
	Apart bool
	// Silent is for how long no request was answered, since one left; one whose time is up does
	// not end that, as long as something is left to send.
	Silent time.Duration
	// Busy is for how long the goroutine has not come round, because of a hook: nothing leaves meanwhile. In is the name
	// of the hook, as Hooks.Name has it.
	Busy time.Duration
	In   string
	// guest is the first that has not returned and that actions wait for, or nil.
	guest *guest
	// roomless is for how long a call has waited for room that others have.
	roomless time.Duration
}

// Held returns why no request may leave until somebody does something, or nil.
func (c Condition) Held() error {
	if c.State == Throttled {
		return nil // it goes on by itself
	}
	return c.Err
}

// Condition returns the condition of the publisher.
func (p *Publisher[V, R]) Condition() Condition {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	c := p.admission.current()
	if since := p.loop.outside.round.Load(); since > 0 {
		c.Busy = p.now() - instant(since)
		if name := p.config.Hooks.Name; name != nil {
			c.In = name()
		}
	}
	c.guest = p.admission.guests.first(func(g *guest) bool { return g.waiting() > 0 })
	c.roomless = p.admission.roomless(p.now())
	return c
}

// current returns the condition with the pause that lies over it, also one that
// the loop has not seen yet because a hook keeps it. The lock is held.
func (a *admission[V]) current() Condition {
	c := a.condition
	c.Silent = a.silence()
	switch {
	case a.settings.paused && c.State < Paused:
		return Condition{State: Paused, Since: a.changedAt, Err: ErrPaused}
	case c.State == Throttled && !a.throttledUntil.After(time.Now()):
		return Condition{State: Sending, Since: a.throttledUntil, Silent: c.Silent}
	case a.settings.paused && c.State == Closing:
		c.Err = ErrPaused
	case c.State < Paused && a.changedAt.After(c.Since):
		c.Since = a.changedAt // of Resume
	}
	return c
}

// answered notes that a request was answered. The lock is held.
func (a *admission[V]) answered() {
	if a.silent = (time.Time{}); a.stats.InFlight > 0 {
		a.silent = time.Now()
	}
}

// Pause holds all sending until Resume. Requests under way go on.
func (p *Publisher[V, R]) Pause() { p.setPaused(true) }

// Resume ends a Pause, and the pause that the service has asked for.
func (p *Publisher[V, R]) Resume() { p.setPaused(false) }

func (p *Publisher[V, R]) setPaused(paused bool) {
	a := &p.admission
	a.mu.Lock()
	if a.settings.paused != paused {
		a.settings.paused, a.changedAt = paused, time.Now()
	}
	if !paused {
		a.settings.resumes++
	}
	a.mu.Unlock()
	p.signal()
}

// Limits returns the limits in force.
func (p *Publisher[V, R]) Limits() Limits {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	return p.admission.settings.limits
}

// SetControl changes what can be changed. The limits count from the next batch on, and
// what was accepted under wider ones stays accepted; the interval counts for what waits,
// too, and the policy for the calls that wait. What a purge has chosen it ends.
func (p *Publisher[V, R]) SetControl(c Control) {
	a := &p.admission
	a.mu.Lock()
	a.settings.limits, a.settings.interval, a.settings.overload = c.Limits, c.Interval, c.Overload
	a.admit()
	a.mu.Unlock()
	p.signal()
}

// FlushAfter makes the loop send everything accepted so far after the given time at
// the latest, without waiting for full batches.
func (p *Publisher[V, R]) FlushAfter(after time.Duration) {
	a := &p.admission
	now := p.now()
	a.mu.Lock()
	if a.flushLater.through == 0 {
		a.flushLater.at = later(now, after)
	} else {
		a.flushLater.at = min(a.flushLater.at, later(now, after))
	}
	a.flushLater.through = a.stats.Accepted
	a.mu.Unlock()
	p.signal()
}

// reportCondition makes the condition known when it has changed.
func (l *loop[V, R]) reportCondition() {
	a := &l.p.admission
	a.mu.Lock()
	if a.ended && !l.shutdown.drained { // a Close that could not wait has closed it
		a.mu.Unlock()
		return
	}
	if len(l.pending.groups) > 0 && !a.ended {
		a.stats.Apart, _, _ = l.pending.heldApart() // what came back is held again only now
	}
	if state := l.state(); a.condition.State != state {
		a.condition = Condition{State: state, Since: time.Now()}
	}
	a.condition.Err = l.why(a.condition.State)
	a.condition.Apart = a.condition.State == Held && l.gate.shut == nil && l.apart() != nil
	a.throttledUntil = l.p.start.Add(l.pace.pausedUntil)
	from, to := l.condition, a.current()
	l.condition = to
	a.mu.Unlock()
	// While it is closing the state stays, and what holds it comes and goes.
	if from.State == to.State && (to.State != Closing || (from.Err == nil) == (to.Err == nil)) {
		return
	}
	l.enterHook()
	l.p.config.Hooks.Changed(from, to)
	l.leaveHook()
}

// state returns what the publisher does but for a pause.
func (l *loop[V, R]) state() State {
	switch {
	case l.shutdown.drained:
		return Closed
	case l.mail.closing:
		return Closing
	case l.gate.shut != nil && l.gate.ready:
		return Ready
	case l.gate.shut != nil, l.apart() != nil, l.noSlots() != nil:
		return Held
	case l.pace.pausedUntil > l.p.now():
		return Throttled
	case l.slotless:
		return Slotless
	}
	return Sending
}

// apart returns why all that there is to send is held apart, or nil.
func (l *loop[V, R]) apart() error {
	if len(l.pending.groups) == 0 || l.pending.count == 0 {
		return nil
	}
	if n, out, why := l.pending.heldApart(); n+out > 0 && n+out == l.pending.keys() { // the first of each key
		return &IndexError{Err: why}
	}
	return nil
}

// why is the reason of a state.
func (l *loop[V, R]) why(s State) error {
	switch {
	case s == Closing && l.pending.count == 0:
		return nil // nothing waits for it
	case s == Closing, s == Held, s == Ready:
		return l.holds() // current adds a pause, which may end while a hook keeps the loop
	case s == Throttled:
		return l.pace.reason
	}
	return nil
}

// held returns why no request may leave, or nil.
func (l *loop[V, R]) held() error {
	if l.settings.paused {
		return ErrPaused
	}
	return l.holds()
}

// holds is held but for a pause.
func (l *loop[V, R]) holds() error {
	if l.gate.shut != nil {
		return l.gate.shut
	}
	if err := l.apart(); err != nil {
		return err
	}
	return l.noSlots()
}

// noSlots returns why there will be no more slots, or nil.
func (l *loop[V, R]) noSlots() error {
	if slots := l.p.config.Slots; slots != nil && l.pending.count > 0 {
		return slots.Err()
	}
	return nil
}
