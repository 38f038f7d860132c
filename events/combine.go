package events

import (
	"context"
	"errors"
)

// Multi returns handlers that call each of the given ones in order. A field is set only if one of them sets it, so
// unused events cost nothing.
//
// If a handler panics the others run anyway, and the sender recovers the panic. If several panic, the sender recovers
// the last one. [Track] behind a handler that panicked lets the action hold its mark. Only ActionAdded stops at the
// first error or panic, because it refuses the action: later handlers are not called for it, while earlier ones have
// seen an action that will not be accepted. Closed runs all handlers and joins their errors.
func Multi[T any](handlers ...Handlers[T]) Handlers[T] {
	var m Handlers[T]
	for _, h := range handlers {
		if h.ActionAdded != nil {
			m.ActionAdded = thenAdded(m.ActionAdded, h.ActionAdded)
		}
		m.ActionSent = then(m.ActionSent, h.ActionSent)
		m.ActionCompleted = then(m.ActionCompleted, h.ActionCompleted)
		m.ActionFailed = then(m.ActionFailed, h.ActionFailed)
		m.BatchCompleted = then(m.BatchCompleted, h.BatchCompleted)
		m.HealthChanged = then(m.HealthChanged, h.HealthChanged)
		m.Closed = thenClosed(m.Closed, h.Closed)
	}
	return m
}

// then calls a and b. If a panics, b runs anyway.
func then[E any](a, b func(context.Context, *E)) func(context.Context, *E) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context, e *E) {
		returned := false
		defer func() {
			if end, ok := any(e).(vetoed); ok && !returned {
				end.veto(errNotReturned)
			}
			b(ctx, e)
		}()
		a(ctx, e)
		returned = true
	}
}

// vetoed is an outcome event of an action, which may hold a mark.
type vetoed interface{ veto(err error) }

// errNotReturned is the veto of a handler that panicked or ended its goroutine.
var errNotReturned = errors.New("a handler of the event did not return")

func thenAdded[T any](a, b func(context.Context, *ActionAdded[T]) error) func(context.Context, *ActionAdded[T]) error {
	if a == nil {
		return b
	}
	return func(ctx context.Context, e *ActionAdded[T]) error {
		if err := a(ctx, e); err != nil {
			return err
		}
		return b(ctx, e)
	}
}

func thenClosed(a, b func(context.Context) error) func(context.Context) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context) (err error) {
		defer func() { err = errors.Join(err, b(ctx)) }()
		return a(ctx)
	}
}
