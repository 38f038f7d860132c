package breaker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrOpen is what errors.Is finds in every refusal of Allow, also of a breaker
// that is disabled or whose probe is under way.
var ErrOpen = errors.New("circuit breaker open")

// State is what a breaker does with requests.
type State uint8

const (
	// Closed lets every request through.
	Closed State = iota
	// HalfOpen lets one request through, the probe, and refuses the others until
	// its result is known.
	HalfOpen
	// Open refuses every request until its time is up.
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

// Status is what a breaker says about itself.
type Status struct {
	State State
	// Since is when it came into this state; for one that never changed, when it
	// was made.
	Since time.Time
	// Until is when the probe may go. It is zero unless the state is Open.
	Until time.Time
	// Probe is when the probe that is under way started. It is zero unless the
	// state is HalfOpen and there is one.
	Probe time.Time
	// Trouble is when the first failure since the last success was reported, of
	// any request and in whatever state; zero if there was none, and after Reset,
	// Disable and Enable. The longer ago it is when the breaker opens, the longer
	// it stays open.
	Trouble time.Time
	// Err is the error of the result that opened it. It is nil when the breaker
	// is closed or disabled, or when that result had none.
	Err error
	// Counts is what has happened since the breaker was made; Reset, Disable and
	// Enable leave it alone.
	Counts Counts
}

// Counts is how often things happened.
type Counts struct {
	Allowed   uint64 // requests let through, probes included
	Refused   uint64 // requests refused
	Successes uint64 // results of Success, the ignored ones too
	Failures  uint64 // results of Failure or Trip, the ignored ones too
	Ignored   uint64 // results that came after the state had changed
	Opened    uint64 // changes to Open
}

// OpenError is the refusal of a request.
type OpenError struct {
	// Status is the breaker's when it refused, the refusal counted.
	Status Status
}

// Error says in one line since when the breaker refuses requests, until when,
// and why. Times are in UTC, with milliseconds.
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

// clock is RFC 3339 with milliseconds: a breaker may be open for less than a
// second.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// oneLine returns the text of err with no line twice, and fit for a log: errors
// that were joined are a line each, and often the same one.
func oneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
