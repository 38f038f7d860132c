package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver "sqlite3"
	_ "modernc.org/sqlite"                   // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/models"
)

const (
	perTransaction = 100
	perDelete      = 1000
)

var (
	trips = []contestant{
		{Name: "modernc alone", Measure: throughSQLite("sqlite", openPlain, false)},
		{Name: "outbox", Anchor: "modernc alone", Measure: throughSQLite("sqlite", openOutbox, false)},
		{Name: "modernc alone, in and out at once", Measure: throughSQLite("sqlite", openPlain, true)},
		{Name: "outbox, in and out at once", Anchor: "modernc alone, in and out at once", Measure: throughSQLite("sqlite", openOutbox, true)},
	}
	drivers = []contestant{
		{Name: "modernc, outbox", Measure: throughSQLite("sqlite", openOutbox, false)},
		{Name: "ncruces, outbox", Anchor: "modernc, outbox", Measure: throughSQLite("sqlite3", openOutbox, false)},
		{Name: "modernc, plain", Measure: throughSQLite("sqlite", openPlain, false)},
		{Name: "ncruces, plain", Anchor: "modernc, plain", Measure: throughSQLite("sqlite3", openPlain, false)},
	}
)

func openSQLite(driver, dir string) (*sql.DB, error) {
	return sql.Open(driver, sqliteAddress(dir))
}

func sqliteAddress(dir string) string {
	return "file:" + filepath.Join(dir, "db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_txlock=immediate"
}

// file is an outbox or an alternative in a SQLite file.
type file interface {
	// write adds rows in a transaction.
	write(ctx context.Context, tx *sql.Tx, docs []document) error
	// begin starts removing n rows, and returns a function that waits for it.
	begin(ctx context.Context, n int) (wait func() error, err error)
	close() error
}

// throughSQLite writes rows and removes them, sequentially or concurrently.
func throughSQLite(driver string, open func(ctx context.Context, db *sql.DB) (file, error), atOnce bool) func(ctx context.Context, p *plan, dir string) ([]figure, error) {
	return func(ctx context.Context, p *plan, dir string) (figures []figure, err error) {
		n := p.Scaled(500, 5) * perTransaction
		db, err := openSQLite(driver, dir)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		f, err := open(ctx, db)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.close()) }()
		docs := documents(0, 10*perTransaction)
		write := func() error {
			some := make([]document, perTransaction)
			for i := 0; i < n; i += perTransaction {
				copy(some, docs[i%len(docs):])
				for j := range some {
					some[j].ID = key(i + j)
				}
				if err := inTransaction(ctx, db, func(tx *sql.Tx) error { return f.write(ctx, tx, some) }); err != nil {
					return err
				}
			}
			return nil
		}
		var none *place
		m, err := none.start(ctx)
		if err != nil {
			return nil, err
		}
		if !atOnce {
			begun := time.Now()
			if err := write(); err != nil {
				return nil, err
			}
			figures = append(figures, figure{Name: "in, " + rateFigure, Value: float64(n) / time.Since(begun).Seconds()})
		}
		begun := time.Now()
		wait, err := f.begin(ctx, n)
		if err != nil {
			return nil, err
		}
		if atOnce {
			err = write()
		}
		if err := errors.Join(err, wait()); err != nil {
			return nil, err
		}
		if !atOnce {
			figures = append(figures, figure{Name: "out, " + rateFigure, Value: float64(n) / time.Since(begun).Seconds()})
		}
		whole, err := m.stop(ctx, n)
		return append(whole, figures...), err
	}
}

type outboxFile struct {
	db    *sql.DB
	table *outbox.Table
	to    *sink
	r     *running
}

func openOutbox(ctx context.Context, db *sql.DB) (file, error) {
	f := &outboxFile{db: db, table: &outbox.Table{Dialect: outbox.SQLite, Queue: queue}, to: newSink()}
	return f, outbox.Migrate(ctx, db, outbox.SQLite, nil)
}

func (f *outboxFile) write(ctx context.Context, tx *sql.Tx, docs []document) error {
	actions := make([]models.IndexDocumentsAction[document], len(docs))
	for i, d := range docs {
		actions[i] = models.UploadAction(d)
	}
	return outbox.Write(ctx, tx, f.table, actions...)
}

func (f *outboxFile) begin(ctx context.Context, n int) (wait func() error, err error) {
	f.r, err = run(ctx, f.db, f.table, f.to, outbox.RelayOptions{})
	return func() error {
		return f.r.await(ctx, func(s outbox.Stats) bool { return s.Deleted >= int64(n) })
	}, err
}

func (f *outboxFile) close() (err error) {
	if f.r != nil {
		err = f.r.end()
	}
	f.to.close()
	return err
}

// plainFile is the minimum work in SQLite: one prepared statement per row, and deletes by number, without reading.
type plainFile struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openPlain(ctx context.Context, db *sql.DB) (file, error) {
	if _, err := db.ExecContext(ctx, `CREATE TABLE plain (seq INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, key TEXT NOT NULL, op TEXT NOT NULL, body TEXT)`); err != nil {
		return nil, err
	}
	insert, err := db.PrepareContext(ctx, `INSERT INTO plain (queue, key, op, body) VALUES (?1, ?2, ?3, ?4)`)
	return &plainFile{db, insert}, err
}

func (f *plainFile) write(ctx context.Context, tx *sql.Tx, docs []document) error {
	insert := tx.StmtContext(ctx, f.insert)
	defer insert.Close()
	for i := range docs {
		body, err := json.Marshal(&docs[i])
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, queue, docs[i].ID, "upload", string(body)); err != nil {
			return err
		}
	}
	return nil
}

func (f *plainFile) begin(ctx context.Context, n int) (wait func() error, err error) {
	ended := make(chan error, 1)
	go func() { ended <- f.deleteAll(ctx, n) }()
	return func() error { return <-ended }, nil
}

func (f *plainFile) deleteAll(ctx context.Context, n int) error {
	remove, err := f.db.PrepareContext(ctx, `DELETE FROM plain WHERE seq IN (SELECT value FROM json_each(?1))`)
	if err != nil {
		return err
	}
	defer remove.Close()
	for next := 1; next <= n; {
		var last sql.NullInt64
		if err := f.db.QueryRowContext(ctx, `SELECT max(seq) FROM plain`).Scan(&last); err != nil {
			return err
		}
		if last.Int64 < int64(next) {
			time.Sleep(time.Millisecond)
			continue
		}
		var numbers []int
		for ; next <= int(last.Int64) && len(numbers) < perDelete; next++ {
			numbers = append(numbers, next)
		}
		list, err := json.Marshal(numbers)
		if err != nil {
			return err
		}
		result, err := remove.ExecContext(ctx, string(list))
		if err != nil {
			return err
		}
		if deleted, err := result.RowsAffected(); err != nil || deleted != int64(len(numbers)) {
			return errors.Join(err, fmt.Errorf("%d of %d rows were deleted", deleted, len(numbers)))
		}
	}
	return nil
}

func (f *plainFile) close() error { return f.insert.Close() }
