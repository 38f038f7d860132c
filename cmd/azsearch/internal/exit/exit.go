// Package exit has the exit codes of azsearch, and errors that carry one.
package exit

import (
	"errors"
	"io/fs"
)

// The exit codes. 0 means that the command did everything.
const (
	Incomplete  = 1   // it ran, but something was rejected, or failed on this machine
	Usage       = 2   // it could not start: flags, a file, a port
	Different   = 2   // apply without -yes, or -drift: the plan on stdout has changes
	Service     = 3   // the service refused a request, or could not be reached
	Interrupted = 130 // SIGINT or SIGTERM
)

// With returns err with an exit code, nil for nil.
func With(code int, err error) error {
	if err == nil {
		return nil
	}
	return &coded{code, err}
}

// Code returns the exit code of an error: 0 for nil, else that of With. Without one it is Incomplete for a failed
// write to a file or stdout, because the command had started, else Usage.
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
