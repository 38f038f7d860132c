package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// Dialect is the kind of database of an outbox.
type Dialect string

// The supported dialects.
const (
	// PostgreSQL is version 12 or newer, with any driver of database/sql (pgx, lib/pq). It also works behind PgBouncer
	// in transaction mode if the driver prepares no statements there: with pgx, default_query_exec_mode=exec.
	PostgreSQL Dialect = "postgresql"
	// SQLite is version 3.38 or newer, with any driver of database/sql.
	SQLite Dialect = "sqlite"
)

// Buckets is the number of buckets into which the keys of a queue are hashed. It never changes.
const Buckets = 1024

// ranges is the number of ranges of buckets for leases: more relays than that have nothing to do.
const (
	ranges       = 64
	rangeBuckets = Buckets / ranges
)

// classes is the number of classes of service of rows.
const classes = 8

// dialect is the part of a dialect that only the outbox needs. See sqlkit.Dialect for the rest, and for the
// replacements that its Text makes in statements.
type dialect struct {
	*sqlkit.Dialect
	// steer is added to the beginning of a transaction. If it is not "", reads and deletes need a transaction too: the
	// table may be empty now and have a million rows a minute later, so its estimates are always wrong, and prepared
	// statements keep the plan. A transaction that changes tables is not steered: catalogs lack indexes for some of its
	// queries, and a forbidden sequential scan has such a high cost that PostgreSQL compiles the query, which takes
	// seconds. It also ends a transaction that is left open: the lock that a frozen process holds on its ranges would
	// keep them from others.
	steer string
	// tidy is run by a relay after it has deleted rows, at most once each tidyEvery. text makes statements for its
	// table. After an error it is run again later.
	tidy      func(ctx context.Context, c *sql.Conn, text func(string) string) error
	tidyEvery time.Duration
	// advice returns which settings of applications and servers will cause problems, "" for none.
	advice func(ctx context.Context, db Queryer, text func(string) string) (string, error)
	// exactly returns the arguments that identify rows to delete: their class, number and time.
	exactly func(rows []row) []any

	schema []string                       // one version of the schema each; see migrate.go
	ring   func(every time.Duration) ring // nil: there are no partitions
	others []string                       // suffixes of the names of indexes and sequences
	faults string                         // query for faults of an existing schema, in words; "" if there can be none

	insertRow                  string // what an insert has for each further row, "" if it takes lists of any length
	notify                     string // added to an insert, with {channel}
	arm                        string // of a read: rows of class {class} above {after}, {also}
	earlier, earlierFirst      string // rows of keys below numbers, of the classes above 0, of class 0
	remove, bury, tried        string // for rows in ranges that the owner still holds: see held
	last, writers              string // for the floor, with the identity of the server; no writers: the order of numbers is that of commits
	server                     recognized
	ensureTrigger, dropTrigger func(ctx context.Context, db *sql.DB, p triggerParts) error
	oldestTransaction          string
	estimate                   string
}

// recognized holds the expressions by which a relay recognizes the server that gave its numbers.
type recognized struct {
	identity string // an expression
	mint     string // fills an empty identity; "" if it cannot be empty
	behind   string // returns faults of the sequence; "" if there can be none
	path     string // asks for its file; "" if there is none
}

// dialects are all dialects.
var dialects = map[Dialect]*dialect{PostgreSQL: &postgresDialect, SQLite: &sqliteDialect}

// data returns the data of a dialect.
func (d Dialect) data() (*dialect, error) {
	if _, err := sqlkit.Named(string(d), "outbox"); err != nil {
		return nil, err
	}
	known := dialects[d]
	if known == nil {
		return nil, fmt.Errorf("no statements for dialect %q; use outbox.PostgreSQL or outbox.SQLite", string(d))
	}
	return known, nil
}

// begin starts a transaction that writes rows.
func (d *dialect) begin() string { return d.Begin + d.steer }

// steered calls f on a connection, in a transaction if the planner must be steered.
func steered(ctx context.Context, c *sql.Conn, d *dialect, f func() error) error {
	if d.steer == "" {
		return f()
	}
	if _, err := c.ExecContext(ctx, d.begin()); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err // and the connection is dropped
	}
	_, err := c.ExecContext(ctx, `COMMIT`)
	return err
}
