package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// place is a PostgreSQL database for one measurement.
type place struct {
	p    *plan
	name string
	url  string
}

// postgres creates an empty database on a server that all measurements share. The caller must call drop.
func (p *plan) postgres(ctx context.Context) (*place, error) {
	if p.server == nil {
		var args []string
		if p.statements {
			args = []string{"-c", "shared_preload_libraries=pg_stat_statements"}
		}
		s, err := servers.StartPostgres(args...)
		if err != nil {
			return nil, err
		}
		p.server = s
	}
	l := &place{p: p, name: "bench_" + fmt.Sprintf("%x", [8]byte(randomBytes()))}
	l.url = p.server.URL(l.name)
	// The checkpoint writes earlier changes to disk now. A later one would make the server log whole pages at their
	// first change, which a database under constant load rarely does.
	for _, s := range []string{"CREATE DATABASE " + l.name, "CHECKPOINT"} {
		if err := l.admin(ctx, s); err != nil {
			return nil, err
		}
	}
	if p.statements {
		return l, l.on(ctx, l.url, "CREATE EXTENSION pg_stat_statements")
	}
	return l, nil
}

func (l *place) admin(ctx context.Context, statement string) error {
	return l.on(ctx, l.p.server.URL("postgres"), statement)
}

func (l *place) on(ctx context.Context, url, statement string) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}

// exec runs statements in the database.
func (l *place) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if err := l.on(ctx, l.url, s); err != nil {
			return fmt.Errorf("%w: %s", err, s)
		}
	}
	return nil
}

func (l *place) drop(ctx context.Context) error {
	return l.admin(context.WithoutCancel(ctx), "DROP DATABASE "+l.name+" WITH (FORCE)")
}

// meter measures this process and the server, if there is one.
type meter struct {
	l      *place
	clock  measure.Clock
	before float64
}

// start starts a meter.
func (l *place) start(ctx context.Context) (*meter, error) {
	m := &meter{l: l}
	if l != nil {
		if l.p.statements {
			if err := l.exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
				return nil, err
			}
		}
		var err error
		if m.before, err = measure.FamilyCPU(l.p.server.PID()); err != nil {
			return nil, err
		}
	}
	m.clock.Start()
	return m, nil
}

// stop returns the cost of n operations.
func (m *meter) stop(ctx context.Context, n int) ([]figure, error) {
	u := m.clock.Stop()
	per := 1e6 / float64(n)
	rate := figure{Name: rateFigure, Value: float64(n) / u.Seconds}
	if m.l == nil {
		return []figure{{Name: cpuFigure, Value: u.CPUSeconds * per}, rate}, nil
	}
	after, err := measure.FamilyCPU(m.l.p.server.PID())
	if err != nil {
		return nil, err
	}
	if m.l.p.statements {
		if err := m.l.tell(ctx); err != nil {
			return nil, err
		}
	}
	return []figure{{Name: cpuFigure, Value: (u.CPUSeconds + after - m.before) * per}, {Name: "of these the server", Value: (after - m.before) * per}, rate}, nil
}

// This prints the statements of the server.
func (l *place) tell(ctx context.Context) error {
	c, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	rows, err := c.Query(ctx, `SELECT calls, total_exec_time, rows, shared_blks_hit, wal_bytes::bigint, left(regexp_replace(query, '\s+', ' ', 'g'), 120)
		FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY total_exec_time DESC LIMIT 10`)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.p.stderr, "%8s %10s %9s %10s %12s\n", "calls", "ms", "rows", "buffers", "WAL bytes")
	var calls, n, hit, wal int64
	var ms float64
	var query string
	_, err = pgx.ForEachRow(rows, []any{&calls, &ms, &n, &hit, &wal, &query}, func() error {
		fmt.Fprintf(l.p.stderr, "%8d %10.1f %9d %10d %12d  %s\n", calls, ms, n, hit, wal, query)
		return nil
	})
	return err
}
