package breaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// opened returns the time from opening to the probe.
func opened(t *testing.T, b *breaker.Breaker) time.Duration {
	t.Helper()
	s := b.Status()
	require.Equal(t, breaker.Open, s.State)
	return s.Until.Sub(s.Since)
}

// The trouble is 0, 1, 2, 4, 8, 16 and 32 s old.
func TestItStaysOpenAsLongAsTheTroubleHasLasted(t *testing.T) {
	for name, r := range map[string]breaker.Result{"failure": fail, "trip": trip} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &breaker.Options{Failures: 1, Jitter: -1})
				began := time.Now()
				for _, seconds := range []time.Duration{1, 1, 2, 4, 8, 16, 30, 30} {
					request(t, b, r)
					assert.Equal(t, seconds*time.Second, opened(t, b))
					assert.Equal(t, began, b.Status().Trouble)
					time.Sleep(seconds * time.Second)
				}
				request(t, b, succeed)
				assert.Zero(t, b.Status().Trouble)
				time.Sleep(time.Hour)
				request(t, b, r)
				assert.Equal(t, time.Second, opened(t, b), "a success has ended the trouble")
			})
		})
	}
}

// Three requests that time out after a minute are three minutes of trouble.
func TestTheTroubleBeginsWithTheFirstFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, &breaker.Options{Jitter: -1})
		time.Sleep(time.Hour)
		request(t, b, saysNone)
		time.Sleep(time.Hour)
		request(t, b, fail)
		time.Sleep(2 * time.Second)
		request(t, b, saysNone)
		request(t, b, fail)
		time.Sleep(2500 * time.Millisecond)
		request(t, b, fail)
		assert.Equal(t, 4500*time.Millisecond, opened(t, b))
	})
}

func TestWhatEndsTheTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		between func(b *breaker.Breaker, before *breaker.Permit)
		want    time.Duration
	}{
		"nothing":                         {func(*breaker.Breaker, *breaker.Permit) {}, 20 * time.Second},
		"an inconclusive result":          {func(_ *breaker.Breaker, before *breaker.Permit) { before.Done(saysNone) }, 20 * time.Second},
		"a success of before it opened":   {func(_ *breaker.Breaker, before *breaker.Permit) { before.Done(succeed) }, time.Second},
		"Reset":                           {func(b *breaker.Breaker, _ *breaker.Permit) { b.Reset() }, time.Second},
		"Disable and Enable":              {func(b *breaker.Breaker, _ *breaker.Permit) { b.Disable(); b.Enable() }, time.Second},
		"Reset, then a failure of before": {func(b *breaker.Breaker, before *breaker.Permit) { b.Reset(); before.Done(fail) }, time.Second},
		"Enable after a failure of before": {func(b *breaker.Breaker, before *breaker.Permit) {
			b.Disable()
			before.Done(fail)
			assert.Zero(t, b.Status().Trouble)
			b.Enable()
		}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &breaker.Options{Jitter: -1})
				before := allow(t, b)
				request(t, b, trip)
				time.Sleep(10 * time.Second)
				c.between(b, before)
				time.Sleep(10 * time.Second)
				request(t, b, trip)
				assert.Equal(t, c.want, opened(t, b))
			})
		})
	}
}

// The last request of an outage times out long after the recovery, and then nothing is sent for an hour.
func TestALateFailureBeginsNoTroubleWhenItHasHealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, &breaker.Options{Jitter: -1})
		late := allow(t, b)
		request(t, b, trip)
		time.Sleep(time.Second)
		request(t, b, succeed)
		late.Done(fail)
		assert.Zero(t, b.Status().Trouble)
		time.Sleep(time.Hour)
		request(t, b, trip)
		assert.Equal(t, time.Second, opened(t, b))
	})
}

// A late success while the breaker is open ends the trouble, so a later failure begins another.
func TestALateFailureBeginsTroubleWhileItIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, &breaker.Options{Jitter: -1})
		first, second := allow(t, b), allow(t, b)
		request(t, b, trip)
		time.Sleep(10 * time.Second)
		first.Done(succeed)
		second.Done(fail)
		assert.Equal(t, time.Now(), b.Status().Trouble)
		time.Sleep(5 * time.Second)
		request(t, b, fail)
		assert.Equal(t, 5*time.Second, opened(t, b))
	})
}

func TestJitterTakesARandomShareOffTheOpenTime(t *testing.T) {
	for name, c := range map[string]struct {
		jitter  float64
		random  float64
		trouble time.Duration
		want    time.Duration
	}{
		"none":                              {-1, 0.9, 10 * time.Second, 10 * time.Second},
		"the default is a half":             {0, 0.9, 10 * time.Second, 5500 * time.Millisecond},
		"the smallest random value":         {0.5, 0, 10 * time.Second, 10 * time.Second},
		"a fifth":                           {0.2, 0.5, 10 * time.Second, 9 * time.Second},
		"the cap comes first":               {0.5, 0.5, time.Hour, 22500 * time.Millisecond},
		"half of OpenFor is always left":    {1, 0.999, 10 * time.Second, 500 * time.Millisecond},
		"half of OpenFor, without trouble":  {1, 0.75, 0, 500 * time.Millisecond},
		"a quarter off when there is none":  {1, 0.25, 0, 750 * time.Millisecond},
		"the cap of 30 s, and all of it":    {1, 0, 100 * time.Hour, 30 * time.Second},
		"as long as OpenFor at the longest": {0.5, 0, time.Second / 2, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &breaker.Options{Jitter: c.jitter})
				b.Randomly(func() float64 { return c.random })
				request(t, b, fail)
				time.Sleep(c.trouble)
				request(t, b, trip)
				assert.InDelta(t, c.want, opened(t, b), 1)
			})
		})
	}
}

// If many processes probed at the same instant, the service would get its highest load just after its recovery.
func TestProbesOfManyProcessesAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var early, late int
		for range 400 {
			b := newBreaker(t, nil)
			request(t, b, trip)
			d := opened(t, b)
			assert.LessOrEqual(t, 500*time.Millisecond, d)
			assert.LessOrEqual(t, d, time.Second)
			if d < 750*time.Millisecond {
				early++
			} else {
				late++
			}
			b.Reset()
		}
		assert.Greater(t, early, 100) // 200 ± 10
		assert.Greater(t, late, 100)
	})
}
