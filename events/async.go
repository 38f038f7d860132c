package events

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
)

// Defaults and limits of AsyncOptions.
const (
	defaultAsyncQueueSize = 4096
	maxAsyncWorkers       = 1024
)

// ErrInHandler means that Flush or Close of an Async was called inside one of its handlers, where it would deadlock.
var ErrInHandler = errors.New("Flush and Close of an Async cannot be called from inside one of its handlers")

// AsyncOptions configures an Async. nil and the zero value are ready to use.
type AsyncOptions struct {
	// QueueSize is the maximum number of events that are queued or in a handler. Each event keeps its document in memory,
	// beyond the limits of the sender. Defaults to 4096; negative is refused.
	QueueSize int
	// Workers is how many handlers may run concurrently; events of one key never do. Defaults to 1: handlers run one at a
	// time and in order, as without an Async. At most 1024; negative is refused.
	Workers int
	// Drop is the set of kinds of events that are dropped, and counted in Stats, when the queue is full. Other events wait
	// for room and block the sender. Defaults to none. If ActionCompleted or ActionFailed are dropped, some actions have
	// no outcome event and a LowWatermark stops forever.
	Drop Kind
	// Logger receives an error for each handler that panics, and a warning at the first dropped event. Lines never have
	// documents or keys. Defaults to slog.Default().
	Logger *slog.Logger
}

// Async runs handlers on other goroutines, behind a bounded queue, so that an occasionally slow handler, such as a log
// on a network drive or an acknowledgement, does not block the sender.
//
//	async, err := events.NewAsync(handlers, nil)
//	if err != nil { … }
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{Handlers: async.Handlers()})
//
// # Guarantees
//
//   - Order: with one worker, the default, all events are handled in the order in which the sender reported them. With
//     several workers this holds for the events of each key, and for those without a key (BatchCompleted and
//     HealthChanged, which share one worker), but neither between these two groups nor between keys.
//   - Every event is handled exactly once, unless its kind is in [AsyncOptions].Drop or Close drops it.
//   - Back-pressure: when the queue is full the sender waits, as for a slow handler. An Async evens out peaks; it does
//     not make handlers faster.
//   - Close of the sender waits until the queue is empty. If its context ends first it returns an [UnhandledError], and
//     the queue is processed in the background until Close of the Async stops it.
//   - If a handler panics or ends its goroutine, like FailNow of a test, only that event fails. The Async, not the
//     sender, logs and counts it.
//   - Handlers receive the original context of the event.
//
// # Differences
//
//   - When Flush of the sender returns, callbacks are queued and may not have run. Call Flush of the Async afterwards.
//   - ActionAdded is not queued. It runs on the caller's goroutine as without an Async, because the adding call needs
//     its result, and because a [LowWatermark] must know an action before its outcome.
//
// # Deadlocks
//
// A handler may add documents with its own context: when the buffer is full the sender returns ErrBufferFull instead of
// waiting, and Flush and Close return ErrInCallback. With a context that is not derived from it, the sender cannot
// recognize the call. An adding call that waits for room, or Flush, then waits for the publisher; and if the queue is
// full the publisher waits for the handler, forever. Close waits for its own handler until its context ends.
//
// An Async is safe for concurrent use and may serve several senders. It has goroutines only while there are events, so
// an abandoned Async leaks nothing.
type Async[T any] struct {
	handlers Handlers[T]
	size     int
	drop     Kind
	logger   *slog.Logger
	seed     maphash.Seed
	lanes    []lane // one per worker

	mu sync.Mutex // guards the fields below and the lanes; nothing blocks under it
	// held counts events in lanes and in handlers.
	held    int
	waiting []*arrival // events that wait for room, in order of arrival
	drains  []*drain   // calls of Flush and Close that wait for events
	closed  bool
	counts  [len(kindNames)]AsyncCounts
	thrown  int // events that Close has dropped

	warned atomic.Bool // of dropped events
}

// NewAsync returns an Async for handlers. The error names every invalid option.
func NewAsync[T any](handlers Handlers[T], opts *AsyncOptions) (*Async[T], error) {
	var o AsyncOptions
	if opts != nil {
		o = *opts
	}
	var errs []error
	if o.QueueSize < 0 {
		errs = append(errs, fmt.Errorf("option QueueSize is %d: use a positive number, or 0 for the default of %d", o.QueueSize, defaultAsyncQueueSize))
	}
	if o.Workers < 0 || o.Workers > maxAsyncWorkers {
		errs = append(errs, fmt.Errorf("option Workers is %d: use 1 to %d, or 0 for the default of 1", o.Workers, maxAsyncWorkers))
	}
	if unknown := o.Drop &^ allKinds; unknown != 0 {
		errs = append(errs, fmt.Errorf("option Drop has the unknown bits %#x: use KindActionSent and the other kinds", uint8(unknown)))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	if o.QueueSize == 0 {
		o.QueueSize = defaultAsyncQueueSize
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	a := &Async[T]{
		handlers: handlers,
		size:     o.QueueSize,
		drop:     o.Drop,
		logger:   o.Logger,
		seed:     maphash.MakeSeed(),
		lanes:    make([]lane, max(1, o.Workers)),
	}
	for i := range a.lanes {
		a.lanes[i].queue.keep = 4*o.QueueSize/len(a.lanes) + 8 // otherwise each of a thousand lanes would keep a peak
	}
	return a, nil
}

// Handlers returns the handlers for a sender. A field is set only if the wrapped handlers set it, except Closed, which
// waits until the queue is empty and then calls the wrapped one.
func (a *Async[T]) Handlers() Handlers[T] {
	return Handlers[T]{
		ActionAdded: a.handlers.ActionAdded,
		ActionSent: queued(a, KindActionSent, a.handlers.ActionSent,
			func(e *ActionSent[T]) int { return a.laneOf(e.Key) }),
		ActionCompleted: queued(a, KindActionCompleted, a.handlers.ActionCompleted,
			func(e *ActionCompleted[T]) int { return a.laneOf(e.Key) }),
		ActionFailed: queued(a, KindActionFailed, a.handlers.ActionFailed,
			func(e *ActionFailed[T]) int { return a.laneOf(e.Key) }),
		BatchCompleted: queued(a, KindBatchCompleted, a.handlers.BatchCompleted,
			func(*Batch) int { return 0 }),
		HealthChanged: queued(a, KindHealthChanged, a.handlers.HealthChanged,
			func(*HealthChange) int { return 0 }),
		Closed: func(ctx context.Context) error {
			err := a.wait(ctx, false)
			if a.handlers.Closed == nil {
				return err
			}
			return errors.Join(err, a.handlers.Closed(ctx))
		},
	}
}

// Flush waits until every event reported before the call is handled. If ctx ends first the error is an *UnhandledError,
// and handling continues. Inside a handler it returns ErrInHandler.
func (a *Async[T]) Flush(ctx context.Context) error {
	if ctx.Value(insideKey{a}) != nil {
		return ErrInHandler
	}
	return a.wait(ctx, false)
}

// Close stops accepting events and waits until all are handled. If ctx ends first, events that no handler has begun are
// dropped and counted, and the error is an *UnhandledError. No handler begins afterwards, but running ones cannot be
// stopped. Later events are dropped and counted, so close the sender first. Inside a handler Close returns
// ErrInHandler. It may be called again.
//
// Close is only needed if handlers must not run any more after the sender's Close has stopped waiting for them.
func (a *Async[T]) Close(ctx context.Context) error {
	if ctx.Value(insideKey{a}) != nil {
		return ErrInHandler
	}
	return a.wait(ctx, true)
}

// UnhandledError means that not every event was handled when Flush or Close of an Async returned. The numbers are for
// the whole Async at that moment.
type UnhandledError struct {
	// Queued is the number of events without a handler yet. Running is the number of running handlers.
	Queued, Running int
	// Discarded is the number of events that Close has dropped so far.
	Discarded int
	// Err is the error of the context. It is nil if another call of Close has ended the wait, or if all waiting events are
	// handled and Close had dropped others.
	Err error
}

func (e *UnhandledError) Error() string {
	text := fmt.Sprintf("events are not handled: %d queued, %d in handlers, %d thrown away", e.Queued, e.Running, e.Discarded)
	if e.Err == nil {
		return text
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *UnhandledError) Unwrap() error { return e.Err }
