package outboxpgx_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox/outboxpgx"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

const patience = 20 * time.Second

// follow runs a listener until the test ends or stop is called.
func follow(t *testing.T, pool *pgxpool.Pool, opts *outboxpgx.ListenOptions, tables ...*outbox.Table) (l *outboxpgx.Listener, stop func()) {
	t.Helper()
	l, err := outboxpgx.Listen(pool, opts, tables...)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(patience):
			require.Fail(t, "Run does not end with its context")
		}
	})
	t.Cleanup(stop)
	return l, stop
}

func awaitWake(t *testing.T, l *outboxpgx.Listener, of *outbox.Table) {
	t.Helper()
	select {
	case <-l.Wake(of):
	case <-time.After(patience):
		require.FailNow(t, "not woken", of.Queue)
	}
}

// listeners returns the server processes of listening connections.
func (db database) listeners(t *testing.T) []uint32 {
	t.Helper()
	rows, err := db.pool.Query(t.Context(), `SELECT pid::bigint FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`)
	require.NoError(t, err)
	pids, err := pgx.CollectRows(rows, pgx.RowTo[uint32])
	require.NoError(t, err)
	return pids
}

// logs collects the output of a logger.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

func (l *logs) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func TestAListenerWakesOnceItIsConnected(t *testing.T) {
	db := newDatabase(t, "")
	hotels, reviews := table("hotels"), table("reviews")
	l, _ := follow(t, db.pool, nil, hotels, reviews)
	awaitWake(t, l, hotels)
	awaitWake(t, l, reviews)
	require.Len(t, db.listeners(t), 1, "one connection serves all queues")
}

func TestOnlyTheQueueOfANotificationIsWoken(t *testing.T) {
	db := newDatabase(t, "")
	hotels, reviews := table("hotels"), table("reviews")
	l, _ := follow(t, db.pool, nil, hotels, reviews)
	awaitWake(t, l, hotels)
	awaitWake(t, l, reviews)

	db.notify(t, "strangers")
	db.notify(t, "reviews")
	awaitWake(t, l, reviews) // notifications arrive in commit order, so the previous one was seen
	require.Empty(t, l.Wake(hotels))
	db.notify(t, "hotels")
	awaitWake(t, l, hotels)
	require.Empty(t, l.Wake(reviews))
	require.Nil(t, l.Wake(table("strangers")))
	require.Nil(t, l.Wake(nil))
}

func TestTablesOfSeveralPrefixesShareAListener(t *testing.T) {
	db := newDatabase(t, "")
	hotels := table("hotels")
	other := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels", Prefix: "public.other", Notify: true}
	require.NoError(t, outbox.Migrate(t.Context(), db.sql, outbox.PostgreSQL, &outbox.SchemaOptions{Prefix: "public.other"}))
	l, _ := follow(t, db.pool, nil, hotels, other)
	awaitWake(t, l, hotels)
	awaitWake(t, l, other)
	require.NoError(t, pgx.BeginFunc(t.Context(), db.pool, func(tx pgx.Tx) error { return writeKey(t.Context(), tx, other, "1") }))
	awaitWake(t, l, other)
	require.Empty(t, l.Wake(hotels))
}

func TestNobodyWaitsForARelayThatDoesNotLook(t *testing.T) {
	db := newDatabase(t, "")
	hotels, reviews := table("hotels"), table("reviews")
	l, _ := follow(t, db.pool, nil, hotels, reviews)
	awaitWake(t, l, reviews)
	for range 5 { // hotels has no receiver
		db.notify(t, "hotels")
	}
	db.notify(t, "reviews")
	awaitWake(t, l, reviews)
	awaitWake(t, l, hotels)
	require.Empty(t, l.Wake(hotels), "the notifications were combined")
}

func TestARollbackWakesNobody(t *testing.T) {
	db := newDatabase(t, "")
	hotels, reviews := table("hotels"), table("reviews")
	hotels.Notify = true
	l, _ := follow(t, db.pool, nil, hotels, reviews)
	awaitWake(t, l, hotels)
	awaitWake(t, l, reviews)
	tx, err := db.pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, writeKey(t.Context(), tx, hotels, "1"))
	require.NoError(t, tx.Rollback(t.Context()))
	db.notify(t, "reviews")
	awaitWake(t, l, reviews)
	require.Empty(t, l.Wake(hotels))
}

func TestAListenerComesBackAfterItsConnectionWasLost(t *testing.T) {
	db := newDatabase(t, "")
	hotels := table("hotels")
	var log logs
	l, _ := follow(t, db.pool, &outboxpgx.ListenOptions{Logger: log.logger()}, hotels)
	awaitWake(t, l, hotels)
	for range 2 {
		lost := db.listeners(t)
		require.Len(t, lost, 1)
		db.exec(t, `SELECT pg_terminate_backend($1)`, lost[0])
		awaitWake(t, l, hotels) // rows committed meanwhile are read
		require.NotEqual(t, lost, db.listeners(t))
		db.notify(t, "hotels")
		awaitWake(t, l, hotels)
	}
	require.Equal(t, 1, log.count("level=WARN"), "only the first failure in a row is logged as a warning")
	require.Equal(t, 2, log.count("connected again"))
}

func TestAListenerNeedsNoPlaceInThePool(t *testing.T) {
	db := newDatabase(t, "")
	config, err := pgxpool.ParseConfig(db.url)
	require.NoError(t, err)
	config.MaxConns = 1
	config.ConnConfig.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	var asked int // accessed only by the connecting goroutine
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error { asked++; return nil }
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	only, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer only.Release()

	hotels, reviews := table("hotels"), table("reviews")
	l, stop := follow(t, pool, nil, hotels, reviews)
	awaitWake(t, l, hotels)
	awaitWake(t, l, reviews)
	db.notify(t, "reviews")
	awaitWake(t, l, reviews)
	require.Empty(t, l.Wake(hotels))
	stop()
	require.Equal(t, 2, asked, "each connection asks for the password")
}

func TestNotificationsThatAConnectionKeepsToItselfWakeAll(t *testing.T) {
	db := newDatabase(t, "")
	hotels := table("hotels")
	l, _ := follow(t, nil, &outboxpgx.ListenOptions{Connect: func(ctx context.Context) (*pgx.Conn, error) {
		config, err := pgx.ParseConfig(db.url)
		if err != nil {
			return nil, err
		}
		config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
		return pgx.ConnectConfig(ctx, config)
	}}, hotels)
	awaitWake(t, l, hotels)
	db.notify(t, "hotels")
	awaitWake(t, l, hotels)
}

func TestAPeerThatIsDeadIsNoticed(t *testing.T) {
	db := newDatabase(t, "")
	address, err := url.Parse(db.url)
	require.NoError(t, err)
	way := newWay(t, address.Host)
	address.Host = way.address()
	hotels := table("hotels")
	var log logs
	opts := &outboxpgx.ListenOptions{
		Connect: func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, address.String()) },
		Logger:  log.logger(),
	}
	opts.SetPing(100 * time.Millisecond)
	l, stop := follow(t, nil, opts, hotels)
	awaitWake(t, l, hotels)
	testkit.Eventually(t, func() bool { return way.answered() > 20 }, "pings are answered")
	require.Zero(t, log.count("level="), "pings log nothing")

	way.freeze() // no FIN, no RST: like a pulled cable
	awaitWake(t, l, hotels)
	require.Equal(t, 1, log.count("did not answer"))
	db.notify(t, "hotels")
	awaitWake(t, l, hotels)
	began := time.Now()
	stop()
	require.Less(t, time.Since(began), 8*time.Second, "without the limit pgx reads from the lost connection for 15 s")
}

func TestRunEndsWithItsContext(t *testing.T) {
	db := newDatabase(t, "")
	hotels := table("hotels")
	l, stop := follow(t, db.pool, nil, hotels)
	awaitWake(t, l, hotels)
	require.ErrorIs(t, l.Run(t.Context()), outboxpgx.ErrRunning)
	stop()
	testkit.Eventually(t, func() bool { return len(db.listeners(t)) == 0 }, "its connection is closed")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, l.Run(ctx), "the context had ended before the call")
	done := make(chan error, 1)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	go func() { done <- l.Run(ctx) }()
	awaitWake(t, l, hotels)
	cancel()
	require.NoError(t, <-done, "the listener may run again")
}

func TestRunEndsWithItsContextWhereThereIsNoDatabase(t *testing.T) {
	var log logs
	tried := make(chan struct{}, 10)
	l, stop := follow(t, nil, &outboxpgx.ListenOptions{Logger: log.logger(), Connect: func(context.Context) (*pgx.Conn, error) {
		tried <- struct{}{}
		return nil, fmt.Errorf("the server is away")
	}}, table("hotels"))
	for range 3 {
		<-tried
	}
	stop()
	require.Equal(t, 1, log.count("the server is away"))
	require.Empty(t, l.Wake(table("hotels")), "no listener has run")

	waits := make(chan struct{})
	_, stop = follow(t, nil, &outboxpgx.ListenOptions{Logger: log.logger(), Connect: func(ctx context.Context) (*pgx.Conn, error) {
		close(waits)
		<-ctx.Done()
		return nil, ctx.Err()
	}}, table("hotels"))
	<-waits
	stop()
}

func TestListenNamesEveryProblem(t *testing.T) {
	_, err := outboxpgx.Listen(nil, nil, nil, table("no spaces please"),
		&outbox.Table{Dialect: outbox.SQLite, Queue: "hotels"},
		&outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels", Prefix: strings.Repeat("s", 35) + "." + strings.Repeat("p", 35)})
	for _, want := range []string{"Connect", "nil", "no spaces please", "sqlite", "63 bytes"} {
		require.ErrorContains(t, err, want)
	}
	_, err = outboxpgx.Listen(nil, nil)
	require.ErrorContains(t, err, "no tables")
}
