// Package wholeindex marks the contexts of work that speaks for an index as a whole, such as
// a receipt or a repair. Permissions may hide documents from its client. Packages below
// find the mark whatever lies between.
package wholeindex

import "context"

type markKey struct{}

// mark is one piece of work, and what was found out for it.
type mark struct {
	asking chan struct{} // has room for one: the goroutine that may use known
	known  map[any]any
}

// Require returns a context whose work needs the whole index.
func Require(ctx context.Context) context.Context {
	return context.WithValue(ctx, markKey{}, &mark{asking: make(chan struct{}, 1), known: map[any]any{}})
}

// Lasting is an answer that may hold for all of some work: Again keeps it if Lasts is true.
type Lasting interface{ Lasts() bool }

// Again returns a context for the end of the work of ctx, for which is asked once more what may have
// changed since.
func Again(ctx context.Context) context.Context {
	again := Require(ctx)
	m := of(ctx)
	if m == nil {
		return again
	}
	select {
	case m.asking <- struct{}{}:
		defer func() { <-m.asking }()
	case <-ctx.Done():
		return again
	}
	for about, answer := range m.known {
		if l, is := answer.(Lasting); is && l.Lasts() {
			of(again).known[about] = answer
		}
	}
	return again
}

// Required reports whether the work of ctx needs the whole index.
func Required(ctx context.Context) bool { return of(ctx) != nil }

func of(ctx context.Context) *mark {
	m, _ := ctx.Value(markKey{}).(*mark)
	return m
}

// Once returns what ask has returned for about, and asks once for each call of Require.
// An error is not kept, and without Require nothing is.
func Once[T any](ctx context.Context, about any, ask func() (T, error)) (T, error) {
	m := of(ctx)
	if m == nil {
		return ask()
	}
	select {
	case m.asking <- struct{}{}:
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	defer func() { <-m.asking }()
	if known, is := m.known[about].(T); is {
		return known, nil
	}
	answer, err := ask()
	if err == nil {
		m.known[about] = answer
	}
	return answer, err
}
