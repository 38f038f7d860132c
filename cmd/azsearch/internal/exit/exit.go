// Package exit is for the commands of azsearch: the exit codes, each in one place, and errors that carry one.
package exit

import (
	"errors"
	"io/fs"
)

// The exit codes. 0 means that everything that was asked for is done.
const (
	Incomplete  = 1   // it ran, and something was rejected or went wrong on this machine
	Usage       = 2   // it could not begin: flags, a file, a port
	Different   = 2   // apply without -yes, and -drift: the plan on the standard output is not empty
	Service     = 3   // the service refused, or could not be reached
	Interrupted = 130 // SIGINT or SIGTERM ended it
)

// With returns err with an exit code, nil for nil.
func With(code int, err error) error {
	if err == nil {
		return nil
	}
	return &coded{code, err}
}

// Code returns the exit code of an error: that of With; without one Incomplete of a file that cannot be written, the
// standard output too, because something had begun, and Usage of all else; 0 of nil.
func Code(err error) int {
	if err == nil {
		return 0
	}
	if c := (*coded)(nil); errors.As(err, &c) {
		return c.code
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) && p.Op == "write" {
		return Incomplete
	}
	return Usage
}

type coded struct {
	code int
	err  error
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }
