package sqlkit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Bounded returns the result of f, a call of a driver. If f has not returned within `after` from the end of ctx, as with
// lib/pq on a dead connection, Bounded returns the channel on which the result may still come. The call has been
// abandoned: its goroutine stays, and what it may still change must be guarded, for example by a version.
func Bounded[T any](ctx context.Context, after time.Duration, f func() T) (result T, abandoned <-chan T) {
	returned := make(chan T, 1)
	go func() { returned <- f() }()
	select {
	case result = <-returned:
		return result, nil
	case <-ctx.Done():
	}
	select {
	case result = <-returned:
		return result, nil
	case <-time.After(after):
		return result, returned
	}
}

// mostAbandoned bounds the calls that have been abandoned and have not returned, of one Calls.
const mostAbandoned = 8

// Calls counts calls that have been abandoned. It is safe for concurrent use.
type Calls struct{ open atomic.Int64 }

// Call returns the result of f, or an error `after` the end of ctx. While mostAbandoned calls have not returned it
// returns an error at once.
func Call[T any](ctx context.Context, c *Calls, after time.Duration, f func() (T, error)) (result T, err error) {
	type returned struct {
		result T
		err    error
	}
	if n := c.open.Load(); n >= mostAbandoned {
		return result, fmt.Errorf("%d calls of the driver have not returned since their contexts ended; use a driver that ends a call with its context", n)
	}
	got, abandoned := Bounded(ctx, after, func() (r returned) {
		r.result, r.err = f()
		return r
	})
	if abandoned == nil {
		return got.result, got.err
	}
	c.open.Add(1)
	go func() {
		<-abandoned
		c.open.Add(-1)
	}()
	return result, fmt.Errorf("the driver has not returned %v after the end of its context: %w", after, context.Cause(ctx))
}
