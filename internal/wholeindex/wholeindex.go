// Package wholeindex marks the contexts of work that must see a whole index, such as a receipt or a repair, because
// permissions may hide documents from its client. Packages that the work calls, directly or indirectly, find the mark.
package wholeindex

import "context"

type markKey struct{}

// mark identifies one piece of work and caches answers for it.
type mark struct {
	asking chan struct{} // buffer of one: a lock for known
	known  map[any]any
}

// Require returns a context whose work must see the whole index.
func Require(ctx context.Context) context.Context {
	return context.WithValue(ctx, markKey{}, &mark{asking: make(chan struct{}, 1), known: map[any]any{}})
}

// Lasting is an answer that may hold for a whole piece of work: Again keeps it if Lasts returns true.
type Lasting interface{ Lasts() bool }

// Again returns a context for the end of the work of ctx. Answers that may have changed are asked for again.
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

// Required reports whether the work of ctx must see the whole index.
func Required(ctx context.Context) bool { return of(ctx) != nil }

func of(ctx context.Context) *mark {
	m, _ := ctx.Value(markKey{}).(*mark)
	return m
}

// Once returns the answer of ask for about. It calls ask once per Require, but again after an error. Without Require it
// calls ask each time.
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
