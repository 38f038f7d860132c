package events_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/events"
)

func newAsync(t *testing.T, h events.Handlers[doc], opts *events.AsyncOptions) *events.Async[doc] {
	t.Helper()
	if opts == nil {
		opts = &events.AsyncOptions{}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	async, err := events.NewAsync(h, opts)
	require.NoError(t, err)
	return async
}

func completed(key string) *events.ActionCompleted[doc] {
	return &events.ActionCompleted[doc]{Key: key}
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestOneWorkerHandlesEverythingInTheOrderItWasReported(t *testing.T) {
	var got, want []string
	async := newAsync(t, recorder(func(_ context.Context, field string, event any) {
		got = append(got, fmt.Sprintf("%s %p", field, event)) // one worker, so no lock
	}), nil)
	h := async.Handlers()
	for i := range 200 {
		sent, done := &events.ActionSent[doc]{Key: fmt.Sprint(i % 7)}, completed(fmt.Sprint(i%5))
		failed, batch, health := &events.ActionFailed[doc]{Key: fmt.Sprint(i % 3)}, &events.Batch{}, &events.HealthChange{}
		h.ActionSent(t.Context(), sent)
		h.BatchCompleted(t.Context(), batch)
		h.ActionCompleted(t.Context(), done)
		h.HealthChanged(t.Context(), health)
		h.ActionFailed(t.Context(), failed)
		want = append(want, fmt.Sprintf("ActionSent %p", sent), fmt.Sprintf("BatchCompleted %p", batch),
			fmt.Sprintf("ActionCompleted %p", done), fmt.Sprintf("HealthChanged %p", health), fmt.Sprintf("ActionFailed %p", failed))
	}
	require.NoError(t, async.Flush(t.Context()))
	require.Equal(t, want, got)
	require.Equal(t, events.AsyncCounts{Handled: 1000}, async.Stats().Total())
}

func TestSeveralWorkersRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, most := 0, 0
		var mu sync.Mutex // guards running and most
		async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
		}}, &events.AsyncOptions{Workers: 4})
		for i := range 400 {
			async.Handlers().ActionCompleted(t.Context(), completed(fmt.Sprint(i)))
		}
		began := time.Now()
		require.NoError(t, async.Flush(t.Context()))
		require.Equal(t, 4, most)
		require.Less(t, time.Since(began), 200*time.Second, "keys are spread over the workers")
	})
}

// Several senders share an Async; each reports its own keys in order.
func TestKeysKeepTheirOrderConcurrentSafe(t *testing.T) {
	const tellers, keys, each = 4, 10, 500
	var handled [tellers * keys]int // by key; the events of a key never overlap
	async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(_ context.Context, e *events.ActionCompleted[doc]) {
		var key int
		_, err := fmt.Sscan(e.Key, &key)
		assert.NoError(t, err)
		assert.Equal(t, handled[key], e.Attempts, "key %d", key)
		handled[key]++
	}}, &events.AsyncOptions{Workers: 3, QueueSize: 7})
	h := async.Handlers()
	var all sync.WaitGroup
	for teller := range tellers {
		all.Go(func() {
			for i := range each {
				for key := range keys {
					h.ActionCompleted(t.Context(), &events.ActionCompleted[doc]{Key: fmt.Sprint(teller*keys + key), Attempts: i})
				}
				if i%100 == 0 {
					assert.NoError(t, async.Flush(t.Context()))
				}
				_ = async.Stats()
			}
		})
	}
	all.Wait()
	require.NoError(t, async.Close(t.Context()))
	for key, n := range handled {
		require.Equal(t, each, n, "key %d", key)
	}
	require.Equal(t, events.AsyncCounts{Handled: tellers * keys * each}, async.Stats().Total())
}

func TestSlowHandlerHoldsUpTheSenderOnlyWhenTheQueueIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
			time.Sleep(time.Second)
		}}, &events.AsyncOptions{QueueSize: 3})
		h := async.Handlers()
		began := time.Now()
		var reported []time.Duration
		for range 6 {
			h.ActionCompleted(t.Context(), completed("k"))
			reported = append(reported, time.Since(began))
		}
		require.Equal(t, []time.Duration{0, 0, 0, time.Second, 2 * time.Second, 3 * time.Second}, reported)
		require.NoError(t, async.Close(t.Context()))
		require.Equal(t, 6*time.Second, time.Since(began))
	})
}

func TestOnlyTheNamedKindsAreDroppedAndNeverInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		async := newAsync(t, recorder(func(context.Context, string, any) { time.Sleep(time.Second) }), &events.AsyncOptions{
			QueueSize: 2,
			Drop:      events.KindActionSent | events.KindBatchCompleted,
			Logger:    slog.New(slog.NewTextHandler(&log, nil)),
		})
		h := async.Handlers()
		ctx := t.Context()
		h.ActionCompleted(ctx, completed("1")) // from within the handler
		h.ActionSent(ctx, &events.ActionSent[doc]{})
		require.Empty(t, log.String())
		h.ActionSent(ctx, &events.ActionSent[doc]{})
		h.BatchCompleted(ctx, &events.Batch{})
		h.BatchCompleted(ctx, &events.Batch{})
		began := time.Now()
		h.ActionFailed(ctx, &events.ActionFailed[doc]{})
		require.Equal(t, time.Second, time.Since(began), "the event waits")
		stats := async.Stats()
		require.Equal(t, events.AsyncCounts{Queued: 1, Dropped: 1}, stats.ActionSent)
		require.Equal(t, events.AsyncCounts{Dropped: 2}, stats.BatchCompleted)
		require.Equal(t, events.AsyncCounts{Queued: 1}, stats.ActionFailed)
		require.NoError(t, async.Flush(ctx))
		require.Equal(t, events.AsyncCounts{Handled: 3, Dropped: 3}, async.Stats().Total())
		require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("\n")), log.String())
		require.Contains(t, log.String(), "first=ActionSent because=\"the queue is full\"")
	})
}

func TestHandlerThatPanicsOrEndsItsGoroutineEndsOnlyItsEvent(t *testing.T) {
	var log bytes.Buffer
	var handled []string
	async := newAsync(t, events.Handlers[doc]{
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[doc]) {
			handled = append(handled, e.Key)
			switch e.Key {
			case "panic":
				panic("secret of the handler")
			case "exit":
				runtime.Goexit()
			}
		},
		ActionFailed: func(context.Context, *events.ActionFailed[doc]) { panic("too") },
	}, &events.AsyncOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	h := async.Handlers()
	var want []string
	for range 3 {
		for _, key := range []string{"a", "panic", "b", "exit", "exit", "c"} {
			h.ActionCompleted(t.Context(), completed(key))
			want = append(want, key)
		}
	}
	h.ActionFailed(t.Context(), &events.ActionFailed[doc]{})
	require.NoError(t, async.Close(t.Context()))
	require.Equal(t, want, handled)
	require.Equal(t, events.AsyncCounts{Handled: 18, Panicked: 9}, async.Stats().ActionCompleted)
	require.Equal(t, events.AsyncCounts{Handled: 1, Panicked: 1}, async.Stats().ActionFailed)
	require.Contains(t, log.String(), `handler=ActionCompleted panic="secret of the handler" stack="goroutine`)
	require.Contains(t, log.String(), `handler=ActionCompleted panic="it ended its goroutine"`)
	require.Contains(t, log.String(), `handler=ActionFailed panic=too`)
}

// panickingLog is a slog.Handler that panics.
type panickingLog struct{ slog.Handler }

func (panickingLog) Enabled(context.Context, slog.Level) bool { panic("no log today") }

func TestLoggerThatPanicsChangesNothing(t *testing.T) {
	async := newAsync(t, events.Handlers[doc]{
		ActionSent: func(context.Context, *events.ActionSent[doc]) { panic("handler") },
	}, &events.AsyncOptions{Logger: slog.New(panickingLog{})})
	h := async.Handlers()
	h.ActionSent(t.Context(), &events.ActionSent[doc]{})
	require.NoError(t, async.Close(t.Context()))
	h.ActionSent(t.Context(), &events.ActionSent[doc]{})
	require.Equal(t, events.AsyncCounts{Handled: 1, Panicked: 1, Dropped: 1}, async.Stats().Total())
}

func TestActionAddedRunsOnTheCallersGoroutineAndCanRefuse(t *testing.T) {
	refusal := errors.New("no")
	type key struct{}
	inside := false
	async := newAsync(t, events.Handlers[doc]{ActionAdded: func(ctx context.Context, e *events.ActionAdded[doc]) error {
		inside = ctx.Value(key{}) != nil // not synchronized: the race detector checks it
		return refusal
	}}, nil)
	err := async.Handlers().ActionAdded(context.WithValue(t.Context(), key{}, 1), &events.ActionAdded[doc]{})
	require.Equal(t, refusal, err)
	require.True(t, inside)
	require.Zero(t, async.Stats())
}

// listContext has a type that is not comparable.
type listContext struct {
	context.Context
	_ []int
}

func TestContextGoesWithTheEvent(t *testing.T) {
	type key struct{}
	var got []any
	var async *events.Async[doc]
	async = newAsync(t, events.Handlers[doc]{BatchCompleted: func(ctx context.Context, _ *events.Batch) {
		got = append(got, ctx.Value(key{}), async.Flush(ctx), async.Close(context.WithoutCancel(ctx)))
	}}, nil)
	one, two := context.WithValue(t.Context(), key{}, 1), context.WithValue(t.Context(), key{}, 2)
	for _, ctx := range []context.Context{one, one, two, listContext{Context: one}, listContext{Context: two}, context.Background(), one} {
		async.Handlers().BatchCompleted(ctx, &events.Batch{})
	}
	require.NoError(t, async.Flush(t.Context()))
	var want []any
	for _, value := range []any{1, 1, 2, 1, 2, nil, 1} {
		want = append(want, value, events.ErrInHandler, events.ErrInHandler)
	}
	require.Equal(t, want, got)
}

func TestHandlerOfOneAsyncMayFlushAnother(t *testing.T) {
	inner := newAsync(t, recorder(func(context.Context, string, any) {}), nil)
	var err error
	outer := newAsync(t, events.Handlers[doc]{BatchCompleted: func(ctx context.Context, e *events.Batch) {
		inner.Handlers().BatchCompleted(ctx, e)
		err = inner.Flush(ctx)
	}}, nil)
	outer.Handlers().BatchCompleted(t.Context(), &events.Batch{})
	require.NoError(t, outer.Flush(t.Context()))
	require.NoError(t, err)
	require.EqualValues(t, 1, inner.Stats().BatchCompleted.Handled)
}

func TestFlushWaitsForWhatWasReportedBeforeAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
			time.Sleep(time.Second)
		}}, nil)
		h := async.Handlers()
		require.NoError(t, async.Flush(ended(t)), "there is nothing to wait for")
		began := time.Now()
		for range 5 {
			h.ActionCompleted(t.Context(), completed("k"))
		}
		go func() {
			for range 100 { // the program continues
				h.ActionCompleted(t.Context(), completed("k"))
				time.Sleep(100 * time.Millisecond)
			}
		}()
		require.NoError(t, async.Flush(t.Context()))
		// The first of the others may come before Flush.
		require.LessOrEqual(t, time.Since(began), 6*time.Second)
		require.NoError(t, async.Close(t.Context()))
	})
}

func TestEndOfItsContextEndsOnlyTheWaitingOfFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
			time.Sleep(time.Second)
		}}, nil)
		for range 5 {
			async.Handlers().ActionCompleted(t.Context(), completed("k"))
		}
		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2500*time.Millisecond, cause)
		defer cancel()
		err := async.Flush(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, cause)
		var unhandled *events.UnhandledError
		require.ErrorAs(t, err, &unhandled)
		require.Equal(t, events.UnhandledError{Queued: 2, Running: 1, Err: unhandled.Err}, *unhandled)
		require.EqualError(t, err, "events are not handled: 2 queued, 1 in handlers, 0 thrown away: context deadline exceeded: enough")
		require.NoError(t, async.Flush(t.Context()))
		require.EqualValues(t, 5, async.Stats().ActionCompleted.Handled)
	})
}

// A sender calls Closed in its Close.
func TestClosedDrainsTheQueueThenAsksTheWrappedHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var handled atomic.Int64
		mine := errors.New("mine")
		async := newAsync(t, events.Handlers[doc]{
			ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
				time.Sleep(time.Second)
				handled.Add(1)
			},
			Closed: func(context.Context) error { return fmt.Errorf("after %d: %w", handled.Load(), mine) },
		}, nil)
		h := async.Handlers()
		for range 10 {
			h.ActionCompleted(t.Context(), completed("k"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4500*time.Millisecond)
		defer cancel()
		err := h.Closed(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "after 4: mine")
		require.ErrorIs(t, err, mine)
		require.EqualError(t, h.Closed(t.Context()), "after 10: mine", "the queue is processed anyway")

		h.ActionCompleted(t.Context(), completed("of another sender"))
		require.NoError(t, async.Flush(t.Context()))
		require.EqualValues(t, 11, handled.Load(), "Closed closes nothing: another sender may continue")
	})
}

func TestCloseWithAnEndedContextLetsNoHandlerBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
			handled++
			time.Sleep(time.Second)
		}}, &events.AsyncOptions{QueueSize: 3})
		h := async.Handlers()
		for range 3 {
			h.ActionCompleted(t.Context(), completed("k"))
		}
		go h.ActionCompleted(t.Context(), completed("waits for room"))
		flushed := make(chan error, 1)
		go func() { flushed <- async.Flush(t.Context()) }()
		synctest.Wait()

		var unhandled *events.UnhandledError
		require.ErrorAs(t, async.Close(ended(t)), &unhandled)
		require.Equal(t, events.UnhandledError{Running: 1, Discarded: 3, Err: context.Canceled}, *unhandled)
		require.ErrorAs(t, <-flushed, &unhandled)
		require.NoError(t, unhandled.Err)
		require.EqualError(t, unhandled, "events are not handled: 0 queued, 1 in handlers, 3 thrown away")

		h.ActionCompleted(t.Context(), completed("too late"))
		require.ErrorAs(t, async.Close(t.Context()), &unhandled, "Close returns the same error again")
		require.Equal(t, events.UnhandledError{Discarded: 3}, *unhandled)
		require.Equal(t, 1, handled)
		require.Equal(t, events.AsyncCounts{Handled: 1, Dropped: 4}, async.Stats().ActionCompleted)
	})
}

func TestFlushThatCloseEndsSaysThatAHandlerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) { time.Sleep(time.Second) }}, nil)
		async.Handlers().ActionCompleted(t.Context(), completed("k"))
		flushed := make(chan error, 1)
		go func() { flushed <- async.Flush(t.Context()) }()
		synctest.Wait()
		require.Error(t, async.Close(ended(t)))
		var unhandled *events.UnhandledError
		require.ErrorAs(t, <-flushed, &unhandled)
		require.Equal(t, events.UnhandledError{Running: 1}, *unhandled)
		require.NoError(t, async.Flush(t.Context()))
	})
}

func TestAsyncLeavesNilWhatNobodySets(t *testing.T) {
	h := newAsync(t, events.Handlers[doc]{}, nil).Handlers()
	require.NotNil(t, h.Closed)
	h.Closed = nil
	require.Equal(t, events.Handlers[doc]{}, h)
	require.NoError(t, newAsync(t, events.Handlers[doc]{}, nil).Handlers().Closed(t.Context()))
}

func TestEachHandlerButActionAddedAndClosedHasAKind(t *testing.T) {
	var kinds []string
	for i := range 8 {
		if name := events.Kind(1 << i).String(); name[0] != 'K' {
			kinds = append(kinds, name)
		}
	}
	want := slices.DeleteFunc(fields(), func(name string) bool { return name == "ActionAdded" || name == "Closed" })
	require.Equal(t, want, kinds)
	require.Equal(t, "ActionSent|HealthChanged", (events.KindHealthChanged | events.KindActionSent).String())
	require.Equal(t, "ActionFailed|Kind(0x80)", (events.KindActionFailed | 0x80).String())
	require.Equal(t, "Kind(0x0)", events.Kind(0).String())
}

func TestOptionsOfAnAsyncNameEveryProblem(t *testing.T) {
	_, err := events.NewAsync(events.Handlers[doc]{}, &events.AsyncOptions{QueueSize: -1, Workers: 2000, Drop: 0xC1})
	require.EqualError(t, err, "events: option QueueSize is -1: use a positive number, or 0 for the default of 4096\n"+
		"option Workers is 2000: use 1 to 1024, or 0 for the default of 1\n"+
		"option Drop has the unknown bits 0xc0: use KindActionSent and the other kinds")
	_, err = events.NewAsync(events.Handlers[doc]{}, &events.AsyncOptions{Workers: -1})
	require.ErrorContains(t, err, "Workers is -1")
	_, err = events.NewAsync(events.Handlers[doc]{}, nil)
	require.NoError(t, err)
}

func BenchmarkAsync(b *testing.B) {
	for _, workers := range []int{1, 4} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			var handled atomic.Int64
			async, err := events.NewAsync(events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
				handled.Add(1)
			}}, &events.AsyncOptions{Workers: workers})
			require.NoError(b, err)
			h := async.Handlers()
			ctx := b.Context()
			var batch [1000]*events.ActionCompleted[doc]
			for i := range batch {
				batch[i] = completed(fmt.Sprint(i))
			}
			for i := 0; b.Loop(); i++ { // an operation is one event
				h.ActionCompleted(ctx, batch[i%len(batch)])
			}
			require.NoError(b, async.Flush(ctx))
			require.EqualValues(b, b.N, handled.Load())
		})
	}
}
