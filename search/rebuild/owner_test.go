package rebuild

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// hanging is a store that does not answer some calls.
type hanging struct {
	Store
	before func(ctx context.Context, next Record) bool // reports whether the request is lost
	after  func(ctx context.Context, next Record) bool // reports whether the reply is lost
}

func (h hanging) Swap(ctx context.Context, next Record) (Record, error) {
	if h.before != nil && h.before(ctx, next) {
		<-ctx.Done()
		return Record{}, ctx.Err()
	}
	got, err := h.Store.Swap(ctx, next)
	if h.after != nil && h.after(ctx, next) {
		<-ctx.Done()
		return Record{}, ctx.Err()
	}
	return got, err
}

// watchClosed returns a function that returns the longest time for which the taps were closed.
func (w *world) watchClosed() func() time.Duration {
	over, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		since := time.Now()
		for {
			select {
			case <-over:
				longest <- most
				return
			case <-time.After(5 * time.Millisecond):
			}
			if w.record().Phase != PhaseClosed {
				since = time.Now()
			}
			most = max(most, time.Since(since))
		}
	}()
	return func() time.Duration { close(over); return <-longest }
}

func TestACallOfTheStoreThatHangsInOneGoroutineDoesNotKeepTheTapsClosed(t *testing.T) {
	t.Parallel()
	type hangs struct{}
	for _, line := range []string{"closed", "drain moving", "close", "drain closing", "close again", "closed again"}[:testkit.Cases(2, 6, 6)] {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20)
				w.pace = 100
				a := w.write("a", 1)
				m := w.runner(Options{Writers: []string{"a"}, Settle: time.Second})
				m.r.store = hanging{Store: m.r.store, before: func(ctx context.Context, _ Record) bool { return ctx.Value(hangs{}) != nil }}
				var others sync.WaitGroup
				m.r.line = at(line, func() {
					others.Go(func() { _ = m.r.swap(context.WithValue(t.Context(), hangs{}, true), func(x *Record) { x.Beat++ }) })
					synctest.Wait()
				})
				closed := w.watchClosed()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				assert.NoError(t, m.run(ctx))
				others.Wait()
				assert.LessOrEqual(t, closed(), 1200*time.Millisecond)
				a.end()
				w.checkTruth(newIndex)
			})
		})
	}
}

func TestAnAnswerOfTheStoreThatIsLostWhileTheTapsAreClosedDoesNotKeepThemClosed(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		step := 1
		if testing.Short() {
			step = 4
		}
		for n, last := 0, false; !last && n < 30; n += step {
			t.Run(fmt.Sprint(done, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, 20)
					w.pace = 100
					a := w.write("a", uint64(n))
					m := w.runner(Options{Writers: []string{"a"}, Settle: time.Second})
					calls := 0
					lost := func(_ context.Context, next Record) bool {
						if next.Phase != PhaseClosed && m.r.now().Phase != PhaseClosed {
							return false
						}
						calls++
						return calls == n+1
					}
					h := hanging{Store: m.r.store, before: lost}
					if done {
						h.before, h.after = nil, lost
					}
					m.r.store = h
					closed := w.watchClosed()
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					require.NoError(t, m.run(ctx))
					assert.LessOrEqual(t, closed(), 1500*time.Millisecond)
					a.end()
					w.checkTruth(newIndex)
					last = calls <= n
				})
			})
		}
	}
}

func TestAClosingThatIsNeverAnsweredOpensTheTapsWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		a := w.write("a", 1)
		m := w.runner(Options{Writers: []string{"a"}})
		m.r.store = hanging{Store: m.r.store, after: func(_ context.Context, next Record) bool { return next.Phase == PhaseClosed }}
		closed := w.watchClosed()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, m.run(ctx), ErrTooSlow)
		longest := closed()
		assert.Positive(t, longest)
		assert.LessOrEqual(t, longest, 1100*time.Millisecond)
		assert.Equal(t, PhaseMarking, w.record().Phase)
		require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}))
		a.end()
		w.checkTruth(oldIndex)
	})
}

func TestAnEndOfOwningWhoseAnswerIsLostIsNotTakenForATakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemory()
		r := newRunner(store, nil)
		r.opts.Logger = slog.New(slog.DiscardHandler)
		require.NoError(t, r.take(t.Context(), Record{Phase: PhaseMarking, Route: "x"}, func(*Record) {}))
		first := true
		r.store = hanging{Store: store, after: func(context.Context, Record) bool {
			defer func() { first = false }()
			return first
		}}
		require.NoError(t, r.swap(t.Context(), func(x *Record) { x.Owner = "" }))
		assert.Empty(t, r.now().Owner)
	})
}
