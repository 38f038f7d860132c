package outbox

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

// Types like those in which sqlx and GORM wrap a pool or a transaction.
type (
	sqlxDB   struct{ *sql.DB }
	sqlxTx   struct{ *sql.Tx }
	gormPool struct{ Execer }
)

func TestWhatIsNoTransactionIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		ctx, table := t.Context(), &Table{Dialect: db.dialect, Queue: "q"}
		conn, err := db.Conn(ctx)
		require.NoError(t, err)
		defer conn.Close()
		for what, tx := range map[string]Execer{"a pool": db.DB, "a pool of sqlx": &sqlxDB{db.DB}, "a pool of GORM": &gormPool{db.DB}, "a connection": conn} {
			require.ErrorContains(t, WriteKeys(ctx, tx, table, "k"), "the row commits even if", what)
		}
		require.Empty(t, rowsOf(t, db, "q"))
		_, err = conn.ExecContext(ctx, `BEGIN`)
		require.NoError(t, err)
		require.NoError(t, WriteKeys(ctx, conn, table, "k"))
		_, err = conn.ExecContext(ctx, `COMMIT`)
		require.NoError(t, err)
		require.Len(t, rowsOf(t, db, "q"), 1)
		tx, err := db.Begin()
		require.NoError(t, err)
		require.NoError(t, WriteKeys(ctx, &sqlxTx{tx}, table, "l"))
		require.NoError(t, WriteKeys(ctx, &gormPool{tx}, table, "m"))
		require.NoError(t, tx.Commit())
		require.Len(t, rowsOf(t, db, "q"), 3)
	})
}

func TestKeysWhoseTextDependsOnSettingsAreRefused(t *testing.T) {
	db := newPostgres(t)
	table := &Table{Dialect: PostgreSQL, Queue: "q"}
	db.exec(t, `CREATE TABLE app (at timestamptz, day date, raw bytea, share float8, id uuid, n bigint, name text)`)
	for _, column := range []string{"at", "day", "raw", "share"} {
		require.ErrorContains(t, table.EnsureTrigger(t.Context(), db.DB, "app", column), "depends on settings", column)
	}
	for _, column := range []string{"id", "n", "name"} {
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", column), column)
	}
}
