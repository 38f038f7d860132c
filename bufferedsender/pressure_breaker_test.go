package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The rules of the fuse library that have a meaning for a sender. Those of the
// breaker alone are tested in its package.

func TestFUSESenderHasABreakerOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls, others atomic.Int64
		s, err := bufferedsender.New(broken(&calls), &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Logger: mute})
		require.NoError(t, err)
		closeAtLast(t, s)
		other, err := bufferedsender.New(broken(&others), &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Logger: mute})
		require.NoError(t, err)
		closeAtLast(t, other)
		var opened []time.Time
		defer s.Breaker().Subscribe(func(c breaker.Change) {
			if c.To == breaker.Open {
				opened = append(opened, c.At)
				assert.EqualValues(t, 2+len(opened), calls.Load(), "the third failure opens it, and each probe in vain, with no options at all")
			}
		})()
		began := time.Now()
		require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: "k"}))
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		for i, at := range opened[1:] {
			open, trouble := at.Sub(opened[i]), opened[i].Sub(began)
			longest := min(max(time.Second, trouble), 30*time.Second)
			assert.LessOrEqual(t, open, longest, "after %v", trouble)
			assert.GreaterOrEqual(t, open, min(longest/2, trouble), "after %v", trouble)
		}
		assert.Equal(t, breaker.Closed, other.Breaker().Status().State, "each sender has its own")
		assert.EqualValues(t, 1, s.PendingActionCount())
		require.Error(t, s.Close(within(t, time.Second)))
	})
	t.Run("but not with FailSoon", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
			r.respond(sick)
			r.upload(hotel{ID: "k"})
			require.Error(t, r.flush())
			assert.Nil(t, r.sender.Breaker())
			assert.Len(t, r.requests(), 4)
			assert.Equal(t, 4, r.outcome("k").attempt)
		})
	})
}

func TestFUSEOpensOnTheNthFailure(t *testing.T) {
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint("of ", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := steadyBreaker(t, &breaker.Options{Failures: n})
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: -1, MaxRetries: 10}})
				r.sicken(hotels("k", 2)...)
				assert.Len(t, r.requests(), n)
				assert.EqualValues(t, n, b.Status().Counts.Failures)
			})
		})
	}
	// A document each, whose first request fails, at these seconds.
	for name, c := range map[string]struct {
		at    []float64
		state breaker.State
	}{
		"no three within five seconds":        {[]float64{0, 2.5, 5, 7.5}, breaker.Closed},
		"three within less than five seconds": {[]float64{0, 2.5, 4.9}, breaker.Open},
		"the window slides":                   {[]float64{0, 3, 6, 7.9}, breaker.Open},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := steadyBreaker(t, &breaker.Options{InARow: -1})
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
				began := time.Now()
				for i, at := range c.at {
					time.Sleep(time.Until(began.Add(time.Duration(at * float64(time.Second)))))
					r.faults(searchtest.Fault{Count: 1, Status: 500})
					r.upload(hotel{ID: fmt.Sprint("k-", i)})
					synctest.Wait()
				}
				assert.Equal(t, c.state, b.Status().State)
				assert.EqualValues(t, len(c.at), b.Status().Counts.Failures)
				require.NoError(t, r.flush())
			})
		})
	}
	t.Run("in a row, however far apart", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce})
			r.respond(hang)
			r.upload(hotel{ID: "k"})
			time.Sleep(4 * time.Minute)
			assert.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3*time.Minute + 30*time.Second}, times(r.requests())[:4],
				"three requests of a minute each, then it is open for 30 s")
			r.respond(nil)
			require.NoError(t, r.flush())
		})
	})
}

func TestFUSEWhatCountsAsAFailure(t *testing.T) {
	cut := func(_ int, _ *exchange, _ *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return nil, errors.New("connection reset by peer")
	}
	perDocument := func(fault searchtest.DocumentFault) []searchtest.Fault {
		return []searchtest.Fault{{Documents: []searchtest.DocumentFault{fault}}}
	}
	for name, c := range map[string]struct {
		answer answer
		script []searchtest.Fault
		opens  int // after this many requests; 0: never
	}{
		"500":                                 {answer: always(500, refusal("x")), opens: 3},
		"502":                                 {answer: always(502, "<html>"), opens: 3},
		"504":                                 {answer: always(504, ""), opens: 3},
		"408":                                 {answer: always(408, ""), opens: 3},
		"an unknown 5xx":                      {answer: always(501, ""), opens: 3},
		"a redirect":                          {answer: always(302, ""), opens: 1},
		"an unknown 4xx":                      {answer: always(418, ""), opens: 1},
		"a broken connection":                 {answer: cut, opens: 3},
		"no reply in time":                    {answer: hang, opens: 3},
		"a reply that nobody understands":     {answer: always(200, "hello"), opens: 3},
		"an empty reply":                      {answer: always(200, ""), opens: 3},
		"401":                                 {answer: always(401, refusal("x")), opens: 1},
		"403":                                 {answer: always(403, refusal("x")), opens: 1},
		"404":                                 {answer: always(404, refusal("x")), opens: 1},
		"nothing but 422s inside 207":         {script: perDocument(searchtest.DocumentFault{Status: 422}), opens: 3},
		"nothing but 500s inside 207":         {script: perDocument(searchtest.DocumentFault{Status: 500}), opens: 3},
		"some 503s inside 207":                {script: perDocument(searchtest.DocumentFault{Keys: []string{"k-0"}, Times: 5})},
		"409s inside 207":                     {script: perDocument(searchtest.DocumentFault{Status: 409})},
		"some 422s inside 207":                {script: perDocument(searchtest.DocumentFault{Keys: []string{"k-0"}, Status: 422, Times: 2})},
		"documents that are refused for good": {script: perDocument(searchtest.DocumentFault{Status: 400})},
		"the quota of documents":              {script: perDocument(searchtest.DocumentFault{Status: 429})},
		"400":                                 {answer: always(400, refusal("x"))},
		"413":                                 {answer: always(413, "")},
		"nothing wrong":                       {},
		"503s with a success after every other one": {script: []searchtest.Fault{{Every: 2, Status: 503, RetryAfter: searchtest.Duration(5 * time.Second)}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := steadyBreaker(t, nil)
				// More attempts than any of these can take, but few enough to end. The
				// delay lets all be added before the first is sent again.
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: time.Millisecond, MaxDelay: time.Millisecond, MaxRetries: 30}})
				r.faults(c.script...)
				r.respond(c.answer)
				r.upload(hotels("k", 12)...)
				if c.opens == 0 {
					_ = r.flush()
					assert.Zero(t, b.Status().Counts.Opened)
					return
				}
				changes := make(chan time.Duration, 100)
				defer b.Subscribe(func(breaker.Change) { changes <- r.now() })()
				time.Sleep(5 * time.Minute) // ten probes: not every document has been one
				assert.GreaterOrEqual(t, b.Status().Counts.Opened, uint64(2), "it opens, and opens again after each probe")
				requests := r.requests()
				require.Greater(t, len(requests), c.opens)
				first := requests[c.opens-1]
				assert.GreaterOrEqual(t, requests[c.opens].at, first.end+30*time.Second, "request %d opened it", c.opens)
				for _, x := range requests[1:c.opens] {
					assert.Less(t, x.at, first.end+30*time.Second)
				}
				for _, x := range requests[c.opens:] {
					assert.Len(t, x.keys, 1, "probes are of one action")
				}
			})
		})
	}
}

// A busy service works for somebody: to slow down comes first.
func TestABusyServiceOpensTheBreakerAfterTenSecondsWithoutAnything(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		script []searchtest.Fault
	}{
		"429":                         {answer: always(429, "")},
		"503":                         {answer: always(503, "")},
		"nothing but 503s inside 207": {script: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				everySecond := retry.Options{Delay: time.Second, MaxDelay: time.Second, Jitter: -1}
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: everySecond})
				r.faults(c.script...)
				r.respond(c.answer)
				r.upload(hotels("k", 3)...)
				time.Sleep(110 * time.Second)
				var want []time.Duration
				for second := range 11 { // of which the last one counts
					want = append(want, time.Duration(second)*time.Second)
				}
				want = append(want, 40*time.Second, 70*time.Second, 100*time.Second)
				assert.Equal(t, want, times(r.requests()))
				for _, x := range r.since(11 * time.Second) {
					assert.Len(t, x.keys, 1, "a probe, after which it is open again")
				}
				r.respond(nil)
				r.faults()
				require.NoError(t, r.flush(), "nobody is given up meanwhile")
			})
		})
	}
	t.Run("and never while something gets through", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}})
			r.respond(func(n int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				time.Sleep(2 * time.Second)
				if n%4 != 0 {
					return reply(req, 503, ""), nil
				}
				return next()
			})
			r.upload(hotels("k", 40)...)
			require.NoError(t, r.flush())
			assert.Zero(t, b.Status().Counts.Opened)
			assert.Zero(t, b.Status().Counts.Failures)
		})
	})
}

func TestNoAttemptIsUsedWhileTheServiceIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce})
		r.down(500)
		r.upload(hotel{ID: "k"})
		time.Sleep(time.Hour - time.Second)
		assert.Len(t, r.requests(), 3+119, "a probe each 30 s")
		assert.Zero(t, r.sender.Stats().Failed)
		r.srv.SetFaults(nil)
		require.NoError(t, r.flush())
		assert.Equal(t, time.Hour, r.now())
		assert.Equal(t, 3, r.outcome("k").attempt, "two failures before it opened, and the success: the third failure, which opened it, and the probes do not count")
		for _, e := range r.seen("sent")[2:] {
			assert.Equal(t, 3, e.attempt)
		}
	})
	t.Run("so the attempts that were left are left when it is back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
			r.down(500)
			r.upload(hotel{ID: "k"})
			time.Sleep(10*time.Minute + time.Second)
			before := len(r.requests())
			// From now on the service works, but for this document.
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k"}, Status: 409}}})
			require.Error(t, r.flush())
			assert.Len(t, r.requests()[before:], 4, "four attempts, and MaxRetries is 3")
			assert.Equal(t, 409, r.failure("k").Status)
			assert.True(t, r.failure("k").Exhausted)
			assert.Equal(t, breaker.Closed, b.Status().State)
		})
	})
	t.Run("and the first Ping that is answered blames nobody for the outage", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce})
			r.down(500)
			r.upload(hotels("k", 2)...)
			time.Sleep(time.Hour - time.Second)
			// It comes back between a probe and the Ping that follows it.
			r.respond(onlyFirst(len(r.requests())+1, sick))
			r.srv.SetFaults(nil)
			require.NoError(t, r.flush())
			assert.Equal(t, time.Hour+30*time.Second, r.now())
			assert.Len(t, r.indexed(), 2)
		})
	})
	t.Run("but one that fails while a Ping is answered is to blame", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce})
			r.sicken(hotel{ID: "k"}) // indexing requests only
			require.Error(t, r.flush())
			failure := r.failure("k")
			assert.Equal(t, 500, failure.Status)
			assert.True(t, failure.Exhausted)
			assert.True(t, failure.Unknown)
			assert.Greater(t, r.outcome("k").at, time.Minute, "it is given a minute at least")
			assert.Less(t, r.outcome("k").at, 10*time.Minute)
		})
	})
}

func TestRefusalOfEverythingOpensTheBreakerAndFailsNothing(t *testing.T) {
	for _, status := range []int{302, 401, 403, 404, 405} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := steadyBreaker(t, nil)
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Outage: bufferedsender.Hold{Breaker: b}})
				r.respond(always(status, refusal("not like this")))
				r.upload(hotels("first", 3)...)
				r.upload(hotels("second", 5)...)
				time.Sleep(10*time.Minute - time.Second)
				assert.Empty(t, r.seen("failed"))
				assert.Len(t, r.requests(), 1+19)
				for i, x := range r.requests()[1:] {
					assert.Equal(t, time.Duration(i+1)*30*time.Second, x.at)
					assert.Len(t, x.keys, 1)
				}
				assert.ErrorContains(t, r.sender.Health().Err, "not like this")
				r.respond(nil)
				require.NoError(t, r.flush())
				assert.Equal(t, append(ids(hotels("first", 3)), ids(hotels("second", 5))...), r.indexed())
				for _, e := range r.seen("completed") {
					assert.Equal(t, 1, e.attempt)
					assert.GreaterOrEqual(t, e.at, 10*time.Minute)
				}
			})
		})
		t.Run(fmt.Sprint(status, " without a breaker fails at once"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}})
				r.respond(onlyFirst(1, always(status, refusal("not like this"))))
				r.upload(hotels("first", 3)...)
				r.upload(hotels("second", 5)...)
				var failures *bufferedsender.FlushError
				require.ErrorAs(t, r.flush(), &failures)
				assert.Equal(t, 3, failures.Count)
				for i := range 3 {
					failure := r.failure(fmt.Sprint("first-", i))
					assert.Equal(t, status, failure.Status)
					assert.ErrorContains(t, failure, "not like this")
					assert.Equal(t, 1, failure.Attempts)
					assert.Zero(t, r.outcome(failure.Key).at)
				}
				assert.Equal(t, ids(hotels("second", 5)), r.indexed())
			})
		})
	}
}

func TestFUSEResultsFromBeforeTheOpeningAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steadyBreaker(t, &breaker.Options{Failures: 1})
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 5}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
		type end struct {
			at time.Duration
			ok bool
		}
		ends := map[string]end{"k-0": {1, false}, "k-1": {2, false}, "k-2": {10, true}, "k-3": {32, false}, "k-4": {45, false}}
		r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n > 5 {
				time.Sleep(3 * time.Second)
				return next()
			}
			e := ends[x.keys[0]]
			time.Sleep(e.at * time.Second)
			if e.ok {
				return next()
			}
			return reply(req, 500, ""), nil
		})
		r.upload(hotels("k", 5)...)
		state := func() breaker.State { synctest.Wait(); return b.Status().State }
		time.Sleep(time.Second)
		assert.Equal(t, breaker.Open, state())
		until := b.Status().Until
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, until, b.Status().Until, "a failure while it is open does not lengthen it")
		time.Sleep(9 * time.Second)
		assert.Equal(t, breaker.Open, state(), "nor does a success close it")
		assert.Equal(t, "completed", r.outcome("k-2").kind, "though it is one")
		time.Sleep(20*time.Second + 500*time.Millisecond)
		assert.Equal(t, breaker.HalfOpen, state())
		require.Len(t, r.requests(), 6, "one probe")
		time.Sleep(time.Second)
		assert.Equal(t, breaker.HalfOpen, state(), "at 32 s the fourth failed; the probe of 31 s decides alone")
		time.Sleep(2 * time.Second)
		assert.Equal(t, breaker.Closed, state())
		time.Sleep(12 * time.Second)
		assert.Equal(t, breaker.Closed, state(), "at 45 s the last one of before has failed")
		require.NoError(t, r.flush())
		assert.EqualValues(t, 1, b.Status().Counts.Opened)
		assert.Len(t, r.indexed(), 5)
	})
}

func TestFUSEOneProbeOfOneActionThenEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 4}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: atOnce})
		r.sicken(hotels("k", 10)...)
		r.upload(hotels("more", 50)...)
		r.respond(func(_ int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(20 * time.Second)
			return next()
		})
		time.Sleep(50*time.Second - time.Millisecond)
		probes := r.since(1)
		require.Len(t, probes, 1, "four slots, sixty actions, one probe")
		assert.Equal(t, 30*time.Second, probes[0].at)
		assert.Equal(t, []string{"k-0"}, probes[0].keys)
		time.Sleep(time.Second)
		assert.Len(t, r.since(50*time.Second), 4, "then all slots")
		require.NoError(t, r.flush())
		for _, x := range r.since(50 * time.Second)[:4] {
			assert.GreaterOrEqual(t, len(x.keys), 9, "with full batches, but for what is left of the first one")
		}
		assert.Len(t, r.indexed(), 60)
		seen := map[string]bool{}
		for _, x := range r.since(1) {
			for _, key := range x.keys {
				assert.False(t, seen[key], "%s was sent twice", key)
				seen[key] = true
			}
		}
	})
}

func TestFUSEProbesRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: atOnce})
		r.sicken(hotels("k", 3)...)
		r.respond(func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if x.keys[0] == "k-0" { // the service stumbles over this document
				return reply(req, 500, ""), nil
			}
			return next()
		})
		time.Sleep(61 * time.Second)
		probes := r.since(1)
		require.GreaterOrEqual(t, len(probes), 2)
		assert.Equal(t, []string{"k-0"}, probes[0].keys)
		assert.Equal(t, []string{"k-1"}, probes[1].keys, "the next probe is of another one, and succeeds")
		assert.Contains(t, r.indexed(), "k-1")
		r.respond(nil)
		require.NoError(t, r.flush())
	})
}

func TestFUSEWakesByItself(t *testing.T) {
	t.Run("with no timer, no traffic and no caller", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: -1, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: atOnce})
			r.respond(sick)
			r.upload(hotels("k", 50)...)
			require.Error(t, r.sender.Flush(within(t, time.Second)))
			r.respond(nil)
			time.Sleep(29 * time.Second)
			synctest.Wait()
			assert.Equal(t, 30*time.Second, r.now())
			assert.Zero(t, r.sender.PendingActionCount())
			assert.Len(t, r.requests(), 3)
			assert.Len(t, r.indexed(), 50)
		})
	})
	t.Run("and sends nothing when there is nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, &breaker.Options{Failures: 1})
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}})
			r.respond(always(401, ""))
			_, err := r.sender.IndexDocumentsAndWait(within(t, time.Second), models.UploadAction(hotel{ID: "lost"}))
			require.ErrorIs(t, err, bufferedsender.ErrWithdrawn)
			time.Sleep(time.Hour)
			assert.Len(t, r.requests(), 1)
			assert.Equal(t, breaker.HalfOpen, b.Status().State)
			assert.Equal(t, events.HalfOpen, r.sender.Health().State, "it wants something to try with")
			r.respond(nil)
			r.upload(hotels("k", 3)...)
			synctest.Wait()
			assert.Equal(t, [][]string{{"lost"}, {"k-0"}, {"k-1"}, {"k-2"}}, keysOf(r.requests()), "what comes later is the probe")
			assert.Equal(t, breaker.Closed, b.Status().State)
		})
	})
}

// broken is a service that is not there.
func broken(calls *atomic.Int64) indexerFunc {
	return func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		calls.Add(1)
		return models.IndexDocumentsResult{}, errors.New("connection refused")
	}
}
