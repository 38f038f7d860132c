package publisher

import "time"

// State is what a publisher does, or what keeps it from doing it.
type State uint8

// The states. Of several that are true the last one counts.
const (
	Sending   State = iota
	Throttled       // the last reply asked for less
	Held            // the gate is shut
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
	return p.admission.current()
}

// current returns the condition with the pause that lies over it, also one that
// the loop has not seen yet because a hook keeps it. The lock is held.
func (a *admission[V]) current() Condition {
	c := a.condition
	switch {
	case a.paused && c.State < Paused:
		return Condition{State: Paused, Since: a.turnedAt, Err: ErrPaused}
	case a.paused && c.State == Closing:
		c.Err = ErrPaused
	case c.State < Paused && a.turnedAt.After(c.Since):
		c.Since = a.turnedAt // of Resume
	}
	return c
}

// Pause holds all sending until Resume. Requests under way go on.
func (p *Publisher[V, R]) Pause() { p.setPaused(true) }

// Resume ends a Pause.
func (p *Publisher[V, R]) Resume() { p.setPaused(false) }

func (p *Publisher[V, R]) setPaused(paused bool) {
	a := &p.admission
	a.mu.Lock()
	if a.paused != paused {
		a.paused, a.turnedAt = paused, time.Now()
	}
	a.mu.Unlock()
	p.signal()
}

// Limits returns the limits in force.
func (p *Publisher[V, R]) Limits() Limits {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	return p.admission.limits
}

// SetLimits replaces the limits and returns the old ones. change is called with
// a lock held; it returns the new limits. They count from the next batch on; what was
// accepted under wider limits stays accepted.
func (p *Publisher[V, R]) SetLimits(change func(old Limits) (Limits, error)) (old Limits, err error) {
	a := &p.admission
	a.mu.Lock()
	defer func() {
		a.mu.Unlock()
		p.signal()
	}()
	old = a.limits
	limits, err := change(old)
	if err != nil {
		return old, err
	}
	a.limits = limits
	a.admit()
	return old, nil
}

// Hasten makes the loop send everything accepted so far after the given time at
// the latest, without waiting for full batches.
func (p *Publisher[V, R]) Hasten(after time.Duration) {
	a := &p.admission
	now := p.now()
	a.mu.Lock()
	if a.hastened == 0 {
		a.hastenAt = later(now, after)
	} else {
		a.hastenAt = min(a.hastenAt, later(now, after))
	}
	a.hastened = a.stats.Accepted
	a.mu.Unlock()
	p.signal()
}

// note makes the condition known when it has changed.
func (l *loop[V, R]) note() {
	a := &l.p.admission
	a.mu.Lock()
	if a.ended && !l.drained { // a Close that could not wait has closed it
		a.mu.Unlock()
		return
	}
	if state := l.state(); a.condition.State != state {
		a.condition = Condition{State: state, Since: time.Now()}
	}
	a.condition.Err = l.why(a.condition.State)
	from, to := l.condition, a.current()
	l.condition = to
	a.mu.Unlock()
	if from.State == to.State {
		return
	}
	l.progress.Add(1)
	l.p.config.Hooks.Changed(from, to)
	l.progress.Add(1)
}

// state returns what the publisher does but for a pause.
func (l *loop[V, R]) state() State {
	switch {
	case l.drained:
		return Closed
	case l.closing:
		return Closing
	case l.shut != nil:
		return Held
	case l.pauses > 0:
		return Throttled
	}
	return Sending
}

// why is the reason of a state.
func (l *loop[V, R]) why(s State) error {
	switch s {
	case Closing, Held:
		return l.shut
	case Throttled:
		return l.throttledBy
	}
	return nil
}

// held returns why no request may leave, or nil.
func (l *loop[V, R]) held() error {
	if l.paused {
		return ErrPaused
	}
	return l.shut
}
