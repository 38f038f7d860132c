package journal

import (
	"context"
	"sync"
	"time"
)

// Back-off of the loop after errors: doubled with each error.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// Loop is the goroutine that writes what its owner keeps in memory. The mutex of the owner guards all fields that
// change.
type Loop struct {
	mu    *sync.Mutex                                        // of the owner
	due   func(now time.Time) (at time.Time, something bool) // when to write, if there is anything; called with the mutex
	write func() error                                       // one attempt to write everything, called without the mutex
	woken chan struct{}                                      // capacity one: due may have changed
	ended chan struct{}                                      // closed when Run returns
	end   error                                              // result of Run; read after ended

	// Changes counts the changes of the owner, and Durable how many of them are durable. The owner sets both.
	Changes, Durable int64

	closed   bool
	pause    time.Duration // after the last error
	next     time.Time     // time of the attempt after it
	attempts int64
	failed   int64 // number of the last failed attempt
	failures int64
	err      error         // of the last attempt
	turn     chan struct{} // closed when something becomes durable, or an attempt ends
	hurry    bool          // a Sync waits for the next attempt
}

// NewLoop returns a loop. The owner must start Run.
func NewLoop(mu *sync.Mutex, due func(now time.Time) (at time.Time, something bool), write func() error) *Loop {
	return &Loop{mu: mu, due: due, write: write, woken: make(chan struct{}, 1), ended: make(chan struct{}), turn: make(chan struct{})}
}

// Run writes until Close is called. Then it calls last to write the rest; if that returns an error, it calls last once
// more, because the owner starts a new file after an error. It calls all of ends, which close files, even after errors.
func (l *Loop) Run(last func() error, ends ...func() error) {
	defer close(l.ended)
	for l.await() {
		_ = l.Step() // State returns the error
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

// Wake makes the loop call due again.
func (l *Loop) Wake() {
	select {
	case l.woken <- struct{}{}:
	default: // it will
	}
}

// await returns true when there is something to write, and false once the loop is closed.
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

// Step makes one attempt to write, and records its result.
func (l *Loop) Step() error {
	l.mu.Lock()
	l.attempts++ // before write starts: a later Sync must not get the error of this attempt
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

// Broadcast wakes the callers of Sync when something is durable. The caller holds the mutex.
func (l *Loop) Broadcast() {
	close(l.turn)
	l.turn = make(chan struct{})
}

// State returns how many changes are not durable, how many attempts have failed, and the error of the last one. The
// caller holds the mutex.
func (l *Loop) State() (unsynced, failures int64, err error) {
	return l.Changes - l.Durable, l.failures, l.err
}

// Sync waits until all changes so far are durable. If the disk fails, Sync makes the loop try again at once, and
// returns the error of that attempt. ctx bounds the wait. After Close the error is closed if changes are not durable.
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

// Await waits until the condition until holds, checked after each attempt to write, or until the loop has ended. ctx
// bounds the wait. until is called with the mutex.
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

// Close ends the loop, and returns the first error of its end. ctx bounds the wait; the loop ends in any case when the
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
