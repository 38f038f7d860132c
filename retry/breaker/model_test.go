package breaker_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// model is a naive breaker: it keeps every result of the present state in a list and counts them again each time. It
// has no clock, locks or timer.
//
// Rules of the fuse library and their counterparts, here and in the operations of the tests:
//
//	R01  heal of an unknown fuse: no counterpart, a breaker has no name. The
//	     other half, a timer that fires after it was cancelled, is operation
//	     Sleep after Reset, Disable or Enable
//	R02  heal of a blown fuse: Sleep past Status.Until; it is half-open first
//	R03  install with invalid options: TestNewReportsEveryProblemAtOnce
//	R04  install with valid options: every program starts so. Installing again is
//	     SetOptions, in setoptions_test.go, which keeps the history; Reset empties it
//	R05  reset of an unknown fuse: no counterpart
//	R06  reset of a blown and of an unblown fuse: Reset
//	R07  run on an unblown fuse: Allow, Done(Success)
//	R08  run on a blown fuse: Allow, refused
//	R09  run on an unblown fuse that melts: Allow, Done(Failure)
//	R10  run on an unknown fuse: no counterpart
//	R11  melt of a fuse: Done(Failure) of an allowed request
//	R12  melt of an unknown fuse: no counterpart; closest is Done of a permit that
//	     is outdated or was ended before, which is silent as well
//	R13  blow: Done(Failure) or Done(Trip), closed and as a probe
//	R14  melts leave the window: Sleep of a Window, one tick less, one more
//	R15  ask: Allow and Status
//	R16  ask of an unknown fuse: no counterpart
//	R17  disable: Disable
//	R18  disable of an unknown fuse: no counterpart
//	R19  enable: Enable
//	R20  enable of an unknown fuse: no counterpart
//	R21  melt of a disabled fuse: Done(Failure) after Disable
//	R22  heal command: the same as R02, without any method call
//	R23  delay command: Sleep
type model struct {
	options breaker.Options // with every default filled in
	now     time.Time
	status  breaker.Status
	epoch   int
	log     []logged // results since the last change of state or reset, except late ones
	fails   int      // total of counted failures
	permits []modelPermit
	refused bool // since the probe started
	changes []breaker.Change
}

type logged struct {
	at      time.Time
	result  breaker.Result
	counted bool // for a failure
}

type modelPermit struct {
	granted, probe, ended bool
	epoch                 int
	fails                 int // of the model when it was allowed
}

func newModel(o breaker.Options, now time.Time, permits int) *model {
	m := &model{options: o, now: now, permits: make([]modelPermit, permits)}
	m.status.Since = now
	return m
}

func (m *model) clone() *model {
	c := *m
	c.log, c.permits, c.changes = slices.Clone(m.log), slices.Clone(m.permits), slices.Clone(m.changes)
	return &c
}

func (m *model) sleep(d time.Duration) {
	end := m.now.Add(d)
	if m.status.State == breaker.Open && !end.Before(m.status.Until) {
		m.now = m.status.Until
		m.to(breaker.HalfOpen, m.status.Err)
	}
	m.now = end
}

// allow returns nil, or the status of the refusal.
func (m *model) allow(slot int) *breaker.Status {
	probing := !m.status.Probe.IsZero()
	if m.status.State == breaker.Closed || m.status.State == breaker.HalfOpen && !probing {
		m.status.Counts.Allowed++
		probe := m.status.State == breaker.HalfOpen
		if probe {
			m.status.Probe = m.now
		}
		m.permits[slot] = modelPermit{granted: true, probe: probe, epoch: m.epoch, fails: m.fails}
		return nil
	}
	m.refused = probing
	m.status.Counts.Refused++
	s := m.status
	return &s
}

func (m *model) done(slot int, r breaker.Result) {
	p := &m.permits[slot]
	if !p.granted || p.ended {
		return
	}
	p.ended = true
	late, serving := p.epoch != m.epoch, m.status.State == breaker.Closed || m.status.State == breaker.Disabled
	switch {
	case failed(r):
		m.status.Counts.Failures++
		if m.status.Trouble.IsZero() && (!late || !serving) {
			m.status.Trouble = m.now
		}
	case r.Outcome == breaker.Success:
		m.status.Counts.Successes++
		m.status.Trouble = time.Time{}
	}
	if late {
		m.status.Counts.Ignored++
		return
	}
	counted := failed(r) && (p.probe || r.Outcome == breaker.Trip || p.fails == m.fails)
	m.log = append(m.log, logged{m.now, r, counted})
	if counted {
		m.fails++
	}
	switch {
	case counted && (p.probe || r.Outcome == breaker.Trip || m.full()):
		m.to(breaker.Open, r.Err)
	case p.probe && r.Outcome == breaker.Success:
		m.to(breaker.Closed, nil)
	case p.probe && !failed(r):
		m.status.Probe = time.Time{}
		if m.refused {
			m.changes = append(m.changes, breaker.Change{From: breaker.HalfOpen, To: breaker.HalfOpen, At: m.now, Err: m.status.Err})
		}
		m.refused = false
	}
}

func (m *model) full() bool {
	inWindow, inARow := 0, 0
	for _, l := range m.log {
		if l.counted {
			inARow++
		}
		if l.result.Outcome == breaker.Success {
			inARow = 0
		}
	}
	passed := 0 // since the first of the last failures
	for _, l := range slices.Backward(m.log) {
		if inWindow == m.options.Failures || !l.at.Add(m.options.Window).After(m.now) {
			break
		}
		if l.counted {
			inWindow++
		} else if l.result.Outcome == breaker.Success {
			passed++
		}
	}
	if float64(inWindow) < 0.5*float64(inWindow+passed) {
		inWindow = 0
	}
	return m.options.Failures > 0 && inWindow >= m.options.Failures || m.options.InARow() > 0 && inARow >= m.options.InARow()
}

func (m *model) until() time.Time {
	open := m.now.Sub(m.status.Trouble)
	if open < m.options.OpenFor {
		open = m.options.OpenFor
	}
	if open > m.options.MaxOpenFor {
		open = m.options.MaxOpenFor
	}
	if m.options.Jitter > 0 {
		open -= time.Duration(chance(m.status.Counts.Opened) * m.options.Jitter * float64(open))
	}
	if open < m.options.OpenFor/2 {
		open = m.options.OpenFor / 2
	}
	until := m.now.Add(open)
	for _, l := range slices.Backward(m.log) {
		if l.result.Outcome == breaker.Success {
			break
		}
		if at := l.at.Add(l.result.RetryAfter); failed(l.result) && at.After(until) {
			until = at
		}
	}
	return until
}

func (m *model) to(s breaker.State, err error) {
	m.changes = append(m.changes, breaker.Change{From: m.status.State, To: s, At: m.now, Err: err})
	m.status = breaker.Status{State: s, Since: m.now, Trouble: m.status.Trouble, Err: err, Counts: m.status.Counts}
	if s == breaker.Open {
		m.status.Until = m.until()
		m.status.Counts.Opened++
	}
	m.epoch++
	m.log, m.refused = nil, false
}

func (m *model) disable() {
	if m.status.State != breaker.Disabled {
		m.to(breaker.Disabled, nil)
		m.status.Trouble = time.Time{}
	}
}

func (m *model) enable() {
	if m.status.State == breaker.Disabled {
		m.to(breaker.Closed, nil)
	}
}

func (m *model) reset() {
	if m.status.State != breaker.Disabled {
		m.status.Trouble = time.Time{}
	}
	switch m.status.State {
	case breaker.Disabled:
	case breaker.Closed:
		m.epoch++
		m.log = nil
	default:
		m.to(breaker.Closed, nil)
	}
}

// chance is the random number of the opening with this ordinal.
func chance(opened uint64) float64 {
	_, fraction := math.Modf(0.37 * float64(opened))
	return fraction
}

func failed(r breaker.Result) bool { return r.Outcome == breaker.Failure || r.Outcome == breaker.Trip }

// op is one operation of a random program.
type op struct {
	kind   string
	slot   int            // for Allow: slot of its permit; for Done: which permit
	result breaker.Result // of Done
	sleep  time.Duration  // for Sleep; counted from Until if beyond is set and the breaker is open
	beyond bool
}

func (o op) String() string {
	switch o.kind {
	case "Allow":
		return fmt.Sprintf("Allow → %d", o.slot)
	case "Done":
		return fmt.Sprintf("Done %d %v %v", o.slot, o.result.Outcome, o.result.RetryAfter)
	case "Sleep":
		return fmt.Sprintf("Sleep %v beyond=%t", o.sleep, o.beyond)
	}
	return o.kind
}

// answer is the result of an operation.
type answer struct {
	granted, probe bool
	status         breaker.Status // of a refused Allow, and of Status
	broken         string         // a violated invariant
}

// apply runs o on the model and returns the expected answer.
func (m *model) apply(o op) (a answer) {
	switch o.kind {
	case "Allow":
		if s := m.allow(o.slot); s != nil {
			a.status = *s
			break
		}
		a.granted, a.probe = true, m.permits[o.slot].probe
	case "Done":
		m.done(o.slot, o.result)
	case "Disable":
		m.disable()
	case "Enable":
		m.enable()
	case "Reset":
		m.reset()
	case "Status":
		a.status = m.status
	}
	return a
}

// apply runs o on the breaker. New permits are stored in permits.
func apply(b *breaker.Breaker, permits []*breaker.Permit, o op) (a answer) {
	switch o.kind {
	case "Allow":
		p, err := b.Allow()
		if err != nil {
			var open *breaker.OpenError
			if !errors.As(err, &open) || !errors.Is(err, breaker.ErrOpen) || p != nil {
				a.broken = fmt.Sprintf("refused with %v and %v", p, err)
				break
			}
			a.status = open.Status
			break
		}
		permits[o.slot] = p
		a.granted, a.probe = true, p.Probe()
	case "Done":
		if p := permits[o.slot]; p != nil {
			p.Done(o.result)
		}
	case "Disable":
		b.Disable()
	case "Enable":
		b.Enable()
	case "Reset":
		b.Reset()
	case "Status":
		a.status = b.Status()
	}
	return a
}

func lines[T any](s []T) string {
	var b strings.Builder
	for _, v := range s {
		fmt.Fprintf(&b, "\t%+v\n", v)
	}
	return b.String()
}
