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

	// leastShare is the minimum share of failures among the results since the first failure in the window. If one
	// connection in ten breaks, three failures soon fall into a window although the service works. Successes count one by
	// one, failures that were in flight together once. So if requests are sent one after another, up to half may succeed
	// while the breaker opens. With many in flight it opens only if almost none succeeds; a service that answers half of
	// them keeps receiving all.
	leastShare = 0.5

	// shortestOpenFor keeps the time of waking different from the time of opening on every clock.
	shortestOpenFor = time.Millisecond
)

// MaxRetryAfter bounds every Retry-After in a breaker and in a sender that uses it; a longer one counts as this.
const MaxRetryAfter = 10 * time.Minute

// Options configures a Breaker. nil and the zero value are ready to use. SetOptions changes them later.
type Options struct {
	// Failures is the number of failures that opens the breaker. It opens on the n-th failure inside Window, unless most
	// results since the first of them are successes. It also opens on the n-th consecutive failure at any distance:
	// requests that time out after 60 s one after another never share a window of 5 s. Requests in flight together that
	// fail count as one failure, see the package documentation. Defaults to 3. If negative, only a Trip or a failed probe
	// opens it.
	Failures int
	// Window is the sliding time window for failures: the time between the first and the last of n failures must be
	// shorter. Defaults to 5 s; negative is refused.
	Window time.Duration
	// OpenFor is the minimum time that the breaker stays open before a probe. If the trouble (see Status.Trouble) has
	// lasted longer when it opens, it stays open as long as that, up to MaxOpenFor, less a random share (see Jitter). A
	// longer Retry-After takes precedence. Defaults to 1 s, or MaxOpenFor if that is shorter; less than 1 ms is refused.
	OpenFor time.Duration
	// MaxOpenFor is the maximum time that the breaker stays open, however long the trouble has lasted. It does not bound a
	// Retry-After; MaxRetryAfter does. Defaults to 30 s, or OpenFor if that is longer; less than OpenFor is refused.
	MaxOpenFor time.Duration
	// Jitter is the random share of the open time, so that many processes that lost the service at the same time do not
	// probe it at the same time: with 0.5 the time is between half and all of it. At least half of OpenFor always remains,
	// and a Retry-After is not shortened. Defaults to 0.5; negative turns jitter off; above 1 is refused.
	Jitter float64

	inARow int // 0 for Failures; tests turn it off
}

// Options returns the options in force, with every default filled in.
func (b *Breaker) Options() Options {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.options
}

// SetOptions changes options of a breaker in use and returns the previous ones. A field that is 0 keeps its value, so
// SetOptions with the previous ones restores them; to restore a default set its value. If a value is invalid nothing
// changes, and the error names every invalid option.
//
// The breaker's state, a Disable, the failures in the window, permits and subscribers stay, and subscribers are not
// notified. Failures and Window apply from the next failure on: a lower Failures does not open the breaker at once, and
// failures already removed from the window do not return. OpenFor, MaxOpenFor and Jitter apply from the next opening
// on; an open breaker stays open until Status.Until or Reset.
func (b *Breaker) SetOptions(o Options) (old Options, err error) {
	b.mu.Lock()
	defer b.unlock()
	b.wake(time.Now()) // by the old options
	old = b.options
	filled, err := old.with(o)
	if err != nil {
		return old, fmt.Errorf("breaker: %w", err)
	}
	b.options = filled
	b.window.follow(filled)
	return old, nil
}

// with returns the options with the non-zero fields of other, validated like those of New.
func (o Options) with(other Options) (Options, error) {
	o.Failures = cmp.Or(other.Failures, o.Failures)
	o.Window = cmp.Or(other.Window, o.Window)
	o.OpenFor = cmp.Or(other.OpenFor, o.OpenFor)
	o.MaxOpenFor = cmp.Or(other.MaxOpenFor, o.MaxOpenFor)
	o.Jitter = cmp.Or(other.Jitter, o.Jitter)
	return o.withDefaults()
}

// withDefaults returns a copy of o with every default filled in. The error names every invalid option.
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

// stay returns the time to stay open after trouble of this length. random is in [0, 1).
func (o *Options) stay(trouble time.Duration, random float64) time.Duration {
	longest := min(max(trouble, o.OpenFor), o.MaxOpenFor)
	if o.Jitter < 0 {
		return longest
	}
	// The rounded product of a very long time may slightly exceed it; max corrects that too.
	return max(longest-time.Duration(random*o.Jitter*float64(longest)), o.OpenFor/2)
}
