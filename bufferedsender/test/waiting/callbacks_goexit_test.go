package waiting

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// hostileContext panics in Value once it is armed.
type hostileContext struct {
	context.Context
	armed *bool
}

func (c hostileContext) Value(key any) any {
	if *c.armed {
		panic("hostile")
	}
	return c.Context.Value(key)
}

func TestACallThatPanicsInTheQueueLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sender, err := bufferedsender.New(&sendertest.Indexer{Delay: time.Second}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 1}})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		synctest.Wait()
		armed := false
		ctx := hostileContext{t.Context(), &armed}
		assert.Panics(t, func() {
			_ = sender.IndexSeq(ctx, func(yield func(sendertest.Action, error) bool) {
				armed = true
				yield(models.UploadAction(sendertest.Hotel{ID: "lost"}), nil)
			}, nil)
		})
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "b"}))
		require.NoError(t, sender.Close(t.Context()))
		assert.EqualValues(t, 2, sender.Stats().Completed)
	})
}

// panickingError panics when it is compared.
type panickingError struct{ error }

func (panickingError) Is(error) bool { panic("hostile") }

func TestAnErrorThatPanicsFailsItsActionsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var failed []error
		options := &sendertest.Options{Handlers: sendertest.Handlers{ActionFailed: func(_ context.Context, e *events.ActionFailed[sendertest.Hotel]) {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, e.Err)
		}}}
		options.Retry.MaxRetries = -1
		sender, err := bufferedsender.New(&sendertest.Indexer{Index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, panickingError{errors.New("no")}
		}}, options)
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		require.Error(t, sender.Close(t.Context()))
		require.Len(t, failed, 1)
		var action *bufferedsender.ActionError
		require.ErrorAs(t, failed[0], &action)
		assert.Equal(t, "a", action.Key)
	})
}

// FailNow in a handler, or in a fake client, ends its goroutine. It must not end the sender.

func TestAHandlerThatEndsItsGoroutineLosesNothing(t *testing.T) {
	var ended atomic.Int64
	for name, handlers := range fiveHandlers(func(context.Context) error { ended.Add(1); runtime.Goexit(); return nil }) {
		if name == "ActionAdded" {
			continue // that runs on the caller's goroutine
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended.Store(0)
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers})
				r.Faults(sendertest.RefuseKeys("bad"))
				r.Upload(append(sendertest.Hotels("k", 7), sendertest.Hotel{ID: "bad"})...)
				assert.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
				require.NoError(t, r.Close())
				assert.Equal(t, 400, r.OnlyFailed("bad", 7).Status)
				assert.Positive(t, ended.Load())
			})
		})
	}
}

func TestAHandlerThatEndsItsGoroutineHasNoFailureReportedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) {
			runtime.Goexit()
		}}})
		r.Faults(sendertest.RefuseKeys("bad"))
		_, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads([]sendertest.Hotel{{ID: "bad"}}), nil)
		require.ErrorAs(t, err, new(*bufferedsender.WaitError))
		require.NoError(t, r.Close(), "the call got the outcome")
	})
}

func TestAHandlerThatEndsItsGoroutineWhileCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := 0
		sender, err := bufferedsender.New(&sendertest.Indexer{Delay: time.Hour}, &sendertest.Options{
			Handlers: sendertest.Handlers{ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) {
				reported++
				runtime.Goexit()
			}},
		})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "b"}, sendertest.Hotel{ID: "c"}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, sender.Close(ctx), &closed)
		assert.Equal(t, 3, closed.Unknown)
		assert.Len(t, closed.Errors, 3)
		assert.Equal(t, 3, reported)
	})
}

func TestAnAddingCallThatIsEndedByItsHandlerAcceptsNothingLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{
			Handlers: sendertest.Handlers{ActionAdded: func(_ context.Context, e *events.ActionAdded[sendertest.Hotel]) error {
				if e.Key == "last" {
					runtime.Goexit()
				}
				return nil
			}},
		})
		require.NoError(t, err)
		for range 20 { // the chunk of a call returns to a pool
			go func() {
				_ = sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "first"}, sendertest.Hotel{ID: "last"})
			}()
			synctest.Wait()
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "other"}))
		}
		require.NoError(t, sender.Close(t.Context()))
		assert.EqualValues(t, 20, sender.Stats().Accepted)
	})
}

func TestAClientThatEndsItsGoroutineCountsAsALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		good := &sendertest.Indexer{}
		sender, err := bufferedsender.New(&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			if calls.Add(1) == 1 {
				runtime.Goexit()
			}
			return good.IndexDocumentsRaw(ctx, body)
		}}, &sendertest.Options{})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		require.NoError(t, sender.Close(t.Context()))
		assert.EqualValues(t, 1, sender.Stats().Completed)
		assert.EqualValues(t, 1, sender.Stats().Retries)
	})
}

// A callback may end its goroutine, as FailNow of a test does.
func TestACallbackThatEndsItsGoroutineLeavesNoWaiterWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Hour),
			[]sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"}).WithCallback(func(models.Outcome) { runtime.Goexit() })}, nil)
		assert.NoError(t, err)
		assert.Less(t, r.Now(), time.Minute)
	})
}

func TestAHandlerThatEndsItsGoroutineLeavesNoWithdrawWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { runtime.Goexit() }}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 5 }))
		r.Upload(sendertest.Hotel{ID: "k"})
		flushed := sendertest.Later(r.Flush)
		time.Sleep(time.Second)
		withdrawn := sendertest.Later(func() int { return r.Sender.Withdraw(func(string, any) bool { return true }) })
		require.NoError(t, <-flushed)
		time.Sleep(time.Hour)
		select {
		case <-withdrawn:
		default:
			t.Error("Withdraw still waits for a request that ended an hour ago")
		}
	})
}

func TestAMatchThatEndsItsGoroutineLosesNoAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Sender.Pause()
		r.Upload(sendertest.Hotels("k", 10)...)
		go r.Sender.Withdraw(func(key string, _ any) bool {
			if key == "k-3" {
				runtime.Goexit()
			}
			return false
		})
		synctest.Wait()
		r.Sender.Resume()
		assert.NoError(t, r.Sender.Flush(sendertest.Within(t, time.Hour), nil))
		assert.Len(t, r.Indexed(), 10)
	})
}

// Withdraw waits for a request that is held back, and a handler ends the goroutine: Withdraw must return.
func TestWithdrawReturnsAfterAHandlerEndsTheGoroutineOfARequestHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.Folding = &bufferedsender.Folding[sendertest.Hotel]{}
		done := make(chan int, 1)
		var r *sendertest.Rig
		began := false
		opts.Handlers.ActionSent = func(context.Context, *events.ActionSent[sendertest.Hotel]) {
			if began {
				return
			}
			began = true
			r.Sender.Pause()
			go func() { done <- r.Sender.Withdraw(func(string, any) bool { return true }) }()
			time.Sleep(time.Second)
		}
		opts.Handlers.BatchCompleted = func(_ context.Context, b *events.Batch) {
			if errors.Is(b.Err, bufferedsender.ErrNotSent) {
				runtime.Goexit()
			}
		}
		r = sendertest.New(t, opts)
		r.Upload(sendertest.Hotels("k", 1)...)
		go func() { _ = r.Flush() }()
		time.Sleep(10 * time.Second)
		r.Sender.Resume()
		time.Sleep(10 * time.Minute)
		select {
		case n := <-done:
			t.Log(n)
		default:
			t.Errorf("Withdraw waits forever; %+v", r.Sender.Stats())
		}
	})
}

func TestAClosedHandlerThatEndsItsGoroutineHasNotSucceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opts sendertest.Options
		opts.Handlers.Closed = func(context.Context) error {
			runtime.Goexit()
			return nil
		}
		r := sendertest.New(t, &opts)
		r.Upload(sendertest.Hotel{ID: "a"})
		closed := sendertest.CloseError(t, r.Close())
		require.Error(t, closed.Handlers)
		assert.Equal(t, []string{"a"}, r.Indexed())
	})
}
