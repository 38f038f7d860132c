// Package doctor is for azsearch doctor: it checks what lies between a program and its search service, and says of each
// part whether it works and what to do. It changes nothing.
package doctor

import (
	"fmt"
	"regexp"
)

// State is the result of a check.
type State string

// The states. Only a failure makes the exit code 1.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failure State = "failure"
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	Says  string `json:"says"`
	Do    string `json:"do,omitempty"` // what helps; "" where all is well
}

// Findings are results in the order of the checks.
type Findings []Finding

var lineEnd = regexp.MustCompile(`\s*\n\s*`)

func (f *Findings) add(state State, check, do, format string, args ...any) {
	*f = append(*f, Finding{check, state, lineEnd.ReplaceAllString(fmt.Sprintf(format, args...), "; "), do})
}

// Ok adds a check that found nothing wrong.
func (f *Findings) Ok(check, format string, args ...any) { f.add(OK, check, "", format, args...) }

// Warn adds what works now and may not later. do says what helps.
func (f *Findings) Warn(check, do, format string, args ...any) {
	f.add(Warning, check, do, format, args...)
}

// Fail adds what does not work. do says what helps.
func (f *Findings) Fail(check, do, format string, args ...any) {
	f.add(Failure, check, do, format, args...)
}

// Count returns how many findings have a state.
func (f Findings) Count(s State) (n int) {
	for _, x := range f {
		if x.State == s {
			n++
		}
	}
	return n
}
