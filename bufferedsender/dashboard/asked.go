package dashboard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	patience = time.Second     // of the page, with a queue or a database
	longest  = 5 * time.Second // that one is asked for
)

// asked is the last answer of something that may be slow, or hang: it is asked again when the answer is old, by one
// goroutine at a time, and readers wait for it as long as the page has patience.
type asked[T any] struct {
	mu    sync.Mutex // guards what follows
	value T
	err   error
	at    time.Time
	done  chan struct{} // nil unless it is being asked
}

var errNoAnswer = errors.New("no answer yet")

// get returns the last answer that is not an error, when it came, and why there is none that is newer.
func (a *asked[T]) get(every time.Duration, ask func(ctx context.Context) (T, error)) (value T, at time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done == nil && (a.at.IsZero() || time.Since(a.at) >= every || a.err != nil) {
		done := make(chan struct{})
		a.done = done
		go func() {
			value, err := contained(ask)
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.err = err; err == nil {
				a.value, a.at = value, time.Now()
			}
			a.done = nil
			close(done)
		}()
	}
	if done := a.done; done != nil {
		a.mu.Unlock()
		answered := within(patience, done)
		a.mu.Lock()
		if !answered && a.err == nil {
			return a.value, a.at, errNoAnswer
		}
	}
	return a.value, a.at, a.err
}

// contained asks until its context ends, and turns a panic into an error: the code
// is that of others, and the program is not the page's.
func contained[T any](ask func(ctx context.Context) (T, error)) (value T, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return ask(ctx)
}

// within waits for done, and reports whether it came in time.
func within(d time.Duration, done <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
