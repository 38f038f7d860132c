package breaker

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Defaults of Options.
const (
	DefaultFailures   = 3
	DefaultWindow     = 5 * time.Second
	DefaultShare      = 0.5
	DefaultOpenFor    = 30 * time.Second
	DefaultMaxOpenFor = 10 * time.Minute

	// shortestOpenFor keeps the moment of waking apart from the moment of
	// opening on every clock.
	shortestOpenFor = time.Millisecond
)

// Options configures a Breaker. nil and the zero value are ready to use.
type Options struct {
	// Failures opens the breaker: it opens on the n-th failure inside Window.
	// Defaults to 3; negative turns it off, and InARow too unless that is set:
	// then only a result of Trip opens it, and a probe that fails.
	Failures int
	// Window is the time that the failures have to fall into. It slides: what
	// counts is the distance between the first of n failures and the last, which
	// must be shorter. Defaults to 5 s; negative is refused.
	Window time.Duration
	// Share is how many of the results since the first of those n failures, from 0
	// to 1, must be failures too. Where one connection in ten breaks, three
	// failures soon fall into a window, and the service still works. Defaults to
	// 0.5; negative turns it off: only the number counts.
	Share float64
	// InARow opens the breaker too: on the n-th failure without a success in
	// between, however far apart they are. Requests that time out after 60 s one
	// after the other never share a window of 5 s. Defaults to Failures; negative
	// turns it off.
	InARow int
	// OpenFor is how long the breaker stays open before it lets a probe through.
	// A Retry-After that is longer wins, up to MaxOpenFor. Defaults to 30 s; less
	// than 1 ms is refused.
	OpenFor time.Duration
	// MaxOpenFor is the longest Retry-After that is obeyed, by the senders that
	// use the breaker too; a longer one is taken for this. It does not shorten
	// OpenFor. Defaults to 10 min; negative turns the limit off.
	MaxOpenFor time.Duration
}

// withDefaults returns a copy of o with every default filled in, or an error
// that names every problem at once.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	var errs []error
	if c.Failures == 0 {
		c.Failures = DefaultFailures
	}
	if c.InARow == 0 {
		c.InARow = c.Failures
	}
	if c.Window < 0 {
		errs = append(errs, fmt.Errorf("%s is %v: use a positive time, or 0 for the default of %v", "Window", c.Window, DefaultWindow))
	}
	if c.Window == 0 {
		c.Window = DefaultWindow
	}
	if c.Share > 1 || math.IsNaN(c.Share) {
		errs = append(errs, fmt.Errorf("a Share of %v: use a share up to 1, 0 for the default of %v, or a negative number for none", c.Share, DefaultShare))
	}
	if c.Share == 0 {
		c.Share = DefaultShare
	}
	if c.OpenFor == 0 {
		c.OpenFor = DefaultOpenFor
	}
	if c.OpenFor < shortestOpenFor {
		errs = append(errs, fmt.Errorf("%s is %v: use at least %v, or 0 for the default of %v", "OpenFor", c.OpenFor, shortestOpenFor, DefaultOpenFor))
	}
	if c.MaxOpenFor == 0 {
		c.MaxOpenFor = DefaultMaxOpenFor
	}
	return c, errors.Join(errs...)
}
