// Package publisher is for the buffered sender: it takes items from many
// goroutines, packs them into batches, and gives each exactly one outcome. It
// knows nothing of HTTP, JSON or search; a [Transport] does the sending and
// judges the answer.
//
// One goroutine, the loop, owns all state but the admission (see admission.go)
// and runs every hook. Requests run beside it.
package publisher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors of adding and closing.
var (
	ErrClosed     = errors.New("publisher is closed")
	ErrFull       = errors.New("buffer is full")
	ErrInCallback = errors.New("called from inside a callback")
	ErrNoResult   = errors.New("the reply says nothing about this action")
	ErrAbandoned  = errors.New("Close could not wait for the reply")
)

// Item is one action on its way. The publisher reads Key and Body only.
type Item[V any] struct {
	Key   string // at most one item with this key is in flight
	Body  []byte // what counts towards the limits; not to be changed any more
	Value V
	// Attempt is set by the publisher: 1 when the item travels for the first
	// time.
	Attempt int
	// Waited is set by the publisher: the time from acceptance to this request.
	Waited time.Duration
}

// Batch is one request.
type Batch[V any] struct {
	ID    string
	Items []Item[V]
	Bytes int // envelope and commas included
}

// Transport sends a batch and says what became of each item. It may be called
// from MaxInFlight goroutines at once, and should return soon after ctx ends.
// A panic counts as a lost connection.
type Transport[V, R any] interface {
	Send(ctx context.Context, batch *Batch[V]) Reply[R]
}

// Verdict is what is to happen to an item.
type Verdict uint8

// The verdicts. Retry is the zero value: where nobody has an answer, ask again.
const (
	Retry Verdict = iota
	Done
	Fail
)

// Result is the answer about one item.
type Result[R any] struct {
	Verdict Verdict
	Value   R
	Err     error // why it is not Done
	Unknown bool  // it may have been applied although Verdict is not Done
}

// Reply is the answer to a batch.
type Reply[R any] struct {
	// Results[i] is about batch.Items[i]. If the lengths differ, every item is
	// retried with ErrNoResult.
	Results []Result[R]
	// Split says that the batch was refused as a whole for what is in it. Its
	// parts are sent again and no attempt is used. If it held one item only,
	// the item fails with Err. Results are ignored.
	Split bool
	// Suspect is the position, from 1, of the item that was blamed for the
	// refusal; 0 if nobody was.
	Suspect int
	// TooLarge says that the size of the batch was the reason.
	TooLarge bool
	// Pause holds all sending for RetryAfter, or if that is negative for a time
	// that grows with each pause.
	Pause      bool
	RetryAfter time.Duration
	// Err is why the batch as a whole failed, or nil.
	Err error
	// Status and RequestID are for the hooks; the publisher does not read them.
	Status    int
	RequestID string
}

// Outcome is how an item ended.
type Outcome uint8

// The outcomes. Only Close makes items Unsent, when it gives up.
const (
	Completed Outcome = iota
	Failed
	Unsent
)

// Settlement is the end of an item.
type Settlement[V, R any] struct {
	Item    *Item[V]
	Outcome Outcome
	// Result is the last answer, or nil if the item was given up without one.
	Result *Result[R]
	// Exhausted is true if the item failed because its attempts are used up.
	Exhausted bool
	// Unknown is true if some request that carried the item was cut off, so
	// that it may have been applied.
	Unknown bool
	// Waited is the time from acceptance until now.
	Waited time.Duration
}

// Hooks are called by the loop, one at a time, with no lock held. They must not
// keep what they are given. Panics are the hook's own to recover; a hook may end
// its goroutine (runtime.Goexit), but for Explain.
type Hooks[V, R any] struct {
	// Accepted runs when the loop has taken over n accepted items.
	Accepted func(n int)
	// Sent runs before a batch travels.
	Sent func(batch *Batch[V])
	// Replied runs after the batch was judged, before its items are settled.
	Replied func(batch *Batch[V], reply *Reply[R], took time.Duration, n Counts)
	// Explain returns the error of an item that was not completed, to be
	// reported by Flush or Close.
	Explain func(s *Settlement[V, R]) error
	// Settled runs once for each accepted item. err is what Explain returned,
	// or nil.
	Settled func(s *Settlement[V, R], err error)
	// Told runs after the last Settled of a batch.
	Told func()
	// Paused runs when all sending is held for a time.
	Paused func(wait time.Duration)
}

// Counts is what became of the items of a batch.
type Counts struct{ Done, Failed, Retried int }

// Config is what a publisher needs. All fields must be set; the sender checks
// them.
type Config[V, R any] struct {
	Transport Transport[V, R]
	Hooks     Hooks[V, R]
	NewID     func() string // of a batch

	MaxInFlight   int
	MaxBatchItems int
	MaxBatchBytes int
	Envelope      int // bytes around the bodies of a batch
	Comma         int // bytes between two bodies

	MaxItems int   // accepted and unsettled, high-water mark
	MaxBytes int64 // of their bodies

	AutoFlush bool          // send full batches without being asked
	Interval  time.Duration // and what waits longer than this; not positive: never

	MaxAttempts    int
	Backoff        func(attempt int) time.Duration
	RequestTimeout time.Duration
}

// Publisher is safe for concurrent use.
type Publisher[V, R any] struct {
	config Config[V, R]
	start  time.Time

	admission admission[V]
	wake      chan struct{} // capacity 1: one pending wake-up is as good as many
	closed    chan struct{} // closed when the result of Close is final

	cancel   context.CancelFunc // ends all requests
	requests context.Context
	workers  sync.WaitGroup
	loop     *loop[V, R]
}

// New starts a publisher. Close it to stop its goroutine.
func New[V, R any](config Config[V, R]) *Publisher[V, R] {
	p := &Publisher[V, R]{
		config: config,
		start:  time.Now(),
		wake:   make(chan struct{}, 1),
		closed: make(chan struct{}),
	}
	p.admission.maxItems, p.admission.maxBytes = config.MaxItems, config.MaxBytes
	// Marked: a client that calls Flush in the middle of a request would wait
	// for that request.
	p.requests, p.cancel = context.WithCancel(p.HookContext(context.Background()))
	p.loop = newLoop(p)
	go p.loop.run()
	return p
}

func (p *Publisher[V, R]) now() instant { return time.Since(p.start) }

// signal wakes the loop.
func (p *Publisher[V, R]) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// CloseError says what Close could not do.
type CloseError struct {
	Unsent  uint64  // certainly not applied
	Unknown uint64  // cut off, may have been applied
	Failed  uint64  // failed, and not reported by a Flush
	Errors  []error // the first hundred of all
	Stuck   bool    // a hook did not return
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("%d unsent, %d unknown, %d failed", e.Unsent, e.Unknown, e.Failed)
}

// FlushError says what failed before a Flush.
type FlushError struct {
	Count  uint64
	Unsent uint64  // of these, given up by Close
	Errors []error // the first hundred
}

func (e *FlushError) Error() string { return fmt.Sprintf("%d failed", e.Count) }

// Flush waits until everything accepted before the call is settled and told,
// sending it without waiting for full batches. It returns a *FlushError if some
// of it failed, ctx.Err() if ctx ends first, and after Close what Close
// returned.
func (p *Publisher[V, R]) Flush(ctx context.Context) error {
	if p.insideHook(ctx) {
		return ErrInCallback
	}
	f := p.admission.flush()
	if f == nil {
		return p.join(ctx)
	}
	p.signal()
	select {
	case <-f.released:
	case <-p.closed:
		select {
		case <-f.released:
		default: // a Close that could not wait for a hook
			return p.admission.closeResult()
		}
	case <-ctx.Done():
		if p.admission.abandon(f) {
			p.signal()
			return contextError(ctx)
		}
		<-f.released
	}
	if f.result.count > 0 {
		return &FlushError{Count: f.result.count, Unsent: f.result.unsent, Errors: f.result.errors}
	}
	return nil
}

// join waits until a Close that is under way has ended.
func (p *Publisher[V, R]) join(ctx context.Context) error {
	select {
	case <-p.closed:
	case <-ctx.Done():
		select {
		case <-p.closed:
		default:
			return contextError(ctx)
		}
	}
	return p.admission.closeResult()
}

// contextError says why ctx ended, and errors.Is finds both the usual error and
// the cause that the caller gave.
func contextError(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}

// PanicError is the error of a batch whose Transport panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("the client panicked: %v", e.Value) }

// When the ctx of Close ends, a request that was cancelled has abandonAfter to
// return, a hook has stuckAfter, and all hooks together have patience. Then they
// are left behind, because Close has promised to return.
const (
	abandonAfter = time.Second
	stuckAfter   = 2 * time.Second
	patience     = 10 * time.Second
)

// Close refuses further items, sends what is left, and waits until everything
// is settled and told. If ctx ends first it cancels the requests and settles
// the rest as Unsent. Every call returns the same: nil or a *CloseError.
func (p *Publisher[V, R]) Close(ctx context.Context) error {
	if p.insideHook(ctx) {
		return ErrInCallback
	}
	p.admission.shut()
	p.signal()
	select {
	case <-p.closed:
		return p.admission.closeResult()
	case <-ctx.Done():
	}
	p.admission.giveUp()
	p.cancel()
	p.signal()
	p.awaitHooks()
	return p.admission.closeResult()
}

// awaitHooks waits until the loop has ended, or makes the result of Close if a
// hook keeps it.
func (p *Publisher[V, R]) awaitHooks() {
	began, seen := p.now(), p.loop.progress.Load()
	for {
		look := time.NewTimer(stuckAfter)
		select {
		case <-p.closed:
			look.Stop()
			return
		case <-look.C:
		}
		now := p.loop.progress.Load()
		if now == seen || p.now()-began >= patience {
			p.admission.closeStuck(p.closed)
			return
		}
		seen = now
	}
}
