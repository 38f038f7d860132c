package breaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// wave sends n concurrent requests that all end with r, each a moment after the other.
func wave(t *testing.T, b *breaker.Breaker, n int, r breaker.Result) {
	t.Helper()
	var permits []*breaker.Permit
	for range n {
		permits = append(permits, allow(t, b))
	}
	for _, p := range permits {
		time.Sleep(time.Millisecond)
		p.Done(r)
	}
}

func TestWhatWasInFlightTogetherCountsOnce(t *testing.T) {
	for _, o := range []breaker.Options{{}, *breaker.Options{}.OpensInARow(-1), *breaker.Options{Failures: 100}.OpensInARow(3)} {
		for _, n := range []int{1, 2, 3, 8, 100} {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &o)
				wave(t, b, n, fail)
				assert.Equal(t, breaker.Closed, state(b), "%d in flight: a blip", n)
				wave(t, b, n, fail)
				assert.Equal(t, breaker.Closed, state(b), "%d in flight: the second wave", n)
				assert.EqualValues(t, 2*n, b.Status().Counts.Failures)
				allow(t, b).Done(fail)
				assert.Equal(t, breaker.Open, state(b), "%d in flight: the third wave", n)
			})
		}
	}
}

// Continuous traffic has no waves: a failure counts if its request was sent after the last counted failure was known.
func TestAFailureCountsIfItsRequestStartedAfterTheLastThatCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		first, second := allow(t, b), allow(t, b)
		first.Done(fail) // the first that counts
		third := allow(t, b)
		second.Done(fail) // belongs to the first
		fourth := allow(t, b)
		third.Done(fail) // the second that counts: the one in between did not
		fifth := allow(t, b)
		fourth.Done(fail) // belongs to the third
		require.Equal(t, breaker.Closed, state(b))
		fifth.Done(fail)
		assert.Equal(t, breaker.Open, state(b))
	})
}

func TestATripOpensItWhateverWasInFlightWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		under := allow(t, b)
		request(t, b, fail)
		under.Done(trip)
		assert.Equal(t, breaker.Open, state(b))
	})
}

// The last failure of before the probe is reported while the probe is in flight.
func TestAFailedProbeOpensItWhateverFailedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		late := allow(t, b)
		request(t, b, trip)
		time.Sleep(30 * time.Second)
		probe := allow(t, b)
		late.Done(fail)
		probe.Done(fail)
		assert.Equal(t, breaker.Open, state(b))
		assert.EqualValues(t, 2, b.Status().Counts.Opened)
	})
}

// The failure does not count, but its Retry-After does.
func TestTheRetryAfterOfAFailureThatDoesNotCountIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		under := allow(t, b)
		request(t, b, fail)
		under.Done(breaker.Result{Outcome: breaker.Failure, RetryAfter: time.Minute})
		request(t, b, fail)
		request(t, b, fail)
		assert.Equal(t, time.Minute, opened(t, b))
	})
}

// With sequential requests half may succeed and the breaker still opens; with eight at a time, one of eight.
func TestShareWeighsWavesOfFailuresAgainstSingleSuccesses(t *testing.T) {
	for _, c := range []struct {
		inFlight, fail int
		want           breaker.State
	}{
		{1, 1, breaker.Open},
		{2, 1, breaker.Open},
		{8, 8, breaker.Open},
		{8, 7, breaker.Open},
		{8, 6, breaker.Closed},
		{8, 4, breaker.Closed},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, nil)
			for range 6 {
				permits := make([]*breaker.Permit, c.inFlight)
				for i := range permits {
					if state(b) == breaker.Closed {
						permits[i] = allow(t, b)
					}
				}
				for i, p := range permits {
					if p == nil {
						break
					}
					if i < c.fail {
						p.Done(fail)
					} else {
						p.Done(succeed)
					}
				}
			}
			assert.Equal(t, c.want, state(b), "%d of %d fail", c.fail, c.inFlight)
		})
	}
}
