package main

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
)

// Transactions are begun, have their statements and are committed, each of which is a round trip. In a batch all
// statements are one.
var prices = []contestant{
	{name: "batch", measure: inPgx(bare, batched(nil))},
	{name: "batch, outboxpgx.Queue", anchor: "batch", measure: inPgx(bare, batched(queued))},
	{name: "batch, naive INSERT", anchor: "batch", measure: inPgx(bare, batched(naiveQueued))},
	{name: "batch, trigger", anchor: "batch", measure: inPgx(triggered(false), batched(nil))},
	{name: "batch, trigger that notifies", anchor: "batch", measure: inPgx(triggered(true), batched(nil))},

	{name: "statement", measure: inPgx(bare, always(upsert))},
	{name: "statement, outboxpgx.Write", anchor: "statement", measure: inPgx(bare, written)},
	{name: "statement, naive INSERT", anchor: "statement", measure: inPgx(bare, always(naive))},
	{name: "statement, River InsertTx", anchor: "statement", measure: inPgx(bare, riverInserts)},

	{name: "database/sql", measure: inSQL(sqlUpsert)},
	{name: "database/sql, outbox.Write", anchor: "database/sql", measure: inSQL(sqlWritten)},
	{name: "database/sql, naive INSERT", anchor: "database/sql", measure: inSQL(sqlNaive)},
}

const (
	upsertEntity = `INSERT INTO entity (id, name, stars, text) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, stars = excluded.stars, text = excluded.text`
	insertNaive = `INSERT INTO naive (key, op, body) VALUES ($1, $2, $3)`
)

// pgxWay makes what a transaction does, in a database.
type pgxWay func(ctx context.Context, l *place) (func(ctx context.Context, tx pgx.Tx, d document) error, error)

func always(do func(ctx context.Context, tx pgx.Tx, d document) error) pgxWay {
	return func(context.Context, *place) (func(ctx context.Context, tx pgx.Tx, d document) error, error) {
		return do, nil
	}
}

func hotels() *outbox.Table {
	return &outbox.Table{Dialect: outbox.PostgreSQL, Queue: queue, Notify: true}
}

func upsert(ctx context.Context, tx pgx.Tx, d document) error {
	_, err := tx.Exec(ctx, upsertEntity, d.ID, d.Name, d.Stars, d.Text)
	return err
}

func naive(ctx context.Context, tx pgx.Tx, d document) error {
	if err := upsert(ctx, tx, d); err != nil {
		return err
	}
	body, err := json.Marshal(&d)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, insertNaive, d.ID, "upload", string(body))
	return err
}

func written(context.Context, *place) (func(ctx context.Context, tx pgx.Tx, d document) error, error) {
	to := hotels()
	return func(ctx context.Context, tx pgx.Tx, d document) error {
		if err := upsert(ctx, tx, d); err != nil {
			return err
		}
		return outboxpgx.Write(ctx, tx, to, models.UploadAction(d))
	}, nil
}

// batched sends the upsert, and what more adds.
func batched(more func(batch *pgx.Batch, to *outbox.Table, d document) error) pgxWay {
	to := hotels()
	return always(func(ctx context.Context, tx pgx.Tx, d document) error {
		batch := &pgx.Batch{}
		batch.Queue(upsertEntity, d.ID, d.Name, d.Stars, d.Text)
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

func bare(context.Context, *place, *sql.DB) error { return nil }

func triggered(notify bool) func(ctx context.Context, l *place, _ *sql.DB) error {
	return func(ctx context.Context, l *place, _ *sql.DB) error {
		to := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: queue, Notify: notify}
		statements, err := to.Trigger("entity", "id")
		if err != nil {
			return err
		}
		return l.exec(ctx, statements...)
	}
}

// market makes the tables of everybody, and entities that will change.
func market(ctx context.Context, p *plan) (*place, *sql.DB, error) {
	l, err := p.postgres(ctx)
	if err != nil {
		return nil, nil, err
	}
	db, _, err := outboxIn(ctx, l)
	if err == nil {
		err = l.exec(ctx, `CREATE TABLE entity (id text PRIMARY KEY, name text NOT NULL, stars integer NOT NULL, text text NOT NULL)`,
			`CREATE TABLE naive (seq bigserial PRIMARY KEY, key text NOT NULL, op text NOT NULL, body text)`,
			fmt.Sprintf(`INSERT INTO entity SELECT 'hotel-' || lpad(i::text, 12, '0'), 'Hotel ' || i, 1, repeat(md5(i::text), 18) FROM generate_series(0, %d) i`, entities-1))
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.drop(ctx))
	}
	db.SetMaxOpenConns(callers)
	db.SetMaxIdleConns(callers)
	return l, db, nil
}

// trade has callers do so many transactions, each on entities of its own, and some more before the clock starts.
func (l *place) trade(ctx context.Context, n int, do func(d document) error) ([]figure, error) {
	all := documents(0, 1000)
	each := func(n int) error {
		errs := make([]error, callers)
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := 0; i < n/callers && errs[c] == nil; i++ {
					d := all[i%len(all)]
					d.ID = key((i*callers*7919 + c) % entities)
					errs[c] = do(d)
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}
	if err := each(100 * callers); err != nil {
		return nil, err
	}
	m, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	if err := each(n); err != nil {
		return nil, err
	}
	return m.stop(ctx, n)
}

func transactions(p *plan) int { return p.scaled(4000, 20) * callers }

func inPgx(prepare func(ctx context.Context, l *place, db *sql.DB) error, way pgxWay) func(ctx context.Context, p *plan, _ string) ([]figure, error) {
	return func(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
		l, db, err := market(ctx, p)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, db.Close(), l.drop(ctx)) }()
		if err := prepare(ctx, l, db); err != nil {
			return nil, err
		}
		do, err := way(ctx, l)
		if err != nil {
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
		return l.trade(ctx, transactions(p), func(d document) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return do(ctx, tx, d) })
		})
	}
}

func sqlUpsert(ctx context.Context, tx *sql.Tx, _ *outbox.Table, d document) error {
	_, err := tx.ExecContext(ctx, upsertEntity, d.ID, d.Name, d.Stars, d.Text)
	return err
}

func sqlWritten(ctx context.Context, tx *sql.Tx, to *outbox.Table, d document) error {
	if err := sqlUpsert(ctx, tx, to, d); err != nil {
		return err
	}
	return outbox.Write(ctx, tx, to, models.UploadAction(d))
}

func sqlNaive(ctx context.Context, tx *sql.Tx, to *outbox.Table, d document) error {
	if err := sqlUpsert(ctx, tx, to, d); err != nil {
		return err
	}
	body, err := json.Marshal(&d)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, insertNaive, d.ID, "upload", string(body))
	return err
}

func inSQL(do func(ctx context.Context, tx *sql.Tx, to *outbox.Table, d document) error) func(ctx context.Context, p *plan, _ string) ([]figure, error) {
	return func(ctx context.Context, p *plan, _ string) (figures []figure, err error) {
		l, db, err := market(ctx, p)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, db.Close(), l.drop(ctx)) }()
		to := hotels()
		return l.trade(ctx, transactions(p), func(d document) error {
			return inTransaction(ctx, db, func(tx *sql.Tx) error { return do(ctx, tx, to, d) })
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
