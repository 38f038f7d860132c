package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox/outboxpgx"
	"github.com/go-azsearch/azsearch/models"
)

const (
	callers  = 4
	entities = 20_000
	turns    = 20
)

// Each transaction is a BEGIN, its statements and a COMMIT, one round trip each; in a batch all statements share one.
// It is measured alternately with the same transaction without the addition, which changes an entity of another table.
var prices = []contestant{
	{Name: "batch, outboxpgx.Queue", Measure: inPgx(noTrigger, batched(queued), batched(nil))},
	{Name: "batch, naive INSERT", Measure: inPgx(noTrigger, batched(naiveQueued), batched(nil))},
	{Name: "batch, trigger", Measure: inPgx(trigger(false), batched(nil), batched(nil))},
	{Name: "batch, trigger that notifies", Measure: inPgx(trigger(true), batched(nil), batched(nil))},

	{Name: "statement, outboxpgx.Write", Measure: inPgx(noTrigger, written, always(change))},
	{Name: "statement, naive INSERT", Measure: inPgx(noTrigger, always(naive), always(change))},
	{Name: "statement, River InsertTx", Measure: inPgx(noTrigger, riverInserts, always(change))},

	{Name: "database/sql, outbox.Write", Measure: inSQL(sqlWritten)},
	{Name: "database/sql, naive INSERT", Measure: inSQL(sqlNaive)},
}

const insertNaive = `INSERT INTO naive (key, op, body) VALUES ($1, $2, $3)`

// changeIn returns the statement that changes an entity of a table.
func changeIn(table string) string {
	return `UPDATE ` + table + ` SET name = $2, stars = $3, text = $4 WHERE id = $1`
}

// The tables of entities. One of them has triggers.
const (
	entity = "entity"
	plain  = "plain"
)

// pgxTransaction runs the statements of a transaction on an entity of a table.
type pgxTransaction func(ctx context.Context, tx pgx.Tx, table string, d document) error

// pgxWay creates a pgxTransaction in a database.
type pgxWay func(ctx context.Context, l *place) (pgxTransaction, error)

func always(do pgxTransaction) pgxWay {
	return func(context.Context, *place) (pgxTransaction, error) { return do, nil }
}

func hotels() *outbox.Table {
	return &outbox.Table{Dialect: outbox.PostgreSQL, Queue: queue, Notify: true}
}

func change(ctx context.Context, tx pgx.Tx, table string, d document) error {
	_, err := tx.Exec(ctx, changeIn(table), d.ID, d.Name, d.Stars, d.Text)
	return err
}

func naive(ctx context.Context, tx pgx.Tx, table string, d document) error {
	if err := change(ctx, tx, table, d); err != nil {
		return err
	}
	body, err := json.Marshal(&d)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, insertNaive, d.ID, "upload", string(body))
	return err
}

func written(context.Context, *place) (pgxTransaction, error) {
	to := hotels()
	return func(ctx context.Context, tx pgx.Tx, table string, d document) error {
		if err := change(ctx, tx, table, d); err != nil {
			return err
		}
		return outboxpgx.Write(ctx, tx, to, models.UploadAction(d))
	}, nil
}

// batched sends the change and the addition of more in one batch.
func batched(more func(batch *pgx.Batch, to *outbox.Table, d document) error) pgxWay {
	to := hotels()
	return always(func(ctx context.Context, tx pgx.Tx, table string, d document) error {
		batch := &pgx.Batch{}
		batch.Queue(changeIn(table), d.ID, d.Name, d.Stars, d.Text)
		if more != nil {
			if err := more(batch, to, d); err != nil {
				return err
			}
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}

func queued(batch *pgx.Batch, to *outbox.Table, d document) error {
	return outboxpgx.Queue(batch, to, models.UploadAction(d))
}

func naiveQueued(batch *pgx.Batch, _ *outbox.Table, d document) error {
	body, err := json.Marshal(&d)
	batch.Queue(insertNaive, d.ID, "upload", string(body))
	return err
}

func noTrigger(context.Context, *place) error { return nil }

func trigger(notify bool) func(ctx context.Context, l *place) error {
	return func(ctx context.Context, l *place) error {
		to := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: queue, Notify: notify}
		statement, err := to.Trigger(entity, "id")
		if err != nil {
			return err
		}
		return l.exec(ctx, statement)
	}
}

// market creates all tables, and the entities to change.
func market(ctx context.Context, p *plan) (*place, *sql.DB, error) {
	l, err := p.postgres(ctx)
	if err != nil {
		return nil, nil, err
	}
	db, _, err := outboxIn(ctx, l)
	for _, table := range []string{entity, plain} {
		if err == nil {
			err = l.exec(ctx, `CREATE TABLE `+table+` (id text PRIMARY KEY, name text NOT NULL, stars integer NOT NULL, text text NOT NULL)`,
				fmt.Sprintf(`INSERT INTO %s SELECT 'hotel-' || lpad(i::text, 12, '0'), 'Hotel ' || i, 1, repeat(md5(i::text), 18) FROM generate_series(0, %d) i`, table, entities-1))
		}
	}
	if err == nil {
		err = l.exec(ctx, `CREATE TABLE naive (seq bigserial PRIMARY KEY, key text NOT NULL, op text NOT NULL, body text)`, `VACUUM ANALYZE`)
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.drop(ctx))
	}
	db.SetMaxOpenConns(callers)
	db.SetMaxIdleConns(callers)
	return l, db, nil
}

// trade runs n transactions per caller with and without the addition, in alternating slices, so that disturbances of
// the machine affect both. Each caller has its own entities and runs some transactions before the clock starts.
func (l *place) trade(ctx context.Context, n int, with, without func(d document) error) ([]figure, error) {
	all := documents(0, 1000)
	done := 0
	each := func(n int, do func(d document) error) error {
		errs := make([]error, callers)
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := done; i < done+n/callers && errs[c] == nil; i++ {
					d := all[i%len(all)]
					d.ID = key((i*callers*7919 + c) % entities)
					errs[c] = do(d)
				}
			})
		}
		wg.Wait()
		done += n / callers
		return errors.Join(errs...)
	}
	if err := errors.Join(each(100*callers, without), each(100*callers, with)); err != nil {
		return nil, err
	}
	slice := max(n/turns/callers, 1) * callers
	var sums [2][]figure
	for i := range 2 * turns {
		do := [...]func(d document) error{without, with}[i%2]
		m, err := l.start(ctx)
		if err != nil {
			return nil, err
		}
		if err := each(slice, do); err != nil {
			return nil, err
		}
		figures, err := m.stop(ctx, slice)
		if err != nil {
			return nil, err
		}
		if sums[i%2] == nil {
			sums[i%2] = make([]figure, len(figures))
		}
		for j, f := range figures {
			sums[i%2][j] = figure{Name: f.Name, Value: sums[i%2][j].Value + f.Value/turns}
		}
	}
	figures := sums[1]
	for i, f := range sums[0] {
		if f.Name == cpuFigure {
			figures = append(figures, figure{Name: f.Name + ", without", Value: f.Value}, figure{Name: f.Name + ", more", Value: figures[i].Value - f.Value}, figure{Name: f.Name + ", to that without", Value: figures[i].Value / f.Value})
		}
	}
	return figures, nil
}

func transactions(p *plan) int { return p.Scaled(4000, 20) * callers }

func inPgx(prepare func(ctx context.Context, l *place) error, with, without pgxWay) func(ctx context.Context, p *plan, _ string) ([]figure, error) {
	return func(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
		l, db, err := market(ctx, p)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, db.Close(), l.drop(ctx)) }()
		if err := prepare(ctx, l); err != nil {
			return nil, err
		}
		config, err := pgxpool.ParseConfig(l.url)
		if err != nil {
			return nil, err
		}
		config.MaxConns = callers
		pool, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		defer pool.Close()
		side := func(way pgxWay, table string) (func(d document) error, error) {
			do, err := way(ctx, l)
			return func(d document) error {
				return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return do(ctx, tx, table, d) })
			}, err
		}
		a, err := side(with, entity)
		if err != nil {
			return nil, err
		}
		b, err := side(without, plain)
		if err != nil {
			return nil, err
		}
		return l.trade(ctx, transactions(p), a, b)
	}
}

func sqlChange(ctx context.Context, tx *sql.Tx, table string, d document) error {
	_, err := tx.ExecContext(ctx, changeIn(table), d.ID, d.Name, d.Stars, d.Text)
	return err
}

func sqlWritten(ctx context.Context, tx *sql.Tx, to *outbox.Table, d document) error {
	return outbox.Write(ctx, tx, to, models.UploadAction(d))
}

func sqlNaive(ctx context.Context, tx *sql.Tx, _ *outbox.Table, d document) error {
	body, err := json.Marshal(&d)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, insertNaive, d.ID, "upload", string(body))
	return err
}

func inSQL(more func(ctx context.Context, tx *sql.Tx, to *outbox.Table, d document) error) func(ctx context.Context, p *plan, _ string) ([]figure, error) {
	return func(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
		l, db, err := market(ctx, p)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, db.Close(), l.drop(ctx)) }()
		to := hotels()
		return l.trade(ctx, transactions(p), func(d document) error {
			return inTransaction(ctx, db, func(tx *sql.Tx) error {
				if err := sqlChange(ctx, tx, entity, d); err != nil {
					return err
				}
				return more(ctx, tx, to, d)
			})
		}, func(d document) error {
			return inTransaction(ctx, db, func(tx *sql.Tx) error { return sqlChange(ctx, tx, plain, d) })
		})
	}
}

func inTransaction(ctx context.Context, db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
