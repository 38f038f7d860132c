package outboxpgx_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of relays
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

type hotel struct {
	ID   string `json:"id" search:"key"`
	Name string `json:"name"`
	Seq  int64  `json:"seq,omitempty"`
}

// database is an empty database with the tables of an outbox.
type database struct {
	url  string
	pool *pgxpool.Pool
	sql  *sql.DB
}

// newDatabase creates one whose pools have further URL settings: "&name=value".
func newDatabase(t *testing.T, settings string) database {
	t.Helper()
	db := database{url: servers.Postgres(t).Database(t) + settings}
	var err error
	db.sql, err = sql.Open("pgx", db.url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.sql.Close()) })
	require.NoError(t, outbox.Migrate(t.Context(), db.sql, outbox.PostgreSQL, nil))
	db.pool, err = pgxpool.New(t.Context(), db.url)
	require.NoError(t, err)
	t.Cleanup(db.pool.Close)
	return db
}

func table(queue string) *outbox.Table {
	return &outbox.Table{Dialect: outbox.PostgreSQL, Queue: queue, Notify: true}
}

// stored is a row of the table without its number and time.
type stored struct {
	Class, Bucket int64
	Key, Op       string
	Body          *string
}

// rows returns the rows of a queue by number.
func (db database) rows(t *testing.T, queue string) []stored {
	t.Helper()
	found, err := db.pool.Query(t.Context(), `SELECT class, bucket, key, op, body FROM azsearch_outbox WHERE queue = $1 ORDER BY seq`, queue)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[stored])
	require.NoError(t, err)
	return all
}

// notify adds a row to a queue and notifies, as any writing process does.
func (db database) notify(t *testing.T, queue string) {
	t.Helper()
	to := table(queue)
	to.Notify = true
	require.NoError(t, pgx.BeginFunc(t.Context(), db.pool, func(tx pgx.Tx) error {
		return writeKey(t.Context(), tx, to, "1")
	}))
}

func (db database) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	_, err := db.pool.Exec(context.WithoutCancel(t.Context()), statement, args...)
	require.NoError(t, err, statement)
}
