package test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAStuckCloseCountsAllThatTravelledTogetherAsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const folded = 5
		release := make(chan struct{})
		opts := sendertest.Options{Fold: true, AutoFlushInterval: time.Second}
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
		assert.Equal(t, folded, closed.Unknown, "they are one in the request that was cut off")
		assert.Zero(t, closed.Unsent)
		close(release)
		synctest.Wait()
		failed := r.Events("failed")
		require.Len(t, failed, folded)
		for _, e := range failed {
			assert.True(t, e.Unknown, "the event says what Close has said")
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

// Of two reasons to return, one must not hide the other.
func TestAWaitErrorNamesTheContextAndTheRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{RequestTimeout: -1})
		r.Respond(sendertest.Hang)
		_, err := r.Sender.IndexDocumentsAndWait(sendertest.Within(t, time.Second), models.UploadAction(sendertest.Hotel{ID: "a"}), models.UploadAction(sendertest.Hotel{ID: "not a key"}))
		assert.Equal(t, time.Second, r.Now())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		sendertest.RequireAccepted(t, err, 1)
		assert.Equal(t, 1, sendertest.WaitError(t, err).Unknown)
		assert.False(t, errors.Is(err, context.Canceled))
	})
}
