package retry

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Defaults of Options, the same as those of Microsoft's senders.
const (
	defaultMaxRetries = 3
	DefaultDelay      = 800 * time.Millisecond
	DefaultMaxDelay   = time.Minute
)

// Options sets the number of retries and the delays between them. The zero value is ready to use.
type Options struct {
	// MaxRetries is the number of retries of an action after its first attempt. Defaults to 3, so 4 attempts; negative
	// turns retries off. A buffered sender does not count attempts at which the service was too busy (503, or 429 for the
	// whole request) as long as the service applies other actions in between.
	MaxRetries int
	// Delay is the upper bound of the first delay; the bound doubles with each attempt. Defaults to 800 ms, or MaxDelay if
	// that is shorter; negative means no delay.
	Delay time.Duration
	// MaxDelay bounds the delay. It does not bound a Retry-After header; breaker.MaxRetryAfter does. Defaults to 60 s, or
	// Delay if that is longer; negative means no bound but the longest Duration, 292 years.
	MaxDelay time.Duration
	// Jitter is the random share of the delay: with 1 the delay is between zero and its bound ("full jitter"), with 0.2
	// within the last fifth below the bound. Defaults to 1; negative turns jitter off.
	Jitter float64
}

// Validate returns every error of the options, joined by errors.Join. The methods below accept invalid options: they
// treat a Jitter above 1 as 1, and bound a longer Delay by MaxDelay.
func (o Options) Validate() error {
	var errs []error
	if o.Jitter > 1 || math.IsNaN(o.Jitter) {
		errs = append(errs, fmt.Errorf("retry: Jitter is %v: use a share between 0 and 1, or a negative number for none", o.Jitter))
	}
	if o.MaxDelay > 0 && o.Delay > o.MaxDelay {
		errs = append(errs, fmt.Errorf("retry: Delay %v is above MaxDelay %v: lower the one or raise the other", o.Delay, o.MaxDelay))
	}
	return errors.Join(errs...)
}

// MaxAttempts returns the maximum number of attempts of an action, at least 1.
func (o Options) MaxAttempts() int {
	switch {
	case o.MaxRetries < 0:
		return 1
	case o.MaxRetries == 0:
		return defaultMaxRetries + 1
	case o.MaxRetries == math.MaxInt:
		return math.MaxInt
	}
	return o.MaxRetries + 1
}

// Wait returns the delay after a failed attempt, numbered from 1: Delay·2^(attempt-1), bounded by MaxDelay, less a
// random part of the share Jitter. A number below 1 counts as 1. The delay is never negative and does not overflow.
// Wait does not block.
func (o Options) Wait(attempt int) time.Duration {
	bound := o.bound(attempt)
	random := bound // the random part of the bound
	switch {
	case o.Jitter < 0:
		return bound
	case o.Jitter > 0 && o.Jitter < 1:
		// This cannot exceed bound, although float64(bound) may: a factor below 1 takes off at least one unit in the last
		// place, and rounding added half a unit.
		random = time.Duration(float64(bound) * o.Jitter)
	}
	// backoff draws from [i-r·i, i+r·i], which is [0, random] with i = random/2 and r = 1. With random = bound that is the
	// full jitter of the AWS architecture blog. Only the random part is drawn: an i near the longest Duration, as a little
	// jitter on a large bound would need, overflows inside backoff.
	policy := backoff.ExponentialBackOff{
		InitialInterval:     random / 2,
		RandomizationFactor: 1,
		Multiplier:          1,
		MaxInterval:         random,
		Clock:               backoff.SystemClock,
	}
	policy.Reset()
	// min keeps the bound independent of the rounding in backoff.
	return bound - random + min(policy.NextBackOff(), random)
}

// bound returns the longest possible delay after an attempt, never negative.
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
	// Doubling step by step stops at the bound, so no shift or power can overflow. (Two of Microsoft's senders stop waiting
	// from the 23rd and the 34th throttled attempt on.)
	for n := 1; n < attempt; n++ {
		if delay > limit/2 {
			return limit
		}
		delay *= 2
	}
	return min(delay, limit)
}
