package breaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

func TestRetryAfterLengthensTheOpenTime(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		first   time.Duration // of a failure 2 s before the one that opens
		between breaker.Result
		last    time.Duration
		want    time.Duration // from the last one on
	}{
		"none":                         {want: 30 * s},
		"shorter":                      {last: 29 * s, want: 30 * s},
		"longer":                       {last: 31 * s, want: 31 * s},
		"negative":                     {last: -31 * s, want: 30 * s},
		"up to the cap":                {last: 601 * s, want: 600 * s},
		"longer of an earlier failure": {first: 100 * s, want: 98 * s},
		"the later moment, not the longer time": {
			first: 100 * s, last: 99 * s, want: 99 * s},
		"forgotten after a success":  {first: 100 * s, between: succeed, want: 30 * s},
		"kept after a neutral reply": {first: 100 * s, between: saysNone, want: 98 * s},
		"ignored in a neutral reply": {
			between: breaker.Result{Outcome: breaker.Neutral, RetryAfter: 100 * s}, want: 30 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &breaker.Options{OpenFor: 30 * s, Jitter: -1})
				request(t, b, fail)
				request(t, b, breaker.Result{Outcome: breaker.Failure, RetryAfter: c.first})
				time.Sleep(s)
				if c.between != (breaker.Result{}) || name == "forgotten after a success" {
					request(t, b, c.between)
				}
				time.Sleep(s)
				opened := time.Now()
				request(t, b, breaker.Result{Outcome: breaker.Failure, RetryAfter: c.last})
				require.Equal(t, breaker.Open, state(b))
				assert.Equal(t, c.want, b.Status().Until.Sub(opened))
				time.Sleep(c.want - time.Nanosecond)
				refuses(t, b)
				time.Sleep(time.Nanosecond)
				assert.True(t, allow(t, b).Probe())
			})
		})
	}
}

func TestTheRetryAfterOfAProbeCountsAndThenIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		request(t, b, trip)
		time.Sleep(30 * time.Second)
		request(t, b, breaker.Result{Outcome: breaker.Failure, RetryAfter: time.Minute})
		assert.Equal(t, time.Now().Add(time.Minute), b.Status().Until)
		b.Reset()
		request(t, b, trip)
		assert.Equal(t, time.Now().Add(30*time.Second), b.Status().Until)
	})
}

func TestARetryAfterIsAFloorNotACeiling(t *testing.T) {
	for name, c := range map[string]struct{ retryAfter, want time.Duration }{
		"0, as of a date in the past": {0, 20 * time.Second},
		"shorter than it would stay":  {time.Second, 20 * time.Second},
		"longer":                      {40 * time.Second, 40 * time.Second},
		"longer than MaxRetryAfter":   {time.Hour, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &breaker.Options{Jitter: -1})
				request(t, b, fail)
				time.Sleep(20 * time.Second)
				request(t, b, breaker.Result{Outcome: breaker.Trip, RetryAfter: c.retryAfter})
				assert.Equal(t, c.want, opened(t, b))
			})
		})
	}
}
