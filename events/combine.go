package events

import (
	"context"
	"errors"
)

// Multi returns handlers that call each of the given ones in order. A field is
// set only if one of them sets it, so that an event nobody wants costs nothing.
//
// A panic in one handler does not keep an event from the others: they run, and
// it goes on to the sender, which recovers it. If several panic, the sender
// sees the last. [Track] behind it lets the action hold its mark. ActionAdded alone
// stops at the first error or panic, because
// that refuses the action: the handlers after it are not called for the action, and
// those before it have seen one that will not be accepted. Closed runs them all
// and joins their errors.
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

// then calls a and b, and b even if a panics: one bad handler must not silence
// the others.
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

// vetoed is an event of the end of an action, which may hold a mark.
type vetoed interface{ veto(err error) }

// errNotReturned is the veto of a handler that has panicked, or ended its goroutine.
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
