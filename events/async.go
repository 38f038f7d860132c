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

// ErrInHandler says that Flush or Close of an Async was called from inside one
// of its handlers, where it would wait for itself.
var ErrInHandler = errors.New("Flush and Close of an Async cannot be called from inside one of its handlers")

// AsyncOptions configures an Async. nil and the zero value work.
type AsyncOptions struct {
	// QueueSize is how many events may be queued or in the hands of a handler.
	// Each keeps its document alive, which no limit of the sender counts.
	// Defaults to 4096; negative is refused.
	QueueSize int
	// Workers is how many handlers may run at once; the events of one key never
	// do. Defaults to 1: then handlers run one at a time and in order, as they
	// do without an Async. At most 1024; negative is refused.
	Workers int
	// Drop names the kinds of events that are dropped, and counted in Stats,
	// when they meet a full queue. The others wait for room, which holds up the
	// sender. Defaults to none. With ActionCompleted or ActionFailed among them
	// not every action is seen to end, and a LowWatermark stands still for ever.
	Drop Kind
	// Logger gets an error for each handler that panics and a warning when the
	// first event is dropped. Never documents or keys. Defaults to
	// slog.Default().
	Logger *slog.Logger
}

// Async runs handlers on goroutines of their own, so that a handler that is slow
// now and then, a log on a network drive or an acknowledgement, does not hold up
// the sender. Between the two stands a queue of bounded length.
//
//	async, err := events.NewAsync(handlers, nil)
//	if err != nil { … }
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{Handlers: async.Handlers()})
//
// # What stays
//
//   - Order. With one worker, the default, all events are handled in the order
//     in which the sender reported them. With several, this holds for the events of
//     each key, and among those that have no key (BatchCompleted and
//     HealthChanged, which share one worker), but not between the two, nor
//     between keys.
//   - Every event is handled exactly once, unless its kind is one that
//     [AsyncOptions].Drop names, or Close throws it away.
//   - Back-pressure. When the queue is full the sender waits, as it does for a
//     slow handler: an Async evens out peaks, it does not make handlers faster.
//   - Close of the sender waits until the queue is empty. If its context ends
//     first it says so with an [UnhandledError], and the queue is worked off
//     behind its back, unless Close of the Async puts an end to that.
//   - A handler that panics or ends its goroutine (FailNow of a test does) ends
//     nothing but its event. That is logged and counted in Stats, here and not
//     by the sender.
//   - The context of an event goes with it.
//
// # What changes
//
//   - Flush of the sender promises that the callbacks have run. Now they are
//     queued then. Call Flush of the Async afterwards.
//   - ActionAdded is not queued but runs on the caller's goroutine as ever: the
//     action waits for its verdict. It is also what makes a [LowWatermark]
//     right, which has to know of an action before its end comes.
//
// # What can hang
//
// A handler may add documents with the context that it was given: when the
// buffer is full the sender answers ErrBufferFull instead of waiting, and Flush
// and Close answer ErrInCallback. A context that is not derived from it does not
// tell the sender where the call comes from. Then an addition that waits for
// room, or Flush, waits for the publisher; and if the queue is full the publisher
// waits for the handler: for ever. Close waits for its own handler until its
// context ends.
//
// An Async is safe for concurrent use and may serve several senders. It has
// goroutines only while there are events: one that is thrown away leaks nothing.
type Async[T any] struct {
	handlers Handlers[T]
	size     int
	drop     Kind
	logger   *slog.Logger
	seed     maphash.Seed
	lanes    []lane // one per worker

	mu sync.Mutex // guards the fields below and the lanes; nothing blocks under it
	// held counts what is in the lanes or in the hands of a handler.
	held    int
	waiting []*arrival // events that wait for room, first come, first served
	drains  []*drain   // calls of Flush and Close that wait for events
	closed  bool
	counts  [len(kindNames)]AsyncCounts
	thrown  int // events that Close has thrown away

	warned atomic.Bool // that events are dropped
}

// NewAsync returns an Async for handlers. The error names every problem of the
// options at once.
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
		a.lanes[i].queue.keep = 4*o.QueueSize/len(a.lanes) + 8 // or a thousand lanes would keep a peak each
	}
	return a, nil
}

// Handlers returns the handlers to give to a sender. A field is set only if the
// wrapped handlers set it, but for Closed, which waits until the queue is empty
// and then calls the wrapped one.
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

// Flush waits until everything that was reported before the call is handled. ctx
// bounds the waiting; when it ends first the error is an *UnhandledError, and
// the work goes on. Inside a handler it returns ErrInHandler.
func (a *Async[T]) Flush(ctx context.Context) error {
	if ctx.Value(insideKey{a}) != nil {
		return ErrInHandler
	}
	return a.wait(ctx, false)
}

// Close lets in no more events and waits until all are handled. If ctx ends
// first, what no handler has begun is thrown away and counted as dropped, and the
// error is an *UnhandledError: from then on no handler begins. One that is
// running cannot be stopped. An event that comes after Close is dropped and
// counted, so close the sender first. Inside a handler Close returns
// ErrInHandler. It may be called more than once.
//
// A program needs it only if handlers must not run any more after the sender's
// Close has given up waiting for them.
func (a *Async[T]) Close(ctx context.Context) error {
	if ctx.Value(insideKey{a}) != nil {
		return ErrInHandler
	}
	return a.wait(ctx, true)
}

// UnhandledError says that Flush or Close of an Async has not seen every event
// handled. The numbers are those of the moment, for the whole Async.
type UnhandledError struct {
	// Queued is how many events have not reached a handler, and Running how many
	// handlers are at work.
	Queued, Running int
	// Discarded is how many events a Close has thrown away so far.
	Discarded int
	// Err is why the waiting ended, the error of the context; nil if it was only
	// for what Close has thrown away.
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
