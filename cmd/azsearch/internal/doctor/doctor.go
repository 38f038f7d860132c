// Package doctor implements azsearch doctor: it checks each part between a program and its search service, and
// returns findings with advice. It changes nothing.
package doctor

import (
	"fmt"
	"regexp"
)

// State is the result of a check.
type State string

// The states. Only Failure causes exit code 1.
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
	Do    string `json:"do,omitempty"` // advice; "" if the check found no problem
}

// Findings are results in the order of the checks.
type Findings []Finding

var lineEnd = regexp.MustCompile(`\s*\n\s*`)

func (f *Findings) add(state State, check, do, format string, args ...any) {
	*f = append(*f, Finding{check, state, lineEnd.ReplaceAllString(fmt.Sprintf(format, args...), "; "), do})
}

// Ok adds a check without a problem.
func (f *Findings) Ok(check, format string, args ...any) { f.add(OK, check, "", format, args...) }

// Warn adds a problem that may cause a failure later. do is advice.
func (f *Findings) Warn(check, do, format string, args ...any) {
	f.add(Warning, check, do, format, args...)
}

// Fail adds a failure. do is advice.
func (f *Findings) Fail(check, do, format string, args ...any) {
	f.add(Failure, check, do, format, args...)
}

// Count returns the number of findings in state s.
func (f Findings) Count(s State) (n int) {
	for _, x := range f {
		if x.State == s {
			n++
		}
	}
	return n
}
