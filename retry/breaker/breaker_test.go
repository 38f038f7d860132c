package breaker_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

var (
	errDown  = errors.New("down")
	succeed  = breaker.Result{Outcome: breaker.Success}
	fail     = breaker.Result{Outcome: breaker.Failure, Err: errDown}
	trip     = breaker.Result{Outcome: breaker.Trip, Err: errDown}
	saysNone = breaker.Result{Outcome: breaker.Neutral, Err: errDown}
)

// steady returns options with which a breaker is open for exactly 30 s, whatever the age of the trouble.
func steady() *breaker.Options {
	return &breaker.Options{OpenFor: 30 * time.Second, Jitter: -1}
}

func newBreaker(t *testing.T, o *breaker.Options) *breaker.Breaker {
	t.Helper()
	b, err := breaker.New(o)
	require.NoError(t, err)
	return b
}

func allow(t *testing.T, b *breaker.Breaker) *breaker.Permit {
	t.Helper()
	p, err := b.Allow()
	require.NoError(t, err)
	return p
}

// request calls Allow and reports r.
func request(t *testing.T, b *breaker.Breaker, r breaker.Result) {
	t.Helper()
	allow(t, b).Done(r)
}

func refuses(t *testing.T, b *breaker.Breaker) {
	t.Helper()
	_, err := b.Allow()
	require.ErrorIs(t, err, breaker.ErrOpen)
}

func state(b *breaker.Breaker) breaker.State { return b.Status().State }

// A fuse of {2, 60 ms} blows on the third melt. Here Failures counts the failure that opens, so 3 corresponds to
// fuse's 2.
func TestItOpensOnTheNthFailureInTheWindow(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, breaker.Options{Failures: n, Window: 60 * time.Millisecond}.OpensInARow(-1))
			for range n - 1 {
				request(t, b, fail)
				request(t, b, succeed) // does not empty the window
				request(t, b, saysNone)
			}
			assert.Equal(t, breaker.Closed, state(b), n)
			request(t, b, fail)
			assert.Equal(t, breaker.Open, state(b), n)
			refuses(t, b)
		})
	}
}

func TestAFailureExactlyAsOldAsTheWindowIsOutOfIt(t *testing.T) {
	for age, want := range map[time.Duration]breaker.State{
		60*time.Millisecond - 1: breaker.Open,
		60 * time.Millisecond:   breaker.Closed,
		60*time.Millisecond + 1: breaker.Closed,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, breaker.Options{Failures: 3, Window: 60 * time.Millisecond}.OpensInARow(-1))
			request(t, b, fail)
			time.Sleep(age - time.Millisecond)
			request(t, b, fail)
			time.Sleep(time.Millisecond)
			request(t, b, fail)
			assert.Equal(t, want, state(b), age)
		})
	}
}

func TestFailuresThatAreFewAmongTheResultsDoNotOpenIt(t *testing.T) {
	for successes, want := range map[int]breaker.State{3: breaker.Open, 4: breaker.Closed} {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, nil)
			for range 50 {
				request(t, b, succeed) // before the first failure: no effect
			}
			request(t, b, fail)
			for range successes {
				request(t, b, succeed)
			}
			request(t, b, fail)
			request(t, b, fail)
			assert.Equal(t, want, state(b), "3 failures among %d results", 3+successes)
		})
	}
}

// With consecutive fixed windows these two pairs would fall into different windows.
func TestTheWindowSlides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, breaker.Options{Failures: 4, Window: time.Second}.OpensInARow(-1))
		time.Sleep(900 * time.Millisecond)
		request(t, b, fail)
		request(t, b, fail)
		time.Sleep(200 * time.Millisecond)
		request(t, b, fail)
		request(t, b, fail)
		assert.Equal(t, breaker.Open, state(b))
	})
}

// A failure counts when it is reported, not when its request was allowed.
func TestAFailureCountsWhenItIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, breaker.Options{Failures: 2, Window: time.Second}.OpensInARow(-1))
		first := allow(t, b)
		time.Sleep(time.Minute)
		first.Done(fail)
		request(t, b, fail)
		assert.Equal(t, breaker.Open, state(b))
	})
}

func TestFailuresInARowOpenItHoweverFarApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, breaker.Options{Failures: 10}.OpensInARow(3))
		for _, r := range []breaker.Result{fail, fail, succeed, fail, saysNone, fail, saysNone} {
			request(t, b, r)
			time.Sleep(time.Hour)
		}
		assert.Equal(t, breaker.Closed, state(b), "a success came in between")
		request(t, b, fail)
		assert.Equal(t, breaker.Open, state(b), "an inconclusive one does not interrupt the row")
	})
}

func TestTripOpensItAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		request(t, b, succeed)
		request(t, b, trip)
		s := b.Status()
		assert.Equal(t, breaker.Open, s.State)
		assert.Equal(t, time.Now().Add(30*time.Second), s.Until)
		assert.Equal(t, errDown, s.Err)
	})
}

// A stopped queue makes no calls, so a call cannot trigger the change.
func TestItWakesWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		var heard recorder
		b.Subscribe(heard.hear)
		start := time.Now()
		for range 3 {
			request(t, b, fail)
		}
		time.Sleep(time.Hour)
		assert.Equal(t, []breaker.Change{
			{From: breaker.Closed, To: breaker.Open, At: start, Err: errDown},
			{From: breaker.Open, To: breaker.HalfOpen, At: start.Add(30 * time.Second), Err: errDown},
		}, heard.heard())
	})
}

// At the instant Until some callers run before the timer.
func TestWhoComesBeforeTheTimerIsNotRefused(t *testing.T) {
	for name, ask := range map[string]func(b *breaker.Breaker) breaker.State{
		"Allow": func(b *breaker.Breaker) breaker.State {
			_, err := b.Allow()
			var open *breaker.OpenError
			if errors.As(err, &open) {
				return open.Status.State
			}
			return breaker.Closed
		},
		"Status":  state,
		"Reset":   func(b *breaker.Breaker) breaker.State { b.Reset(); return breaker.Closed },
		"Disable": func(b *breaker.Breaker) breaker.State { b.Disable(); return breaker.Disabled },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, steady())
				var heard recorder
				b.Subscribe(heard.hear)
				ask := func() {
					time.Sleep(30 * time.Second)
					assert.NotEqual(t, breaker.Open, ask(b))
				}
				for range 20 { // their timers are older than the breaker's
					go ask()
				}
				synctest.Wait()
				request(t, b, trip)
				for range 20 {
					go ask()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Equal(t, breaker.HalfOpen, heard.heard()[1].To)
			})
		})
	}
}

func TestOnlyOneProbeGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		assert.False(t, allow(t, b).Probe())
		request(t, b, trip)
		time.Sleep(30 * time.Second)
		probe := allow(t, b)
		assert.True(t, probe.Probe())
		for range 3 {
			refuses(t, b)
		}
		assert.Equal(t, time.Now(), b.Status().Probe)
		probe.Done(succeed)
		assert.Equal(t, breaker.Closed, state(b))
		assert.False(t, allow(t, b).Probe())
	})
}

func TestAProbeThatFailsOpensItAgain(t *testing.T) {
	for _, r := range []breaker.Result{fail, trip} {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker(t, &breaker.Options{Failures: 100, OpenFor: 30 * time.Second, Jitter: -1})
			request(t, b, trip)
			time.Sleep(30 * time.Second)
			request(t, b, r)
			s := b.Status()
			assert.Equal(t, breaker.Open, s.State)
			assert.Equal(t, time.Now().Add(30*time.Second), s.Until)
		})
	}
}

func TestAHealedBreakerHasForgottenItsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, &breaker.Options{Window: time.Hour})
		for range 3 {
			request(t, b, fail)
		}
		time.Sleep(30 * time.Second)
		request(t, b, succeed)
		request(t, b, fail)
		request(t, b, fail)
		assert.Equal(t, breaker.Closed, state(b))
	})
}

func TestAProbeThatSaysNothingLetsTheNextOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		request(t, b, trip)
		time.Sleep(30 * time.Second)
		for _, o := range []breaker.Outcome{breaker.Neutral, 99} {
			request(t, b, breaker.Result{Outcome: o})
			assert.Equal(t, breaker.HalfOpen, state(b))
			assert.Zero(t, b.Status().Probe)
		}
		assert.True(t, allow(t, b).Probe())
	})
}

// Of two senders that share a breaker, one takes the probe and the other is refused. If the probe is inconclusive and
// its sender has no more requests, only this notification wakes the other.
func TestThoseRefusedDuringAProbeAreNotifiedWhenItsPlaceIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		request(t, b, trip)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		var heard recorder
		b.Subscribe(heard.hear)
		request(t, b, saysNone)
		assert.Empty(t, heard.heard(), "no request was refused")

		probe := allow(t, b)
		refuses(t, b)
		refuses(t, b)
		probe.Done(saysNone)
		assert.Equal(t, []breaker.Change{{From: breaker.HalfOpen, To: breaker.HalfOpen, At: time.Now(), Err: errDown}}, heard.heard())
		request(t, b, saysNone)
		assert.Len(t, heard.heard(), 1)
	})
}

func TestAProbeThatHangsKeepsItHalfOpenUntilReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		request(t, b, trip)
		time.Sleep(30 * time.Second)
		started := time.Now()
		lost := allow(t, b)
		time.Sleep(time.Minute)
		refuses(t, b)
		assert.Equal(t, started, b.Status().Probe)
		b.Reset()
		allow(t, b)
		for range 5 {
			lost.Done(trip)
		}
		assert.Equal(t, breaker.Closed, state(b))
	})
}

func TestOnlyTheFirstDoneCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		p := allow(t, b)
		for range 10 {
			p.Done(fail)
		}
		assert.Equal(t, breaker.Closed, state(b))
		assert.EqualValues(t, 1, b.Status().Counts.Failures)
	})
}

// Requests in flight when the service failed end one after the other, the last one long after the recovery.
func TestALateResultIsIgnored(t *testing.T) {
	for name, late := range map[string]breaker.Result{"failure": fail, "trip": trip, "success": succeed, "neutral": saysNone} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, &breaker.Options{Failures: 1, OpenFor: 30 * time.Second, Jitter: -1})
				var heard recorder
				b.Subscribe(heard.hear)
				late.RetryAfter = 5 * time.Minute
				var permits []*breaker.Permit
				for range 9 {
					permits = append(permits, allow(t, b))
				}
				end := func(n int) {
					for range n {
						permits[0].Done(late)
						permits = permits[1:]
					}
				}
				permits[0].Done(fail)
				permits = permits[1:]
				until := time.Now().Add(30 * time.Second)

				time.Sleep(time.Second)
				end(2) // open: neither closes it nor extends it
				assert.Equal(t, until, b.Status().Until)
				time.Sleep(29 * time.Second)
				end(2) // half-open: is not the probe's result
				assert.Equal(t, breaker.HalfOpen, state(b))
				probe := allow(t, b)
				end(2) // nor while a probe is in flight
				assert.Equal(t, breaker.HalfOpen, state(b))
				refuses(t, b)
				probe.Done(succeed)
				end(2) // healed
				assert.Equal(t, breaker.Closed, state(b))
				assert.EqualValues(t, 8, b.Status().Counts.Ignored)
				request(t, b, fail)
				assert.Equal(t, time.Now().Add(30*time.Second), b.Status().Until, "their Retry-After is ignored too")
				assert.Len(t, heard.heard(), 4)
			})
		})
	}
}
