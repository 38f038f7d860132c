package bufferedsender_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAStuckCloseCountsAllThatTravelledTogetherAsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const folded = 5
		release := make(chan struct{})
		opts := hotelOptions{Folding: &bufferedsender.Folding[hotel]{}, AutoFlushInterval: time.Second}
		opts.Handlers.BatchCompleted = func(context.Context, *events.Batch) { <-release }
		r := newRig(t, &opts)
		r.unstopped = true
		r.respond(hang)
		for range folded {
			r.upload(hotel{ID: "k"})
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, 1, r.sender.Stats().InFlight)
		closed := closeError(t, r.sender.Close(within(t, time.Second)))
		assert.True(t, closed.CallbackStuck)
		assert.Equal(t, folded, closed.Unknown, "they are one in the request that was cut off")
		assert.Zero(t, closed.Unsent)
		close(release)
		synctest.Wait()
		failed := r.seen("failed")
		require.Len(t, failed, folded)
		for _, e := range failed {
			assert.True(t, e.unknown, "the event says what Close has said")
		}
	})
}

func TestAClosedHandlerThatEndsItsGoroutineHasNotSucceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opts hotelOptions
		opts.Handlers.Closed = func(context.Context) error {
			runtime.Goexit()
			return nil
		}
		r := newRig(t, &opts)
		r.upload(hotel{ID: "a"})
		closed := closeError(t, r.close())
		require.Error(t, closed.Handlers)
		assert.Equal(t, []string{"a"}, r.indexed())
	})
}

// Of two reasons to return, one must not hide the other.
func TestAWaitErrorNamesTheContextAndTheRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{RequestTimeout: -1})
		r.respond(hang)
		_, err := r.sender.IndexDocumentsAndWait(within(t, time.Second), models.UploadAction(hotel{ID: "a"}), models.UploadAction(hotel{ID: "not a key"}))
		assert.Equal(t, time.Second, r.now())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		refused(t, err, 1)
		assert.Equal(t, 1, waitError(t, err).Unknown)
		assert.False(t, errors.Is(err, context.Canceled))
	})
}
