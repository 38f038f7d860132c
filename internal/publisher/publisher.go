// Package publisher is the core of the buffered sender: it accepts items from many goroutines, packs them into batches,
// and gives each exactly one outcome. It is independent of HTTP, JSON and search; a [Transport] sends batches and
// judges the answers.
//
// One goroutine, the loop, owns all state except the admission (see admission.go) and runs every hook. Requests run on
// other goroutines. While there is nothing to do the loop has no goroutine.
package publisher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of adding and closing.
var (
	ErrClosed     = errors.New("publisher is closed")
	ErrFull       = errors.New("buffer is full")
	ErrInCallback = errors.New("called from inside a callback")
	ErrNoResult   = errors.New("reply has no result for this action")
	ErrAbandoned  = errors.New("Close could not wait for the reply")
	ErrPaused     = errors.New("sending is paused")
	ErrShut       = errors.New("circuit is open")
	ErrPurged     = errors.New("purged")
)

// Publisher is safe for concurrent use.
type Publisher[V, R any] struct {
	config Config[V, R]
	start  time.Time

	admission admission[V]
	wake      chan struct{} // capacity 1: one pending wake-up is enough
	parked    atomic.Bool   // the loop has no goroutine
	sweeping  atomic.Bool   // a Sweep is pending
	closed    chan struct{} // closed when the result of Close is final

	cancel   context.CancelFunc // cancels all requests
	requests context.Context
	workers  sync.WaitGroup
	loop     *loop[V, R]
	spare    sync.Pool // of *spare, while idle
}

// New returns a publisher that must be started with Start.
func New[V, R any](config Config[V, R]) *Publisher[V, R] {
	p := &Publisher[V, R]{
		config: config,
		start:  time.Now(),
		wake:   make(chan struct{}, 1),
		closed: make(chan struct{}),
	}
	p.admission.settings = settings{limits: config.Limits, interval: config.Interval, overload: config.Overload}
	p.admission.room, p.admission.autoFlush, p.admission.largeBytes = config.Room, config.AutoFlush, config.Limits.Bytes
	// Marked as inside a hook, because a client that calls Flush during a request would wait for that request.
	p.requests, p.cancel = context.WithCancel(p.HookContext(context.Background()))
	p.loop = newLoop(p)
	return p
}

// Start starts the goroutine of the publisher. Close stops it.
func (p *Publisher[V, R]) Start() { go p.loop.run() }

func (p *Publisher[V, R]) now() instant { return time.Since(p.start) }

// Wake makes the loop check for external changes, for example of the Gate. It never blocks.
func (p *Publisher[V, R]) Wake() { p.signal() }

// Done returns a channel that is closed when the result of Close is final.
func (p *Publisher[V, R]) Done() <-chan struct{} { return p.closed }

// signal wakes the loop, and starts its goroutine if it has none, see park.
func (p *Publisher[V, R]) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
	if p.parked.Load() {
		p.unpark()
	}
}

// unpark starts a goroutine for a parked loop. A caller in another testing/synctest bubble than the publisher must not:
// the loop would run in that bubble, keep it from ending, and wait for times that never come. Its clock, which is
// decades behind, identifies such a caller. Its items wait for the next signal from the publisher's bubble, for example
// Close.
func (p *Publisher[V, R]) unpark() {
	if p.now() < 0 {
		return
	}
	if p.parked.CompareAndSwap(true, false) {
		go p.loop.run()
	}
}

// CloseError describes what Close could not complete.
type CloseError struct {
	Unsent  uint64  // not applied
	Unknown uint64  // cut off, may have been applied
	Failed  uint64  // failed and not reported by a Flush
	Kept    uint64  // of all these, kept by the Ending hook
	Errors  []error // the first hundred of all
	Stuck   bool    // a hook did not return
	Held    error   // why sending was suspended when Close gave up, or nil
	Hook    error   // error of the Closed hook
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("%d unsent, %d unknown, %d failed", e.Unsent, e.Unknown, e.Failed)
}

// FlushError describes what failed before a Flush.
type FlushError struct {
	Count     uint64
	Unsent    uint64  // of these, given up by Close
	Withdrawn uint64  // of these, taken back
	Kept      uint64  // of these, kept by the Ending hook
	Errors    []error // the first hundred
}

func (e *FlushError) Error() string { return fmt.Sprintf("%d failed", e.Count) }

// Flush sends everything accepted before the call without waiting for full batches, and waits until it is settled and
// reported. It returns a *FlushError if some of it failed, ctx.Err() if ctx ends first, and after Close its result.
func (p *Publisher[V, R]) Flush(ctx context.Context) error {
	if p.InsideHook(ctx) {
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
		default: // a Close that stopped waiting for a hook
			return p.admission.closeResult()
		}
	case <-ctx.Done():
		if p.admission.abandon(f) {
			p.signal()
			return p.WaitError(ctx)
		}
		<-f.released
	}
	return f.result.err()
}

// join waits until a running Close has ended.
func (p *Publisher[V, R]) join(ctx context.Context) error {
	select {
	case <-p.closed:
	case <-ctx.Done():
		select {
		case <-p.closed:
		default:
			return p.WaitError(ctx)
		}
	}
	return p.admission.closeResult()
}

// WaitError returns why ctx ended and, if sending is suspended, why.
func (p *Publisher[V, R]) WaitError(ctx context.Context) error {
	c, err := p.Condition(), ContextError(ctx)
	if held := c.Held(); held != nil {
		err = fmt.Errorf("%w while sending was suspended: %w", err, held)
	} else if c.State == Throttled {
		err = fmt.Errorf("%w; %w", err, c.pause())
	}
	if stuck := c.Stuck(mentioned); stuck != nil {
		err = fmt.Errorf("%w; %w", err, stuck)
	}
	return err
}

// mentioned is how long foreign code must keep a call waiting until the error of the call mentions it.
const mentioned = time.Second

// ContextError returns why ctx ended. errors.Is finds both the usual error and the cause that the caller gave.
func ContextError(ctx context.Context) error {
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

// After the ctx of Close ends, a cancelled request has abandonAfter to return, a hook has stuckAfter, and all hooks
// together have patience, counted again whenever the Ending hook has kept something. Then they are left behind, because
// Close must return.
const (
	abandonAfter = time.Second
	stuckAfter   = 2 * time.Second
	patience     = 10 * time.Second
)

// Close refuses further items, sends the rest, and waits until everything is settled and reported. If ctx ends first it
// cancels the requests and settles the rest as Unsent. Every call returns the same: nil or a *CloseError.
func (p *Publisher[V, R]) Close(ctx context.Context) error {
	if p.InsideHook(ctx) {
		return ErrInCallback
	}
	p.admission.shut()
	p.signal()
	select {
	case <-p.closed:
		return p.admission.closeResult()
	case <-ctx.Done():
	}
	p.command(func() { p.loop.shutdown.giveUp = true })
	p.cancel()
	p.signal()
	p.awaitHooks()
	return p.admission.closeResult()
}

// awaitHooks waits until the loop has ended, or sets the result of Close if a hook keeps the loop.
func (p *Publisher[V, R]) awaitHooks() {
	outside := &p.loop.outside
	began, seen, kept := p.now(), outside.progress.Load(), outside.kept.Load()
	for {
		check := time.NewTimer(stuckAfter)
		select {
		case <-p.closed:
			check.Stop()
			return
		case <-check.C:
		}
		now := outside.progress.Load()
		if more := outside.kept.Load(); more != kept {
			began, kept = p.now(), more
		}
		if now == seen || p.now()-began >= patience {
			p.admission.closeStuck(p.closed)
			return
		}
		seen = now
	}
}
