package bufferedsender_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a review without mercy found, one test each.

type (
	docOptions  = bufferedsender.Options[modelDoc]
	docHandlers = events.Handlers[modelDoc]
)

// stuck makes a sender whose Close has given up on a handler that waits for
// release.
func stuck(t *testing.T, release <-chan struct{}) (*bufferedsender.BufferedSender[modelDoc], error) {
	sender, err := bufferedsender.New(&slowIndex{}, &docOptions{Handlers: docHandlers{
		ActionCompleted: func(context.Context, *events.ActionCompleted[modelDoc]) { <-release },
	}})
	require.NoError(t, err)
	require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}, modelDoc{ID: "b"}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return sender, sender.Close(ctx)
}

func TestAfterAStuckCloseNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		sender, first := stuck(t, release)
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, first, &closed)
		assert.True(t, closed.CallbackStuck)
		assert.Same(t, first, sender.Close(context.Background()))
		assert.Same(t, first, sender.Flush(context.Background()))
		close(release)
	})
}

func TestAFlushThatWaitsIsReleasedByAStuckClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		sender, err := bufferedsender.New(&slowIndex{}, &docOptions{Handlers: docHandlers{
			ActionCompleted: func(context.Context, *events.ActionCompleted[modelDoc]) { <-release },
		}})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		flushed := make(chan error)
		go func() { flushed <- sender.Flush(context.Background()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Same(t, sender.Close(ctx), <-flushed)
		close(release)
	})
}

func TestSlowHandlersDoNotHoldCloseForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sender, err := bufferedsender.New(&slowIndex{delay: time.Hour}, &docOptions{Handlers: docHandlers{
			ActionFailed: func(context.Context, *events.ActionFailed[modelDoc]) { time.Sleep(time.Second) },
		}})
		require.NoError(t, err)
		for i := range 500 {
			require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: number(i)}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.Error(t, sender.Close(ctx))
		assert.LessOrEqual(t, time.Since(began), 13*time.Second)
		assert.Zero(t, sender.PendingActionCount())
		time.Sleep(time.Hour) // the handlers go on
	})
}

// Replies that come when Close has already said that nobody knows must not be
// told as successes.
func TestEventsAgreeWithAStuckClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := &slowIndex{}
		completed, unsent := 0, 0
		sender, err := bufferedsender.New(indexerFunc(func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			<-ctx.Done() // it answers, but late
			return good.IndexDocumentsRaw(context.WithoutCancel(ctx), body)
		}), &docOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 4}, Handlers: docHandlers{
			ActionCompleted: func(context.Context, *events.ActionCompleted[modelDoc]) {
				completed++
				time.Sleep(1500 * time.Millisecond)
			},
			ActionFailed: func(context.Context, *events.ActionFailed[modelDoc]) { unsent++ },
		}})
		require.NoError(t, err)
		for i := range 40 {
			require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: number(i)}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, sender.Close(ctx))
		time.Sleep(time.Hour)
		stats := sender.Stats()
		assert.EqualValues(t, stats.Completed, completed)
		assert.EqualValues(t, stats.Unsent, unsent)
		assert.Equal(t, 40, completed+unsent)
	})
}

func TestWhatAStuckCloseCalledUnsentIsNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, index := make(chan struct{}), &slowIndex{}
		sender, err := bufferedsender.New(index, &docOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 4}, Handlers: docHandlers{
			ActionSent: func(context.Context, *events.ActionSent[modelDoc]) { <-release },
		}})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}, modelDoc{ID: "b"}, modelDoc{ID: "c"}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, sender.Close(ctx))
		close(release)
		synctest.Wait()
		assert.Zero(t, index.requests.Load())
	})
}

func TestAnAdderThatGivesUpWakesTheSenderForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &slowIndex{delay: time.Hour}
		sender, err := bufferedsender.New(index, &docOptions{
			Limits:            bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 1500, MaxInFlight: 2},
			AutoFlushInterval: time.Second, RequestTimeout: -1,
		})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a", A: text(900)}))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { _ = sender.UploadDocuments(ctx, modelDoc{ID: "large", A: text(900)}) }()
		synctest.Wait()
		small := make(chan error, 1)
		go func() { small <- sender.UploadDocuments(context.Background(), modelDoc{ID: "small"}) }()
		require.NoError(t, <-small)
		time.Sleep(2 * time.Second)
		assert.EqualValues(t, 2, index.requests.Load(), "the small one did not wait for the first request")
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestCallersThatNeverWaitDoNotFillTheBufferForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &slowIndex{}
		sender, err := bufferedsender.New(index, &docOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 5}, AutoFlushInterval: -1})
		require.NoError(t, err)
		accepted := 0
		for i := range 20 {
			err := sender.TryIndexDocuments(models.UploadAction(modelDoc{ID: number(i)}))
			if err == nil {
				accepted++
				continue
			}
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
			synctest.Wait()
		}
		assert.Greater(t, accepted, 15)
		require.NoError(t, sender.Close(t.Context()))
	})
}

// hostileContext panics when it is asked for a value, once it is armed.
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
		sender, err := bufferedsender.New(&slowIndex{delay: time.Second}, &docOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 1}})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		synctest.Wait()
		armed := false
		ctx := hostileContext{t.Context(), &armed}
		assert.Panics(t, func() {
			_ = sender.IndexSeq(ctx, func(yield func(models.IndexDocumentsAction[modelDoc], error) bool) {
				armed = true
				yield(models.UploadAction(modelDoc{ID: "lost"}), nil)
			})
		})
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "b"}))
		require.NoError(t, sender.Close(t.Context()))
		assert.EqualValues(t, 2, sender.Stats().Completed)
	})
}

func TestTheLastAttemptCutByCloseIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := &docOptions{}
		options.Retry.MaxRetries = -1
		sender, err := bufferedsender.New(&slowIndex{delay: time.Hour}, options)
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var closed *bufferedsender.CloseError
		require.ErrorAs(t, sender.Close(ctx), &closed)
		assert.Equal(t, 1, closed.Unknown)
		assert.Zero(t, closed.Failed)
		assert.ErrorIs(t, closed, bufferedsender.ErrClosed)
		assert.Zero(t, sender.Stats().Pauses, "Close is not throttling")
	})
}

func TestAnIntervalThatMeansNeverIsNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &slowIndex{}
		sender, err := bufferedsender.New(index, &docOptions{AutoFlushInterval: math.MaxInt64})
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		time.Sleep(time.Hour)
		assert.Zero(t, index.requests.Load())
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestAKeyOfTheAccessorThatTheDocumentContradictsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := &docOptions{Documents: bufferedsender.Documents[modelDoc]{KeyField: "id", Key: func(d modelDoc) string { return strings.TrimPrefix(d.ID, "wrong-") }}}
		sender, err := bufferedsender.New(&slowIndex{}, options)
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		require.ErrorContains(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "wrong-b"}), "Documents.Key")
		require.NoError(t, sender.DeleteDocuments(t.Context(), modelDoc{ID: "wrong-c"}), "which is sent with the accessor's key")
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestAClientThatFlushesItsOwnSenderDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := &slowIndex{}
		var sender *bufferedsender.BufferedSender[modelDoc]
		var inside error
		sender, err := bufferedsender.New[modelDoc](indexerFunc(func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			inside = sender.Flush(ctx)
			return good.IndexDocumentsRaw(ctx, body)
		}), nil)
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		require.NoError(t, sender.Close(t.Context()))
		assert.ErrorIs(t, inside, bufferedsender.ErrInCallback)
	})
}

// panickingError panics when it is compared.
type panickingError struct{ error }

func (panickingError) Is(error) bool { panic("hostile") }

func TestAnErrorThatPanicsFailsItsActionsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var failed []error
		options := &docOptions{Handlers: docHandlers{ActionFailed: func(_ context.Context, e *events.ActionFailed[modelDoc]) {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, e.Err)
		}}}
		options.Retry.MaxRetries = -1
		sender, err := bufferedsender.New(indexerFunc(func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, panickingError{errors.New("no")}
		}), options)
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		require.Error(t, sender.Close(t.Context()))
		require.Len(t, failed, 1)
		var action *bufferedsender.ActionError
		require.ErrorAs(t, failed[0], &action)
		assert.Equal(t, "a", action.Key)
	})
}
