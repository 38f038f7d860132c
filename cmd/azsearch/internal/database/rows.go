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
// is quoted. The query runs read-only, and ends with ctx or Close. With column the rows are ordered by it, and begin at
// the key from, which Group returned, unless that is "".
func (p Place) Rows(ctx context.Context, query, column, from string) (_ *Rows, err error) {
	db, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	r := &Rows{db: db, ordered: -1}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: the query: %w", p.shown, err)
			if column != "" {
				err = fmt.Errorf("%w; -resume orders the rows by column %q, which the query must have", err, column)
			}
			_ = r.Close()
		}
	}()
	var args []any
	if column != "" {
		if query, args, err = ordered(query, column, from); err != nil {
			return nil, err
		}
	}
	ctx, r.cancel = context.WithCancel(ctx)
	if p.Dialect == outbox.PostgreSQL {
		if r.tx, err = db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
			return nil, err
		}
		r.rows, err = r.tx.QueryContext(ctx, query, args...)
	} else {
		db.SetMaxOpenConns(1)
		if _, err = db.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
			return nil, err
		}
		r.rows, err = db.QueryContext(ctx, query, args...)
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
		if r.cell(i, c.Name()); c.Name() == column {
			r.ordered, r.column = i, column
		}
	}
	r.line.WriteByte('\n')
	r.offset = int64(r.line.Len())
	return r, nil
}

// ordered returns the query with its rows in the order of a column, NULL last. from is the first key.
func ordered(query, column, from string) (string, []any, error) {
	name := `q."` + strings.ReplaceAll(column, `"`, `""`) + `"`
	all := "SELECT * FROM (\n" + strings.TrimRight(query, "; \t\r\n") + "\n) AS q"
	if from == "" {
		return all + " ORDER BY " + name + " NULLS LAST", nil, nil
	}
	key, err := argument(from)
	return all + " WHERE " + name + " >= $1 OR " + name + " IS NULL ORDER BY " + name + " NULLS LAST", []any{key}, err
}

// argument returns a key as a value of the type that it has in the database: SQLite orders all numbers before all text.
func argument(key string) (any, error) {
	if n, err := strconv.ParseInt(key, 10, 64); err == nil {
		return n, nil
	}
	return strconv.Unquote(key)
}

// group is the rows of one key.
type group struct {
	offset int64
	key    string // digits, or a quoted text
}

// Rows is a running query.
type Rows struct {
	db     *sql.DB
	tx     *sql.Tx // PostgreSQL only
	rows   *sql.Rows
	cancel context.CancelFunc

	boolean []bool // by column: SQLite returns 0 or 1 for a boolean
	values  []any
	into    []any        // pointers to values
	line    bytes.Buffer // the unread part of the current row

	ordered int // the column by which the rows are ordered, or -1
	column  string
	offset  int64   // of the next row
	groups  []group // since the last call of Group
}

// Group implements source.Rows.
func (r *Rows) Group(before int64) (offset int64, key string) {
	n := 0
	for n < len(r.groups) && r.groups[n].offset < before {
		n++
	}
	if n == 0 {
		return 0, ""
	}
	last := r.groups[n-1]
	r.groups = append(r.groups[:0], r.groups[n-1:]...)
	return last.offset, last.key
}

// begin notes the key of the row that was read. The key NULL begins no group: its rows are last, and always repeated.
func (r *Rows) begin() error {
	if r.ordered < 0 {
		return nil
	}
	var key string
	switch v := r.values[r.ordered].(type) {
	case nil:
		return nil
	case int64:
		key = strconv.FormatInt(v, 10)
	case string:
		key = strconv.Quote(v)
	default:
		return fmt.Errorf("-resume continues at a key that is text or a whole number, and column %q has another type: convert it in the query, as by CAST(%[1]s AS TEXT)", r.column)
	}
	if n := len(r.groups); n == 0 || r.groups[n-1].key != key {
		r.groups = append(r.groups, group{r.offset, key})
	}
	return nil
}

// Read implements io.Reader.
func (r *Rows) Read(b []byte) (int, error) {
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
		if err := r.begin(); err != nil {
			return 0, err
		}
		r.line.Reset()
		for i, v := range r.values {
			r.cell(i, v)
		}
		r.line.WriteByte('\n')
		r.offset += int64(r.line.Len())
	}
	return r.line.Read(b)
}

// cell appends one cell to the line.
func (r *Rows) cell(column int, value any) {
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
func (r *Rows) Close() error {
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
