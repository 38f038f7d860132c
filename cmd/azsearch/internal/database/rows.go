package database

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// Is reports whether an argument is the URL of a database, not a file.
func Is(argument string) bool {
	scheme, _, _ := strings.Cut(argument, ":")
	return scheme == "postgres" || scheme == "postgresql" || scheme == "sqlite"
}

// Rows returns the rows of a query as CSV: a header, then one line per row. NULL is an empty cell; every other value
// is quoted. The query runs read-only, and ends with ctx or Close.
func (p Place) Rows(ctx context.Context, query string) (_ io.ReadCloser, err error) {
	db, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	r := &rows{db: db}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: the query: %w", p.shown, err)
			_ = r.Close()
		}
	}()
	ctx, r.cancel = context.WithCancel(ctx)
	if p.Dialect == outbox.PostgreSQL {
		if r.tx, err = db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
			return nil, err
		}
		r.rows, err = r.tx.QueryContext(ctx, query)
	} else {
		db.SetMaxOpenConns(1)
		if _, err = db.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
			return nil, err
		}
		r.rows, err = db.QueryContext(ctx, query)
	}
	if err != nil {
		return nil, err
	}
	columns, err := r.rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, errors.New("the query returns no columns; use a SELECT")
	}
	r.values, r.into = make([]any, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		r.into[i] = &r.values[i]
		r.boolean = append(r.boolean, strings.HasPrefix(c.DatabaseTypeName(), "BOOL"))
		r.cell(i, c.Name())
	}
	r.line.WriteByte('\n')
	return r, nil
}

// rows is a running query.
type rows struct {
	db     *sql.DB
	tx     *sql.Tx // PostgreSQL only
	rows   *sql.Rows
	cancel context.CancelFunc

	boolean []bool // by column: SQLite returns 0 or 1 for a boolean
	values  []any
	into    []any        // pointers to values
	line    bytes.Buffer // the unread part of the current row
}

// Read implements io.Reader.
func (r *rows) Read(b []byte) (int, error) {
	for r.line.Len() == 0 {
		if !r.rows.Next() {
			if err := r.rows.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		if err := r.rows.Scan(r.into...); err != nil {
			return 0, err
		}
		r.line.Reset()
		for i, v := range r.values {
			r.cell(i, v)
		}
		r.line.WriteByte('\n')
	}
	return r.line.Read(b)
}

// cell appends one cell to the line.
func (r *rows) cell(column int, value any) {
	if column > 0 {
		r.line.WriteByte(',')
	}
	var text string
	switch v := value.(type) {
	case nil:
		return
	case string:
		text = v
	case []byte:
		text = string(v)
	case time.Time:
		text = v.Format(time.RFC3339Nano)
	case int64:
		text = strconv.FormatInt(v, 10)
		if r.boolean[column] {
			text = strconv.FormatBool(v != 0)
		}
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		text = fmt.Sprint(v)
	}
	r.line.WriteByte('"')
	r.line.WriteString(strings.ReplaceAll(text, `"`, `""`))
	r.line.WriteByte('"')
}

// Close implements io.Closer.
func (r *rows) Close() error {
	if r.cancel != nil {
		r.cancel() // stop a query that is still running
	}
	if r.rows != nil {
		_ = r.rows.Close() // Read has returned its error
	}
	if r.tx != nil {
		_ = r.tx.Rollback()
	}
	return r.db.Close()
}
