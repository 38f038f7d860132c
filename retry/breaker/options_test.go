package breaker_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

func TestNewReportsEveryProblemAtOnce(t *testing.T) {
	b, err := breaker.New(&breaker.Options{Window: -time.Second, OpenFor: time.Millisecond - 1})
	require.Nil(t, b)
	assert.EqualError(t, err, "breaker: Window is -1s: use a positive time, or 0 for the default of 5s\n"+
		"OpenFor is 999.999µs: use at least 1ms, or 0 for the default of 1s")
	_, err = breaker.New(&breaker.Options{OpenFor: -1})
	assert.EqualError(t, err, "breaker: OpenFor is -1ns: use at least 1ms, or 0 for the default of 1s")
	_, err = breaker.New(&breaker.Options{Jitter: 1.5, MaxOpenFor: -1})
	assert.EqualError(t, err, "breaker: Jitter is 1.5: use a share up to 1, 0 for the default of 0.5, or a negative number for none\n"+
		"MaxOpenFor is -1ns: use at least 1ms, or 0 for the default of 30s")
	_, err = breaker.New(&breaker.Options{Jitter: math.NaN(), OpenFor: time.Minute, MaxOpenFor: time.Second})
	assert.EqualError(t, err, "breaker: Jitter is NaN: use a share up to 1, 0 for the default of 0.5, or a negative number for none\n"+
		"MaxOpenFor 1s is below OpenFor 1m0s: raise the one or lower the other")
	newBreaker(t, &breaker.Options{Window: 1, OpenFor: time.Millisecond, MaxOpenFor: time.Millisecond, Jitter: 1})
}

func TestOpenForAndMaxOpenForGiveWayToEachOtherUnlessBothAreSet(t *testing.T) {
	for name, c := range map[string]struct {
		options         breaker.Options
		first, sustains time.Duration
	}{
		"none is set":              {breaker.Options{}, time.Second, 30 * time.Second},
		"a MaxOpenFor below 1 s":   {breaker.Options{MaxOpenFor: time.Millisecond}, time.Millisecond, time.Millisecond},
		"an OpenFor above 30 s":    {breaker.Options{OpenFor: time.Hour}, time.Hour, time.Hour},
		"both":                     {breaker.Options{OpenFor: 2 * time.Second, MaxOpenFor: 5 * time.Second}, 2 * time.Second, 5 * time.Second},
		"both, and they are equal": {breaker.Options{OpenFor: time.Minute, MaxOpenFor: time.Minute}, time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.options.Jitter = -1
				b := newBreaker(t, &c.options)
				request(t, b, trip)
				assert.Equal(t, c.first, time.Until(b.Status().Until))
				time.Sleep(2 * time.Hour)
				request(t, b, fail)
				assert.Equal(t, c.sustains, time.Until(b.Status().Until))
				b.Reset()
			})
		})
	}
}

func TestNewLeavesTheOptionsAlone(t *testing.T) {
	o := breaker.Options{Failures: 7}
	b := newBreaker(t, &o)
	assert.Equal(t, breaker.Options{Failures: 7}, o)
	o.Failures = 1
	request(t, b, fail)
	assert.Equal(t, breaker.Closed, state(b))
}

func TestTheDefaultsAreThreeFailuresInFiveSecondsOrInARow(t *testing.T) {
	for name, c := range map[string]struct {
		apart   time.Duration
		between bool
		want    breaker.State
	}{
		"in less than 5 s":                   {2500*time.Millisecond - 1, true, breaker.Open},
		"in 5 s":                             {2500 * time.Millisecond, true, breaker.Closed},
		"in 2 min without a success between": {time.Minute, false, breaker.Open},
	} {
		for _, o := range []*breaker.Options{nil, {}} {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, o)
				for i := range 3 {
					assert.Equal(t, breaker.Closed, state(b))
					if i > 0 {
						time.Sleep(c.apart)
					}
					request(t, b, fail)
					if i < 2 && c.between {
						request(t, b, succeed)
					}
				}
				s := b.Status()
				assert.Equal(t, c.want, s.State, name)
				if s.State == breaker.Open {
					assert.LessOrEqual(t, s.Until.Sub(s.Since), max(time.Second, s.Since.Sub(s.Trouble)))
				}
			})
		}
	}
}

func TestFiveFailuresInARowOpenItHoweverFarApart(t *testing.T) {
	for _, o := range []breaker.Options{{Failures: 5}, *breaker.Options{Failures: 9}.OpensInARow(5), *breaker.Options{Failures: -1}.OpensInARow(5)} {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, &o)
			for range 5 {
				assert.Equal(t, breaker.Closed, state(b), o)
				time.Sleep(time.Minute)
				request(t, b, fail)
			}
			assert.Equal(t, breaker.Open, state(b), o)
		})
	}
}

func TestWithNegativeFailuresOnlyATripOpensIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, &breaker.Options{Failures: -1})
		for range 1000 {
			request(t, b, fail)
		}
		assert.Equal(t, breaker.Closed, state(b))
		request(t, b, trip)
		assert.Equal(t, breaker.Open, state(b))
		time.Sleep(30 * time.Second)
		request(t, b, fail)
		assert.Equal(t, breaker.Open, state(b), "the probe has failed")
	})
}
