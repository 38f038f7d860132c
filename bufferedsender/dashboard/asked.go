package dashboard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	patience = time.Second     // of the page, when it asks a queue or a database
	longest  = 5 * time.Second // time limit of one question
)

// asked caches the last answer of something that may be slow or hang. An old answer is refreshed by one goroutine at a
// time, and readers wait for that at most for patience.
type asked[T any] struct {
	mu    sync.Mutex // guards the fields below
	value T
	err   error
	at    time.Time
	tried time.Time     // when it was last asked
	done  chan struct{} // nil unless it is being refreshed
}

var errNoAnswer = errors.New("no answer yet")

// get returns the last answer that is not an error, its time, and the reason if a newer one is missing. It asks once in
// every, even after an error: what is in trouble gets no more requests because people look at it.
func (a *asked[T]) get(every time.Duration, ask func(ctx context.Context) (T, error)) (value T, at time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done == nil && (a.tried.IsZero() || time.Since(a.tried) >= every) {
		done := make(chan struct{})
		a.done = done
		go func() {
			value, err := contained(ask)
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.err = err; err == nil {
				a.value, a.at = value, time.Now()
			}
			a.tried, a.done = time.Now(), nil
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

// contained calls ask with a time limit and turns a panic into an error, because a panic of foreign code must not end
// the program.
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
