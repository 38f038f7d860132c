package retry

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Defaults of Options, the same as those of the official senders.
const (
	DefaultMaxRetries = 3
	DefaultDelay      = 800 * time.Millisecond
	DefaultMaxDelay   = time.Minute
)

// Options says how often and how patiently to try again. The zero value is
// ready to use.
type Options struct {
	// MaxRetries is how many times an action is sent again after its first
	// attempt. Defaults to 3, so 4 attempts; negative turns retries off.
	MaxRetries int
	// Delay is the upper bound of the first delay; it doubles with each
	// attempt. Defaults to 800 ms; negative turns waiting off.
	Delay time.Duration
	// MaxDelay caps the growth. It does not cap what a Retry-After header asks
	// for. Defaults to 60 s; negative leaves the growth uncapped.
	MaxDelay time.Duration
	// Jitter is the share of the delay that is random: with 1 the delay is
	// anywhere between zero and its bound ("full jitter"), with 0.2 within the
	// last fifth of it. Defaults to 1; negative turns jitter off.
	Jitter float64
}

// Validate reports everything that is wrong with the options at once.
func (o Options) Validate() error {
	var errs []error
	if o.Jitter > 1 || math.IsNaN(o.Jitter) {
		errs = append(errs, fmt.Errorf("retry: Jitter is %v: use a share between 0 and 1, or a negative number for none", o.Jitter))
	}
	if o.MaxDelay > 0 && o.Delay > o.MaxDelay {
		errs = append(errs, fmt.Errorf("retry: Delay %v is above MaxDelay %v", o.Delay, o.MaxDelay))
	}
	return errors.Join(errs...)
}

// MaxAttempts returns how many times an action is sent at the most, always at
// least 1.
func (o Options) MaxAttempts() int {
	switch {
	case o.MaxRetries < 0:
		return 1
	case o.MaxRetries == 0:
		return DefaultMaxRetries + 1
	case o.MaxRetries == math.MaxInt:
		return math.MaxInt
	}
	return o.MaxRetries + 1
}

// Wait returns how long to wait after the attempt with the given number, from
// 1, failed: a random share of Delay·2^(attempt-1), capped by MaxDelay. It is
// never negative and does not overflow, whatever the number.
func (o Options) Wait(attempt int) time.Duration {
	bound := o.bound(attempt)
	if bound <= 0 {
		return 0
	}
	jitter := o.Jitter
	switch {
	case jitter < 0:
		return bound
	case jitter == 0 || jitter > 1:
		jitter = 1
	}
	// backoff draws from [i-r·i, i+r·i]. With i in the middle of the range that
	// we want, [bound·(1-jitter), bound], and r half of its width over i, that
	// is the full jitter of the AWS architecture blog when jitter is 1.
	middle := float64(bound) * (1 - jitter/2)
	policy := backoff.ExponentialBackOff{
		InitialInterval:     time.Duration(middle),
		RandomizationFactor: float64(bound) * jitter / 2 / middle,
		Multiplier:          1,
		MaxInterval:         bound,
		Clock:               backoff.SystemClock,
	}
	policy.Reset()
	return min(max(policy.NextBackOff(), 0), bound)
}

// bound returns the longest possible wait after the given attempt.
func (o Options) bound(attempt int) time.Duration {
	delay, limit := o.Delay, o.MaxDelay
	if delay == 0 {
		delay = DefaultDelay
	}
	if delay < 0 {
		return 0
	}
	switch {
	case limit == 0:
		limit = max(DefaultMaxDelay, delay)
	case limit < 0:
		limit = math.MaxInt64
	}
	// Doubling one step at a time stops at the cap, so that no shift or power
	// can wrap around (two of the official senders stop waiting at all from the
	// 23rd and the 34th throttle on).
	for range attempt - 1 {
		if delay >= limit/2 {
			return limit
		}
		delay *= 2
	}
	return min(delay, limit)
}
