package rebuild

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers under test
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// onAll runs a test on each store. again opens the same store once more, as another process would; other has
// another name in the same place.
func onAll(t *testing.T, test func(t *testing.T, again, other func() Store)) {
	t.Run("memory", func(t *testing.T) {
		m := NewMemory()
		test(t, func() Store { return m }, func() Store { return NewMemory() })
	})
	for dialect, open := range map[Dialect]func(t *testing.T) *sql.DB{
		SQLite: func(t *testing.T) *sql.DB {
			return openDB(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)")
		},
		PostgreSQL: func(t *testing.T) *sql.DB { return openDB(t, "pgx", servers.Postgres(t).Database(t)) },
	} {
		t.Run(string(dialect), func(t *testing.T) {
			db := open(t)
			store := func(name string) func() Store {
				return func() Store {
					s, err := NewSQL(db, SQLOptions{Dialect: dialect, Name: name})
					require.NoError(t, err)
					require.NoError(t, s.CreateTables(t.Context()))
					return s
				}
			}
			test(t, store("hotels"), store("rooms"))
		})
	}
}

// Also with a store whose calls take time, and may fail because another has locked it.
func TestARebuildByADatabaseMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50)
		db := openDB(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)")
		s, err := NewSQL(db, SQLOptions{Dialect: SQLite, Name: "hotels", Prefix: "other"})
		require.NoError(t, err)
		require.NoError(t, s.CreateTables(t.Context()))
		w.store = s
		a, b := w.write("a", 1), w.write("b", 2)
		time.Sleep(time.Second)
		m := w.runner(Options{Writers: []string{"a", "b"}, Settle: 5 * time.Second})
		require.NoError(t, m.run(t.Context()))
		a.end()
		b.end()
		w.checkTruth(newIndex)
		require.NoError(t, DropOld(t.Context(), s, w.client, &DropOptions{Now: true}))
	})
}

func openDB(t *testing.T, driver, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestARecordChangesOnlyOverTheVersionThatWasRead(t *testing.T) {
	onAll(t, func(t *testing.T, again, other func() Store) {
		ctx, a, b := t.Context(), again(), again()
		none, err := a.Load(ctx)
		require.NoError(t, err)
		assert.Zero(t, none)
		first := Record{
			Phase: PhaseMarking, Route: "x", Epoch: 1, Round: 2, Drained: 3, Step: StepFilling, Old: "x", New: "y", Alias: "z", Owner: "o", Beat: 4, Cursor: "ß'\"",
			KeepUntil: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}
		got, err := a.Swap(ctx, first)
		require.NoError(t, err)
		first.Version = 1
		assert.Equal(t, first, got)
		read, err := b.Load(ctx)
		require.NoError(t, err)
		assert.Equal(t, first, read)
		_, err = b.Swap(ctx, Record{Route: "second"})
		require.ErrorIs(t, err, ErrChanged)
		read.Route = "third"
		_, err = b.Swap(ctx, read)
		require.NoError(t, err)
		_, err = a.Swap(ctx, first)
		require.ErrorIs(t, err, ErrChanged)
		none, err = other().Load(ctx)
		require.NoError(t, err)
		assert.Zero(t, none)
	})
}

func TestKeysAreMarkedInTheRoundAndEpochOfTheRecordOnly(t *testing.T) {
	onAll(t, func(t *testing.T, again, other func() Store) {
		ctx, s := t.Context(), again()
		_, err := s.Mark(ctx, 0, []string{"a"})
		require.ErrorIs(t, err, ErrStale)
		x := Record{Phase: PhaseIdle, Route: "x", Epoch: 1, Round: 1}
		change := func(f func()) {
			f()
			x, err = s.Swap(ctx, x)
			require.NoError(t, err)
		}
		mark := func(epoch int64, keys ...string) (int64, error) { return s.Mark(ctx, epoch, keys) }
		marked := func(last int64) []string {
			keys, err := s.Marked(ctx, last, 100)
			require.NoError(t, err)
			return slices.Sorted(slices.Values(keys))
		}
		change(func() {})
		for _, phase := range []Phase{PhaseIdle, PhaseClosed} {
			change(func() { x.Phase = phase })
			_, err = mark(1, "a")
			require.ErrorIs(t, err, ErrStale, phase)
		}
		change(func() { x.Phase = PhaseMarking })
		_, err = mark(2, "a")
		require.ErrorIs(t, err, ErrStale)
		for range 2 {
			round, err := mark(1, "b", "a", `"'ß`)
			require.NoError(t, err)
			assert.EqualValues(t, 1, round)
		}
		change(func() { x.Phase, x.Round = PhaseSwapped, 2 })
		round, err := mark(1, "a", "c")
		require.NoError(t, err)
		assert.EqualValues(t, 2, round)
		assert.Empty(t, marked(0))
		assert.Equal(t, []string{`"'ß`, "a", "b"}, marked(1))
		assert.Equal(t, []string{`"'ß`, "a", "b", "c"}, marked(2))
		few, err := s.Marked(ctx, 2, 3)
		require.NoError(t, err)
		assert.Len(t, few, 3)
		require.NoError(t, s.Unmark(ctx, 1, []string{"a", "b", "c", "unknown"}))
		assert.Equal(t, []string{`"'ß`}, marked(1))
		assert.Equal(t, []string{`"'ß`, "a", "c"}, marked(2), "a was marked again, c later only")
		keys, err := other().Marked(ctx, 2, 100)
		require.NoError(t, err)
		assert.Empty(t, keys)
	})
}

func TestWritersAreRegisteredByName(t *testing.T) {
	onAll(t, func(t *testing.T, again, _ func() Store) {
		ctx, at := t.Context(), time.UnixMilli(1_700_000_000_123)
		require.NoError(t, again().Register(ctx, "b", at))
		require.NoError(t, again().Register(ctx, "a", at))
		require.NoError(t, again().Register(ctx, "b", at.Add(time.Hour)))
		all, err := again().Writers(ctx)
		require.NoError(t, err)
		require.Len(t, all, 2)
		assert.Equal(t, []string{"a", "b"}, []string{all[0].Name, all[1].Name})
		assert.True(t, all[1].Seen.Equal(at.Add(time.Hour)))
	})
}

// What the argument in DESIGN.md stands on: when the record has gone to the next round, or is closed, the marks of the
// rounds before are all there, whoever is marking at that moment.
func TestNoMarkComesBehindTheSwapThatEndsItsRoundConcurrentSafe(t *testing.T) {
	onAll(t, func(t *testing.T, again, _ func() Store) {
		ctx, s := t.Context(), again()
		x, err := s.Swap(ctx, Record{Phase: PhaseMarking, Route: "x", Epoch: 1, Round: 1})
		require.NoError(t, err)
		var mu sync.Mutex
		accepted := map[int64]map[string]bool{}
		var writers sync.WaitGroup
		for i := range 4 {
			writers.Go(func() {
				store := again()
				for n := 0; ; n++ {
					keys := []string{fmt.Sprintf("%d-%d", i, n%1000), "common", fmt.Sprintf("hot-%d", n%3)}
					if i%2 == 0 {
						slices.Reverse(keys)
					}
					round, err := store.Mark(ctx, 1, keys)
					if errors.Is(err, ErrStale) {
						return
					}
					if !assert.NoError(t, err) {
						return
					}
					mu.Lock()
					if accepted[round] == nil {
						accepted[round] = map[string]bool{}
					}
					for _, key := range keys {
						accepted[round][key] = true
					}
					mu.Unlock()
				}
			})
		}
		seen := map[int64]map[string]bool{}
		for last := int64(1); last <= 10; last++ {
			x.Round = last + 1
			if last == 10 {
				x.Phase = PhaseClosed
			}
			x, err = s.Swap(ctx, x)
			require.NoError(t, err)
			keys, err := s.Marked(ctx, last, 100_000)
			require.NoError(t, err)
			seen[last] = map[string]bool{}
			for _, key := range keys {
				seen[last][key] = true
			}
			require.NoError(t, s.Unmark(ctx, last, keys))
		}
		writers.Wait()
		for round, keys := range accepted {
			for key := range keys {
				assert.True(t, seen[round][key], "%s was marked in round %d behind its end", key, round)
			}
		}
		left, err := s.Marked(context.Background(), 1<<60, 10)
		require.NoError(t, err)
		assert.Empty(t, left)
	})
}

func TestASQLStoreSaysAtOnceWhatIsWrongWithItsOptions(t *testing.T) {
	_, err := NewSQL(nil, SQLOptions{Prefix: "x; DROP TABLE y", Dialect: "mysql"})
	for _, want := range []string{"db is nil", "Name is empty", "Prefix is", `Dialect is "mysql"`} {
		assert.ErrorContains(t, err, want)
	}
}
