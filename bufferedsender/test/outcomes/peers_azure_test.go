package outcomes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Each test covers a fault of a sender in another Azure SDK. peers_go_test.go covers other indexers for Go.

// .NET's sender halves its batch size at a 413. After a single document it is 0, and the sender loops forever.
func TestDotNet413OfOneDocumentEndsInNoEndlessLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{OverBytes: 10})
		r.Upload(sendertest.Hotel{ID: "only"})
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.Equal(t, 413, r.Failure("only").Status)
		assert.Len(t, r.Requests(), 1)
		r.Service.SetFaults(nil)
		r.Upload(sendertest.Hotels("k", 50)...)
		require.NoError(t, r.Close())
		assert.Len(t, r.Indexed(), 50)
	})
}

// .NET's Flush completes with a flush that was already running.
func TestDotNetFlushDoesNotEndWithAnEarlierFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
		r.Upload(sendertest.Hotel{ID: "a"})
		earlier := make(chan time.Duration, 1)
		go func() {
			assert.NoError(t, r.Flush())
			earlier <- r.Now()
		}()
		time.Sleep(5 * time.Second)
		r.Upload(sendertest.Hotel{ID: "b"})
		require.NoError(t, r.Flush())
		assert.Equal(t, 10*time.Second, <-earlier)
		assert.Equal(t, 20*time.Second, r.Now())
		assert.Equal(t, "completed", r.Outcome("b").Kind)
	})
}

// An exception in .NET's key accessor ends its loop: later documents are accepted and never sent.
func TestDotNetKeyAccessorThatPanicsDoesNotStopTheSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Documents: bufferedsender.Documents[sendertest.Hotel]{Key: func(d sendertest.Hotel) string {
			if d.ID == "bad" {
				panic("no key")
			}
			return d.ID
		}}})
		caught := func() (v any) {
			defer func() {
				if p := recover(); p != nil {
					v = p
				}
			}()
			return r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "bad"}, sendertest.Hotel{ID: "b"})
		}()
		require.NotNil(t, caught, "the caller gets the error")
		r.Upload(sendertest.Hotel{ID: "c"})
		require.NoError(t, r.Close())
		stored := r.Indexed()
		assert.Contains(t, stored, "c")
		assert.NotContains(t, stored, "b", "documents after the bad one are not accepted")
		assert.EqualValues(t, len(stored), r.Sender.Stats().Completed)
	})
}

// .NET caches a failed key discovery forever.
func TestDotNetFailedKeyDiscoveryIsNotCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpGetIndex, Count: 1, Status: 403}}})
		s, err := bufferedsender.New[models.Document](sendertest.NewClient(t, srv), nil)
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		doc := models.Document{"id": "1"}
		var status retry.StatusError
		require.ErrorAs(t, s.UploadDocuments(t.Context(), doc), &status)
		assert.Equal(t, 403, status.HTTPStatus())
		require.NoError(t, s.UploadDocuments(t.Context(), doc))
		require.NoError(t, s.Close(t.Context()))
	})
}

// .NET's back-off overflows from the 23rd throttling on, and then does not wait.
func TestDotNetBackOffDoesNotOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 200, Jitter: 0.1}})
		r.Respond(sendertest.Always(503, sendertest.ErrorBody("busy")))
		r.Upload(sendertest.Hotel{ID: "a"})
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		for i, gap := range r.RequestGaps() {
			assert.Greater(t, gap, 700*time.Millisecond, "after throttle %d", i+1)
			assert.LessOrEqual(t, gap, 30*time.Second, "after throttle %d", i+1)
			if i > 10 {
				assert.Equal(t, 30*time.Second, gap, "after throttle %d", i+1) // the random back-off is above 54 s
			}
		}
	})
}

// In .NET a retried and a pending action of one key can share a batch.
func TestDotNetRetriedAndPendingActionOfAKeyShareNoBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Status: 503}}})
		r.Upload(sendertest.Hotel{ID: "a", Rooms: 1})
		go r.Flush()
		synctest.Wait()
		r.Upload(sendertest.Hotel{ID: "a", Rooms: 2})
		require.NoError(t, r.Flush())
		assert.Equal(t, [][]string{{"a"}, {"a"}, {"a"}}, sendertest.KeysOf(r.Requests()))
		raw, _ := r.Service.Document("hotels", "a")
		assert.Contains(t, string(raw), `"rooms":2`)
	})
}

// Java retries 401, 403, 404 and network failures forever, and close() hangs.
func TestJavaCloseDoesNotHangInRetries(t *testing.T) {
	for name, c := range map[string]struct {
		answer   sendertest.Answer
		attempts int
	}{
		"401": {sendertest.Always(401, ""), 1}, "403": {sendertest.Always(403, ""), 1}, "404": {sendertest.Always(404, sendertest.ErrorBody("no such index")), 1},
		"network": {func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return nil, errors.New("no route to host")
		}, 6}, // before the last attempt two of them were sent alone
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, nil)
				r.Respond(c.answer)
				r.Upload(sendertest.Hotels("k", 3)...)
				closed := sendertest.CloseError(t, r.Sender.Close(context.Background()))
				assert.Equal(t, 3, closed.Failed)
				assert.Len(t, r.Requests(), c.attempts)
			})
		})
	}
}

// Java's flush sends one batch, and none while another flush runs.
func TestJavaFlushSendsAllBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 512}, DisableAutoFlush: true})
		r.Faults(searchtest.Fault{Delay: searchtest.Duration(time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"k-3"}, Nth: 1, Status: 503}}})
		r.Upload(sendertest.Hotels("k", 600)...)
		var flushes sync.WaitGroup
		for range 3 {
			flushes.Go(func() {
				assert.NoError(t, r.Flush())
				assert.Len(t, r.Events("completed"), 600, "retries included")
			})
		}
		flushes.Wait()
	})
}

// Java's timer does not run before the first full batch, and fires only once.
func TestJavaAutoFlushTimerRunsBeforeTheFirstFullBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: time.Second})
		for i := range 3 {
			r.Upload(sendertest.Hotel{ID: fmt.Sprint(i)})
			time.Sleep(2 * time.Second)
			assert.Len(t, r.Indexed(), i+1)
		}
	})
}

// Java drops a document without a result in the reply.
func TestJavaDocumentsWithoutResultAreNotDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Results: searchtest.ResultsMissing})
		r.Upload(sendertest.Hotels("k", 3)...)
		assert.ErrorIs(t, r.Flush(), bufferedsender.ErrNoResult)
		assert.ErrorIs(t, r.Failure("k-2"), bufferedsender.ErrNoResult)
	})
}

// JavaScript reports failures within a 207 as success.
func TestJavaScriptFailuresInside207AreNoSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(sendertest.RefuseKeys("k-0", "k-2"))
		r.Upload(sendertest.Hotels("k", 3)...)
		require.Equal(t, 2, sendertest.FlushFailures(t, r.Flush()))
		assert.Equal(t, 207, r.Requests()[0].Status)
		b := r.Events("batch")[0].Batch
		assert.Equal(t, []int{1, 2, 0}, []int{b.Succeeded, b.Failed, b.Retried})
	})
}

// After a failed batch JavaScript never sends the rest.
func TestJavaScriptFailedBatchDoesNotTakeTheRestWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 8}})
		r.Faults(searchtest.Fault{Count: 1, Status: 404}, searchtest.Fault{OverActions: 4})
		r.Upload(sendertest.Hotels("k", 30)...)
		require.Equal(t, 8, sendertest.FlushFailures(t, r.Flush()))
		assert.Len(t, r.Indexed(), 22)
	})
}

// JavaScript's flush and dispose return while requests are in flight.
func TestJavaScriptFlushAndCloseDoNotReturnEarly(t *testing.T) {
	for name, end := range map[string]func(*sendertest.Rig) error{"Flush": (*sendertest.Rig).Flush, "Close": (*sendertest.Rig).Close} {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 3}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
			r.Upload(sendertest.Hotels("k", 4)...)
			synctest.Wait()
			require.Equal(t, 2, r.Sender.Stats().InFlight)
			require.NoError(t, end(r))
			assert.Equal(t, 10*time.Second, r.Now(), name)
			assert.Len(t, r.Indexed(), 4)
		})
	}
}

// In JavaScript a failing timer flush ends the process.
func TestJavaScriptFailingTimerFlushDoesNotEndTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: time.Second})
		r.Faults(searchtest.Fault{Count: 1, Status: 403})
		r.Upload(sendertest.Hotel{ID: "a"})
		time.Sleep(2 * time.Second)
		r.Upload(sendertest.Hotel{ID: "b"})
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"b"}, r.Indexed())
		assert.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()), "the next Flush reports the failure")
	})
}

// In JavaScript the timer and an add send concurrently, and the older version of a document wins.
func TestJavaScriptOrderOfAKeyIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: time.Second, Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 4}})
		r.Faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(30 * time.Second)})
		r.Upload(sendertest.Hotel{ID: "a", Rooms: 1})
		time.Sleep(2 * time.Second)
		r.Upload(sendertest.Hotel{ID: "a", Rooms: 2}, sendertest.Hotel{ID: "b"})
		require.NoError(t, r.Flush())
		raw, _ := r.Service.Document("hotels", "a")
		assert.Contains(t, string(raw), `"rooms":2`)
		assert.Less(t, r.Outcome("b").At, 30*time.Second)
	})
}

// Python retries only the first action of a failed request; the others disappear.
func TestPythonFailedRequestIsRetriedAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Count: 2, Status: 503})
		r.Upload(sendertest.Hotels("k", 50)...)
		require.NoError(t, r.Flush())
		assert.Len(t, r.Indexed(), 50)
		for _, x := range r.Requests() {
			assert.Len(t, x.Keys, 50)
		}
	})
}

// In Python one oversize document makes the sender repeat its neighbours forever.
func TestPythonOversizeDocumentMakesNoDuplicateSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{OverBytes: 5000})
		docs := sendertest.Hotels("k", 20)
		docs[7] = sendertest.HotelOfSize("k-7", 6000)
		r.Upload(docs...)
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		for _, d := range docs {
			if d.ID != "k-7" {
				assert.Len(t, r.Service.History("hotels", d.ID), 1, "writes of %s", d.ID)
			}
		}
		assert.Empty(t, r.Service.History("hotels", "k-7"))
	})
}

// With two actions of one key in a request, Python assigns the first result to both.
func TestPythonDuplicateKeysAreCreditedToTheirOwnActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		for i, a := range []sendertest.Action{models.MergeAction(sendertest.Hotel{ID: "a"}), models.UploadAction(sendertest.Hotel{ID: "a"}), models.MergeAction(sendertest.Hotel{ID: "a", Rooms: 3})} {
			require.NoError(t, r.Sender.IndexDocuments(t.Context(), a.WithTag(i)))
		}
		require.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		var outcomes []string
		for _, e := range r.Events("completed", "failed") {
			outcomes = append(outcomes, fmt.Sprint(e.Action.Tag, e.Kind))
		}
		assert.Equal(t, []string{"0failed", "1completed", "2completed"}, outcomes)
	})
}

// Python's retry counter is never reset, so a long-lived sender gives up at the first failure of a document that
// failed earlier.
func TestPythonAttemptsAreCountedForEachActionAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Retry: retry.Options{MaxRetries: 2, Delay: time.Second, Jitter: -1}})
		for round := range 10 {
			r.Faults(searchtest.Fault{Count: 2, Status: 503})
			r.Upload(sendertest.Hotel{ID: "a"})
			before := r.Now()
			require.NoError(t, r.Flush())
			// One second each: the second random delay of 2 s exceeds the duration of the failure.
			assert.Equal(t, 2*time.Second, r.Now()-before, "the back-off of round %d starts again", round)
		}
		for _, e := range r.Events("completed") {
			assert.Equal(t, 3, e.Attempt)
		}
	})
}
