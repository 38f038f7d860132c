package repair

import (
	"database/sql"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// onTables runs a test on each database. open opens the same table again, as another process would.
func onTables(t *testing.T, test func(t *testing.T, db *sql.DB, open func() *SQLStore)) {
	for name, c := range map[string]struct {
		open        func(t *testing.T) (driver, url string)
		placeholder func(int) string
	}{
		"SQLite": {func(t *testing.T) (string, string) {
			return "sqlite", "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)"
		}, nil},
		"PostgreSQL": {func(t *testing.T) (string, string) { return "pgx", servers.Postgres(t).Database(t) }, Dollar},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sql.Open(c.open(t))
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			test(t, db, func() *SQLStore {
				s, err := NewSQLStore(db, "repairs", c.placeholder)
				require.NoError(t, err)
				require.NoError(t, s.CreateTable(t.Context()))
				s.beat, s.dead = 50*time.Millisecond, time.Second
				return s
			})
		})
	}
}

func TestARangeInATableHasOneProcess(t *testing.T) {
	onTables(t, func(t *testing.T, _ *sql.DB, open func() *SQLStore) {
		a, b := open(), open()
		unlock, ok, err := a.Lock(t.Context(), "one")
		require.NoError(t, err)
		require.True(t, ok)
		_, ok, err = b.Lock(t.Context(), "one")
		require.NoError(t, err)
		assert.False(t, ok)
		other, ok, err := b.Lock(t.Context(), "ONE")
		require.NoError(t, err)
		assert.True(t, ok, "the store gives out another range")
		require.NoError(t, other())

		text, err := a.Load(t.Context(), "one")
		require.NoError(t, err)
		assert.Nil(t, text)
		require.NoError(t, a.Save(t.Context(), "one", []byte(`{"format":1}`)))
		require.Error(t, b.Save(t.Context(), "one", []byte("x")), "the store did not get the range")
		require.NoError(t, unlock())
		text, err = b.Load(t.Context(), "one")
		require.NoError(t, err)
		assert.Equal(t, `{"format":1}`, string(text))
		unlock, ok, err = b.Lock(t.Context(), "one")
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, unlock())
	})
}

func TestARangeOfADeadProcessGoesToWhoWantsIt(t *testing.T) {
	testkit.Long(t)
	onTables(t, func(t *testing.T, db *sql.DB, open func() *SQLStore) {
		a, b := open(), open()
		ok, err := a.take(t.Context(), a.row("one"), "dead") // without further heartbeats
		require.NoError(t, err)
		require.True(t, ok)
		a.owners[a.row("one")] = "dead"
		began := time.Now()
		unlock, ok, err := b.Lock(t.Context(), "one")
		require.NoError(t, err)
		require.True(t, ok)
		assert.GreaterOrEqual(t, time.Since(began), b.dead)
		assert.ErrorContains(t, a.Save(t.Context(), "one", []byte("x")), "another process has taken the range", "the owner was only stopped")
		require.NoError(t, unlock())
	})
}

func TestProcessesShareTheRangesOfATable(t *testing.T) {
	testkit.Long(t)
	onTables(t, func(t *testing.T, _ *sql.DB, open func() *SQLStore) {
		w := newWorld(t)
		w.fill(1000)
		for i := range 100 {
			w.behind(key(i*10), nil)
		}
		w.reads = 100 * time.Millisecond
		var splits []string
		for i := range 11 {
			splits = append(splits, key(83*(i+1)))
		}
		reports := make([]Report, 3)
		var group sync.WaitGroup
		for i := range reports {
			store, s := open(), w.sender(nil)
			group.Go(func() {
				var err error
				reports[i], err = repairer(half{w, "source"}, half{w, "index"}, s.Raw(), &Options{
					Store: store, Splits: splits, parallel: 1, Pause: time.Millisecond, Logger: quiet,
				}).Run(t.Context())
				assert.NoError(t, err)
			})
		}
		group.Wait()
		var total Report
		for i := range reports {
			total.plus(&reports[i])
		}
		assert.EqualValues(t, 100, total.Repaired)
		assert.EqualValues(t, 1000, total.SourceRows, "each row once")
		for i := range reports {
			assert.NotZero(t, reports[i].SourceRows, "each process has compared rows")
		}
		w.agrees()
	})
}

func TestATableThatCannotBeIsRefused(t *testing.T) {
	_, err := NewSQLStore(nil, "t", nil)
	require.ErrorContains(t, err, "the database is nil")
	for _, name := range []string{"", "a b", "a;drop", "a.b.c", "1"} {
		_, err := NewSQLStore(new(sql.DB), name, nil)
		require.ErrorContains(t, err, "cannot be the name of a table", name)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	s, err := NewSQLStore(db, "nowhere", nil)
	require.NoError(t, err)
	_, _, err = s.Lock(t.Context(), "one")
	require.ErrorContains(t, err, "the table nowhere is missing; call SQLStore.CreateTable")
	_, err = s.Load(t.Context(), "one")
	require.ErrorContains(t, err, "the table nowhere is missing; call SQLStore.CreateTable")
	long, other := strings.Repeat("ä", 500)+"1", strings.Repeat("ä", 500)+"2"
	assert.NotEqual(t, s.row(long), s.row(other))
	assert.Less(t, len(s.row(long)), 250)
}
