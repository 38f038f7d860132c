package bufferedsender_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A test's FailNow inside a handler, or inside a fake client, ends the goroutine
// that it runs on. It must not end the sender.

func TestAHandlerThatEndsItsGoroutineLosesNothing(t *testing.T) {
	type doc = modelDoc
	var ended atomic.Int64
	exit := func() {
		ended.Add(1)
		runtime.Goexit()
	}
	for name, handlers := range map[string]events.Handlers[doc]{
		"ActionSent":      {ActionSent: func(context.Context, *events.ActionSent[doc]) { exit() }},
		"BatchCompleted":  {BatchCompleted: func(context.Context, *events.Batch) { exit() }},
		"ActionCompleted": {ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) { exit() }},
		"ActionFailed":    {ActionFailed: func(context.Context, *events.ActionFailed[doc]) { exit() }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended.Store(0)
				sender, err := bufferedsender.New(refusing("k1"), &bufferedsender.Options[doc]{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Handlers: handlers})
				require.NoError(t, err)
				for i := range 7 {
					require.NoError(t, sender.UploadDocuments(t.Context(), doc{ID: "k" + number(i)}))
				}
				var flush *bufferedsender.FlushError
				require.ErrorAs(t, sender.Flush(t.Context()), &flush)
				assert.Equal(t, 1, flush.Count)
				require.NoError(t, sender.Close(t.Context()))
				stats := sender.Stats()
				assert.EqualValues(t, 6, stats.Completed)
				assert.EqualValues(t, 1, stats.Failed)
				assert.Positive(t, ended.Load())
			})
		})
	}
}

func TestAHandlerThatEndsItsGoroutineWhileCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		sender, err := bufferedsender.New(&slowIndex{delay: time.Hour}, &bufferedsender.Options[modelDoc]{
			Handlers: events.Handlers[modelDoc]{ActionFailed: func(context.Context, *events.ActionFailed[modelDoc]) {
				told++
				runtime.Goexit()
			}},
		})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}, modelDoc{ID: "b"}, modelDoc{ID: "c"}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, sender.Close(ctx), &closed)
		assert.Equal(t, 3, closed.Unknown)
		assert.Len(t, closed.Errors, 3)
		assert.Equal(t, 3, told)
	})
}

func TestAnAddingCallThatIsEndedByItsHandlerAcceptsNothingLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &slowIndex{}
		sender, err := bufferedsender.New(index, &bufferedsender.Options[modelDoc]{
			Handlers: events.Handlers[modelDoc]{ActionAdded: func(_ context.Context, e *events.ActionAdded[modelDoc]) error {
				if e.Key == "last" {
					runtime.Goexit()
				}
				return nil
			}},
		})
		require.NoError(t, err)
		for range 20 { // the chunk of a call goes back to a pool
			go func() { _ = sender.UploadDocuments(t.Context(), modelDoc{ID: "first"}, modelDoc{ID: "last"}) }()
			synctest.Wait()
			require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "other"}))
		}
		require.NoError(t, sender.Close(t.Context()))
		assert.EqualValues(t, 20, sender.Stats().Accepted)
	})
}

func TestAClientThatEndsItsGoroutineCountsAsALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		good := &slowIndex{}
		sender, err := bufferedsender.New(indexerFunc(func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			if calls.Add(1) == 1 {
				runtime.Goexit()
			}
			return good.IndexDocumentsRaw(ctx, body)
		}), &bufferedsender.Options[modelDoc]{})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		require.NoError(t, sender.Close(t.Context()))
		assert.EqualValues(t, 1, sender.Stats().Completed)
		assert.EqualValues(t, 1, sender.Stats().Retries)
	})
}

type indexerFunc func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error)

func (f indexerFunc) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	return f(ctx, body)
}

// refusing accepts every document but those with the given key.
func refusing(key string) bufferedsender.Indexer {
	good := &slowIndex{}
	return indexerFunc(func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		result, err := good.IndexDocumentsRaw(ctx, body)
		for i := range result.Results {
			if r := &result.Results[i]; r.Key == key {
				r.Succeeded, r.StatusCode, r.ErrorMessage = false, 400, "no"
			}
		}
		return result, err
	})
}

// A callback may end its goroutine, as FailNow of a test does.
func TestACallbackThatEndsItsGoroutineLeavesNoWaiterWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		_, err := r.sender.IndexDocumentsAndWait(within(t, time.Hour),
			models.UploadAction(hotel{ID: "k"}).WithCallback(func(models.Outcome) { runtime.Goexit() }))
		assert.NoError(t, err)
		assert.Less(t, r.now(), time.Minute)
	})
}

func TestAHandlerThatEndsItsGoroutineLeavesNoWithdrawWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { runtime.Goexit() }}})
		r.respond(seconds(func(int, *exchange) float64 { return 5 }))
		r.upload(hotel{ID: "k"})
		flushed := later(r.flush)
		time.Sleep(time.Second)
		withdrawn := later(func() int { return r.sender.Withdraw(func(string, any) bool { return true }) })
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
		r := newRig(t, nil)
		r.sender.Pause()
		r.upload(hotels("k", 10)...)
		go r.sender.Withdraw(func(key string, _ any) bool {
			if key == "k-3" {
				runtime.Goexit()
			}
			return false
		})
		synctest.Wait()
		r.sender.Resume()
		assert.NoError(t, r.sender.Flush(within(t, time.Hour)))
		assert.Len(t, r.indexed(), 10)
	})
}

// Withdraw returns although a handler ends the goroutine when the request that it
// waits for has been held back.
func TestWithdrawReturnsAfterAHandlerEndsTheGoroutineOfARequestHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := guarded(t)
		opts.Folding = &bufferedsender.Folding[hotel]{}
		done := make(chan int, 1)
		var r *rig
		began := false
		opts.Handlers.ActionSent = func(context.Context, *events.ActionSent[hotel]) {
			if began {
				return
			}
			began = true
			r.sender.Pause()
			go func() { done <- r.sender.Withdraw(func(string, any) bool { return true }) }()
			time.Sleep(time.Second)
		}
		opts.Handlers.BatchCompleted = func(_ context.Context, b *events.Batch) {
			if errors.Is(b.Err, bufferedsender.ErrNotSent) {
				runtime.Goexit()
			}
		}
		r = newRig(t, opts)
		r.upload(hotels("k", 1)...)
		go func() { _ = r.flush() }()
		time.Sleep(10 * time.Second)
		r.sender.Resume()
		time.Sleep(10 * time.Minute)
		select {
		case n := <-done:
			t.Log(n)
		default:
			t.Errorf("Withdraw waits for ever; %+v", r.sender.Stats())
		}
	})
}
