package events_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/events"
)

type doc struct{ ID string }

// raisers calls each handler with an event, by field name. A test below fails if a field is missing.
var raisers = map[string]func(events.Handlers[doc], context.Context){
	"ActionAdded": func(h events.Handlers[doc], ctx context.Context) {
		if err := h.ActionAdded(ctx, &events.ActionAdded[doc]{Key: "k"}); err != nil {
			panic(err)
		}
	},
	"ActionSent": func(h events.Handlers[doc], ctx context.Context) {
		h.ActionSent(ctx, &events.ActionSent[doc]{Key: "k"})
	},
	"ActionCompleted": func(h events.Handlers[doc], ctx context.Context) {
		h.ActionCompleted(ctx, &events.ActionCompleted[doc]{Key: "k"})
	},
	"ActionFailed": func(h events.Handlers[doc], ctx context.Context) {
		h.ActionFailed(ctx, &events.ActionFailed[doc]{Key: "k"})
	},
	"BatchCompleted": func(h events.Handlers[doc], ctx context.Context) {
		h.BatchCompleted(ctx, &events.Batch{ID: "k"})
	},
	"HealthChanged": func(h events.Handlers[doc], ctx context.Context) {
		h.HealthChanged(ctx, &events.HealthChange{Err: errors.New("k")})
	},
	"Closed": func(h events.Handlers[doc], ctx context.Context) {
		if err := h.Closed(ctx); err != nil {
			panic(err)
		}
	},
}

// closedEvent stands for the event that Closed does not have.
var closedEvent = &struct{ Key string }{"k"}

// recorder returns handlers that all call f with the field's name and the event.
func recorder(f func(ctx context.Context, field string, event any)) events.Handlers[doc] {
	return events.Handlers[doc]{
		ActionAdded: func(ctx context.Context, e *events.ActionAdded[doc]) error {
			f(ctx, "ActionAdded", e)
			return nil
		},
		ActionSent:      func(ctx context.Context, e *events.ActionSent[doc]) { f(ctx, "ActionSent", e) },
		ActionCompleted: func(ctx context.Context, e *events.ActionCompleted[doc]) { f(ctx, "ActionCompleted", e) },
		ActionFailed:    func(ctx context.Context, e *events.ActionFailed[doc]) { f(ctx, "ActionFailed", e) },
		BatchCompleted:  func(ctx context.Context, e *events.Batch) { f(ctx, "BatchCompleted", e) },
		HealthChanged:   func(ctx context.Context, e *events.HealthChange) { f(ctx, "HealthChanged", e) },
		Closed: func(ctx context.Context) error {
			f(ctx, "Closed", closedEvent)
			return nil
		},
	}
}

func fields() []string {
	var names []string
	for field := range reflect.TypeFor[events.Handlers[doc]]().Fields() {
		names = append(names, field.Name)
	}
	return names
}

func TestMultiCallsHandlersInOrderWithTheSameContextAndEvent(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	var calls []string
	var seen []any
	handler := func(name string) events.Handlers[doc] {
		return recorder(func(got context.Context, field string, event any) {
			assert.Equal(t, ctx, got)
			calls = append(calls, name+" "+field)
			seen = append(seen, event)
		})
	}
	m := events.Multi(handler("a"), handler("b"), events.Handlers[doc]{}, handler("c"))
	require.Len(t, raisers, len(fields()), "a handler without a test")
	for _, field := range fields() {
		calls, seen = nil, nil
		raisers[field](m, ctx)
		assert.Equal(t, []string{"a " + field, "b " + field, "c " + field}, calls)
		assert.Same(t, seen[0], seen[1])
		assert.Same(t, seen[0], seen[2])
		assert.Contains(t, fmt.Sprintf("%+v", seen[0]), "k", "the event that was raised")
	}
}

// A field without handlers must stay nil, so that the sender skips the work for its event.
func TestMultiLeavesNilWhatNobodySets(t *testing.T) {
	assert.Equal(t, events.Handlers[doc]{}, events.Multi[doc]())
	assert.Equal(t, events.Handlers[doc]{}, events.Multi(events.Handlers[doc]{}, events.Handlers[doc]{}))

	all := reflect.ValueOf(recorder(func(context.Context, string, any) {}))
	for i, name := range fields() {
		var one events.Handlers[doc]
		reflect.ValueOf(&one).Elem().Field(i).Set(all.Field(i))
		for how, m := range map[string]events.Handlers[doc]{
			"alone":            events.Multi(one),
			"first":            events.Multi(one, events.Handlers[doc]{}),
			"last":             events.Multi(events.Handlers[doc]{}, one),
			"between":          events.Multi(events.Handlers[doc]{}, one, events.Handlers[doc]{}),
			"set twice":        events.Multi(one, one),
			"Multi of a Multi": events.Multi(events.Multi(one), events.Multi[doc]()),
		} {
			v := reflect.ValueOf(m)
			for j, other := range fields() {
				assert.Equal(t, i != j, v.Field(j).IsNil(), "only %s is set, %s: %s", name, how, other)
			}
		}
	}
}

func TestActionAddedStopsAtTheFirstError(t *testing.T) {
	refusal := errors.New("not today")
	var calls []string
	handler := func(name string, err error) events.Handlers[doc] {
		return events.Handlers[doc]{ActionAdded: func(context.Context, *events.ActionAdded[doc]) error {
			calls = append(calls, name)
			return err
		}}
	}
	for _, c := range []struct {
		name    string
		errs    [3]error
		want    error
		callees []string
	}{
		{"no handler refuses", [3]error{}, nil, []string{"a", "b", "c"}},
		{"the first handler refuses", [3]error{refusal, errors.New("later"), nil}, refusal, []string{"a"}},
		{"the second handler refuses", [3]error{nil, refusal, nil}, refusal, []string{"a", "b"}},
		{"the last handler refuses", [3]error{nil, nil, refusal}, refusal, []string{"a", "b", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls = nil
			m := events.Multi(handler("a", c.errs[0]), handler("b", c.errs[1]), handler("c", c.errs[2]))
			assert.Equal(t, c.want, m.ActionAdded(t.Context(), &events.ActionAdded[doc]{}), "the very error")
			assert.Equal(t, c.callees, calls)
		})
	}
}

func TestClosedAsksAllAndJoinsTheirErrors(t *testing.T) {
	first, last := errors.New("first"), errors.New("last")
	calls := 0
	handler := func(err error) events.Handlers[doc] {
		return events.Handlers[doc]{Closed: func(context.Context) error {
			calls++
			return err
		}}
	}
	err := events.Multi(handler(first), handler(nil), handler(last)).Closed(t.Context())
	require.ErrorIs(t, err, first)
	require.ErrorIs(t, err, last)
	require.Equal(t, 3, calls)
	require.NoError(t, events.Multi(handler(nil), handler(nil)).Closed(t.Context()))
}

func TestActionAddedStopsAtAPanic(t *testing.T) {
	called := false
	m := events.Multi(
		events.Handlers[doc]{ActionAdded: func(context.Context, *events.ActionAdded[doc]) error { panic("a") }},
		events.Handlers[doc]{ActionAdded: func(context.Context, *events.ActionAdded[doc]) error {
			called = true
			return nil
		}},
	)
	assert.PanicsWithValue(t, "a", func() { raisers["ActionAdded"](m, t.Context()) })
	assert.False(t, called, "the action is refused, so other handlers must not get it")
}

func TestAPanicDoesNotKeepAnEventFromTheOtherHandlers(t *testing.T) {
	for _, field := range fields() {
		if field == "ActionAdded" {
			continue // refused instead: see above
		}
		for bad := range 3 {
			t.Run(fmt.Sprintf("%s, handler %d", field, bad), func(t *testing.T) {
				var calls []int
				var handlers []events.Handlers[doc]
				for i := range 3 {
					handlers = append(handlers, recorder(func(context.Context, string, any) {
						calls = append(calls, i)
						if i == bad {
							panic(fmt.Sprint("handler ", i))
						}
					}))
				}
				m := events.Multi(handlers...)
				assert.PanicsWithValue(t, fmt.Sprint("handler ", bad), func() { raisers[field](m, t.Context()) }, "the sender counts it")
				assert.Equal(t, []int{0, 1, 2}, calls)
			})
		}
	}
}

func TestOfSeveralPanicsTheLastGoesOn(t *testing.T) {
	handler := func(v any) events.Handlers[doc] { return recorder(func(context.Context, string, any) { panic(v) }) }
	m := events.Multi(handler("a"), handler("b"))
	assert.PanicsWithValue(t, "b", func() { raisers["ActionSent"](m, t.Context()) })
}

// A handler may end its goroutine, as t.FailNow does.
func TestGoexitDoesNotKeepAnEventFromTheOtherHandlers(t *testing.T) {
	called := false
	m := events.Multi(
		recorder(func(context.Context, string, any) { runtime.Goexit() }),
		recorder(func(context.Context, string, any) { called = true }),
	)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		raisers["ActionFailed"](m, t.Context())
	}()
	<-ended
	assert.True(t, called)
}

// Any nesting of Multi calls the handlers like a flat list.
func TestMultiIsAssociative(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var calls, want []string
		var build func(depth int) events.Handlers[doc]
		next := 0
		build = func(depth int) events.Handlers[doc] {
			kinds := 3
			if depth == 0 {
				kinds = 2
			}
			switch rapid.IntRange(0, kinds-1).Draw(rt, "kind") {
			case 0:
				return events.Handlers[doc]{}
			case 1:
				name := fmt.Sprint(next)
				next++
				want = append(want, name)
				return recorder(func(context.Context, string, any) { calls = append(calls, name) })
			}
			var parts []events.Handlers[doc]
			for range rapid.IntRange(0, 4).Draw(rt, "parts") {
				parts = append(parts, build(depth-1))
			}
			return events.Multi(parts...)
		}
		m := events.Multi(build(3), build(3))
		for field, raise := range raisers {
			calls = nil
			if isNil := reflect.ValueOf(m).FieldByName(field).IsNil(); isNil != (len(want) == 0) {
				rt.Fatalf("%s is nil: %v, with the handlers %v", field, isNil, want)
			} else if isNil {
				continue
			}
			raise(m, t.Context())
			if !reflect.DeepEqual(want, calls) {
				rt.Fatalf("%s called %v instead of %v", field, calls, want)
			}
		}
	})
}
