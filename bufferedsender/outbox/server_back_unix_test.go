//go:build unix

package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// forgetful is a server that loses commits in a crash, with an application and a relay. The relay's connection can be
// cut and redirected to another server.
type forgetful struct {
	*rig
	server *servers.PostgresServer
	line   line
	busy   atomic.Bool // the service applies nothing
	mute   atomic.Bool // the service answers nothing
	log    lockedBuffer
	frozen []int
}

// line is a relay's connection to a server.
type line struct {
	to  atomic.Pointer[string] // host and port
	cut atomic.Bool
}

func newForgetful(t *testing.T) *forgetful {
	t.Helper()
	server := servers.NewPostgres(t, "-c", "synchronous_commit=off", "-c", "wal_writer_delay=10s")
	f := &forgetful{server: server}
	f.rig = newRig(t, open(t, PostgreSQL, server.Database(t)))
	f.leads(server)
	f.intercept(func(_ *http.Request, _ []entity, next func() (*http.Response, error)) (*http.Response, error) {
		if f.busy.Load() {
			return nil, errors.New("connection refused")
		}
		reply, err := next()
		if f.mute.Load() {
			return nil, errors.Join(err, errors.New("connection reset by peer"))
		}
		return reply, err
	})
	return f
}

func (f *forgetful) leads(to *servers.PostgresServer) {
	addr := to.Addr()
	f.line.to.Store(&addr)
}

// relay starts a relay that uses the line.
func (f *forgetful) relay(t *testing.T, o RelayOptions) *Relay {
	t.Helper()
	config, err := pgx.ParseConfig(f.db.url)
	require.NoError(t, err)
	config.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		if f.line.cut.Load() {
			return nil, errors.New("the line is cut")
		}
		return new(net.Dialer).DialContext(ctx, network, *f.line.to.Load())
	}
	db := sql.OpenDB(stdlib.GetConnector(*config))
	t.Cleanup(func() { _ = db.Close() })
	opts := short(o)
	opts.Logger = slog.New(slog.NewTextHandler(&f.log, nil))
	r, err := NewRelay(db, f.table, f.sender(t).Raw(), opts)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		if t.Failed() {
			t.Log(f.log.String())
		}
	})
	return r
}

// writes makes the application write some keys, one transaction each.
func (f *forgetful) writes(t *testing.T, keys, v int, flushed bool) {
	t.Helper()
	for i := range keys {
		f.db.inTx(t, func(tx *sql.Tx) error {
			key, e := fmt.Sprint("k", i), error(nil)
			if flushed {
				_, e = tx.ExecContext(t.Context(), `SET LOCAL synchronous_commit = on`)
			}
			return errors.Join(e, f.put(t.Context(), tx, key, v), Write(t.Context(), tx, f.table, models.UploadAction(entity{key, v, 0})))
		})
	}
}

// freeze stops the server's log writer: later commits are lost in a crash.
func (f *forgetful) freeze(t *testing.T) {
	t.Helper()
	pids, err := sqlkit.Texts(t.Context(), f.db, `SELECT pid::text FROM pg_stat_activity WHERE backend_type IN ('walwriter', 'background writer', 'checkpointer')`)
	require.NoError(t, err)
	require.Len(t, pids, 3)
	for _, p := range pids {
		pid, err := strconv.Atoi(p)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		f.frozen = append(f.frozen, pid)
	}
}

// crash ends the server without a checkpoint and restarts it. The relay can use its connection again.
func (f *forgetful) crash(t *testing.T) {
	t.Helper()
	f.line.cut.Store(true)
	for _, pid := range f.frozen { // the first signal that they get when they continue
		require.NoError(t, syscall.Kill(pid, syscall.SIGQUIT))
	}
	f.server.CrashImmediate(t)
	f.server.Restart(t)
	f.db.DB = openPool(t, PostgreSQL, f.db.url)
}

// indexHas waits until the index has a version of all keys.
func (f *forgetful) indexHas(t *testing.T, keys, v int) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		for i := range keys {
			if e, is := f.indexed(t, fmt.Sprint("k", i)); !is || e.V != v {
				return false
			}
		}
		return true
	})
}

// The log is flushed up to version 1; later rows are confirmed and then lost. New rows reuse the lost numbers, below
// the last number that the relay has read.
func TestRowsWithNumbersThatALostRowHadAreSent(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	f := newForgetful(t)
	f.relay(t, RelayOptions{})
	f.writes(t, someKeys, 1, true)
	f.indexHas(t, someKeys, 1)
	f.freeze(t)
	for v := range 5 {
		f.writes(t, someKeys, 1001+v, false)
	}
	f.indexHas(t, someKeys, 1005)
	f.empty(t)
	f.crash(t)
	f.writes(t, someKeys, 2000, true)
	f.line.cut.Store(false)
	f.empty(t)
	f.same(t)
	require.Contains(t, f.log.String(), "server changed")
	require.Contains(t, f.log.String(), "repair.Repairer")
}

// The relay has read versions that the server loses; the service applies none before the server is back.
func TestNothingThatWasReadBeforeAServerWentBackIsSentAfterwards(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	f := newForgetful(t)
	r := f.relay(t, RelayOptions{})
	f.writes(t, someKeys, 1, true)
	f.indexHas(t, someKeys, 1)
	f.freeze(t)
	f.busy.Store(true)
	for v := range 5 {
		f.writes(t, someKeys, 1001+v, false)
	}
	testkit.Eventually(t, func() bool { return r.Stats().InHand == 5*someKeys })
	f.crash(t)
	f.writes(t, someKeys, 2000, true)
	f.line.cut.Store(false)
	testkit.Eventually(t, func() bool { return strings.Contains(f.log.String(), "server changed") })
	f.busy.Store(false)
	f.empty(t)
	f.same(t)
	require.Empty(t, f.goesBack())
}

// Nothing is written after the crash, so only the relay knows the keys for which the index is ahead of the table.
func TestKeysOfWhichTheIndexMayBeAheadAreReadAgain(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	f := newForgetful(t)
	f.relay(t, RelayOptions{Loader: f.loader()})
	f.writes(t, someKeys, 1, true)
	f.indexHas(t, someKeys, 1)
	f.freeze(t)
	f.writes(t, someKeys/2, 1001, false)
	f.indexHas(t, someKeys/2, 1001)
	f.empty(t)
	f.mute.Store(true)
	f.writes(t, someKeys, 1002, false)
	f.indexHas(t, someKeys, 1002)
	f.crash(t)
	f.mute.Store(false)
	f.line.cut.Store(false)
	f.indexHas(t, someKeys, 1)
	f.empty(t)
	f.same(t)
}

// The standby lacks the last commits, and writers use it before the relay does.
func TestAStandbyThatIsBehindIsReadFromItsBeginning(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	f := newForgetful(t)
	r := f.relay(t, RelayOptions{Loader: f.loader()})
	f.writes(t, someKeys, 1, true)
	f.indexHas(t, someKeys, 1)
	f.empty(t)
	standby := f.server.Standby(t)
	standby.SQL(t, "postgres", `ALTER SYSTEM SET primary_conninfo = ''`)
	standby.SQL(t, "postgres", `SELECT pg_reload_conf()`)
	testkit.Eventually(t, func() bool { return standby.SQL(t, "postgres", `SELECT count(*) FROM pg_stat_wal_receiver`) == "0" })
	for v := range 5 {
		f.writes(t, someKeys, 1001+v, true)
	}
	f.indexHas(t, someKeys, 1005)
	f.empty(t)
	f.busy.Store(true)
	f.writes(t, someKeys, 1006, true)
	testkit.Eventually(t, func() bool { return r.Stats().InHand == someKeys })
	f.line.cut.Store(true)
	f.server.Kill(t)
	standby.SQL(t, "postgres", `SELECT pg_promote()`)
	f.leads(standby)
	f.db.DB = openPool(t, PostgreSQL, strings.Replace(f.db.url, f.server.Addr(), standby.Addr(), 1))
	f.writes(t, someKeys/2, 2000, true) // for the other keys the index is still ahead
	f.line.cut.Store(false)
	testkit.Eventually(t, func() bool { return strings.Contains(f.log.String(), "server changed") })
	f.busy.Store(false)
	f.indexHas(t, someKeys/2, 2000)
	f.empty(t)
	testkit.Eventually(t, func() bool { e, _ := f.indexed(t, "k19"); return e.V == 1 })
	f.empty(t)
	f.same(t)
}

// A lost connection does not mean another server. A killed backend makes the server recover and lose commits.
func TestALostConnectionOnlyHasTheRelayAskAgain(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	f := newForgetful(t)
	r := f.relay(t, RelayOptions{})
	f.writes(t, someKeys, 1, true)
	f.indexHas(t, someKeys, 1)
	ranges := r.Stats().Ranges
	_, err := f.db.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	require.NoError(t, err)
	f.db.DB = openPool(t, PostgreSQL, f.db.url)
	f.writes(t, someKeys, 2, true)
	f.indexHas(t, someKeys, 2)
	f.empty(t)
	require.NotContains(t, f.log.String(), "server changed")
	require.Equal(t, ranges, r.Stats().Ranges)

	var pid int
	require.NoError(t, sqlkit.One(t.Context(), f.db, &pid, `SELECT min(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`))
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	testkit.Eventually(t, func() bool { return strings.Contains(f.log.String(), "server changed") }, "the change of the server is logged")
	f.db.DB = openPool(t, PostgreSQL, f.db.url)
	f.writes(t, someKeys, 3, true)
	f.indexHas(t, someKeys, 3)
	f.empty(t)
	f.same(t)
}

// A dump restored into the same server has the same nonce, and so has a copy of a stopped server.
func TestACopyHasAnIdentityOfItsOwn(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server := servers.NewPostgres(t)
	from, to := server.Database(t), server.Database(t)
	db := open(t, PostgreSQL, from)
	table := &Table{Dialect: PostgreSQL, Queue: "q"}
	require.NoError(t, table.ready())
	of := func(db *sql.DB) string {
		id, _, err := newReading(table).watermark(t.Context(), db)
		require.NoError(t, err)
		require.NotEmpty(t, id)
		return id
	}
	first := of(db.DB)
	require.Equal(t, first, of(openPool(t, PostgreSQL, from+"&timezone=Asia/Tokyo")))
	copyDatabase(t, server, from, to)
	copied := openPool(t, PostgreSQL, to)
	require.NotEqual(t, first, of(copied))
	nonce := func(id string) string { return strings.Fields(id)[0] }
	require.Equal(t, nonce(first), nonce(of(copied)))

	folder := server.SQL(t, from, `SHOW data_directory`)
	pid, err := strconv.Atoi(strings.Fields(server.SQL(t, from, `SELECT pg_read_file('postmaster.pid')`))[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGINT))
	testkit.Eventually(t, func() bool { _, err := os.Stat(folder + "/postmaster.pid"); return os.IsNotExist(err) })
	server.Restart(t)
	again := of(openPool(t, PostgreSQL, from))
	require.NotEqual(t, first, again)
	require.Equal(t, nonce(first), nonce(again))
	server.CrashImmediate(t)
	server.Restart(t)
	require.NotEqual(t, nonce(first), nonce(of(openPool(t, PostgreSQL, from))), "the table was emptied and filled again")
}
