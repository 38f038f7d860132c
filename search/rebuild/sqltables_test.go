package rebuild

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// onDatabases runs a test on an empty database of each kind. again opens it as another process would, with further
// settings.
func onDatabases(t *testing.T, test func(t *testing.T, dialect Dialect, again func(settings string) *sql.DB)) {
	t.Run("SQLite", func(t *testing.T) {
		file := "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)"
		test(t, SQLite, func(string) *sql.DB { return openDB(t, "sqlite", file) })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		address := servers.Postgres(t).Database(t)
		test(t, PostgreSQL, func(settings string) *sql.DB { return openDB(t, "pgx", address+settings) })
	})
}

func storeIn(t *testing.T, db *sql.DB, dialect Dialect) *SQL {
	t.Helper()
	s, err := NewSQL(db, SQLOptions{Dialect: dialect, Name: "hotels"})
	require.NoError(t, err)
	return s
}

func TestTablesThatAreThereAreCreatedWithoutALockAndWithoutRights(t *testing.T) {
	onDatabases(t, func(t *testing.T, dialect Dialect, again func(string) *sql.DB) {
		db := again("")
		s := sqlStore(t, db, dialect)
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback()) }()
		_, err = tx.ExecContext(t.Context(), s.text(`INSERT INTO {t} (name, version, body) VALUES ('x', 1, '{}')`))
		require.NoError(t, err)
		other := again("")
		if dialect == PostgreSQL {
			_, err = tx.ExecContext(t.Context(), s.text(`LOCK TABLE {t}, {t}_mark, {t}_writer IN ACCESS EXCLUSIVE MODE`))
			require.NoError(t, err)
			other = stranger(t, db)
		}
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		require.NoError(t, storeIn(t, other, dialect).CreateTables(soon))
	})
}

// stranger opens a PostgreSQL database as a role without rights.
func stranger(t *testing.T, db *sql.DB) *sql.DB {
	t.Helper()
	role := fmt.Sprintf("stranger_%d", time.Now().UnixNano())
	_, err := db.ExecContext(t.Context(), `CREATE ROLE `+role+` LOGIN`)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), `DROP ROLE `+role)
		require.NoError(t, err)
	})
	var name string
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT current_database()`).Scan(&name))
	address, err := url.Parse(servers.Postgres(t).URL(name))
	require.NoError(t, err)
	address.User = url.User(role)
	return openDB(t, "pgx", address.String())
}

func TestTablesAreCreatedAllOrNone(t *testing.T) {
	onDatabases(t, func(t *testing.T, dialect Dialect, again func(string) *sql.DB) {
		db := again("")
		s := storeIn(t, db, dialect)
		inTheWay, away := `CREATE TYPE azsearch_rebuild_writer AS ENUM ()`, `DROP TYPE azsearch_rebuild_writer`
		if dialect == SQLite {
			inTheWay, away = `CREATE TABLE other (id); CREATE INDEX azsearch_rebuild_writer ON other (id)`, `DROP INDEX azsearch_rebuild_writer`
		}
		_, err := db.ExecContext(t.Context(), inTheWay)
		require.NoError(t, err)
		require.ErrorContains(t, s.CreateTables(t.Context()), "azsearch_rebuild_writer")
		_, err = db.ExecContext(t.Context(), s.text(`SELECT 1 FROM {t}`))
		require.Error(t, err, "the first table is not there either")
		_, err = db.ExecContext(t.Context(), away)
		require.NoError(t, err)
		require.NoError(t, s.CreateTables(t.Context()))
		_, err = s.Load(t.Context())
		require.NoError(t, err)
	})
}

func TestTablesThatAnotherProgramIsCreatingAreWaitedForWithinTheLockTimeout(t *testing.T) {
	onDatabases(t, func(t *testing.T, dialect Dialect, again func(string) *sql.DB) {
		if dialect == SQLite {
			return // busy_timeout belongs to the connection
		}
		tx, err := again("").BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), `CREATE TABLE azsearch_rebuild (name TEXT)`)
		require.NoError(t, err)
		s := storeIn(t, again("&lock_timeout=50ms"), dialect)
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		err = s.CreateTables(soon)
		for _, w := range []string{"got no lock within the lock_timeout, and created nothing", "end the transaction that creates azsearch_rebuild", "55P03"} {
			require.ErrorContains(t, err, w)
		}
		require.NoError(t, tx.Rollback())
		require.NoError(t, s.CreateTables(t.Context()))
	})
}

// In a new SQLite file the first process also switches to WAL.
func TestManyProcessesThatStartAtOnceCreateTheTables(t *testing.T) {
	onDatabases(t, func(t *testing.T, dialect Dialect, again func(string) *sql.DB) {
		var all sync.WaitGroup
		for range 12 {
			s := storeIn(t, again(""), dialect)
			all.Go(func() { assert.NoError(t, s.CreateTables(t.Context())) })
		}
		all.Wait()
	})
}
