package events

import "context"

// Multi returns handlers that call each of the given ones in order. A field is
// set only if one of them sets it. ActionAdded stops at the first error: the
// handlers before it have seen an action that will not be accepted.
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
	}
	return m
}

// then calls a and b, and b even if a panics: one bad handler must not silence
// the others. The panic goes on to whoever recovers those of handlers.
func then[E any](a, b func(context.Context, *E)) func(context.Context, *E) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context, e *E) {
		defer b(ctx, e)
		a(ctx, e)
	}
}

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
