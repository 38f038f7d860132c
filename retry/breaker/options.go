package breaker

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"
)

// Defaults of Options.
const (
	defaultFailures   = 3
	defaultWindow     = 5 * time.Second
	defaultOpenFor    = time.Second
	defaultMaxOpenFor = 30 * time.Second
	defaultJitter     = 0.5

	// leastShare is how many of the results since the first of the failures in the window
	// must be failures too. Where one connection in ten breaks, three failures soon fall
	// into a window, and the service still works. Successes are counted one by one,
	// failures that were in flight together once. So of requests that are sent one after
	// the other up to half may succeed while the breaker opens; with many in flight it
	// opens only when next to none succeeds, and a service that answers half of them
	// keeps getting all of them.
	leastShare = 0.5

	// shortestOpenFor keeps the moment of waking apart from the moment of
	// opening on every clock.
	shortestOpenFor = time.Millisecond
)

// MaxRetryAfter is the longest Retry-After that a breaker obeys, and a sender that uses
// it; a longer one is taken for this.
const MaxRetryAfter = 10 * time.Minute

// Options configures a Breaker. nil and the zero value are ready to use. SetOptions changes
// them later.
type Options struct {
	// Failures opens the breaker: it opens on the n-th failure inside Window unless
	// most of the results since the first of them are successes, and on the n-th
	// failure without a success in between, however far apart they are: requests
	// that time out after 60 s one after the other never share a window of 5 s.
	// Requests that were in flight together and fail count as one failure; see
	// the package documentation. Defaults to 3; negative turns it off: then only a
	// result of Trip opens it, and a probe that fails.
	Failures int
	// Window is the time that the failures have to fall into. It slides: what
	// counts is the distance between the first of n failures and the last, which
	// must be shorter. Defaults to 5 s; negative is refused.
	Window time.Duration
	// OpenFor is the shortest time that the breaker stays open before it lets a
	// probe through. It stays open as long as the trouble (see Status.Trouble) has
	// lasted when it opens, if that is longer, up to MaxOpenFor, less a random
	// share (see Jitter). A Retry-After that is longer wins. Defaults to 1 s, or
	// MaxOpenFor if that is shorter; less than 1 ms is refused.
	OpenFor time.Duration
	// MaxOpenFor is the longest time that the breaker stays open by its own
	// choice, however long the trouble has lasted. It does not limit a
	// Retry-After, which counts up to MaxRetryAfter. Defaults to 30 s, or OpenFor if that is
	// longer; less than OpenFor is refused.
	MaxOpenFor time.Duration
	// Jitter is the share of the open time that is random, so that many processes
	// that lost the service at the same moment do not probe it at the same moment:
	// with 0.5 the time is anywhere between half of it and all of it. It never
	// takes off so much that less than half of OpenFor is left, and it takes
	// nothing off a Retry-After. Defaults to 0.5; negative turns jitter off; above
	// 1 is refused.
	Jitter float64

	inARow int // 0 for Failures; tests turn it off
}

// Options returns the options in force, with every default filled in.
func (b *Breaker) Options() Options {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.options
}

// SetOptions changes options of a breaker that is in use and returns the old ones. A
// field that is 0 stays as it is, so SetOptions of the old ones undoes it; for a default
// give its number. If a value cannot be used nothing is changed, and the error names
// every problem.
//
// What the breaker knows and does stays: its state, a Disable, the failures in the window,
// the permits, the subscribers, who are not notified. Failures and Window count
// from the next failure on: fewer of them than have been counted already do not open
// it, the next one does, and those that were too old or too many to be kept are not
// remembered again. OpenFor, MaxOpenFor and Jitter count from the next opening on; one
// that is open stays so until Status.Until, or Reset.
func (b *Breaker) SetOptions(o Options) (old Options, err error) {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now()) // by the old ones
	old = b.options
	filled, err := old.with(o)
	if err != nil {
		return old, fmt.Errorf("breaker: %w", err)
	}
	b.options = filled
	b.window.follow(filled)
	return old, nil
}

// with returns the options with those of other that are given, which are validated as those
// of New are.
func (o Options) with(other Options) (Options, error) {
	o.Failures = cmp.Or(other.Failures, o.Failures)
	o.Window = cmp.Or(other.Window, o.Window)
	o.OpenFor = cmp.Or(other.OpenFor, o.OpenFor)
	o.MaxOpenFor = cmp.Or(other.MaxOpenFor, o.MaxOpenFor)
	o.Jitter = cmp.Or(other.Jitter, o.Jitter)
	return o.withDefaults()
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
		c.Failures = defaultFailures
	}
	if c.Window < 0 {
		errs = append(errs, fmt.Errorf("%s is %v: use a positive time, or 0 for the default of %v", "Window", c.Window, defaultWindow))
	}
	if c.Window == 0 {
		c.Window = defaultWindow
	}
	if c.Jitter > 1 || math.IsNaN(c.Jitter) {
		errs = append(errs, fmt.Errorf("%s is %v: use a share up to 1, 0 for the default of %v, or a negative number for none", "Jitter", c.Jitter, defaultJitter))
	}
	if c.Jitter == 0 {
		c.Jitter = defaultJitter
	}
	return c, errors.Join(append(errs, c.openTimes())...)
}

// openTimes fills in OpenFor and MaxOpenFor, whose defaults depend on each other.
func (o *Options) openTimes() error {
	if o.MaxOpenFor != 0 && o.MaxOpenFor < shortestOpenFor {
		return fmt.Errorf("%s is %v: use at least %v, or 0 for the default of %v",
			"MaxOpenFor", o.MaxOpenFor, shortestOpenFor, defaultMaxOpenFor)
	}
	if o.OpenFor != 0 && o.OpenFor < shortestOpenFor {
		return fmt.Errorf("%s is %v: use at least %v, or 0 for the default of %v", "OpenFor", o.OpenFor, shortestOpenFor, defaultOpenFor)
	}
	if o.MaxOpenFor == 0 {
		o.MaxOpenFor = max(defaultMaxOpenFor, o.OpenFor)
	}
	if o.OpenFor == 0 {
		o.OpenFor = min(defaultOpenFor, o.MaxOpenFor)
	}
	if o.MaxOpenFor < o.OpenFor {
		return fmt.Errorf("%s %v is below OpenFor %v: raise the one or lower the other", "MaxOpenFor", o.MaxOpenFor, o.OpenFor)
	}
	return nil
}

// stay returns how long to stay open when the trouble has lasted so long. random
// is in [0, 1).
func (o *Options) stay(trouble time.Duration, random float64) time.Duration {
	longest := min(max(trouble, o.OpenFor), o.MaxOpenFor)
	if o.Jitter < 0 {
		return longest
	}
	// Rounded, the product of a very long time may exceed it by a little: max
	// mends that too.
	return max(longest-time.Duration(random*o.Jitter*float64(longest)), o.OpenFor/2)
}
