package sqlkit

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// Execer runs a statement: a *sql.DB, a *sql.Conn or a *sql.Tx.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Queryer runs statements and queries.
type Queryer interface {
	Execer
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Reader runs queries.
type Reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// One reads a single value.
func One(ctx context.Context, db Reader, into any, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := rows.Scan(into); err != nil {
		return err
	}
	return rows.Close()
}

// Texts reads a column.
func Texts(ctx context.Context, db Queryer, query string, args ...any) ([]string, error) {
	var all []string
	err := Each(ctx, db, func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		all = append(all, s)
		return err
	}, query, args...)
	return all, err
}

// ErrEnough ends Each without an error.
var ErrEnough = errors.New("enough")

// Each calls scan for each row.
func Each(ctx context.Context, db Queryer, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); errors.Is(err, ErrEnough) {
			break
		} else if err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// OnConn calls f with its own connection. After an error the connection is dropped: its server may have become
// read-only by a failover (SQLSTATE 25006), or may be gone, and a new connection costs little.
func OnConn(ctx context.Context, db *sql.DB, f func(*sql.Conn) error) error {
	c, err := Conn(ctx, db)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := f(c); err != nil {
		Drop(c)
		return err
	}
	return nil
}

// ConnPatience is the maximum wait for a connection.
const ConnPatience = 5 * time.Second

// Conn waits for a connection from a pool.
func Conn(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	within, cancel := context.WithTimeout(ctx, ConnPatience)
	defer cancel()
	c, err := db.Conn(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("no connection within %v: the database does not answer, or all connections of the pool are in use; allow more with SetMaxOpenConns: %w", ConnPatience, err)
	}
	return c, err
}

// Drop removes a connection from its pool.
func Drop(c *sql.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn }) // Raw returns this error
}

// InTransaction calls f in a transaction started by begin, which may write from its beginning, and commits it.
func InTransaction(ctx context.Context, db *sql.DB, begin string, f func(*sql.Conn) error) error {
	return OnConn(ctx, db, func(c *sql.Conn) error {
		if _, err := c.ExecContext(ctx, begin); err != nil {
			return err
		}
		err := f(c)
		if err == nil {
			_, err = c.ExecContext(ctx, `COMMIT`)
		}
		if err != nil {
			undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_, _ = c.ExecContext(undo, `ROLLBACK`) // the connection is also dropped
		}
		return err
	})
}
