package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// Dialect is the kind of database that an outbox is in.
type Dialect string

// The dialects that there are.
const (
	// PostgreSQL is version 12 or newer, by any driver of database/sql (pgx, lib/pq), also
	// behind PgBouncer in transaction mode if the driver prepares no statements there: of pgx
	// default_query_exec_mode=exec.
	PostgreSQL Dialect = "postgresql"
	// SQLite is version 3.38 or newer, by any driver of database/sql.
	SQLite Dialect = "sqlite"
)

// Buckets is how many buckets the keys of a queue fall into, for ever.
const Buckets = 1024

// ranges is how many parts the buckets are leased in: more relays than that have nothing to do.
const (
	ranges       = 64
	rangeBuckets = Buckets / ranges
)

// classes is how many classes of service a row can have.
const classes = 8

// dialect is what differs between databases, and is of the outbox alone: see sqlkit.Dialect for the rest, and for what
// its Text replaces in statements.
type dialect struct {
	*sqlkit.Dialect
	// steer is added to the beginning of a transaction. If it is not "", reads and deletes need one too: estimates of a
	// table that is empty now and has a million rows a minute later are always wrong, and prepared statements keep the
	// plan. A transaction that changes tables is not steered: catalogs have no index for some of what is asked, and a
	// sequential scan that is forbidden costs so much that PostgreSQL compiles the query, for seconds.
	steer string
	// tidy is run by a relay after it has deleted rows, at most once each tidyEvery, with what makes statements
	// for its table. An error has it come again.
	tidy      func(ctx context.Context, c *sql.Conn, text func(string) string) error
	tidyEvery time.Duration
	// advice says in words what of the settings of applications and servers will hurt, "" for nothing.
	advice func(ctx context.Context, db Queryer, text func(string) string) (string, error)
	// exactly are the arguments for which rows to delete: their class, number and time.
	exactly func(rows []row) []any

	schema []string                       // a version of the schema each; see migrate.go
	ring   func(every time.Duration) ring // nil: there are no partitions
	others []string                       // what the names of indexes and sequences end with
	faults string                         // of a schema that is there, in words; "" if nothing can be wrong

	insertRow                  string // what an insert has for each further row, "" if it takes lists of any number
	notify                     string // added to an insert, with {channel}
	arm                        string // of a read: rows of class {class} above {after}, {also}
	earlier, earlierFirst      string // rows of keys below numbers, of the classes above 0, of class 0
	remove, bury, tried        string // of rows in ranges that the owner still holds: see held
	last, writers              string // for the floor, with the identity of the server; no writers: the order of numbers is that of commits
	server                     recognized
	ensureTrigger, dropTrigger func(ctx context.Context, db *sql.DB, p triggerParts) error
	oldestTransaction          string
	estimate                   string
}

// recognized is how a relay recognizes the server of its numbers.
type recognized struct {
	identity string // an expression
	mint     string // fills one that is ""; "" where there is none
	behind   string // says what is wrong with the sequence; "" if nothing can be
	path     string // asks for its file; "" where there is none
}

// dialects are all there are.
var dialects = map[Dialect]*dialect{PostgreSQL: &postgresDialect, SQLite: &sqliteDialect}

// data returns the data of a dialect.
func (d Dialect) data() (*dialect, error) {
	if _, err := sqlkit.Named(string(d), "outbox"); err != nil {
		return nil, err
	}
	known := dialects[d]
	if known == nil {
		return nil, fmt.Errorf("an outbox has no statements for the dialect %q: use outbox.PostgreSQL or outbox.SQLite", string(d))
	}
	return known, nil
}

// begin starts a transaction that writes rows.
func (d *dialect) begin() string { return d.Begin + d.steer }

// steered calls f on a connection, in a transaction if the planner has to be steered.
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
