package breaker_test

import (
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
		"OpenFor is 999.999µs: use at least 1ms, or 0 for the default of 30s")
	_, err = breaker.New(&breaker.Options{OpenFor: -1})
	assert.EqualError(t, err, "breaker: OpenFor is -1ns: use at least 1ms, or 0 for the default of 30s")
	newBreaker(t, &breaker.Options{Window: 1, OpenFor: time.Millisecond})
}

func TestNewLeavesTheOptionsAlone(t *testing.T) {
	o := breaker.Options{InARow: 7}
	b := newBreaker(t, &o)
	assert.Equal(t, breaker.Options{InARow: 7}, o)
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
					assert.Equal(t, 30*time.Second, s.Until.Sub(s.Since))
				}
			})
		}
	}
}

func TestInARowIsAsManyAsFailuresUnlessSet(t *testing.T) {
	for _, o := range []breaker.Options{{Failures: 5}, {InARow: 5, Failures: 9}, {InARow: 5, Failures: -1}} {
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
