package publisher

import (
	"context"
	"fmt"
	"time"
)

// State is the activity of a publisher, or the obstacle to sending.
type State uint8

// The states. If several apply, the last one counts.
const (
	Sending   State = iota
	Slotless        // a request is ready, but others have all slots
	Throttled       // a reply asked for a pause that has not ended
	Ready           // the gate is shut and waits for a probe
	Held            // the gate is shut, the index refuses everything that waits, or there are no more slots
	Paused          // by Pause
	Closing         // draining
	Closed
)

// Condition is a state with its start and reason.
type Condition struct {
	State State
	Since time.Time
	// Err is the reason: a throttling reply, or the gate. While Closing it is the reason why the publisher is also paused
	// or held, or nil.
	Err error
	// Until is when the pause of Throttled ends.
	Until time.Time
	// Apart is true if State is Held only because all waiting items are set apart; new items may pass.
	Apart bool
	// Silent is how long no request was answered since one was sent. A request that timed out does not end the silence
	// while something is left to send.
	Silent time.Duration
	// Busy is how long a hook has kept the loop, during which nothing is sent. In is the name of the hook, as returned by
	// Hooks.Name.
	Busy time.Duration
	In   string
	// guest is the first running foreign code that actions wait for, or nil.
	guest *guest
	// roomless is how long a call has waited for room that other publishers have.
	roomless time.Duration
}

// Held returns the reason why no request may be sent until something changes, or nil.
func (c Condition) Held() error {
	if c.State == Throttled {
		return nil // it ends without intervention
	}
	return c.Err
}

// Beyond returns the reason if nothing may be sent before the deadline of ctx because of a pause, or nil.
func (c Condition) Beyond(ctx context.Context) error {
	if deadline, has := ctx.Deadline(); !has || !c.Until.After(deadline) {
		return nil
	}
	return c.pause()
}

// pause returns why nothing is sent in Throttled.
func (c Condition) pause() error {
	return fmt.Errorf("sending pauses until %s: %w", c.Until.UTC().Format(time.RFC3339), c.Err)
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

// current returns the condition, including a pause that the loop has not seen yet because of a hook. The lock is held.
func (a *admission[V]) current() Condition {
	c := a.condition
	c.Silent = a.silence()
	switch {
	case a.settings.paused && c.State < Paused:
		return Condition{State: Paused, Since: a.changedAt, Err: ErrPaused}
	case c.State == Throttled && !a.throttledUntil.After(time.Now()):
		return Condition{State: Sending, Since: a.throttledUntil, Silent: c.Silent}
	case c.State == Throttled:
		c.Until = a.throttledUntil
	case a.settings.paused && c.State == Closing:
		c.Err = ErrPaused
	case c.State < Paused && a.changedAt.After(c.Since):
		c.Since = a.changedAt // by Resume
	}
	return c
}

// answered records that a request was answered. The lock is held.
func (a *admission[V]) answered() {
	if a.silent = (time.Time{}); a.stats.InFlight > 0 {
		a.silent = time.Now()
	}
}

// Pause suspends all sending until Resume. Requests in flight continue.
func (p *Publisher[V, R]) Pause() { p.setPaused(true) }

// Resume ends a Pause, and a pause that the service asked for.
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

// SetControl changes the settings. Limits apply from the next batch on; accepted items stay accepted. The interval also
// applies to waiting items, and the policy to waiting calls. A purge that has started is completed.
func (p *Publisher[V, R]) SetControl(c Control) {
	a := &p.admission
	a.mu.Lock()
	a.settings.limits, a.settings.interval, a.settings.overload = c.Limits, c.Interval, c.Overload
	a.admit()
	a.mu.Unlock()
	p.signal()
}

// FlushAfter makes the loop send everything accepted so far within the given time, without waiting for full batches.
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

// reportCondition reports the condition if it has changed.
func (l *loop[V, R]) reportCondition() {
	a := &l.p.admission
	a.mu.Lock()
	if a.ended && !l.shutdown.drained { // set by a Close that stopped waiting
		a.mu.Unlock()
		return
	}
	if len(l.pending.groups) > 0 && !a.ended {
		a.stats.Apart, _, _ = l.pending.heldApart() // returned items have only now been set apart again
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
	// The state stays Closing, but the reason may come and go.
	if from.State == to.State && (to.State != Closing || (from.Err == nil) == (to.Err == nil)) {
		return
	}
	l.enterHook()
	l.p.config.Hooks.Changed(from, to)
	l.leaveHook()
}

// state returns the state without a pause.
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

// apart returns the reason if everything to be sent is set apart, otherwise nil.
func (l *loop[V, R]) apart() error {
	if len(l.pending.groups) == 0 || l.pending.count == 0 {
		return nil
	}
	if n, out, why := l.pending.heldApart(); n+out > 0 && n+out == l.pending.keys() { // the first one of each key
		return &IndexError{Err: why}
	}
	return nil
}

// why returns the reason of a state.
func (l *loop[V, R]) why(s State) error {
	switch {
	case s == Closing && l.pending.count == 0:
		return nil // nothing waits
	case s == Closing, s == Held, s == Ready:
		return l.holds() // current adds a pause, which may end while a hook keeps the loop
	case s == Throttled:
		return l.pace.reason
	}
	return nil
}

// held returns why no request may be sent, or nil.
func (l *loop[V, R]) held() error {
	if l.settings.paused {
		return ErrPaused
	}
	return l.holds()
}

// holds is held without a pause.
func (l *loop[V, R]) holds() error {
	if l.gate.shut != nil {
		return l.gate.shut
	}
	if err := l.apart(); err != nil {
		return err
	}
	return l.noSlots()
}

// noSlots returns why there are no more slots, or nil.
func (l *loop[V, R]) noSlots() error {
	if slots := l.p.config.Slots; slots != nil && l.pending.count > 0 {
		return slots.Err()
	}
	return nil
}
