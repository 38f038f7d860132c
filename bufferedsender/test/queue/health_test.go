package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Whatever keeps the sender from going on, Health says so within fifteen seconds, and not any more when it is over.
func TestHealthNamesWhatDoesNotReturn(t *testing.T) {
	type options = sendertest.Options
	for name, c := range map[string]struct {
		stop func(q *queued, o *options, wait func()) // wait returns when the trouble is over
		says string
	}{
		"a handler": {func(_ *queued, o *options, wait func()) {
			o.Queue = nil
			o.Handlers.ActionCompleted = func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { wait() }
		}, "a callback"},
		"the dead letters": {func(q *queued, o *options, wait func()) {
			q.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Keys: []string{"a"}, Ratio: 1, Status: 400}}}}})
			o.Queue = nil
			o.DeadLetters = sinkFunc(func([]deadletter.Letter) error { wait(); return nil })
		}, "Options.DeadLetters"},
		"the Loader": {func(_ *queued, o *options, wait func()) {
			o.Loader = func(context.Context, []string) ([]sendertest.Action, error) {
				wait()
				return []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "loaded"})}, nil
			}
		}, "Options.Loader has not returned"},
		"reserving": {func(q *queued, o *options, wait func()) {
			o.Queue = &faulty{Queue: q.queue, reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
				wait()
				return next()
			}}
		}, "the queue has not answered"},
	} {
		t.Run(name, func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				over := make(chan struct{})
				opts := options{Queue: q.queue}
				c.stop(q, &opts, func() { <-over })
				s := q.sender(opts)
				require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "a"}))
				if opts.Loader != nil {
					require.NoError(t, s.IndexKeys(q.within(time.Minute), "loaded"))
				}
				time.Sleep(15 * time.Second)
				require.ErrorContains(t, s.Health().Err, c.says)
				assert.Contains(t, s.Health().Reason, c.says)
				close(over)
				time.Sleep(15 * time.Second)
				require.NoError(t, s.Health().Err)
				_ = s.Close(q.within(time.Minute))
			})
		})
	}
}

// A queue that has nothing to do is looked at all the same, and one that others have paused is not called healthy.
func TestHealthLooksAtAnIdleQueue(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var down atomic.Bool
		f := &faulty{Queue: q.queue, stats: func(next func() (queue.Stats, error)) (queue.Stats, error) {
			if down.Load() {
				return queue.Stats{}, errors.New("connection refused")
			}
			return next()
		}}
		s := q.sender(sendertest.Options{Queue: f})
		synctest.Wait()
		down.Store(true)
		time.Sleep(20 * time.Second)
		require.ErrorContains(t, s.Health().Err, "connection refused")
		down.Store(false)
		time.Sleep(10 * time.Second)
		require.NoError(t, s.Health().Err)
		require.NoError(t, q.queue.Pause(t.Context(), "maintenance"))
		time.Sleep(10 * time.Second)
		require.ErrorIs(t, s.Health().Err, bufferedsender.ErrPaused)
		require.ErrorContains(t, s.Health().Err, "maintenance")
		require.NoError(t, q.queue.Resume(t.Context()))
		time.Sleep(10 * time.Second)
		require.NoError(t, s.Health().Err)
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// What the queue has lost is not called sent by Close, unless a Flush has seen that it was.
func TestCloseSaysThatTheQueueHasLostSomething(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		withQueue(t, nil, func(q *queued) {
			var lost atomic.Bool
			f := &faulty{Queue: q.queue, settled: func(_ queue.Position, next func() (bool, error)) (bool, error) {
				if lost.Load() {
					return false, queue.ErrLost
				}
				return next()
			}}
			s := q.sender(sendertest.Options{Queue: f})
			require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "a"}))
			if flushed {
				require.NoError(t, s.Flush(q.within(time.Minute), nil))
			}
			lost.Store(true)
			err := s.Close(q.within(time.Minute))
			if flushed {
				require.NoError(t, err)
				return
			}
			var failed *bufferedsender.CloseError
			require.ErrorAs(t, err, &failed)
			require.ErrorIs(t, failed.Queue, queue.ErrLost)
			require.ErrorIs(t, s.Close(q.within(time.Minute)), queue.ErrLost, "the same again")
		})
	}
}
