package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// SchemaOptions describes the tables of an outbox. nil is ready to use.
type SchemaOptions struct {
	// Prefix is that of Table. Defaults to "azsearch_outbox".
	Prefix string
	// Rotate is for queues of thousands of rows a second on PostgreSQL, where a long transaction blocks vacuum. Rows go
	// into one of four partitions, into each for this time (at least ten seconds; a minute is a good value), and relays
	// truncate empty partitions. A relay that does not own the partitions (…_r0 to …_r3) needs SELECT and TRUNCATE on
	// each. Migrate converts a table without partitions while no program writes: if writing transactions have not ended
	// after two seconds, or the table has row-level security, triggers or views, it returns an error and changes
	// nothing. Your own indexes are not taken over. 0, the default, means one table, and leaves existing partitions
	// unchanged.
	Rotate time.Duration
}

// plan is a checked dialect and prefix.
type plan struct {
	data   *dialect
	prefix string
	rotate time.Duration
}

func (o *SchemaOptions) plan(d Dialect) (plan, error) {
	p := plan{prefix: defaultPrefix}
	var err error
	if p.data, err = d.data(); err != nil {
		return p, fmt.Errorf("outbox: %w", err)
	}
	if o != nil && o.Prefix != "" {
		p.prefix = o.Prefix
	}
	if err := checkPrefix(p.data, p.prefix); err != nil {
		return p, fmt.Errorf("outbox: %w", err)
	}
	if o != nil {
		p.rotate = o.Rotate
	}
	switch {
	case p.rotate == 0:
	case p.data.ring == nil:
		return p, fmt.Errorf("outbox: the option Rotate is for PostgreSQL: %s has no partitions", d)
	case p.rotate < minRotate || p.rotate%time.Second != 0:
		return p, fmt.Errorf("outbox: the option Rotate is %v: it takes whole seconds, %v at least, or 0 for one table without partitions", p.rotate, minRotate)
	}
	return p, nil
}

func (p plan) text(statement string) string {
	index := p.prefix[strings.IndexByte(p.prefix, '.')+1:]
	return p.data.Text(strings.ReplaceAll(statement, "{i}", index), p.prefix)
}

// suffixes are the suffixes of the names of tables.
var suffixes = []string{"", "_lease", "_queue", "_dead", "_tombstone", "_version"}

// columns are the columns of each table.
var columns = map[string]string{
	"": "queue, class, seq, key, bucket, op, body, written, attempts", "_lease": "queue, slot, owner, epoch, expires", "_queue": "queue, paused",
	"_dead":      "queue, seq, class, key, op, body, written, attempts, status, reason, message, died, newer",
	"_tombstone": "queue, key, seq, died", "_version": "version",
}

// Schema returns the statements of Migrate, for your own migrations.
func Schema(d Dialect, opts *SchemaOptions) (string, error) {
	p, err := opts.plan(d)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, version := range p.data.schema {
		fmt.Fprintf(&b, "-- version %d\n", i+1)
		for _, statement := range p.statements(version) {
			fmt.Fprintf(&b, "%s;\n\n", p.text(statement))
		}
	}
	for _, statement := range p.versioned() {
		fmt.Fprintf(&b, "%s;\n", statement)
	}
	return b.String(), nil
}

// Migrate makes the tables, or updates those of an older version, in one transaction. Call it at each start, from any
// number of processes at once. If nothing needs a change, it only reads the version table, and waits for no writer. On
// PostgreSQL a change waits for transactions that use the tables for two seconds, or for the lock_timeout of the
// session; then Migrate returns an error and has changed nothing. On SQLite it waits for the busy_timeout of the
// connection, at least five seconds. When the tables are made, roles that may update the table of leases get SELECT and
// INSERT on that of the nonce.
func Migrate(ctx context.Context, db *sql.DB, d Dialect, opts *SchemaOptions) error {
	p, err := opts.plan(d)
	if err != nil {
		return err
	}
	if err := present(db); err != nil {
		return err
	}
	err = p.data.Migrate(ctx, db, p.migration())
	switch {
	case err == nil:
		return nil
	case sqlkit.Classify(err) == sqlkit.LockTimeout:
		return fmt.Errorf("outbox: migrating: got no lock within the lock_timeout, and changed nothing; end the transactions that use the tables %s… (pg_stat_activity lists them), then call it again: %w", p.prefix, err)
	}
	return fmt.Errorf("outbox: migrating: %s%w", sqlkit.Advice(err), err)
}

// lockPatience is how long, on PostgreSQL, a change of a table waits for writers; later writers wait behind it.
const lockPatience = "2s"

func (p plan) migration() sqlkit.Migration {
	return sqlkit.Migration{Table: p.prefix, Lock: 7062, Patience: lockPatience, Settled: p.settled, Change: p.change}
}

// change brings the tables up to date.
func (p plan) change(ctx context.Context, c *sql.Conn) error {
	have, err := p.have(ctx, c)
	if err != nil {
		return err
	}
	if have > len(p.data.schema) {
		return fmt.Errorf("tables %s… have version %d, want at most %d; use a newer program", p.prefix, have, len(p.data.schema))
	}
	for _, version := range p.data.schema[have:] {
		for _, statement := range p.statements(version) {
			if err := sqlkit.Run(ctx, c, p.text(statement)); err != nil {
				return err
			}
		}
	}
	if err := p.turn(ctx, c); err != nil || have == len(p.data.schema) {
		return err
	}
	return sqlkit.Run(ctx, c, p.versioned()...)
}

// settled reports whether nothing needs a change. It takes no lock that would make writers, or other starting programs,
// wait.
func (p plan) settled(ctx context.Context, db sqlkit.Queryer) (bool, error) {
	have, err := p.have(ctx, db)
	if err != nil || have != len(p.data.schema) || p.rotate == 0 {
		return err == nil && have == len(p.data.schema), err
	}
	part, err := p.part(ctx, db)
	return strings.Contains(part, p.data.ring(p.rotate).turns), err
}

// versioned returns the statements that write the version of the tables. If they are run one by one, a version exists
// at every moment, and a newer version is kept.
func (p plan) versioned() []string {
	return []string{
		p.text(fmt.Sprintf(`INSERT INTO {t}_version (version) SELECT %d WHERE NOT EXISTS (SELECT 1 FROM {t}_version WHERE version >= %[1]d)`, len(p.data.schema))),
		p.text(fmt.Sprintf(`DELETE FROM {t}_version WHERE version < %d`, len(p.data.schema))),
	}
}

// have returns the version of the tables, 0 if there are none.
func (p plan) have(ctx context.Context, db Queryer) (int, error) {
	missing, err := p.missing(ctx, db, slices.Concat(suffixes, p.data.others))
	if err != nil || len(missing) > 0 {
		return 0, err
	}
	var version sql.NullInt64
	err = sqlkit.One(ctx, db, &version, p.text(`SELECT max(version) FROM {t}_version`))
	return int(version.Int64), err
}

// missing returns the names of missing tables, indexes and sequences.
func (p plan) missing(ctx context.Context, db Queryer, of []string) ([]string, error) {
	names := make([]string, len(of))
	for i, suffix := range of {
		names[i] = p.prefix + suffix
	}
	return p.data.NotThere(ctx, db, names...)
}

// Check returns nil if the tables are as Migrate makes them; otherwise an error that lists what is missing, and how to
// fix it. It changes nothing.
func Check(ctx context.Context, db Queryer, d Dialect, opts *SchemaOptions) error {
	p, err := opts.plan(d)
	if err != nil {
		return err
	}
	if err := present(db); err != nil {
		return err
	}
	if err := p.data.Recognize(ctx, db); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	missing, err := p.missing(ctx, db, suffixes)
	if err == nil && len(missing) == 0 {
		missing, err = p.missing(ctx, db, p.data.others)
	}
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if len(missing) > 0 {
		return fmt.Errorf("outbox: %w: missing %s; call outbox.Migrate, or run what outbox.Schema returns", ErrSchema, strings.Join(missing, ", "))
	}
	for _, suffix := range suffixes {
		_, err := sqlkit.Texts(ctx, db, "SELECT '' FROM (SELECT "+columns[suffix]+" FROM "+p.prefix+suffix+" LIMIT 0) c")
		switch sqlkit.Classify(err) {
		case sqlkit.OtherTable, sqlkit.NoTable:
			return fmt.Errorf("outbox: %w: table %s%s has other columns: %w", ErrSchema, p.prefix, suffix, err)
		case sqlkit.Denied:
			return fmt.Errorf("outbox: %w: the role may not read table %s%s; have its owner grant SELECT: %w", ErrSchema, p.prefix, suffix, err)
		}
		if err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
	}
	have, err := p.have(ctx, db)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if have != len(p.data.schema) {
		return fmt.Errorf("outbox: %w: tables %s… have version %d, want %d; call outbox.Migrate, or use a newer program", ErrSchema, p.prefix, have, len(p.data.schema))
	}
	if p.rotate > 0 {
		if part, err := p.part(ctx, db); err != nil {
			return fmt.Errorf("outbox: %w", err)
		} else if part == "" {
			return fmt.Errorf("outbox: %w: %s has no partitions, which the option Rotate asks for: call outbox.Migrate with it", ErrSchema, p.prefix)
		}
	}
	return p.faulty(ctx, db)
}

// faulty returns faults of existing tables. While Migrate gives the table partitions its name may already be, or still
// be, that of a table that the snapshot of the statement does not have: then the query says nothing about it.
func (p plan) faulty(ctx context.Context, db Queryer) error {
	if p.data.faults == "" {
		return nil
	}
	faults, err := sqlkit.Texts(ctx, db, p.text(p.data.faults))
	switch {
	case err != nil:
		return fmt.Errorf("outbox: %w", err)
	case len(faults) > 0:
		return fmt.Errorf("outbox: %w: %s", ErrSchema, strings.Join(faults, "; "))
	}
	return nil
}

// ErrSchema reports that the tables do not exist, or are not as Migrate makes them.
var ErrSchema = errors.New("outbox tables are missing or not as expected")

// ErrDialect reports that the Dialect is not that of the database.
var ErrDialect = sqlkit.ErrDialect
