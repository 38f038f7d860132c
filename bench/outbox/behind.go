package outbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// behindFor is how long the CPU time of an idle relay is measured.
const behindFor = 30 * time.Second

var behind = []contestant{
	{Name: "no open transaction", Measure: behindDead(false)},
	{Name: "a transaction that has written one row stays open", Measure: behindDead(true)},
}

// behindDead measures a relay of a table with deleted rows. While open, a transaction keeps vacuum from removing
// them.
func behindDead(open bool) func(ctx context.Context, p *plan, _ string) ([]figure, error) {
	return func(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
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
		if open {
			c, err := pgx.Connect(ctx, l.url)
			if err != nil {
				return nil, err
			}
			defer c.Close(ctx)
			for _, s := range []string{"BEGIN", fill(0, 1)} {
				if _, err := c.Exec(ctx, s); err != nil {
					return nil, err
				}
			}
		}
		if err := l.exec(ctx, fill(1, p.Scaled(2_000_000, 10_000)), `DELETE FROM azsearch_outbox`); err != nil {
			return nil, err
		}
		if !open {
			if err := l.exec(ctx, `VACUUM azsearch_outbox`); err != nil {
				return nil, err
			}
		}
		figures, err = lone(ctx, p, db, table, outbox.RelayOptions{})
		if err != nil {
			return nil, err
		}
		busy, err := l.idle(ctx, p, db, table)
		return append(figures, busy), err
	}
}

// idle measures the CPU time of the server with an idle relay.
func (l *place) idle(ctx context.Context, p *plan, db *sql.DB, table *outbox.Table) (f figure, err error) {
	to := newSink()
	defer to.close()
	r, err := run(ctx, db, table, to, outbox.RelayOptions{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, r.end()) }()
	if err := r.await(ctx, holdsAll); err != nil {
		return f, err
	}
	if err := slow.Wait(ctx, 5*time.Second); err != nil { // the first read starts at the first row
		return f, err
	}
	before, err := measure.FamilyCPU(l.p.server.PID())
	if err != nil {
		return f, err
	}
	began := time.Now()
	if err := slow.Wait(ctx, time.Duration(min(p.Scale, 1)*float64(behindFor))); err != nil {
		return f, err
	}
	after, err := measure.FamilyCPU(l.p.server.PID())
	return figure{Name: "% of a processor, idle", Value: 100 * (after - before) / time.Since(began).Seconds()}, err
}
