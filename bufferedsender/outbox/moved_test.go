package outbox

import (
	"context"
	"database/sql"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// After a switch of DNS new connections lead to another server. Existing ones still lead to the old server, which
// answers.
func TestARelayFollowsANameThatMovesToAnotherServer(t *testing.T) {
	testkit.Long(t)
	before, after := servers.NewPostgres(t), servers.NewPostgres(t)
	config, err := pgx.ParseConfig(before.Database(t))
	require.NoError(t, err)
	at, err := pgx.ParseConfig(after.Database(t))
	require.NoError(t, err)
	first := sql.OpenDB(stdlib.GetConnector(*at))
	defer first.Close()
	_, err = first.ExecContext(t.Context(), "CREATE DATABASE "+pgx.Identifier{config.Database}.Sanitize())
	require.NoError(t, err)
	at.Database = config.Database
	there := database{sql.OpenDB(stdlib.GetConnector(*at)), PostgreSQL, ""}
	defer there.Close()
	require.NoError(t, Migrate(t.Context(), there.DB, PostgreSQL, nil))

	var address atomic.Pointer[string]
	address.Store(new(before.Addr()))
	config.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, *address.Load())
	}
	db := sql.OpenDB(stdlib.GetConnector(*config))
	defer db.Close()
	db.SetConnMaxLifetime(100 * time.Millisecond)
	require.NoError(t, Migrate(t.Context(), db, PostgreSQL, nil))
	to := newScripted()
	r := tryRelay(t, database{db, PostgreSQL, ""}, &Table{Dialect: PostgreSQL, Queue: "q"}, to, RelayOptions{Lease: 8 * time.Second})
	testkit.Eventually(t, func() bool { return r.Stats().Ranges == ranges })
	address.Store(new(after.Addr()))
	uploads(t, there, &Table{Dialect: PostgreSQL, Queue: "q"}, gadget{ID: "a"})
	testkit.Eventually(t, func() bool { return len(to.keys()) == 1 })
}
