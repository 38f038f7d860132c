package breaker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrOpen matches every refusal of Allow by errors.Is, also if the breaker is disabled or its probe is under way.
var ErrOpen = errors.New("circuit breaker open")

// State is the state of a breaker.
type State uint8

const (
	// Closed allows every request.
	Closed State = iota
	// HalfOpen allows one request, the probe, and refuses others until its result is known.
	HalfOpen
	// Open refuses every request until its time is over.
	Open
	// Disabled refuses every request until Enable.
	Disabled
)

// String returns the name of the state.
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case HalfOpen:
		return "half-open"
	case Open:
		return "open"
	case Disabled:
		return "disabled"
	}
	return "unknown"
}

// Status describes a breaker at one moment.
type Status struct {
	State State
	// Since is the time of the last change of state, or of New.
	Since time.Time
	// Until is when the next probe is allowed. Zero unless the state is Open.
	Until time.Time
	// Probe is the start of the probe under way. Zero without one, or unless the state is HalfOpen.
	Probe time.Time
	// Trouble is the time of the first failure since the last success, of any request in any state. It is zero without one,
	// and after Reset, Disable and Enable. The longer ago it is when the breaker opens, the longer the breaker stays open.
	Trouble time.Time
	// Err is the error of the result that opened the breaker. Nil if the breaker is closed or disabled, or the result had
	// none.
	Err error
	// Counts has the counts since New; Reset, Disable and Enable do not change them.
	Counts Counts
}

// Counts has the counts of a breaker.
type Counts struct {
	Allowed   uint64 // requests allowed, including probes
	Refused   uint64 // requests refused
	Successes uint64 // results of Success, including ignored ones
	Failures  uint64 // results of Failure or Trip, including ignored ones
	Ignored   uint64 // results after a change of state
	Opened    uint64 // changes to Open
}

// OpenError is the refusal of a request.
type OpenError struct {
	// Status is the breaker's status at the refusal, which it includes.
	Status Status
}

// Error returns one line with the start of the refusals, their end, and the reason. Times are in UTC with milliseconds.
func (e *OpenError) Error() string {
	var b strings.Builder
	b.WriteString(ErrOpen.Error())
	s := e.Status
	switch s.State {
	case Disabled:
		fmt.Fprintf(&b, ": disabled since %s until it is enabled", clock(s.Since))
	case HalfOpen:
		if s.Probe.IsZero() {
			fmt.Fprintf(&b, ": it waits for a probe since %s", clock(s.Since))
		} else {
			fmt.Fprintf(&b, ": a probe is under way since %s", clock(s.Probe))
		}
	default:
		fmt.Fprintf(&b, " since %s until %s", clock(s.Since), clock(s.Until))
	}
	if s.Err != nil {
		b.WriteString(": " + oneLine(s.Err))
	}
	return b.String()
}

// Is reports whether target is ErrOpen.
func (e *OpenError) Is(target error) bool { return target == ErrOpen }

// Unwrap returns the error that opened the breaker, or nil.
func (e *OpenError) Unwrap() error { return e.Status.Err }

// clock formats a time as RFC 3339 with milliseconds, because a breaker may be open for less than a second.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// oneLine returns the text of err in one line for a log, without repeated lines: joined errors have a line each, often
// the same one.
func oneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
