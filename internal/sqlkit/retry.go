package sqlkit

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	busyPatience = 5 * time.Second // minimum wait for a file that is in use
	busyRests    = 50 * time.Millisecond
	undoneTries  = 10
	undoneRests  = 5 * time.Millisecond // after the first; then twice, three times as long
)

// Retry calls f, which executes one statement or one transaction. It calls f again if the database has undone the work:
// for Undone and the classes in also, up to ten times; for Busy, until five seconds have passed. The time-out of an
// SQLite driver is not enough: a process that opens a new file while another one switches it to WAL gets "database is
// locked" at once. If ctx ends during the retries, the error has both causes.
func Retry(ctx context.Context, f func() error, also ...Class) error {
	var last error
	for n, began := 1, time.Now(); ; n++ {
		err := f()
		if err != nil && last != nil && ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), last)
		}
		class, rests := Classify(err), busyRests
		switch {
		case class == Busy && time.Since(began) <= busyPatience:
		case (class == Undone || slices.Contains(also, class)) && n < undoneTries:
			rests = time.Duration(n) * undoneRests
		default:
			return err
		}
		last = err
		select {
		case <-time.After(rests):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), last)
		}
	}
}

// Exec executes a statement with Retry, outside of a transaction, and returns how many rows it changed.
func Exec(ctx context.Context, db *sql.DB, statement string, args ...any) (n int64, err error) {
	err = Retry(ctx, func() error {
		done, err := db.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, err
}

// Migration changes tables.
type Migration struct {
	// Table and Lock identify the lock shared by processes that make the same migration.
	Table string
	Lock  int
	// Patience bounds the wait for a table in a session without a lock_timeout, for example "2s".
	Patience string
	// Settled reports whether nothing needs a change. It must not take a lock for which a writer would have to wait.
	Settled func(ctx context.Context, db Queryer) (bool, error)
	// Change runs in a transaction, in one process at a time. Another process may have made the change since Settled
	// was called.
	Change func(ctx context.Context, c *sql.Conn) error
}

// Migrate changes tables in one transaction, or does nothing if they are settled. It refuses a database of another
// kind. A process that dies at any point has changed nothing, or everything.
func (d *Dialect) Migrate(ctx context.Context, db *sql.DB, m Migration) error {
	return Retry(ctx, func() error {
		if err := d.Recognize(ctx, db); err != nil {
			return err
		}
		if settled, err := m.Settled(ctx, db); err != nil || settled {
			return err
		}
		return InTransaction(ctx, db, d.Begin, func(c *sql.Conn) error {
			if d.Alone != "" {
				if _, err := c.ExecContext(ctx, d.AloneText(m)); err != nil {
					return err
				}
			}
			return m.Change(ctx, c)
		})
	}, Duplicate)
}

// AloneText returns the statement Alone for a migration.
func (d *Dialect) AloneText(m Migration) string {
	return d.Text(strings.NewReplacer("{lock}", fmt.Sprint(m.Lock), "{patience}", m.Patience).Replace(d.Alone), m.Table)
}

// Run runs statements one after the other.
func Run(ctx context.Context, c *sql.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
