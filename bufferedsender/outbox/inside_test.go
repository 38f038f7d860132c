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
	db.exec(t, `CREATE DOMAIN moment AS timestamptz`, `CREATE DOMAIN later AS moment CHECK (VALUE > '2000-01-01Z')`, `CREATE DOMAIN code AS varchar(9)`, `CREATE DOMAIN short AS code`,
		`CREATE TYPE pair AS (n int, at timestamptz)`, `CREATE TYPE color AS ENUM ('red')`)
	for typ, steady := range map[string]bool{
		"timestamptz": false, "timestamp": false, "date": false, "timetz": false, "time": true, "macaddr": true, "macaddr8": true, "pg_lsn": true, "interval": false, "bytea": false, "money": false, "float4": false, "float8": false,
		"moment": false, "later": false, "timestamptz[]": false, "moment[]": false, "tstzrange": false, "regclass": false, "regtype": false, "point": false, "pair": false, "int4range": false,
		"text": true, "varchar(20)": true, "char(8)": true, "name": true, "code": true, "short": true, "smallint": true, "int": true, "bigint": true, "numeric(12, 2)": true,
		"uuid": true, "boolean": true, "color": true, "inet": true, "bit(4)": true, "oid": true,
	} {
		db.exec(t, `DROP TABLE IF EXISTS app`, `CREATE TABLE app (k `+typ+`)`)
		err := table.EnsureTrigger(t.Context(), db.DB, "app", "k")
		if steady {
			require.NoError(t, err, typ)
		} else {
			require.ErrorContains(t, err, "depends on settings", typ)
		}
	}
}
