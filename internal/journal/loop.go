package journal

import (
	"context"
	"sync"
	"time"
)

// How long the loop waits after an error: so long at first, then twice as long each time.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// Loop is the goroutine that writes what its owner keeps in memory. The mutex of the owner guards all fields that
// change.
type Loop struct {
	mu    *sync.Mutex                                        // of the owner
	due   func(now time.Time) (at time.Time, something bool) // when to write, if there is something; called with the mutex
	write func() error                                       // one attempt to write all that there is, called without the mutex
	woken chan struct{}                                      // holds one: due may have changed
	ended chan struct{}                                      // closed when Run returns
	end   error                                              // of Run; read after ended

	// Changes counts what the owner has changed, and Durable is how many of the changes are durable. The owner writes
	// both.
	Changes, Durable int64

	closed   bool
	pause    time.Duration // after the last error
	next     time.Time     // of the attempt after it
	attempts int64
	failed   int64 // number of the last attempt that has failed
	failures int64
	err      error         // of the last attempt
	turn     chan struct{} // closed when something is durable, or an attempt has ended
	hurry    bool          // a Sync waits for the next attempt
}

// NewLoop returns a loop. The owner starts Run.
func NewLoop(mu *sync.Mutex, due func(now time.Time) (at time.Time, something bool), write func() error) *Loop {
	return &Loop{mu: mu, due: due, write: write, woken: make(chan struct{}, 1), ended: make(chan struct{}), turn: make(chan struct{})}
}

// Run writes until Close is called. Then last writes what is left: a second time if the first one has met an error,
// after which the owner begins a new file. ends close what is open, each whatever the others return.
func (l *Loop) Run(last func() error, ends ...func() error) {
	defer close(l.ended)
	for l.await() {
		_ = l.Step() // State has the error
	}
	err := last()
	if err != nil {
		err = last()
	}
	for _, end := range ends {
		if ended := end(); err == nil {
			err = ended
		}
	}
	l.end = err
}

// Wake has the loop ask again when to write.
func (l *Loop) Wake() {
	select {
	case l.woken <- struct{}{}:
	default: // it will
	}
}

// await returns when there is something to write, and false once the loop is closed.
func (l *Loop) await() bool {
	for {
		now := time.Now()
		l.mu.Lock()
		at, something := l.due(now)
		closed, hurry, next := l.closed, l.hurry, l.next
		l.mu.Unlock()
		if at.Before(next) {
			at = next
		}
		switch {
		case closed:
			return false
		case something && (hurry || !now.Before(at)):
			return true
		case !something:
			<-l.woken
		default:
			timer := time.NewTimer(at.Sub(now))
			select {
			case <-l.woken:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// Step is one attempt to write, and takes note of its result.
func (l *Loop) Step() error {
	l.mu.Lock()
	l.attempts++ // before write takes what there is: a Sync that is called later must not be given the error of this attempt
	l.hurry = false
	l.mu.Unlock()
	err := l.write()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
	if err == nil {
		l.pause, l.next = 0, time.Time{}
	} else {
		l.pause = min(max(2*l.pause, firstPause), lastPause)
		l.next = time.Now().Add(l.pause)
		l.failed = l.attempts
		l.failures++
	}
	l.Broadcast()
	return err
}

// Broadcast wakes the callers of Sync, as something is durable. The caller has the mutex.
func (l *Loop) Broadcast() {
	close(l.turn)
	l.turn = make(chan struct{})
}

// State returns how many changes are not durable, how many attempts have failed, and the error of the last one. The
// caller has the mutex.
func (l *Loop) State() (unsynced, failures int64, err error) {
	return l.Changes - l.Durable, l.failures, l.err
}

// Sync waits until all changes so far are durable. It has a failing disk tried at once, and returns that error. ctx
// bounds the waiting. After Close the error is closed if changes are not durable.
func (l *Loop) Sync(ctx context.Context, closed error) error {
	l.mu.Lock()
	target, attempt := l.Changes, l.attempts
	l.hurry = l.Durable < target
	l.mu.Unlock()
	err := l.Await(ctx, func() bool { return l.Durable >= target || l.failed > attempt })
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.Durable >= target:
		return nil
	case l.failed > attempt:
		return l.err
	case err == nil:
		return closed
	}
	return err
}

// Await waits until something is so, which may be at each attempt to write, or until the loop has ended. ctx bounds the
// waiting. until is called with the mutex.
func (l *Loop) Await(ctx context.Context, until func() bool) error {
	for {
		l.mu.Lock()
		done, turn := until(), l.turn
		l.mu.Unlock()
		if done {
			return nil
		}
		l.Wake()
		select {
		case <-turn:
		case <-l.ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends the loop, and returns the first error of its end. ctx bounds the waiting; the loop ends anyway when the
// disk returns.
func (l *Loop) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.Wake()
	select {
	case <-l.ended:
		return l.end
	default:
	}
	select {
	case <-l.ended:
		return l.end
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
