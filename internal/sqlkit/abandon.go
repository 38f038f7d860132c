package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Bounded returns the result of f, a call of a driver. If f has not returned within `after` from the end of ctx, as
// with lib/pq on a dead connection, Bounded returns the channel on which the result may still come. The call has been
// abandoned: its goroutine stays, and what it may still change must be guarded, for example by a version.
func Bounded[T any](ctx context.Context, after time.Duration, f func() T) (result T, abandoned <-chan T) {
	returned := make(chan T, 1)
	go func() {
		var result T
		defer func() { returned <- result }() // also after runtime.Goexit
		result = f()
	}()
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

// No call begins while mostAbandoned of a Calls have not returned, except one in every retryAbandoned, because a new
// connection may work. Calls that have begun by then may add to them.
const (
	mostAbandoned  = 8
	retryAbandoned = 20 * time.Second
)

// Calls counts calls that have been abandoned. It is safe for concurrent use.
type Calls struct {
	open  atomic.Int64
	tried atomic.Int64 // when the last call began in spite of the bound
}

// Call returns the result of f, or an error `after` the end of ctx, or at once while too many calls have not returned.
// A panic of f is one of Call.
func Call[T any](ctx context.Context, c *Calls, after time.Duration, f func() (T, error)) (result T, err error) {
	type returned struct {
		result   T
		err      error
		panicked any
	}
	if n := c.open.Load(); n >= mostAbandoned {
		last, now := c.tried.Load(), time.Now().UnixNano()
		if now-last < int64(retryAbandoned) || !c.tried.CompareAndSwap(last, now) {
			return result, fmt.Errorf("%d calls of the driver have not returned since their contexts ended; use a driver that ends a call with its context", n)
		}
	}
	got, abandoned := Bounded(ctx, after, func() (r *returned) {
		r = new(returned)
		defer func() {
			if v := recover(); v != nil { // no caller can recover on this goroutine
				r.panicked = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
			}
		}()
		r.result, r.err = f()
		return r
	})
	switch {
	case abandoned != nil:
		c.open.Add(1)
		go func() {
			<-abandoned
			c.open.Add(-1)
		}()
		return result, fmt.Errorf("the driver has not returned %v after the end of its context: %w", after, context.Cause(ctx))
	case got == nil:
		return result, errors.New("the driver has ended its goroutine")
	case got.panicked != nil:
		panic(got.panicked)
	}
	return got.result, got.err
}
