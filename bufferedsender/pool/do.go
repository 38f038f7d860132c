package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// ErrSnapshotAge is the answer of Prepared to a caller whose snapshot was older than Settings.MaxSnapshotAge when its
// turn came.
var ErrSnapshotAge = errors.New("the snapshot is too old: its work has waited for too long")

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

// Do runs work when there is a slot for it, and returns its error. It waits in the class, as long as ctx lasts, and
// is passed by nobody of its member that came later, unless the order is LIFO. Otherwise the error is ErrFull,
// ErrShutdown, ErrLeft or that of ctx, and work was not run. If it panics, that is a *PanicError.
//
// The context of work ends with ctx, and when Shutdown has given up waiting.
func (m *Member) Do(ctx context.Context, class Class, work func(ctx context.Context) error) error {
	if work == nil {
		return errors.New("pool: there is no work")
	}
	slot, err := m.wait(ctx, class)
	if err != nil {
		return err
	}
	defer slot.Release()
	return m.pool.run(ctx, work)
}

// Prepared is Do for work that needs a snapshot, of the moment at which it is called and not of that at which there is
// a slot: prepare is run at once, without a slot, and work later. If the snapshot is older than
// Settings.MaxSnapshotAge then, work is not run and the error is ErrSnapshotAge. drop, which may be nil, is called
// for every snapshot that was made, in the end; a panic of it is an error as one of work is.
func Prepared[S any](ctx context.Context, m *Member, class Class, prepare func(ctx context.Context) (S, error), work func(ctx context.Context, snapshot S) error, drop func(S)) (err error) {
	if prepare == nil || work == nil {
		return errors.New("pool: there is nothing to prepare, or no work")
	}
	if err := m.refusal(ctx); err != nil { // then a snapshot is of no use
		return err
	}
	taken := time.Now()
	var snapshot S
	err = m.pool.run(ctx, func(ctx context.Context) (err error) {
		snapshot, err = prepare(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if drop != nil {
		defer func() {
			defer caught(&err)
			drop(snapshot)
		}()
	}
	most := m.pool.Settings().MaxSnapshotAge
	waits, cancel := context.WithTimeoutCause(ctx, most-time.Since(taken), ErrSnapshotAge)
	defer cancel()
	slot, err := m.wait(waits, class)
	if err != nil {
		return err
	}
	defer slot.Release()
	return m.pool.run(ctx, func(ctx context.Context) error { return work(ctx, snapshot) })
}

// refusal is why nothing can be asked for any more.
func (m *Member) refusal(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	switch {
	case m.pool.closed:
		return ErrShutdown
	case m.left:
		return ErrLeft
	}
	return nil
}

// wait waits for a slot.
func (m *Member) wait(ctx context.Context, class Class) (Slot, error) {
	if ctx.Err() != nil {
		return Slot{}, context.Cause(ctx)
	}
	woken := make(chan struct{}, 1)
	seat := m.Seat(func() {
		select {
		case woken <- struct{}{}:
		default: // a second time, because the member has left
		}
	})
	seat.bounded = 1
	for {
		slot, ok, err := seat.Ask(class, DoBytes)
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

// run runs work with a context that ends also when the pool is given up.
func (p *Pool) run(ctx context.Context, work func(ctx context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.stop, func() { cancel(ErrShutdown) })()
	defer caught(&err)
	return work(ctx)
}

// caught makes a panic an error, beside the one that there is. It is deferred.
func caught(err *error) {
	v := recover()
	if v == nil {
		return
	}
	crash := &PanicError{Value: v, Stack: debug.Stack()}
	if *err == nil {
		*err = crash
		return
	}
	*err = errors.Join(*err, crash)
}
