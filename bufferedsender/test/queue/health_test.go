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
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Health names whatever blocks the sender within fifteen seconds, and stops doing so when it no longer blocks.
func TestHealthNamesWhatDoesNotReturn(t *testing.T) {
	type options = sendertest.Options
	for name, c := range map[string]struct {
		stop func(q *queued, o *options, wait func()) // wait returns when the blockage is over
		says string
	}{
		"a handler": {func(_ *queued, o *options, wait func()) {
			o.Queue = nil
			o.Handlers.ActionCompleted = func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { wait() }
		}, "because of ActionCompleted"},
		"the dead letters": {func(q *queued, o *options, wait func()) {
			q.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Keys: []string{"a"}, Ratio: 1, Status: 400}}}}})
			o.Queue = nil
			o.DeadLetters = sinkFunc(func([]deadletter.Letter) error { wait(); return nil })
		}, "because of DeadLetters"},
		"ActionSent": {func(_ *queued, o *options, wait func()) {
			o.Handlers.ActionSent = func(context.Context, *events.ActionSent[sendertest.Hotel]) { wait() }
		}, "because of ActionSent"},
		"a subscriber of the breaker": {func(q *queued, o *options, wait func()) {
			q.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Status: 500, Count: 1}}})
			b := sendertest.NewBreaker(q.T, &breaker.Options{Failures: 1})
			b.Subscribe(func(c breaker.Change) {
				if c.To == breaker.Open {
					wait()
				}
			})
			o.Outage = bufferedsender.Hold{Breaker: b}
		}, "a subscriber of the breaker"},
		"the tap before a request": {func(_ *queued, o *options, wait func()) {
			o.Tap = &sendertest.Tap{BeforeKeys: func([]string) error { wait(); return nil }, ConfirmKeys: func([]string) (bool, error) { return false, nil }}
		}, "Options.Tap has not returned for 1"},
		"the tap after a request": {func(_ *queued, o *options, wait func()) {
			o.Tap = &sendertest.Tap{BeforeKeys: func([]string) error { return nil }, ConfirmKeys: func([]string) (bool, error) { wait(); return false, nil }}
		}, "Options.Tap has not returned for 1"},
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

// A function of HoldKeys delays the changes of its keys. Health and the errors of waiting calls must name it, also
// while the sender is paused.
func TestWhoWaitsForAFunctionOfHoldKeysIsToldWhichOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		over := make(chan struct{})
		held := sendertest.Later(func() error {
			return r.Sender.Raw().HoldKeys(t.Context(), []string{"a", "b"}, func(context.Context, func(...models.RawAction) error) error {
				<-over
				return nil
			})
		})
		synctest.Wait()
		r.Upload(sendertest.Hotel{ID: "a"})
		require.NoError(t, r.Sender.Health().Err)
		wants := "queue.TestWhoWaitsForAFunctionOfHoldKeysIsToldWhichOne.func1.1.1) has not returned for 15s; keys that wait for it: 2"
		for name, wait := range map[string]func(ctx context.Context) error{
			"Flush": func(ctx context.Context) error { return r.Sender.Flush(ctx, nil) },
			"of a key": func(ctx context.Context) error {
				return r.Sender.Flush(ctx, &bufferedsender.FlushOptions{Keys: []string{"a"}})
			},
			"HoldKeys": func(ctx context.Context) error {
				return r.Sender.Raw().HoldKeys(ctx, []string{"b"}, func(context.Context, func(...models.RawAction) error) error { return nil })
			},
			"AndWait": func(ctx context.Context) error {
				_, err := r.Sender.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "b"})}, nil)
				return err
			},
		} {
			go func() { assert.ErrorContains(t, wait(sendertest.Within(t, 15*time.Second)), wants, name) }()
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		require.ErrorContains(t, r.Sender.Health().Err, wants)
		r.Sender.Pause()
		require.ErrorIs(t, r.Sender.Health().Err, bufferedsender.ErrPaused)
		require.ErrorContains(t, r.Sender.Health().Err, wants)
		r.Sender.Resume()
		close(over)
		require.NoError(t, <-held)
		require.NoError(t, r.Sender.Health().Err)
	})
}

// A slow tap or handler says nothing about the service.
func TestWhatTheSenderItselfWaitsForIsNoSilenceOfTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.RequestTimeout = 8 * time.Second // counts as silent after two
		opts.Tap = &sendertest.Tap{
			BeforeKeys:  func([]string) error { time.Sleep(5 * time.Second); return nil },
			ConfirmKeys: func([]string) (bool, error) { time.Sleep(5 * time.Second); return false, nil },
		}
		opts.Handlers.ActionCompleted = func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { time.Sleep(5 * time.Second) }
		r := sendertest.New(t, opts)
		r.Upload(sendertest.Hotel{ID: "a"})
		flushed := sendertest.Later(r.Flush)
		for range 14 {
			time.Sleep(time.Second)
			require.NoError(t, r.Sender.Health().Err)
		}
		require.NoError(t, <-flushed)
	})
}

// An idle queue is checked too, and a queue that another process has paused is not reported as healthy.
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

// Close does not count records that the queue lost as sent, unless a Flush has seen that they were.
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
			require.ErrorIs(t, s.Close(q.within(time.Minute)), queue.ErrLost, "Close returns the same error again")
		})
	}
}
