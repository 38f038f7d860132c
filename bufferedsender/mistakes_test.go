package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The mistakes of the nearest relatives, of other languages and of other
// indexers for Go. Each is a test.

// .NET's sender halves its batch size at a 413; after a single document it is 0
// and the sender spins for ever.
func TestMistakeDotNetEndlessLoopAfter413OfOneDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{OverBytes: 10})
		r.upload(hotel{ID: "only"})
		require.Equal(t, 1, flushFailures(t, r.flush()))
		assert.Equal(t, 413, r.failure("only").Status)
		assert.Len(t, r.requests(), 1)
		r.srv.SetFaults(nil)
		r.upload(hotels("k", 50)...)
		require.NoError(t, r.close())
		assert.Len(t, r.indexed(), 50)
	})
}

// .NET's Flush completes with a flush that was under way before it.
func TestMistakeDotNetFlushEndsWithAnEarlierFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
		r.upload(hotel{ID: "a"})
		earlier := make(chan time.Duration, 1)
		go func() {
			assert.NoError(t, r.flush())
			earlier <- r.now()
		}()
		time.Sleep(5 * time.Second)
		r.upload(hotel{ID: "b"})
		require.NoError(t, r.flush())
		assert.Equal(t, 10*time.Second, <-earlier)
		assert.Equal(t, 20*time.Second, r.now())
		assert.Equal(t, "completed", r.outcome("b").kind)
	})
}

// An exception of .NET's key accessor ends its loop: later documents are
// accepted and never sent.
func TestMistakeDotNetThrowingKeyAccessorKillsTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Documents: bufferedsender.Documents[hotel]{Key: func(d hotel) string {
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
			return r.sender.UploadDocuments(t.Context(), hotel{ID: "a"}, hotel{ID: "bad"}, hotel{ID: "b"})
		}()
		require.NotNil(t, caught, "the caller hears of it")
		r.upload(hotel{ID: "c"})
		require.NoError(t, r.close())
		stored := r.indexed()
		assert.Contains(t, stored, "c")
		assert.NotContains(t, stored, "b", "what follows the bad document is not accepted")
		assert.EqualValues(t, len(stored), r.sender.Stats().Completed)
	})
}

// .NET caches a failed key discovery for ever; see also G15.
func TestMistakeDotNetFailedKeyDiscoveryIsCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		require.NoError(t, srv.CreateIndex(hotelIndex))
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpGetIndex, Count: 1, Status: 403}}})
		s, err := bufferedsender.New[models.Document](newClient(t, srv), nil)
		require.NoError(t, err)
		closeAtLast(t, s)
		doc := models.Document{"id": "1"}
		var status retry.StatusError
		require.ErrorAs(t, s.UploadDocuments(t.Context(), doc), &status)
		assert.Equal(t, 403, status.HTTPStatus())
		require.NoError(t, s.UploadDocuments(t.Context(), doc))
		require.NoError(t, s.Close(t.Context()))
	})
}

// .NET's back-off overflows from the 23rd throttle on: no waiting at all.
func TestMistakeDotNetBackOffOverflows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 200, Jitter: 0.1}})
		r.respond(always(503, refusal("busy")))
		r.upload(hotel{ID: "a"})
		require.Equal(t, 1, flushFailures(t, r.flush()))
		for i, gap := range r.gaps() {
			assert.Greater(t, gap, 700*time.Millisecond, "after throttle %d", i+1)
			assert.LessOrEqual(t, gap, 30*time.Second, "after throttle %d", i+1)
			if i > 10 {
				assert.Equal(t, 30*time.Second, gap, "after throttle %d", i+1) // the draw is above 54 s
			}
		}
	})
}

// In .NET a retried and a pending action of one key can share a batch.
func TestMistakeDotNetRetriedAndPendingActionOfAKeyShareABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Status: 503}}})
		r.upload(hotel{ID: "a", Rooms: 1})
		go r.flush()
		synctest.Wait()
		r.upload(hotel{ID: "a", Rooms: 2})
		require.NoError(t, r.flush())
		assert.Equal(t, [][]string{{"a"}, {"a"}, {"a"}}, keysOf(r.requests()))
		raw, _ := r.srv.Document("hotels", "a")
		assert.Contains(t, string(raw), `"rooms":2`)
	})
}

// Java retries 401, 403, 404 and network failures for ever, and close() hangs.
func TestMistakeJavaRetriesForEverAndCloseHangs(t *testing.T) {
	for name, c := range map[string]struct {
		answer   answer
		attempts int
	}{
		"401": {always(401, ""), 1}, "403": {always(403, ""), 1}, "404": {always(404, refusal("no such index")), 1},
		"network": {func(int, *exchange, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return nil, errors.New("no route to host")
		}, 5}, // before the last attempt one of them went ahead alone
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.respond(c.answer)
				r.upload(hotels("k", 3)...)
				closed := closeError(t, r.sender.Close(context.Background()))
				assert.Equal(t, 3, closed.Failed)
				assert.Len(t, r.requests(), c.attempts)
			})
		})
	}
}

// Java's flush sends one batch, and nothing while another flush runs.
func TestMistakeJavaFlushSendsOneBatchOrNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 512}, DisableAutoFlush: true})
		r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"k-3"}, Nth: 1, Status: 503}}})
		r.upload(hotels("k", 600)...)
		var flushes sync.WaitGroup
		for range 3 {
			flushes.Go(func() {
				assert.NoError(t, r.flush())
				assert.Len(t, r.seen("completed"), 600, "retries included")
			})
		}
		flushes.Wait()
	})
}

// Java's timer is dead until the first full batch, and after one tick.
func TestMistakeJavaAutoFlushTimerIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{AutoFlushInterval: time.Second})
		for i := range 3 {
			r.upload(hotel{ID: fmt.Sprint(i)})
			time.Sleep(2 * time.Second)
			assert.Len(t, r.indexed(), i+1)
		}
	})
}

// Java drops a document that the reply says nothing about.
func TestMistakeJavaDropsDocumentsWithoutResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{Results: searchtest.ResultsMissing})
		r.upload(hotels("k", 3)...)
		assert.ErrorIs(t, r.flush(), bufferedsender.ErrNoResult)
		assert.ErrorIs(t, r.failure("k-2"), bufferedsender.ErrNoResult)
	})
}

// JavaScript reports failures inside a 207 as success.
func TestMistakeJavaScriptFailuresInside207AreSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(refuseKeys("k-0", "k-2"))
		r.upload(hotels("k", 3)...)
		require.Equal(t, 2, flushFailures(t, r.flush()))
		assert.Equal(t, 207, r.requests()[0].status)
		b := r.seen("batch")[0].batch
		assert.Equal(t, []int{1, 2, 0}, []int{b.Succeeded, b.Failed, b.Retried})
	})
}

// In JavaScript, after a batch that failed the rest is never attempted.
func TestMistakeJavaScriptFailedBatchTakesTheRestWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 8}})
		r.faults(searchtest.Fault{Count: 1, Status: 404}, searchtest.Fault{OverActions: 4})
		r.upload(hotels("k", 30)...)
		require.Equal(t, 8, flushFailures(t, r.flush()))
		assert.Len(t, r.indexed(), 22)
	})
}

// JavaScript's flush and dispose return while requests are under way.
func TestMistakeJavaScriptFlushAndDisposeReturnEarly(t *testing.T) {
	for name, end := range map[string]func(*rig) error{"Flush": (*rig).flush, "Close": (*rig).close} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 3}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
			r.upload(hotels("k", 4)...)
			synctest.Wait()
			require.Equal(t, 2, r.sender.Stats().InFlight)
			require.NoError(t, end(r))
			assert.Equal(t, 10*time.Second, r.now(), name)
			assert.Len(t, r.indexed(), 4)
		})
	}
}

// In JavaScript a flush by the timer that fails ends the process.
func TestMistakeJavaScriptFailingTimerFlushEndsTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{AutoFlushInterval: time.Second})
		r.faults(searchtest.Fault{Count: 1, Status: 403})
		r.upload(hotel{ID: "a"})
		time.Sleep(2 * time.Second)
		r.upload(hotel{ID: "b"})
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"b"}, r.indexed())
		assert.Equal(t, 1, flushFailures(t, r.flush()), "and is reported by the next Flush")
	})
}

// In JavaScript the timer and an add send at the same time, and the older
// version of a document wins.
func TestMistakeJavaScriptOrderOfAKeyInverts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{AutoFlushInterval: time.Second, Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 4}})
		r.faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(30 * time.Second)})
		r.upload(hotel{ID: "a", Rooms: 1})
		time.Sleep(2 * time.Second)
		r.upload(hotel{ID: "a", Rooms: 2}, hotel{ID: "b"})
		require.NoError(t, r.flush())
		raw, _ := r.srv.Document("hotels", "a")
		assert.Contains(t, string(raw), `"rooms":2`)
		assert.Less(t, r.outcome("b").at, 30*time.Second)
	})
}

// langchaingo's store: 100 documents refused by 503-inside-207, and no error.
func TestMistakeLangchaingo503Inside207IsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 503}}})
		r.upload(hotels("k", 100)...)
		assert.Equal(t, 100, flushFailures(t, r.flush()))
		assert.EqualValues(t, 100, r.sender.Stats().Failed)
		assert.Empty(t, r.indexed())
	})
}

// nats.go defers disconnect callbacks inside a loop that never ends: they never
// run. Ours run after each request, not when all is over.
func TestMistakeNATSCallbacksDeferredInAnEndlessLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 100)
		sender, err := bufferedsender.New[hotel](&fakeIndexer{func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			time.Sleep(time.Second)
			return models.IndexDocumentsResult{}, statusError(404)
		}}, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.FailSoon{}, Logger: silent, Handlers: hotelHandlers{
			ActionFailed:   func(_ context.Context, e *events.ActionFailed[hotel]) { told <- e.Key },
			BatchCompleted: func(context.Context, *events.Batch) { told <- "batch" },
		}})
		require.NoError(t, err)
		closeAtLast(t, sender)
		require.NoError(t, sender.UploadDocuments(t.Context(), hotels("k", 20)...))
		for i := range 20 {
			assert.Equal(t, "batch", <-told)
			assert.Equal(t, fmt.Sprint("k-", i), <-told)
			assert.EqualValues(t, 19-i, sender.PendingActionCount())
		}
		require.Error(t, sender.Close(t.Context()))
	})
}
