package outbox

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers under test
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// database is a database for outboxes.
type database struct {
	*sql.DB
	dialect Dialect
	url     string // for further processes and pools
}

// onBoth runs a test on SQLite and on PostgreSQL in parallel, because it mostly waits.
func onBoth(t *testing.T, test func(t *testing.T, db database)) {
	for name, open := range map[string]func(testing.TB) database{"SQLite": newSQLite, "PostgreSQL": newPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// newSQLite returns an empty database with the tables of an outbox. It does not sync: tests at most kill processes,
// whose writes the kernel keeps.
func newSQLite(t testing.TB) database {
	return open(t, SQLite, "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)&_txlock=immediate")
}

func newPostgres(t testing.TB) database { return open(t, PostgreSQL, servers.Postgres(t).Database(t)) }

func open(t testing.TB, d Dialect, url string) database {
	t.Helper()
	db := database{openPool(t, d, url), d, url}
	require.NoError(t, Migrate(context.Background(), db.DB, d, nil))
	return db
}

// openPool opens a database once more, as another process would.
func openPool(t testing.TB, d Dialect, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open(map[Dialect]string{SQLite: "sqlite", PostgreSQL: "pgx"}[d], url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// opened opens the database as another process would, with further settings in its URL.
func (db database) opened(t testing.TB, settings string) database {
	t.Helper()
	return database{openPool(t, db.dialect, db.url+settings), db.dialect, db.url + settings}
}

// exec runs statements.
func (db database) exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		_, err := db.ExecContext(t.Context(), s)
		require.NoError(t, err, s)
	}
}

// inTx runs write in a transaction and commits it.
func (db database) inTx(t testing.TB, write func(tx *sql.Tx) error) {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, write(tx))
	require.NoError(t, tx.Commit())
}
