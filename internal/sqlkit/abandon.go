package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"sync"
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

// No call begins while someAbandoned of a Calls have not returned, except one after retryAbandoned, because a new
// connection may work, and the next ones after twice as long each, an hour at most. If it returns others follow, until
// one is abandoned. While mostAbandoned have not returned none begins. Calls that have begun by then may add to them.
const (
	someAbandoned  = 8
	mostAbandoned  = 32
	retryAbandoned = 20 * time.Second
)

// retryAfter is the time between two calls while n have not returned.
func retryAfter(n int64) time.Duration { return min(retryAbandoned<<(n-someAbandoned), time.Hour) }

// Calls counts calls that have been abandoned. It is safe for concurrent use.
type Calls struct {
	open  atomic.Int64
	tried atomic.Int64 // when the last call began in spite of the bound
	works atomic.Bool  // the last call to end has returned
}

// callsOf has the Calls of CallsOf. Those that count nothing are dropped from time to time, because a program may make
// a new source for each pass.
var callsOf = struct {
	sync.Mutex
	all map[any]*Calls
}{all: make(map[any]*Calls)}

// CallsOf returns the Calls of the first of several values that is comparable: the same for all that call the same
// store or source in a process.
func CallsOf(of ...any) *Calls {
	for _, key := range of {
		if !reflect.ValueOf(key).Comparable() {
			continue
		}
		callsOf.Lock()
		defer callsOf.Unlock()
		if c := callsOf.all[key]; c != nil {
			return c
		}
		if len(callsOf.all) >= 64 {
			maps.DeleteFunc(callsOf.all, func(_ any, c *Calls) bool { return c.open.Load() == 0 })
		}
		c := new(Calls)
		callsOf.all[key] = c
		return c
	}
	return new(Calls)
}

// Call returns the result of f, or an error `after` the end of ctx, or at once while too many calls have not returned.
// A panic of f is one of Call.
func Call[T any](ctx context.Context, c *Calls, after time.Duration, f func() (T, error)) (result T, err error) {
	type returned struct {
		result   T
		err      error
		panicked any
	}
	if n := c.open.Load(); n >= mostAbandoned || n >= someAbandoned && !c.works.Load() {
		last, now := c.tried.Load(), time.Now().UnixNano()
		if n >= mostAbandoned || now-last < int64(retryAfter(n)) || !c.tried.CompareAndSwap(last, now) {
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
	c.works.Store(abandoned == nil)
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
