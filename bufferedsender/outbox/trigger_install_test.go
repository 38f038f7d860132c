package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// withApp creates the table of an application.
func (db database) withApp(t testing.TB) *Table {
	t.Helper()
	db.exec(t, `CREATE TABLE app (id text PRIMARY KEY, v integer)`)
	return &Table{Dialect: db.dialect, Queue: "q"}
}

// rowsPerInsert returns the number of rows that an insert into a table leaves in a queue.
func rowsPerInsert(t testing.TB, db database, table, queue string) int {
	t.Helper()
	was := len(rowsOf(t, db, queue))
	db.exec(t, fmt.Sprintf(`INSERT INTO %s (id, v) VALUES ('one more %d', 1)`, table, time.Now().UnixNano()))
	return len(rowsOf(t, db, queue)) - was
}

// writtenWhile commits inserts one after another while install runs, and returns the committed keys.
func writtenWhile(t *testing.T, db database, install func()) (keys []string) {
	t.Helper()
	writing, stop := context.WithCancel(t.Context())
	defer stop()
	var writers sync.WaitGroup
	var mu sync.Mutex
	for w := range 2 {
		own := db.opened(t, "")
		writers.Go(func() {
			for i := 0; writing.Err() == nil; i++ {
				key := fmt.Sprintf("w%d-%06d", w, i)
				if _, err := own.ExecContext(context.WithoutCancel(t.Context()), `INSERT INTO app (id, v) VALUES ('`+key+`', 1)`); !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				keys = append(keys, key)
				mu.Unlock()
			}
		})
	}
	install()
	stop()
	writers.Wait()
	return keys
}

// altered replaces the triggers of the table app by equivalent ones of another name, without a moment without
// triggers.
func altered(t *testing.T, db database, name string) {
	t.Helper()
	db.inTx(t, func(tx *sql.Tx) error {
		statements := []string{`DROP TRIGGER ` + name + `_row ON app`, `CREATE TRIGGER ` + name + `_row AFTER INSERT OR UPDATE ON app FOR EACH ROW EXECUTE FUNCTION ` + name + `_row()`}
		if db.dialect == SQLite {
			statements = []string{`DROP TRIGGER ` + name + `_insert`, `CREATE TRIGGER ` + name + `_insert AFTER INSERT ON app BEGIN INSERT INTO azsearch_outbox (queue, class, key) VALUES ('q', 0, NEW.id); END`}
		}
		for _, s := range statements {
			if _, err := tx.ExecContext(t.Context(), s); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestEveryCommittedInsertLeavesARowWhileTriggersAreInstalledAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db database) {
		table := db.withApp(t)
		applied(t, db, table)
		keys := writtenWhile(t, db, func() {
			for i := range 60 {
				other := &Table{Dialect: db.dialect, Queue: "q", Class: uint8(i / 2 % 3)} // each twice: changed, then unchanged
				assert.NoError(t, other.EnsureTrigger(t.Context(), db.DB, "app", "id"))
				if i%6 == 5 {
					altered(t, db, table.triggerName("app", "id"))
				}
			}
		})
		require.NotEmpty(t, keys)
		got, _ := keysSince(t, db, "q", 0)
		slices.Sort(keys)
		require.Equal(t, keys, got)
	})
}

func TestManyProcessesThatInstallAtOnceMakeOneTrigger(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := db.withApp(t)
		names := []string{"app", "App"}
		if db.dialect == PostgreSQL {
			names = append(names, "public.app")
		}
		for round := range 3 {
			errs := make([]error, 12)
			var all sync.WaitGroup
			for i := range errs {
				own := db.opened(t, "")
				all.Go(func() {
					same := &Table{Dialect: db.dialect, Queue: "q", Class: uint8(round)}
					errs[i] = same.EnsureTrigger(context.Background(), own.DB, names[i%len(names)], "id")
				})
			}
			all.Wait()
			require.NoError(t, errors.Join(errs...))
			require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"))
		}
		require.NoError(t, table.DropTrigger(t.Context(), db.DB, "app", "id"))
		require.Zero(t, rowsPerInsert(t, db, "app", "q"))
	})
}

func TestATriggerThatIsThereUnchangedIsInstalledWithoutALockAndWithoutRights(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := db.withApp(t)
		applied(t, db, table)
		other := db.opened(t, "")
		if db.dialect == PostgreSQL {
			_, other = db.as(t)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback()) }()
		_, err = tx.ExecContext(t.Context(), `INSERT INTO app (id, v) VALUES ('a', 1)`)
		require.NoError(t, err)
		if db.dialect == PostgreSQL {
			_, err = tx.ExecContext(t.Context(), `LOCK TABLE app, azsearch_outbox IN ACCESS EXCLUSIVE MODE`)
			require.NoError(t, err)
		}
		require.NoError(t, table.EnsureTrigger(t.Context(), other.DB, "app", "id"))
	})
}

func TestAnotherClassOrVersionOfATriggerWaitsForNoWriter(t *testing.T) {
	db := newPostgres(t)
	table := db.withApp(t)
	applied(t, db, table)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `INSERT INTO app (id, v) VALUES ('a', 1)`)
	require.NoError(t, err)
	require.NoError(t, (&Table{Dialect: db.dialect, Queue: "q", Class: 3}).EnsureTrigger(t.Context(), db.DB, "app", "id"))
	_, err = tx.ExecContext(t.Context(), `INSERT INTO app (id, v) VALUES ('b', 1)`)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	db.exec(t, `INSERT INTO app (id, v) VALUES ('c', 1)`)
	all, err := sqlkit.Texts(t.Context(), db, `SELECT key || ' ' || class FROM azsearch_outbox ORDER BY key`)
	require.NoError(t, err)
	require.Equal(t, []string{"a 0", "b 3", "c 3"}, all)
}

// Writers queue behind a waiting installer, so it does not wait for long.
func TestATriggerThatGetsNoLockSaysSoAndTheOldOneStays(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := db.withApp(t)
		busy := db
		busy.url = strings.Replace(db.url, "busy_timeout(5000)", "busy_timeout(0)", 1)
		quick := busy.opened(t, map[Dialect]string{PostgreSQL: "&lock_timeout=50ms"}[db.dialect])
		for _, there := range []int{0, 1} {
			tx, err := db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO app (id, v) VALUES ('open %d', 1)`, there))
			require.NoError(t, err)
			soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			if db.dialect == PostgreSQL {
				soon = t.Context()
			}
			err = table.EnsureTrigger(soon, quick.DB, "app", "id")
			cancel()
			words := map[Dialect][]string{
				SQLite:     {"trigger on app not installed", "the file stayed locked", "nothing was changed", "end the transaction that writes"},
				PostgreSQL: {"trigger on app not installed", "no lock within the lock_timeout", "changed nothing", "pg_stat_activity", "55P03"},
			}[db.dialect]
			for _, w := range words {
				require.ErrorContains(t, err, w)
			}
			require.NoError(t, tx.Commit())
			require.Equal(t, there, rowsPerInsert(t, db, "app", "q"))
			require.NoError(t, table.EnsureTrigger(t.Context(), quick.DB, "app", "id"))
			require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"))
			altered(t, db, table.triggerName("app", "id"))
		}
	})
}

func TestALockIsWaitedForTwoSecondsUnlessTheSessionSaysOtherwise(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	db := newPostgres(t)
	table := db.withApp(t)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `INSERT INTO app (id, v) VALUES ('a', 1)`)
	require.NoError(t, err)
	began := time.Now()
	require.ErrorContains(t, table.EnsureTrigger(t.Context(), db.DB, "app", "id"), "55P03")
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second)
	require.NoError(t, tx.Commit())
	for settings, want := range map[string]string{"": "0", "&lock_timeout=7s": "7s"} {
		one := db.opened(t, settings)
		one.SetMaxOpenConns(1)
		tx, err := one.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		text, err := table.Trigger("app", "id")
		require.NoError(t, err)
		for _, s := range []string{`CREATE TABLE IF NOT EXISTS of_the_same_migration (id text)`, text, text} {
			_, err = tx.ExecContext(t.Context(), s)
			require.NoError(t, err)
		}
		got, err := sqlkit.Texts(t.Context(), tx, `SHOW lock_timeout`)
		require.NoError(t, err)
		require.Equal(t, []string{want}, got, "the migration has its own lock_timeout")
		require.NoError(t, tx.Commit())
		require.NoError(t, table.DropTrigger(t.Context(), one.DB, "app", "id"))
	}
}

func TestAStatementForMigrationsIsRunByTheOwnerAndTheProgramNeedsNoRights(t *testing.T) {
	db := newPostgres(t)
	table := db.withApp(t)
	_, app := db.as(t, `GRANT SELECT, INSERT, TRIGGER ON app`, `GRANT INSERT ON azsearch_outbox`, `GRANT USAGE ON SEQUENCE azsearch_outbox_seq`)
	err := table.EnsureTrigger(t.Context(), app.DB, "app", "id")
	for _, w := range []string{"not installed", "the role lacks rights", "have the owner of app run", "Table.Trigger", "42501"} {
		require.ErrorContains(t, err, w)
	}
	text, err := table.Trigger("app", "id")
	require.NoError(t, err)
	db.exec(t, text, text)
	require.NoError(t, table.EnsureTrigger(t.Context(), app.DB, "app", "id"))
	app.exec(t, `INSERT INTO app (id, v) VALUES ('a', 1)`)
	require.Len(t, rowsOf(t, db, "q"), 1)
	_, err = (&Table{Dialect: SQLite, Queue: "q"}).Trigger("app", "id")
	require.ErrorContains(t, err, "call EnsureTrigger")
}

func TestATriggerIsRefusedWhereThereIsNoOutbox(t *testing.T) {
	bareBoth(t, func(t *testing.T, db database) {
		err := db.withApp(t).EnsureTrigger(t.Context(), db.DB, "app", "id")
		require.ErrorIs(t, err, ErrSchema)
		require.ErrorContains(t, err, "call outbox.Migrate")
		require.Equal(t, 1, strings.Count(err.Error(), "call outbox.Migrate"), err)
		db.exec(t, `INSERT INTO app (id, v) VALUES ('a', 1)`)
	})
}

// Many processes start behind a long transaction, and each would stop the writers again.
func TestManyProcessesThatGetNoLockStopWritersOnce(t *testing.T) {
	testkit.Long(t)
	db := newPostgres(t)
	table := db.withApp(t)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `INSERT INTO app (id, v) VALUES ('open', 1)`)
	require.NoError(t, err)
	errs := make([]error, 4)
	began := time.Now()
	var all sync.WaitGroup
	for i := range errs {
		own := db.opened(t, "")
		all.Go(func() { errs[i] = table.EnsureTrigger(context.Background(), own.DB, "app", "id") })
	}
	all.Wait()
	assert.Less(t, time.Since(began), 4*time.Second)
	for _, err := range errs {
		require.ErrorContains(t, err, "got no lock within the lock_timeout, and changed nothing")
	}
	require.NoError(t, tx.Commit())
	require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", "id"))
	require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"))
}
