package breaker_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// fuse's reset_test: a reset clears the timer, and the counters show 3 melts, 2 asks with answer ok, 1 with answer
// blown. Here each failure needs its own ask, so there are 4.
func TestResetStopsTheTimerAndLeavesTheCountsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, &breaker.Options{Failures: 3, Window: 60 * time.Millisecond, OpenFor: 5 * time.Second, Jitter: -1})
		var heard recorder
		b.Subscribe(heard.hear)
		for range 3 {
			request(t, b, fail)
		}
		refuses(t, b)
		b.Reset()
		allow(t, b)
		assert.Equal(t, breaker.Counts{Allowed: 4, Refused: 1, Failures: 3, Opened: 1}, b.Status().Counts)

		// A remaining timer would half-open it after 4 s.
		time.Sleep(time.Second)
		request(t, b, trip)
		opened := time.Now()
		time.Sleep(time.Hour)
		changes := heard.heard()
		require.Len(t, changes, 4)
		assert.Equal(t, breaker.Closed, changes[1].To)
		assert.Equal(t, opened.Add(5*time.Second), changes[3].At)
	})
}

// A timer would keep the breaker in memory.
func TestNoTimerIsLeftWhenItIsNotOpen(t *testing.T) {
	for name, end := range map[string]func(*breaker.Breaker){"Reset": (*breaker.Breaker).Reset, "Disable": (*breaker.Breaker).Disable} {
		t.Run(name, func(t *testing.T) {
			b := newBreaker(t, &breaker.Options{OpenFor: time.Hour})
			request(t, b, trip)
			end(b)
			left := weak.Make(b)
			runtime.GC()
			runtime.GC()
			assert.Nil(t, left.Value())
		})
	}
}

// The counterpart of fuse's remove_test: the counts of a breaker end with it.
func TestANewBreakerStartsAtZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request(t, newBreaker(t, nil), trip)
		assert.Equal(t, breaker.Status{State: breaker.Closed, Since: time.Now()}, newBreaker(t, nil).Status())
	})
}

// fuse raises an alarm at once and clears it after three checks, a minute apart, that find the fuse intact. Here only
// a successful probe closes a breaker. So a breaker that follows an unstable service reports Open and HalfOpen, but
// never Closed.
func TestTheServiceMustAnswerBeforeItIsCalledHealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		var heard recorder
		b.Subscribe(heard.hear)
		request(t, b, trip)
		for range 3 {
			time.Sleep(30 * time.Second)
			request(t, b, fail)
		}
		for i, c := range heard.heard() {
			assert.Equal(t, []breaker.State{breaker.Open, breaker.HalfOpen}[i%2], c.To)
		}
		assert.Len(t, heard.heard(), 7)
	})
}

func TestResetForgetsFailuresAndRequestsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		var heard recorder
		b.Subscribe(heard.hear)
		under := allow(t, b)
		request(t, b, fail)
		request(t, b, fail)
		b.Reset()
		under.Done(trip)
		request(t, b, fail)
		request(t, b, fail)
		assert.Equal(t, breaker.Closed, state(b))
		assert.Empty(t, heard.heard(), "the breaker was closed all the time")
		request(t, b, fail)
		assert.Equal(t, breaker.Open, state(b))
	})
}

func TestDisableDominatesEverythingUntilEnable(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, b *breaker.Breaker){
		"closed":    func(*testing.T, *breaker.Breaker) {},
		"open":      func(t *testing.T, b *breaker.Breaker) { request(t, b, trip) },
		"half-open": func(t *testing.T, b *breaker.Breaker) { request(t, b, trip); time.Sleep(30 * time.Second) },
		"probing": func(t *testing.T, b *breaker.Breaker) {
			request(t, b, trip)
			time.Sleep(30 * time.Second)
			allow(t, b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &breaker.Options{Window: time.Hour})
				under := [3]*breaker.Permit{allow(t, b), allow(t, b), allow(t, b)}
				request(t, b, fail)
				request(t, b, fail)
				before(t, b)
				was := state(b)

				var heard recorder
				b.Subscribe(heard.hear)
				disabled := time.Now()
				b.Disable()
				b.Disable()
				time.Sleep(time.Hour) // its timer is gone
				b.Reset()
				under[0].Done(fail)
				under[1].Done(trip)
				refuses(t, b)
				s := b.Status()
				s.Counts = breaker.Counts{}
				assert.Equal(t, breaker.Status{State: breaker.Disabled, Since: disabled}, s)

				b.Enable()
				under[2].Done(trip)
				request(t, b, fail)
				request(t, b, fail)
				assert.Equal(t, breaker.Closed, state(b), "the breaker is closed with an empty history")
				assert.Equal(t, []breaker.Change{
					{From: was, To: breaker.Disabled, At: disabled},
					{From: breaker.Disabled, To: breaker.Closed, At: time.Now()},
				}, heard.heard())
			})
		})
	}
}

func TestEnableDoesNothingToABreakerThatIsNotDisabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		request(t, b, fail)
		request(t, b, fail)
		b.Enable()
		request(t, b, fail)
		assert.Equal(t, breaker.Open, state(b), "the history is kept")
		b.Enable()
		assert.Equal(t, breaker.Open, state(b))
	})
}
