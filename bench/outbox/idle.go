package outbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// A relay reads all rows every two minutes, so the measured time may contain no such read. After a wake-up, as at its
// start, a relay reads for some time at growing intervals.
const (
	idleFor     = 60 * time.Second
	restlessFor = time.Minute
)

var idlers = []contestant{
	{Name: "PostgreSQL, woken", Measure: idleNotified},
	{Name: "PostgreSQL, polled each 250 ms", Measure: idlePolled},
	{Name: "SQLite, polled each 250 ms", Measure: idleSQLite},
}

// counting is a database that counts the driver calls with statements. One call may have several statements.
type counting struct {
	driver.Connector
	calls atomic.Int64
}

// Connect implements driver.Connector.
func (c *counting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := conn.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver lacks methods that are counted"), conn.Close())
	}
	return &counted{full, &c.calls}, nil
}

type fullConn interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.SessionResetter
}

type counted struct {
	fullConn
	calls *atomic.Int64
}

// CheckNamedValue implements driver.NamedValueChecker if the driver does.
func (c *counted) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.fullConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ExecContext implements driver.ExecerContext.
func (c *counted) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.calls.Add(1)
	return c.fullConn.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (c *counted) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.calls.Add(1)
	return c.fullConn.QueryContext(ctx, query, args)
}

// BeginTx implements driver.ConnBeginTx: two statements.
func (c *counted) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.calls.Add(2)
	return c.fullConn.BeginTx(ctx, opts)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *counted) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.calls.Add(1)
	return c.fullConn.PrepareContext(ctx, query)
}

// sqliteConnector opens files with modernc.org/sqlite.
type sqliteConnector struct{ name string }

// Connect implements driver.Connector.
func (c sqliteConnector) Connect(context.Context) (driver.Conn, error) {
	return c.Driver().Open(c.name)
}

// Driver implements driver.Connector.
func (c sqliteConnector) Driver() driver.Driver { return &sqlite.Driver{} }

// watch counts the calls of an idle relay.
func watch(ctx context.Context, p *plan, from driver.Connector, table *outbox.Table, opts outbox.RelayOptions) (figures []figure, err error) {
	c := &counting{Connector: from}
	db := sql.OpenDB(c)
	defer func() { err = errors.Join(err, db.Close()) }()
	to := newSink()
	defer to.close()
	r, err := run(ctx, db, table, to, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.end()) }()
	if err := r.await(ctx, holdsAll); err != nil {
		return nil, err
	}
	if opts.Wake != nil {
		n, err := count(ctx, p, c, restlessFor)
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{Name: "calls in the minute after it was woken", Value: n})
	}
	n, err := count(ctx, p, c, idleFor)
	return append(figures, figure{Name: "calls a second", Value: n / idleFor.Seconds()}), err
}

// count returns the number of calls in a duration.
func count(ctx context.Context, p *plan, c *counting, during time.Duration) (float64, error) {
	share := min(p.Scale, 1)
	c.calls.Store(0)
	err := slow.Wait(ctx, time.Duration(share*float64(during)))
	return float64(c.calls.Load()) / share, err
}

func idleNotified(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
	n, err := listen(ctx, p)
	defer func() { err = errors.Join(err, n.close()) }()
	if err != nil {
		return nil, err
	}
	return watch(ctx, p, stdlib.GetPoolConnector(n.pool), n.table, outbox.RelayOptions{Wake: n.wake})
}

func idlePolled(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
	l, err := p.postgres(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.drop(ctx)) }()
	db, table, err := outboxIn(ctx, l)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	pool, err := pgxpool.New(ctx, l.url)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return watch(ctx, p, stdlib.GetPoolConnector(pool), table, outbox.RelayOptions{})
}

func idleSQLite(ctx context.Context, p *plan, dir string) (figures []figure, err error) {
	db, err := openSQLite("sqlite", dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := outbox.Migrate(ctx, db, outbox.SQLite, nil); err != nil {
		return nil, err
	}
	return watch(ctx, p, sqliteConnector{sqliteAddress(dir)}, &outbox.Table{Dialect: outbox.SQLite, Queue: queue}, outbox.RelayOptions{})
}
