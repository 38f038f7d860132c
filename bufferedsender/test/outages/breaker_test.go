package outages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// These tests apply the rules of fuse, a circuit breaker for Erlang, to a sender. The package of the breaker tests
// those of the breaker alone.

func TestASenderHasABreakerOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls, others atomic.Int64
		s, err := bufferedsender.New(broken(&calls), &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Logger: sendertest.NoLog})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		other, err := bufferedsender.New(broken(&others), &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Logger: sendertest.NoLog})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, other)
		var opened []time.Time
		defer s.Breaker().Subscribe(func(c breaker.Change) {
			if c.To == breaker.Open {
				opened = append(opened, c.At)
				assert.EqualValues(t, 2+len(opened), calls.Load(), "with default options the third failure opens the breaker, and so does each failed probe")
			}
		})()
		began := time.Now()
		require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k"}))
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		for i, at := range opened[1:] {
			open, trouble := at.Sub(opened[i]), opened[i].Sub(began)
			longest := min(max(time.Second, trouble), 30*time.Second)
			assert.LessOrEqual(t, open, longest, "after %v", trouble)
			assert.GreaterOrEqual(t, open, min(longest/2, trouble), "after %v", trouble)
		}
		assert.Equal(t, breaker.Closed, other.Breaker().Status().State, "each sender has its own breaker")
		assert.EqualValues(t, 1, s.Stats().PendingActions)
		require.Error(t, s.Close(sendertest.Within(t, time.Second)))
	})
	t.Run("FailSoon keeps the attempts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
			r.Respond(sendertest.Failing)
			r.Upload(sendertest.Hotel{ID: "k"})
			require.Error(t, r.Flush())
			assert.Nil(t, r.Sender.Breaker())
			assert.Len(t, r.Requests(), 4)
			assert.Equal(t, 4, r.Outcome("k").Attempt)
		})
	})
}

func TestTheBreakerOpensOnTheNthFailure(t *testing.T) {
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint("of ", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sendertest.SteadyBreaker(t, &breaker.Options{Failures: n})
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: -1, MaxRetries: 10}})
				r.OpenBreaker(sendertest.Hotels("k", 2)...)
				assert.Len(t, r.Requests(), n)
				assert.EqualValues(t, n, b.Status().Counts.Failures)
			})
		})
	}
	// One document each, whose first request fails, at these seconds.
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
				b := sendertest.SteadyBreaker(t, nil)
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
				began := time.Now()
				for i, at := range c.at {
					time.Sleep(time.Until(began.Add(time.Duration(at * float64(time.Second)))))
					r.Faults(searchtest.Fault{Count: 1, Status: 500})
					r.Upload(sendertest.Hotel{ID: fmt.Sprint("k-", i)})
					synctest.Wait()
				}
				assert.Equal(t, c.state, b.Status().State)
				assert.EqualValues(t, len(c.at), b.Status().Counts.Failures)
				require.NoError(t, r.Flush())
			})
		})
	}
	t.Run("three failures in a row, however far apart", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce})
			r.Respond(sendertest.Hang)
			r.Upload(sendertest.Hotel{ID: "k"})
			time.Sleep(4 * time.Minute)
			assert.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3*time.Minute + 30*time.Second}, sendertest.Times(r.Requests())[:4],
				"three requests of a minute each, then it is open for 30 s")
			r.Respond(nil)
			require.NoError(t, r.Flush())
		})
	})
}

func TestWhatTheBreakerCountsAsAFailure(t *testing.T) {
	cut := func(_ int, _ *sendertest.Request, _ *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return nil, errors.New("connection reset by peer")
	}
	perDocument := func(fault searchtest.DocumentFault) []searchtest.Fault {
		return []searchtest.Fault{{Documents: []searchtest.DocumentFault{fault}}}
	}
	for name, c := range map[string]struct {
		answer sendertest.Answer
		script []searchtest.Fault
		opens  int // after this many requests; 0: never
	}{
		"500":                                 {answer: sendertest.Always(500, sendertest.ErrorBody("x")), opens: 3},
		"502":                                 {answer: sendertest.Always(502, "<html>"), opens: 3},
		"504":                                 {answer: sendertest.Always(504, ""), opens: 3},
		"408":                                 {answer: sendertest.Always(408, ""), opens: 3},
		"409":                                 {answer: sendertest.Always(409, ""), opens: 3},
		"422":                                 {answer: sendertest.Always(422, ""), opens: 3},
		"an unknown 5xx":                      {answer: sendertest.Always(501, ""), opens: 3},
		"a redirect":                          {answer: sendertest.Always(302, ""), opens: 1},
		"an unknown 4xx":                      {answer: sendertest.Always(418, ""), opens: 1},
		"a broken connection":                 {answer: cut, opens: 3},
		"no reply in time":                    {answer: sendertest.Hang, opens: 3},
		"an unintelligible reply":             {answer: sendertest.Always(200, "hello"), opens: 3},
		"an empty reply":                      {answer: sendertest.Always(200, ""), opens: 3},
		"401":                                 {answer: sendertest.Always(401, sendertest.ErrorBody("x")), opens: 1},
		"403":                                 {answer: sendertest.Always(403, sendertest.ErrorBody("x")), opens: 1},
		"404":                                 {answer: sendertest.Always(404, sendertest.ErrorBody("x")), opens: 1},
		"nothing but 422s inside 207":         {script: perDocument(searchtest.DocumentFault{Status: 422}), opens: 3},
		"nothing but 500s inside 207":         {script: perDocument(searchtest.DocumentFault{Status: 500}), opens: 3},
		"some 503s inside 207":                {script: perDocument(searchtest.DocumentFault{Keys: []string{"k-0"}, Times: 5})},
		"409s inside 207":                     {script: perDocument(searchtest.DocumentFault{Status: 409})},
		"some 422s inside 207":                {script: perDocument(searchtest.DocumentFault{Keys: []string{"k-0"}, Status: 422, Times: 2})},
		"documents that are refused for good": {script: perDocument(searchtest.DocumentFault{Status: 400})},
		"the quota of documents":              {script: perDocument(searchtest.DocumentFault{Status: 429})},
		"400 about the content of the batch":  {answer: sendertest.Always(400, sendertest.ErrorBody("The request is invalid. Details: x"))},
		"400 about the address":               {answer: sendertest.Always(400, sendertest.ErrorBody("The version indicated by the api-version query string parameter does not exist.")), opens: 3},
		"400 of something else":               {answer: sendertest.Always(400, "<html>"), opens: 3},
		"400 without a word":                  {answer: sendertest.Always(400, ""), opens: 3},
		"403 of something else":               {answer: sendertest.Always(403, "<html>"), opens: 3},
		"413":                                 {answer: sendertest.Always(413, sendertest.ErrorBody("too large"))},
		"nothing wrong":                       {},
		"503s with a success after every other one": {script: []searchtest.Fault{{Every: 2, Status: 503, RetryAfter: searchtest.Duration(5 * time.Second)}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sendertest.SteadyBreaker(t, nil)
				// More attempts than any case needs, but few enough to end. The delay allows adding all documents
				// before the first is retried.
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: time.Millisecond, MaxDelay: time.Millisecond, MaxRetries: 30}})
				r.Faults(c.script...)
				r.Respond(c.answer)
				r.Upload(sendertest.Hotels("k", 12)...)
				if c.opens == 0 {
					_ = r.Flush()
					assert.Zero(t, b.Status().Counts.Opened)
					return
				}
				changes := make(chan time.Duration, 100)
				defer b.Subscribe(func(breaker.Change) { changes <- r.Now() })()
				time.Sleep(5 * time.Minute) // ten probes: not every document has been one
				assert.GreaterOrEqual(t, b.Status().Counts.Opened, uint64(2), "the breaker opens, and opens again after each probe")
				requests := r.Requests()
				require.Greater(t, len(requests), c.opens)
				first := requests[c.opens-1]
				assert.GreaterOrEqual(t, requests[c.opens].At, first.End+30*time.Second, "request %d opened it", c.opens)
				for _, x := range requests[1:c.opens] {
					assert.Less(t, x.At, first.End+30*time.Second)
				}
				for _, x := range requests[c.opens:] {
					assert.Len(t, x.Keys, 1, "probes are of one action")
				}
			})
		})
	}
}

func TestNoAttemptIsUsedWhileTheServiceIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce})
		r.Down(500)
		r.Upload(sendertest.Hotel{ID: "k"})
		time.Sleep(time.Hour - time.Second)
		assert.Len(t, r.Requests(), 3+119, "a probe each 30 s")
		assert.Zero(t, r.Sender.Stats().Failed)
		r.Service.SetFaults(nil)
		require.NoError(t, r.Flush())
		assert.Equal(t, time.Hour, r.Now())
		assert.Equal(t, 3, r.Outcome("k").Attempt, "two failures before the breaker opened, and the success; neither the failure that opened it nor the probes count")
		for _, e := range r.Events("sent")[2:] {
			assert.Equal(t, 3, e.Attempt)
		}
	})
	t.Run("the remaining attempts are unchanged after the outage", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
			r.Down(500)
			r.Upload(sendertest.Hotel{ID: "k"})
			time.Sleep(10*time.Minute + time.Second)
			before := len(r.Requests())
			// From now on the service works, except for this document.
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k"}, Status: 409}}})
			require.Error(t, r.Flush())
			assert.Len(t, r.Requests()[before:], 4, "four attempts, because MaxRetries is 3")
			assert.Equal(t, 409, r.Failure("k").Status)
			assert.True(t, r.Failure("k").Exhausted)
			assert.Equal(t, breaker.Closed, b.Status().State)
		})
	})
	t.Run("the first answered Ping blames no document for the outage", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce})
			r.Down(500)
			r.Upload(sendertest.Hotels("k", 2)...)
			time.Sleep(time.Hour - time.Second)
			// The service recovers between a probe and the Ping after it.
			r.Respond(sendertest.First(len(r.Requests())+1, sendertest.Failing))
			r.Service.SetFaults(nil)
			require.NoError(t, r.Flush())
			assert.Equal(t, time.Hour+30*time.Second, r.Now())
			assert.Len(t, r.Indexed(), 2)
		})
	})
	t.Run("a document that fails while a Ping succeeds is to blame", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce})
			r.OpenBreaker(sendertest.Hotel{ID: "k"}) // fails indexing requests only
			require.Error(t, r.Flush())
			failure := r.Failure("k")
			assert.Equal(t, 500, failure.Status)
			assert.True(t, failure.Exhausted)
			assert.True(t, failure.Unknown)
			assert.Greater(t, r.Outcome("k").At, time.Minute, "the document has at least a minute")
			assert.Less(t, r.Outcome("k").At, 10*time.Minute)
		})
	})
}

func TestARefusalOfEverythingOpensTheBreakerAndFailsNothing(t *testing.T) {
	for _, status := range []int{302, 401, 403, 404, 405} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sendertest.SteadyBreaker(t, nil)
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Outage: bufferedsender.Hold{Breaker: b}})
				r.Respond(sendertest.Always(status, sendertest.ErrorBody("not like this")))
				r.Upload(sendertest.Hotels("first", 3)...)
				r.Upload(sendertest.Hotels("second", 5)...)
				time.Sleep(10*time.Minute - time.Second)
				assert.Empty(t, r.Events("failed"))
				assert.Len(t, r.Requests(), 1+19)
				for i, x := range r.Requests()[1:] {
					assert.Equal(t, time.Duration(i+1)*30*time.Second, x.At)
					assert.Len(t, x.Keys, 1)
				}
				assert.ErrorContains(t, r.Sender.Health().Err, "not like this")
				r.Respond(nil)
				require.NoError(t, r.Flush())
				assert.Equal(t, append(sendertest.IDs(sendertest.Hotels("first", 3)), sendertest.IDs(sendertest.Hotels("second", 5))...), r.Indexed())
				for _, e := range r.Events("completed") {
					assert.Equal(t, 1, e.Attempt)
					assert.GreaterOrEqual(t, e.At, 10*time.Minute)
				}
			})
		})
		t.Run(fmt.Sprint(status, " without a breaker fails at once"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}})
				r.Respond(sendertest.First(1, sendertest.Always(status, sendertest.ErrorBody("not like this"))))
				r.Upload(sendertest.Hotels("first", 3)...)
				r.Upload(sendertest.Hotels("second", 5)...)
				var failures *bufferedsender.FlushError
				require.ErrorAs(t, r.Flush(), &failures)
				assert.Equal(t, 3, failures.Count)
				for i := range 3 {
					failure := r.Failure(fmt.Sprint("first-", i))
					assert.Equal(t, status, failure.Status)
					assert.ErrorContains(t, failure, "not like this")
					assert.Equal(t, 1, failure.Attempts)
					assert.Zero(t, r.Outcome(failure.Key).At)
				}
				assert.Equal(t, sendertest.IDs(sendertest.Hotels("second", 5)), r.Indexed())
			})
		})
	}
}

func TestResultsFromBeforeTheOpeningAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 5}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
		type end struct {
			at time.Duration
			ok bool
		}
		ends := map[string]end{"k-0": {1, false}, "k-1": {2, false}, "k-2": {10, true}, "k-3": {32, false}, "k-4": {45, false}}
		r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n > 5 {
				time.Sleep(3 * time.Second)
				return next()
			}
			e := ends[x.Keys[0]]
			time.Sleep(e.at * time.Second)
			if e.ok {
				return next()
			}
			return sendertest.Reply(req, 500, ""), nil
		})
		r.Upload(sendertest.Hotels("k", 5)...)
		state := func() breaker.State { synctest.Wait(); return b.Status().State }
		time.Sleep(time.Second)
		assert.Equal(t, breaker.Open, state())
		until := b.Status().Until
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, until, b.Status().Until, "a failure while it is open does not lengthen it")
		time.Sleep(9 * time.Second)
		assert.Equal(t, breaker.Open, state(), "a success does not close the breaker either")
		assert.Equal(t, "completed", r.Outcome("k-2").Kind, "the action is completed anyway")
		time.Sleep(20*time.Second + 500*time.Millisecond)
		assert.Equal(t, breaker.HalfOpen, state())
		require.Len(t, r.Requests(), 6, "one probe")
		time.Sleep(time.Second)
		assert.Equal(t, breaker.HalfOpen, state(), "at 32 s the fourth request failed, but only the probe of 31 s decides")
		time.Sleep(2 * time.Second)
		assert.Equal(t, breaker.Closed, state())
		time.Sleep(12 * time.Second)
		assert.Equal(t, breaker.Closed, state(), "at 45 s the last request from before the outage has failed")
		require.NoError(t, r.Flush())
		assert.EqualValues(t, 1, b.Status().Counts.Opened)
		assert.Len(t, r.Indexed(), 5)
	})
}

// broken is a service that cannot be reached.
func broken(calls *atomic.Int64) *sendertest.Indexer {
	return &sendertest.Indexer{Index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		calls.Add(1)
		return models.IndexDocumentsResult{}, errors.New("connection refused")
	}}
}

// The limit is never reached, so failures are dropped by age only.
func TestABreakerForgetsFailuresThatAreOutOfItsWindow(t *testing.T) {
	b := sendertest.SteadyBreaker(t, &breaker.Options{Failures: math.MaxInt, Window: time.Nanosecond})
	before := sendertest.HeapNow()
	for range 50_000 {
		p, err := b.Allow()
		require.NoError(t, err)
		p.Done(breaker.Result{Outcome: breaker.Failure})
	}
	assert.Less(t, sendertest.HeapNow()-before, int64(512<<10), "bytes that 50 000 failures have left behind")
	runtime.KeepAlive(b)
}
