package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// idleQueues measures n idle queues of one process.
func idleQueues(n int) func(ctx context.Context, p *plan, _ string) ([]figure, error) {
	return func(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
		l, err := p.postgres(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, l.drop(ctx)) }()
		first, _, err := outboxIn(ctx, l)
		if err != nil {
			return nil, err
		}
		if err := first.Close(); err != nil {
			return nil, err
		}
		config, err := pgxpool.ParseConfig(l.url)
		if err != nil {
			return nil, err
		}
		config.MaxConns, config.MaxConnIdleTime, config.HealthCheckPeriod = int32(4*n), 10*time.Second, time.Second
		pool, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		defer pool.Close()
		c := &counting{Connector: stdlib.GetPoolConnector(pool)}
		db := sql.OpenDB(c)
		db.SetMaxIdleConns(0) // as stdlib.OpenDBFromPool does
		defer func() { err = errors.Join(err, db.Close()) }()
		to := newSink()
		defer to.close()
		for i := range n {
			r, err := run(ctx, db, &outbox.Table{Dialect: outbox.PostgreSQL, Queue: fmt.Sprintf("%s-%d", queue, i)}, to, outbox.RelayOptions{})
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, r.end()) }()
			if err := r.await(ctx, holdsAll); err != nil {
				return nil, err
			}
		}
		if err := slow.Wait(ctx, restlessFor/2); err != nil { // connections of the start are closed
			return nil, err
		}
		return l.idleCosts(ctx, p, c)
	}
}

// idleCosts counts calls, changes of leases and connections.
func (l *place) idleCosts(ctx context.Context, p *plan, c *counting) ([]figure, error) {
	watcher, err := pgx.Connect(ctx, l.p.server.URL("postgres"))
	if err != nil {
		return nil, err
	}
	defer watcher.Close(ctx)
	inside, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return nil, err
	}
	defer inside.Close(ctx)
	updates := func() (n int64, err error) {
		err = inside.QueryRow(ctx, `SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'azsearch_outbox_lease'`).Scan(&n)
		return n, err
	}
	before, err := updates()
	if err != nil {
		return nil, err
	}
	during := time.Duration(min(p.Scale, 1) * float64(idleFor))
	began, most := time.Now(), 0
	c.calls.Store(0)
	for time.Since(began) < during {
		if err := slow.Wait(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
		var n int
		if err := watcher.QueryRow(ctx, `SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = $1`, l.name).Scan(&n); err != nil {
			return nil, err
		}
		most = max(most, n)
	}
	seconds := time.Since(began).Seconds()
	calls := c.calls.Load()
	after, err := updates()
	return []figure{
		{Name: "calls a second", Value: float64(calls) / seconds}, {Name: "rows updated a second", Value: float64(after-before) / seconds},
		{Name: "connections at most", Value: float64(most)},
	}, err
}
