package fleet

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// Drop is called in a handler of the index that it would close.
func TestADropThatIsRefusedInAHandlerChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, nil)
		first := true
		var dropErr error
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{Handlers: events.Handlers[hotel]{
			ActionCompleted: func(ctx context.Context, _ *events.ActionCompleted[hotel]) {
				if first {
					first = false
					dropErr = f.Drop(ctx, "a")
				}
			}}})
		upload(t, a, 1)
		_ = a.Flush(sendertest.Within(t, time.Minute), nil)
		require.ErrorIs(t, dropErr, bufferedsender.ErrInCallback)
		assert.Equal(t, []string{"a"}, f.Indexes())
		err := a.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotels("x", 1)...)
		assert.NoError(t, err, "add after a Drop that was refused with ErrInCallback")
		err = a.Flush(sendertest.Within(t, time.Hour), nil)
		assert.NoError(t, err, "flush after a Drop that was refused")
		_ = a.Close(sendertest.Within(t, time.Second))
	})
}

func TestCloseDoesNotWaitForAClientThatIsBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, hanging{newService()}, nil)
		go func() { _, _ = f.Raw("hangs") }()
		synctest.Wait()
		began := time.Now()
		_ = f.Close(sendertest.Within(t, time.Second))
		assert.Less(t, time.Since(began), time.Minute)
		time.Sleep(2 * time.Hour)
		assert.Zero(t, f.pool.Stats().Members, "the creator of the sender has closed it")
	})
}

// A refused Drop must not make Close lose accepted documents and return nil.
func TestCloseAfterARefusedDropLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newService(), nil)
		once := true
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Handlers: events.Handlers[hotel]{
			ActionCompleted: func(ctx context.Context, _ *events.ActionCompleted[hotel]) {
				if once {
					once = false
					_ = f.Drop(ctx, "a") // refused
				}
			}}})
		upload(t, a, 5)
		time.Sleep(time.Minute)
		err := f.Close(sendertest.Within(t, time.Hour))
		assert.False(t, err == nil && a.Stats().PendingActions > 0, "Close returned nil although %d accepted actions were left", a.Stats().PendingActions)
		_ = a.Close(sendertest.Within(t, time.Second))
	})
}

func TestASenderOfAnIndexThatIsBeingDroppedIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newService(), nil)
		a := senderOf(t, f, "a", nil)
		require.NoError(t, f.Pause("a"))
		require.NoError(t, a.UploadDocuments(t.Context(), sendertest.Hotels("x", 1)...))
		dropped := make(chan error, 1)
		go func() { dropped <- f.Drop(sendertest.Within(t, time.Minute), "a") }()
		synctest.Wait() // Close waits, because the sender is paused
		_, err := Sender[hotel](f, "a", nil)
		require.ErrorIs(t, err, bufferedsender.ErrClosed)
		require.NotErrorIs(t, err, ErrClosed)
		_, err = f.Raw("a")
		require.ErrorIs(t, err, bufferedsender.ErrClosed)
		require.Error(t, <-dropped, "unsent actions")
		_, err = Sender[hotel](f, "a", nil)
		require.NoError(t, err)
		require.NoError(t, f.Close(sendertest.Within(t, time.Minute)))
		_, err = Sender[hotel](f, "a", nil)
		require.ErrorIs(t, err, ErrClosed)
	})
}
