package waiting

import (
	"context"
	"io"
	"strconv"
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

// The reply to the first request arrives while the Sent handler of the second blocks the loop, and with it Close,
// which gives up.
func TestAReplyBehindAStuckHandlerIsReportedAsUnknown(t *testing.T) {
	for range 20 { // the loop may handle the reply or Close first
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			completed, unknown := 0, 0
			sender, err := bufferedsender.New(&sendertest.Indexer{Delay: time.Second}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}, Handlers: sendertest.Handlers{
				ActionSent: func(_ context.Context, e *events.ActionSent[sendertest.Hotel]) {
					if e.Key == "b" {
						<-release
					}
				},
				ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { completed++ },
				ActionFailed: func(_ context.Context, e *events.ActionFailed[sendertest.Hotel]) {
					if e.Unknown {
						unknown++
					}
				},
			}})
			require.NoError(t, err)
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
			synctest.Wait()
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "b"}))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			require.Error(t, sender.Close(ctx))
			close(release)
			synctest.Wait()
			assert.Zero(t, completed, "Close reported the outcome as unknown")
			assert.EqualValues(t, 2, sender.Stats().Unsent)
			assert.GreaterOrEqual(t, unknown, 1)
		})
	}
}

// stuck returns a sender whose Close gave up on a handler that waits for release.
func stuck(t *testing.T, release <-chan struct{}) (*bufferedsender.BufferedSender[sendertest.Hotel], error) {
	sender, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Handlers: sendertest.Handlers{
		ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { <-release },
	}})
	require.NoError(t, err)
	require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "b"}))
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
		assert.Same(t, first, sender.Flush(context.Background(), nil))
		close(release)
	})
}

func TestAFlushThatWaitsIsReleasedByAStuckClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		sender, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Handlers: sendertest.Handlers{
			ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { <-release },
		}})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		flushed := make(chan error)
		go func() { flushed <- sender.Flush(context.Background(), nil) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Same(t, sender.Close(ctx), <-flushed)
		close(release)
	})
}

func TestSlowHandlersDoNotHoldCloseForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sender, err := bufferedsender.New(&sendertest.Indexer{Delay: time.Hour}, &sendertest.Options{Handlers: sendertest.Handlers{
			ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) { time.Sleep(time.Second) },
		}})
		require.NoError(t, err)
		for i := range 500 {
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: strconv.Itoa(i)}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.Error(t, sender.Close(ctx))
		assert.LessOrEqual(t, time.Since(began), 13*time.Second)
		assert.Zero(t, sender.Stats().PendingActions)
		time.Sleep(time.Hour) // the handlers continue
	})
}

// Replies that come after Close has reported unknown outcomes must not be reported as successes.
func TestEventsAgreeWithAStuckClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := &sendertest.Indexer{}
		completed, unsent := 0, 0
		sender, err := bufferedsender.New(&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			<-ctx.Done() // it replies, but late
			return good.IndexDocumentsRaw(context.WithoutCancel(ctx), body)
		}}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 4}, Handlers: sendertest.Handlers{
			ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {
				completed++
				time.Sleep(1500 * time.Millisecond)
			},
			ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) { unsent++ },
		}})
		require.NoError(t, err)
		for i := range 40 {
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: strconv.Itoa(i)}))
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

func TestWhatAStuckCloseReportedAsUnsentIsNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, index := make(chan struct{}), &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 4}, Handlers: sendertest.Handlers{
			ActionSent: func(context.Context, *events.ActionSent[sendertest.Hotel]) { <-release },
		}})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "b"}, sendertest.Hotel{ID: "c"}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, sender.Close(ctx))
		close(release)
		synctest.Wait()
		assert.Zero(t, index.Requests())
	})
}

func TestAStuckCloseCountsAllThatTravelledTogetherAsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const folded = 5
		release := make(chan struct{})
		opts := sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}, AutoFlushInterval: time.Second}
		opts.Handlers.BatchCompleted = func(context.Context, *events.Batch) { <-release }
		r := sendertest.New(t, &opts)
		r.Abandoned = true
		r.Respond(sendertest.Hang)
		for range folded {
			r.Upload(sendertest.Hotel{ID: "k"})
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, 1, r.Sender.Stats().InFlight)
		closed := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second)))
		assert.True(t, closed.CallbackStuck)
		assert.Equal(t, folded, closed.Unknown, "both actions are in the interrupted request")
		assert.Zero(t, closed.Unsent)
		close(release)
		synctest.Wait()
		failed := r.Events("failed")
		require.Len(t, failed, folded)
		for _, e := range failed {
			assert.True(t, e.Unknown, "the event agrees with the error of Close")
		}
	})
}
