package outboxpgx_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox/outboxpgx"
	"github.com/go-azsearch/azsearch/models"
)

// writeKey is WriteKeys for tests that need any row.
func writeKey(ctx context.Context, tx outboxpgx.Execer, to *outbox.Table, key string) error {
	return outboxpgx.WriteKeys(ctx, tx, to, key)
}

// store is an application's wrapper of a pool.
type store struct{ *pgxpool.Pool }

func TestWriteRefusesWhatIsNoTransaction(t *testing.T) {
	db := newDatabase(t, "")
	ctx, to := t.Context(), table("hotels")
	pooled, err := db.pool.Acquire(ctx)
	require.NoError(t, err)
	defer pooled.Release()
	for name, tx := range map[string]outboxpgx.Execer{
		"nothing": nil, "a pool": db.pool, "a pool in a struct": store{db.pool},
		"a connection of a pool": pooled, "a connection": pooled.Conn(), "no connection": (*pgx.Conn)(nil),
	} {
		require.ErrorContains(t, outboxpgx.Write(ctx, tx, to, models.UploadAction(hotel{ID: "1"})), "transaction", name)
		require.ErrorContains(t, writeKey(ctx, tx, to, "1"), "transaction", name)
	}
	require.Empty(t, db.rows(t, "hotels"))
}

func TestWriteTakesWhatIsATransaction(t *testing.T) {
	db := newDatabase(t, "")
	ctx, to := t.Context(), table("hotels")
	require.NoError(t, pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		require.NoError(t, writeKey(ctx, tx, to, "1"))
		return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return writeKey(ctx, tx, to, "2") }) // a savepoint
	}))
	pooled, err := db.pool.Acquire(ctx)
	require.NoError(t, err)
	defer pooled.Release()
	_, err = pooled.Exec(ctx, `BEGIN`)
	require.NoError(t, err)
	require.NoError(t, writeKey(ctx, pooled, to, "3"))
	require.NoError(t, writeKey(ctx, pooled.Conn(), to, "4"))
	_, err = pooled.Exec(ctx, `COMMIT`)
	require.NoError(t, err)
	require.Len(t, db.rows(t, "hotels"), 4)
}

func TestAnErrorOfTheDatabaseIsInTheChain(t *testing.T) {
	db := newDatabase(t, "")
	ctx := t.Context()
	nowhere := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels", Prefix: "nowhere"}
	var says *pgconn.PgError
	require.ErrorAs(t, pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error { return writeKey(ctx, tx, nowhere, "1") }), &says)
	require.Equal(t, "42P01", says.Code)
	tx, err := db.pool.Begin(ctx)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(ctx))
	require.ErrorIs(t, writeKey(ctx, tx, table("hotels"), "1"), pgx.ErrTxClosed)
}
