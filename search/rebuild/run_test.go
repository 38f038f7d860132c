package rebuild

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoWriteThatWasConfirmedIsMissingWhenTheAliasMoves(t *testing.T) {
	t.Parallel()
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 50)
			a, b := w.write("a", seed), w.write("b", seed+100)
			time.Sleep(time.Second)
			m := w.runner(Options{Writers: []string{"a", "b"}})
			require.NoError(t, m.run(t.Context()))
			assert.Equal(t, 1, w.swaps)
			assert.Equal(t, newIndex, w.alias())
			assert.Greater(t, m.r.report.Replayed, int64(100))
			require.Len(t, m.r.report.Closed, 2)
			for _, closed := range m.r.report.Closed {
				assert.Less(t, closed, time.Second)
			}
			time.Sleep(time.Second)
			a.end()
			b.end()
			assert.Equal(t, newIndex, a.tap.Index())
			w.checkTruth(newIndex)
			assert.Equal(t, PhaseIdle, w.record().Phase)
			assert.GreaterOrEqual(t, m.r.report.Filled, int64(50))
		})
	}
}

func TestNothingIsConfirmedThatTheNewIndexLacksOnceTheAliasHasMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50)
		a := w.write("a", 1)
		time.Sleep(time.Second)
		moved := 0
		m := w.runner(Options{Writers: []string{"a"}, Shown: func(context.Context) (bool, error) {
			w.checkConfirmed()
			moved++
			return moved > 10, nil
		}})
		m.r.line = at(string(stepSettling), func() {
			time.Sleep(3 * time.Second) // nothing has been transferred yet
			w.checkConfirmed()
		})
		require.NoError(t, m.run(t.Context()))
		a.end()
		w.checkTruth(newIndex)
	})
}

func TestARebuildThatIsKilledAtAnyLineGoesOn(t *testing.T) {
	names := map[string]bool{}
	for n, last := 0, false; !last; n += step() {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			w.pace = 100
			a := w.write("a", uint64(n))
			time.Sleep(time.Second)
			m := w.runner(Options{Writers: []string{"a"}, Settle: 3 * time.Second})
			name := m.dieAt(n)
			closed, drained := w.watchClosed(), w.watchDrained()
			if err := m.run(t.Context()); err == nil {
				last = true
			} else {
				require.ErrorIs(t, err, errStopped, *name)
				names[*name] = true
				time.Sleep(time.Second) // a supervisor restarts it
				m = w.runner(Options{Writers: []string{"a"}, Settle: 3 * time.Second})
				require.NoError(t, m.run(t.Context()), *name)
			}
			assert.LessOrEqual(t, closed(), 15*time.Second, "%s: for how long writers wait", *name)
			assert.LessOrEqual(t, drained(), 15*time.Second, "%s: for how long nothing is confirmed", *name)
			a.end()
			w.checkTruth(newIndex)
			assert.Equal(t, newIndex, w.alias(), *name)
			assert.Equal(t, StepMoved, w.record().Step)
		})
	}
	assert.Len(t, names, (16+step()-1)/step(), "%v", names)
}

// step is the distance of the lines that the test tries; it is larger under the race detector.
func step() int {
	if testing.Short() {
		return 4
	}
	return 1
}

func TestAnAbortAtAnyLineLeavesTheOldIndexWithEverything(t *testing.T) {
	for n, last := 0, false; !last; n += step() {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 20)
			w.pace = 100
			a := w.write("a", uint64(n))
			time.Sleep(time.Second)
			m := w.runner(Options{Writers: []string{"a"}, Settle: 3 * time.Second})
			name := m.dieAt(n)
			err := m.run(t.Context())
			if last = err == nil || w.record().Step == StepMoved; last {
				require.ErrorIs(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}), ErrNothing)
				a.end()
				w.checkTruth(newIndex)
				return
			}
			require.NoError(t, Abort(t.Context(), w.store, w.client, &AbortOptions{Logger: quiet}), *name)
			assert.Equal(t, oldIndex, w.alias(), *name)
			assert.NotContains(t, w.srv.IndexNames(), newIndex, *name)
			assert.Equal(t, PhaseIdle, w.record().Phase)
			assert.Equal(t, StepNone, w.record().Step)
			time.Sleep(2 * time.Minute)
			a.end()
			w.checkTruth(oldIndex)
			marks, err := w.store.Marked(context.Background(), 1<<60, 10)
			require.NoError(t, err)
			assert.Empty(t, marks)
			require.ErrorIs(t, Abort(t.Context(), w.store, w.client, nil), ErrNothing)
		})
	}
}
