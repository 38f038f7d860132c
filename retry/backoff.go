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
	defaultMaxRetries = 3
	DefaultDelay      = 800 * time.Millisecond
	DefaultMaxDelay   = time.Minute
)

// Options says how often and how patiently to try again. The zero value is
// ready to use.
type Options struct {
	// MaxRetries is how many times an action is sent again after its first
	// attempt. Defaults to 3, so 4 attempts; negative turns retries off. A buffered
	// sender does not count the attempts at which the service was too busy (503,
	// or 429 for the whole request) as long as it applies something in between.
	MaxRetries int
	// Delay is the upper bound of the first delay; the bound doubles with each
	// attempt. Defaults to 800 ms, or MaxDelay if that is shorter; negative
	// turns waiting off.
	Delay time.Duration
	// MaxDelay caps the growth. It does not cap what a Retry-After header asks
	// for; breaker.MaxRetryAfter does. Defaults to 60 s, or Delay if that
	// is longer; negative leaves the growth uncapped (but for the longest Duration, 292 years).
	MaxDelay time.Duration
	// Jitter is the share of the delay that is random: with 1 the delay is
	// anywhere between zero and its bound ("full jitter"), with 0.2 within the
	// last fifth below it. Defaults to 1; negative turns jitter off.
	Jitter float64
}

// Validate reports everything that is wrong with the options at once, joined
// with errors.Join. The methods below can live with options that it refuses:
// they read a Jitter above 1 as 1, and MaxDelay bounds a longer Delay.
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

// MaxAttempts returns how many times an action is sent at the most, always at
// least 1.
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

// Wait returns how long to wait after the attempt with the given number, from
// 1, failed: Delay·2^(attempt-1), capped by MaxDelay, less a random part of its
// share Jitter. It is never negative and does not overflow, whatever the number
// (one below 1 counts as 1). Wait itself does not wait.
func (o Options) Wait(attempt int) time.Duration {
	bound := o.bound(attempt)
	random := bound // the part of the bound that is left to chance
	switch {
	case o.Jitter < 0:
		return bound
	case o.Jitter > 0 && o.Jitter < 1:
		// This cannot exceed bound, although float64(bound) may: a factor under 1
		// takes off at least one unit in the last place, rounding added half.
		random = time.Duration(float64(bound) * o.Jitter)
	}
	// backoff draws from [i-r·i, i+r·i]. With i in the middle and r = 1 that is
	// [0, random]; with random = bound the full jitter of the AWS architecture
	// blog. Only the random part is drawn: an i near the longest Duration, which
	// a little jitter on a large bound would need, overflows inside backoff.
	policy := backoff.ExponentialBackOff{
		InitialInterval:     random / 2,
		RandomizationFactor: 1,
		Multiplier:          1,
		MaxInterval:         random,
		Clock:               backoff.SystemClock,
	}
	policy.Reset()
	// min keeps the promise of this package independent of backoff's rounding.
	return bound - random + min(policy.NextBackOff(), random)
}

// bound returns the longest possible wait after the given attempt, not negative.
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
	for n := 1; n < attempt; n++ {
		if delay > limit/2 {
			return limit
		}
		delay *= 2
	}
	return min(delay, limit)
}
