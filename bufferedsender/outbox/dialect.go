package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
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

// dialect is what differs between databases. In statements {t} is the prefix of the tables,
// {now} the expression of the time and ?1, ?2, … are the arguments.
type dialect struct {
	name Dialect
	now  string // milliseconds since 1970; tests replace it
	// dollar: arguments are $1, $2; otherwise they stay as they are.
	dollar bool
	// begin starts a transaction that writes. If it steers the planner, reads and deletes
	// need one too: estimates of a table that is empty now and has a million rows a minute
	// later are always wrong, and prepared statements keep the plan.
	begin  string
	steers bool
	// alter starts a transaction that changes tables or triggers. It does not steer the planner: catalogs have no index
	// for some of what is asked, and a sequential scan that is forbidden costs so much that PostgreSQL compiles the
	// query, for seconds.
	alter string
	// tidy is run by a relay after it has deleted rows, at most once each tidyEvery, with what makes statements
	// for its table. An error has it come again.
	tidy      func(ctx context.Context, c *sql.Conn, text func(string) string) error
	tidyEvery time.Duration
	// advice says in words what of the application's settings will hurt, "" for nothing.
	advice func(ctx context.Context, db Queryer) (string, error)
	// lists turns values into one argument for statements that take a list of them.
	lists listing

	schema []string                       // a version of the schema each; see migrate.go
	ring   func(every time.Duration) ring // nil: there are no partitions
	// lock keeps two from migrating at once, "" where begin does.
	lock    string
	version string   // what the server says it is
	others  []string // what the names of indexes and sequences end with
	missing string   // the names of those of ?1 that are no tables
	faults  string   // of a schema that is there, in words; "" if nothing can be wrong

	insert, insertMany          string // queue, class, then key, op, body
	insertRow                   string // what an insert has for each further row, "" if it takes lists of any number
	notify                      string // added to an insert, with {channel}
	arm                         string // of a read: rows of class {class} above {after}
	fetch                       string // rows by number
	earlier, earlierFirst       string // rows of keys below numbers, of the classes above 0, of class 0
	held                        string // a common table expression: the ranges that the owner still holds, locked
	remove, bury, tried         string
	tombs, mark                 string
	renew, acquire              string
	last, writers               string // for the floor; no writers: the order of numbers is that of commits
	ensureTrigger, dropTrigger  func(ctx context.Context, db *sql.DB, p triggerParts) error
	contains, purge, tombstones string // by keys
	oldestTransaction           string
	estimate                    string
}

// dialects are all there are.
var dialects = map[Dialect]*dialect{PostgreSQL: &postgresDialect, SQLite: &sqliteDialect}

// of returns the data of a dialect.
func (d Dialect) data() (*dialect, error) {
	if known := dialects[d]; known != nil {
		return known, nil
	}
	switch name := strings.ToLower(string(d)); {
	case name == "":
		return nil, fmt.Errorf("no Dialect: use outbox.PostgreSQL or outbox.SQLite")
	case strings.Contains(name, "mysql") || strings.Contains(name, "maria"):
		return nil, fmt.Errorf("the dialect %q is not supported: under REPEATABLE READ, the default of MySQL and MariaDB, gap locks make deletes wait for inserts. Use PostgreSQL or SQLite", string(d))
	default:
		return nil, fmt.Errorf("the dialect %q is not known: use outbox.PostgreSQL or outbox.SQLite", string(d))
	}
}

// text returns a statement for a prefix.
func (d *dialect) text(statement, prefix string) string {
	statement = strings.NewReplacer("{t}", prefix, "{now}", d.now).Replace(statement)
	if d.dollar {
		return strings.ReplaceAll(statement, "?", "$")
	}
	return statement
}

// listing writes lists of values as one argument: databases have no common way to take one.
type listing struct {
	numbers func([]int64) string
	// records writes rows of values as one argument for each column, or as one for all.
	records func(columns ...[]any) []any
	// exactly writes which rows to delete: their class, number and time.
	exactly func(rows []row) []any
}
