package outbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// one reads a single value.
func one(ctx context.Context, db Queryer, into any, query string, args ...any) error {
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

// texts reads a column.
func texts(ctx context.Context, db Queryer, query string, args ...any) ([]string, error) {
	var all []string
	err := each(ctx, db, func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		all = append(all, s)
		return err
	}, query, args...)
	return all, err
}

// errEnough ends each without an error.
var errEnough = errors.New("enough")

// each calls scan for each row.
func each(ctx context.Context, db Queryer, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); errors.Is(err, errEnough) {
			break
		} else if err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// onConn calls f with a connection of its own. After an error the connection is not used
// again: it may lead to a server that has become read-only by a failover (SQLSTATE 25006), or to none, and
// whatever the reason, making another costs little.
func onConn(ctx context.Context, db *sql.DB, f func(*sql.Conn) error) error {
	c, err := pooled(ctx, db)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := f(c); err != nil {
		drop(c)
		return err
	}
	return nil
}

// connPatience is how long a connection is waited for.
const connPatience = 5 * time.Second

// pooled waits for a connection of a pool.
func pooled(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	within, cancel := context.WithTimeout(ctx, connPatience)
	defer cancel()
	c, err := db.Conn(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("no connection within %v: the database does not answer, or others have all connections of its pool, of which a relay needs four: %w", connPatience, err)
	}
	return c, err
}

// drop has the pool forget a connection.
func drop(c *sql.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn }) // it returns that very error
}

// steered calls f on a connection, in a transaction if the planner has to be steered.
func steered(ctx context.Context, c *sql.Conn, d *dialect, f func() error) error {
	if !d.steers {
		return f()
	}
	if _, err := c.ExecContext(ctx, d.begin); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err // and the connection is dropped
	}
	_, err := c.ExecContext(ctx, `COMMIT`)
	return err
}

// inTransaction calls f in a transaction, which begin starts and which may write from its beginning, and commits.
func inTransaction(ctx context.Context, db *sql.DB, begin string, f func(*sql.Conn) error) error {
	return onConn(ctx, db, func(c *sql.Conn) error {
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
			_, _ = c.ExecContext(undo, `ROLLBACK`) // the connection is dropped as well
		}
		return err
	})
}
