package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/go-azsearch/azsearch/models"
)

// A PanicError is a panic of work.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("pool: work panicked: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Do runs work when a slot is free, and returns its error. It waits in the class until ctx ends; later calls of the
// same member do not overtake it. If work was not run, the error is ErrFull, ErrShutdown, ErrLeft or that of ctx. A
// panic of work is returned as a *PanicError.
//
// The context of work ends with ctx, and when Shutdown gives up waiting.
func (m *Member) Do(ctx context.Context, class models.Class, work func(ctx context.Context) error) error {
	if work == nil {
		return errors.New("pool: work is nil")
	}
	slot, err := m.wait(ctx, class)
	if err != nil {
		return err
	}
	defer slot.Release(true)
	return m.pool.run(ctx, work)
}

// wait waits for a slot.
func (m *Member) wait(ctx context.Context, class models.Class) (Slot, error) {
	if ctx.Err() != nil {
		return Slot{}, context.Cause(ctx)
	}
	woken := make(chan struct{}, 1)
	seat := m.Seat(func() {
		select {
		case woken <- struct{}{}:
		default: // already woken; the member has left
		}
	})
	seat.bounded = 1
	for {
		slot, ok, err := seat.Ask(class, doBytes)
		if ok || err != nil {
			return slot, err
		}
		select {
		case <-woken:
			if ctx.Err() == nil {
				continue
			}
		case <-ctx.Done():
		}
		seat.Cancel()
		return Slot{}, context.Cause(ctx)
	}
}

// run runs work with a context that also ends when Shutdown gives up.
func (p *Pool) run(ctx context.Context, work func(ctx context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.stop, func() { cancel(ErrShutdown) })()
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return work(ctx)
}
