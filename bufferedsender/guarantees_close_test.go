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

// closeError returns the *CloseError of err.
func closeError(t *testing.T, err error) bufferedsender.CloseError {
	t.Helper()
	var closed *bufferedsender.CloseError
	require.ErrorAs(t, err, &closed)
	return *closed
}

func TestG8CloseShutsTheDoorAndDrains(t *testing.T) {
	t.Run("everything, in partial batches, through retries and pauses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, opts := range []hotelOptions{{Limits: bufferedsender.Limits{MaxBatchActions: 10}}, {Limits: bufferedsender.Limits{MaxBatchActions: 10}, DisableAutoFlush: true}, {AutoFlushInterval: -1}} {
				r := newRig(t, &opts)
				r.faults(searchtest.Fault{Count: 1, Status: 429, RetryAfter: searchtest.Duration(30 * time.Second)},
					searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Ratio: 0.5, Status: 409}}})
				r.upload(append(hotels("k", 25), hotels("k", 4)...)...)
				require.NoError(t, r.close())
				assert.Len(t, r.seen("completed"), 29)
				assert.Len(t, r.indexed(), 25)
			}
		})
	})
	t.Run("the door is shut while it drains", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
			r.upload(hotels("k", 3)...)
			go func() { assert.NoError(t, r.close()) }()
			synctest.Wait()
			for name, add := range r.addingCalls(hotel{ID: "late"}) {
				err := add(t.Context())
				refused(t, err, 0)
				assert.ErrorIs(t, err, bufferedsender.ErrClosed, name)
			}
			assert.Zero(t, r.now())
			require.NoError(t, r.close())
			assert.Equal(t, 10*time.Second, r.now())
			for name, add := range r.addingCalls(hotel{ID: "late"}) {
				assert.ErrorIs(t, add(t.Context()), bufferedsender.ErrClosed, name)
			}
			assert.Equal(t, ids(hotels("k", 3)), r.indexed())
		})
	})
	t.Run("an unused sender closes at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			require.NoError(t, newRig(t, nil).sender.Close(ended), "nothing is left unsent")
			require.NoError(t, newRig(t, nil).close())
		})
	})
}

func TestG8EveryCallerOfCloseGetsTheSameAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.respond(hang)
		r.upload(hotels("k", 3)...)
		var mu sync.Mutex
		var answers []error
		var callers sync.WaitGroup
		for i := range 10 {
			callers.Go(func() {
				ctx := context.Background() // most have all the time in the world
				if i == 4 {
					ctx = within(t, 5*time.Second)
				}
				err := r.sender.Close(ctx)
				assert.Equal(t, 5*time.Second, r.now())
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, err)
			})
		}
		callers.Wait()
		answers = append(answers, r.sender.Close(t.Context()), r.sender.Flush(t.Context()))
		for _, err := range answers {
			assert.Same(t, answers[0], err)
		}
		assert.Equal(t, 3, closeError(t, answers[0]).Unknown)
	})
}

func TestG8CloseTellsUnsentFromUnknownAndFailed(t *testing.T) {
	// k-0 … k-9 are in a request that hangs, the others wait.
	t.Run("in a request that was cut off, and waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10}})
			r.respond(func(_ int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				_, err := next() // it is applied, and only the answer is late
				<-req.Context().Done()
				return nil, errors.Join(err, req.Context().Err())
			})
			r.upload(hotels("k", 25)...)
			closed := closeError(t, r.sender.Close(within(t, 5*time.Second)))
			assert.Equal(t, 5*time.Second, r.now())
			assert.Equal(t, []int{15, 10, 0}, []int{closed.Unsent, closed.Unknown, closed.Failed})
			assert.Len(t, closed.Errors, 25)
			assert.False(t, closed.CallbackStuck)
			require.Len(t, r.seen("failed"), 25, "their callbacks have run")
			for i, d := range hotels("k", 25) {
				failure := r.failure(d.ID)
				assert.ErrorIs(t, failure, bufferedsender.ErrClosed)
				assert.Equal(t, i < 10, failure.Unknown, d.ID)
				assert.Equal(t, i < 10, r.outcome(d.ID).unknown, d.ID)
				assert.Equal(t, map[bool]int{true: 1, false: 0}[i < 10], failure.Attempts, d.ID)
			}
			before := len(r.seen())
			time.Sleep(time.Hour)
			assert.Len(t, r.seen(), before, "no callback after Close")
		})
	})
	for name, c := range map[string]struct {
		first   answer
		unknown bool
	}{
		"waiting to be sent again after a refusal":      {always(429, refusal("busy"), "Retry-After", "60"), false},
		"waiting to be sent again after half a refusal": {always(503, refusal("busy"), "Retry-After", "60"), true}, // it may have applied some
		"waiting to be sent again after a cut": {func(int, *exchange, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return nil, errors.New("connection reset by peer")
		}, true},
		"waiting to be sent again after a timeout":                    {hang, true},
		"waiting to be sent again after an answer that made no sense": {always(200, "<html>"), true},
		"waiting to be sent again after two attempts, the first a cut": {func(n int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			if n == 1 {
				return nil, io.ErrUnexpectedEOF
			}
			return reply(req, 429, refusal("busy"), "Retry-After", "60"), nil
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{RequestTimeout: 10 * time.Second, Retry: retry.Options{Delay: 30 * time.Second, Jitter: -1}})
				r.respond(c.first)
				r.upload(hotels("k", 4)...)
				go r.flush()
				time.Sleep(35 * time.Second)
				closed := closeError(t, r.sender.Close(within(t, time.Millisecond)))
				if c.unknown {
					assert.Equal(t, []int{0, 4, 0}, []int{closed.Unsent, closed.Unknown, closed.Failed})
				} else {
					assert.Equal(t, []int{4, 0, 0}, []int{closed.Unsent, closed.Unknown, closed.Failed})
				}
				assert.Equal(t, c.unknown, r.failure("k-0").Unknown)
				assert.ErrorIs(t, r.failure("k-0"), bufferedsender.ErrClosed)
			})
		})
	}
	t.Run("failures that no Flush has reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 60}})
			r.faults(refuseKeys("bad-*", "old-*"))
			r.upload(hotels("old", 2)...)
			require.Equal(t, 2, flushFailures(t, r.flush()))
			r.upload(hotels("bad", 150)...)
			err := r.close()
			closed := closeError(t, err)
			assert.Equal(t, []int{0, 0, 150}, []int{closed.Unsent, closed.Unknown, closed.Failed})
			require.Len(t, closed.Errors, 100)
			assert.Equal(t, "bad-0", closed.Errors[0].Key)
			assert.ErrorContains(t, err, "150")
			var one *bufferedsender.ActionError
			require.ErrorAs(t, err, &one)
		})
	})
	t.Run("with a ctx that had ended before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(hang)
			r.upload(hotels("k", 4)...)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			closed := closeError(t, r.sender.Close(ended))
			assert.Equal(t, 4, closed.Unsent+closed.Unknown)
			if len(r.requests()) > 0 { // it may have started one, between the closing of the door and giving up
				assert.Equal(t, 4, closed.Unknown)
			}
			assert.Zero(t, r.now())
		})
	})
}

func TestG8CloseEndsEvenIfACallbackDoesNot(t *testing.T) {
	kinds := map[string]func(block func()) hotelHandlers{
		"ActionSent": func(block func()) (h hotelHandlers) {
			h.ActionSent = func(context.Context, *events.ActionSent[hotel]) { block() }
			return h
		},
		"ActionCompleted": func(block func()) (h hotelHandlers) {
			h.ActionCompleted = func(context.Context, *events.ActionCompleted[hotel]) { block() }
			return h
		},
		"BatchCompleted": func(block func()) (h hotelHandlers) {
			h.BatchCompleted = func(context.Context, *events.Batch) { block() }
			return h
		},
		"ActionFailed": func(block func()) (h hotelHandlers) {
			h.ActionFailed = func(context.Context, *events.ActionFailed[hotel]) { block() }
			return h
		},
	}
	for name, handlers := range kinds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers(func() { <-release })})
				r.unstopped = true
				r.faults(refuseKeys("k-1"))
				r.upload(hotels("k", 5)...) // in two requests
				go r.sender.Flush(context.Background())
				synctest.Wait()
				err := r.sender.Close(within(t, 5*time.Second))
				assert.LessOrEqual(t, r.now(), 8*time.Second)
				assert.GreaterOrEqual(t, r.now(), 5*time.Second)
				closed := closeError(t, err)
				assert.True(t, closed.CallbackStuck)
				assert.ErrorIs(t, r.sender.UploadDocuments(t.Context(), hotel{ID: "late"}), bufferedsender.ErrClosed)
				s := r.consistent()
				assert.Zero(t, s.PendingActions, "Close has settled everything")
				assert.EqualValues(t, closed.Unsent+closed.Unknown, s.Unsent)
				close(release)
				synctest.Wait()
				assert.Same(t, err, r.sender.Close(t.Context()))
				r.books()
				assert.EqualValues(t, closed.Unsent+closed.Unknown, r.sender.Stats().Unsent, "Close's answer stays true")
				// synctest fails the test if the sender's goroutine does not end now.
			})
		})
	}
}

func TestG8CloseThatLeavesACallbackBehindCountsOnlyNewFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10}, Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { <-release }}})
		r.unstopped = true
		r.faults(refuseKeys("old-*", "new-*"))
		r.upload(hotels("old", 4)...)
		require.Equal(t, 4, flushFailures(t, r.flush()))
		r.upload(hotels("new", 3)...)
		time.Sleep(2 * time.Minute)
		r.upload(hotel{ID: "stuck"})
		time.Sleep(2 * time.Minute)
		closed := closeError(t, r.sender.Close(within(t, time.Second)))
		assert.True(t, closed.CallbackStuck)
		assert.Equal(t, []int{0, 0, 3}, []int{closed.Unsent, closed.Unknown, closed.Failed}, "Flush has reported the others")
		close(release)
	})
}

func TestG8CloseEndsEvenIfTheIndexerDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		told := 0
		sender, err := bufferedsender.New[hotel](&fakeIndexer{func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			<-release // deaf to ctx
			return agree(ctx, body)
		}}, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Handlers: hotelHandlers{
			ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { told++ },
			ActionFailed:    func(context.Context, *events.ActionFailed[hotel]) { told++ },
		}})
		require.NoError(t, err)
		closeAtLast(t, sender)
		require.NoError(t, sender.UploadDocuments(t.Context(), hotels("k", 5)...))
		began := time.Now()
		err = sender.Close(within(t, 5*time.Second))
		assert.LessOrEqual(t, time.Since(began), 8*time.Second)
		closed := closeError(t, err)
		assert.Equal(t, []int{3, 2, 0}, []int{closed.Unsent, closed.Unknown, closed.Failed})
		assert.Equal(t, 5, told, "their callbacks have run")
		close(release)
		time.Sleep(time.Minute)
		assert.Equal(t, 5, told, "the late answer changes nothing")
		assert.EqualValues(t, 5, sender.Stats().Unsent)
	})
}

func TestG8BooksBalanceWheneverCloseGivesUp(t *testing.T) {
	for _, after := range []time.Duration{0, 1, time.Millisecond, 999 * time.Millisecond, time.Second, 1001 * time.Millisecond, 5 * time.Second} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxInFlight: 3, MaxBufferedActions: 30}})
				r.faults(searchtest.Fault{Every: 4, Status: 503}, searchtest.Fault{Every: 5, Cut: searchtest.CutAfterCommit},
					searchtest.Fault{Delay: searchtest.Duration(500 * time.Millisecond), Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 409}, {Ratio: 0.1, Status: 400}}})
				go func() { _ = r.sender.UploadDocuments(context.Background(), hotels("k", 200)...) }()
				time.Sleep(time.Second)
				s := r.sender.Stats()
				err := r.sender.Close(within(t, after))
				if err == nil {
					assert.EqualValues(t, 0, s.PendingActions)
					return
				}
				closed, s := closeError(t, err), r.sender.Stats()
				assert.EqualValues(t, s.Unsent, closed.Unsent+closed.Unknown)
				assert.EqualValues(t, s.Failed, closed.Failed)
				for key := range r.srv.Documents("hotels") {
					e := r.outcome(key)
					assert.True(t, e.kind == "completed" || e.unknown, "%s is in the index and is said to be certainly not", key)
				}
			})
		})
	}
}
