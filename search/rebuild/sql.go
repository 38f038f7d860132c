package rebuild

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// Dialect is the kind of database of an SQL store.
type Dialect string

// Supported dialects.
const (
	// PostgreSQL is version 12 or newer, with any driver of database/sql. Connect to the primary.
	PostgreSQL Dialect = "postgresql"
	// SQLite is version 3.38 or newer, with any driver of database/sql. Set busy_timeout to some seconds, and journal_mode
	// to WAL. SQLite is not fair to waiting writers. If a process writes without a pause, let all its parts share one
	// *sql.DB with SetMaxOpenConns(1), which queues them.
	SQLite Dialect = "sqlite"
)

// SQLOptions configures NewSQL.
type SQLOptions struct {
	// Dialect is the kind of the database. Required.
	Dialect Dialect
	// Name identifies what is rebuilt: all stores with this name share a record. Stores with other names may share the
	// tables. The name of the alias is a good choice. Required.
	Name string
	// Prefix begins the names of the tables: letters, digits and underscores, optionally with a schema and a point before
	// them. Defaults to "azsearch_rebuild".
	Prefix string
}

// SQL is a Store in a database: one row for the record, one for each mark, one for each writer. It is safe for
// concurrent use, and does not close the database.
type SQL struct {
	db   *sql.DB
	opts SQLOptions
	*sqlDialect

	mu   sync.Mutex
	walk walk
}

// walk is a cursor for Marked: keys up to from have no marks of rounds up to last. Without it each Marked would scan
// marks of later rounds, and dead rows. It is only an optimization: before Marked returns nothing it scans from the
// beginning.
type walk struct {
	last int64
	from string   // no marks up to this key
	keys []string // the last result, behind from
}

// NewSQL returns a store in db. It sends no query; see CreateTables. The error names every invalid option.
func NewSQL(db *sql.DB, opts SQLOptions) (*SQL, error) {
	var errs []error
	if db == nil {
		errs = append(errs, errors.New("db is nil: open one with sql.Open"))
	}
	if opts.Name == "" {
		errs = append(errs, errors.New("SQLOptions.Name is empty: set it, for example to the name of the alias"))
	}
	if opts.Prefix == "" {
		opts.Prefix = "azsearch_rebuild"
	}
	if !sqlkit.PlainName(opts.Prefix, 40) {
		errs = append(errs, fmt.Errorf("SQLOptions.Prefix is %q: use up to 40 letters, digits and underscores, with a schema and a point before them if wanted", opts.Prefix))
	}
	s := &SQL{db: db, opts: opts}
	if _, err := sqlkit.Named(string(opts.Dialect), "rebuild"); err != nil {
		errs = append(errs, fmt.Errorf("SQLOptions.Dialect: %w", err))
	} else if s.sqlDialect = sqlDialects[opts.Dialect]; s.sqlDialect == nil {
		errs = append(errs, fmt.Errorf("SQLOptions.Dialect is %q, for which a store has no statements: use rebuild.PostgreSQL or rebuild.SQLite", opts.Dialect))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("rebuild: %w", err)
	}
	return s, nil
}

// text returns a statement of this store.
func (s *SQL) text(statement string) string { return s.Text(statement, s.opts.Prefix) }

// failed wraps the error of a call, with the remedy if tables are missing.
func (s *SQL) failed(what string, err error) error {
	if sqlkit.Classify(err) == sqlkit.NoTable {
		return fmt.Errorf("rebuild: %s: tables %s… are missing; call SQL.CreateTables%s: %w", what, s.opts.Prefix, s.MissingHint, err)
	}
	return fmt.Errorf("rebuild: %s: %s%w", what, sqlkit.Advice(err), err)
}

// Load implements Store.
func (s *SQL) Load(ctx context.Context) (Record, error) {
	var version int64
	var body string
	err := s.db.QueryRowContext(ctx, s.text(`SELECT version, body FROM {t} WHERE name = ?1`), s.opts.Name).Scan(&version, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, s.failed("reading the record", err)
	}
	return decodeRecord(version, body)
}

func decodeRecord(version int64, body string) (r Record, err error) {
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return Record{}, fmt.Errorf("rebuild: the record is malformed: %w", err)
	}
	r.Version = version
	return r, nil
}

// Swap implements Store. The version of a first record is the time in microseconds, so that a record created after a
// loss is newer than the lost one.
func (s *SQL) Swap(ctx context.Context, next Record) (Record, error) {
	body, err := json.Marshal(next)
	if err != nil {
		return Record{}, fmt.Errorf("rebuild: %w", err)
	}
	statement, version := s.swap, next.Version
	if version == 0 {
		// A lost record had a lower version: it began at an earlier time, and each change takes over a microsecond.
		statement, version = `INSERT INTO {t} (name, version, body) VALUES (?1, ?3, ?2) ON CONFLICT DO NOTHING`, time.Now().UnixMicro()
		next.Version = version - 1
	}
	n, err := sqlkit.Exec(ctx, s.db, s.text(statement), s.opts.Name, string(body), version)
	if err != nil {
		return Record{}, s.failed("changing the record", err)
	}
	if n == 0 {
		return Record{}, ErrChanged
	}
	next.Version++
	return next, nil
}

// Mark implements Store.
func (s *SQL) Mark(ctx context.Context, epoch int64, keys []string) (round int64, err error) {
	err = sqlkit.Retry(ctx, func() error {
		round, err = s.mark(ctx, s, epoch, sorted(keys))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrStale
	}
	if err != nil {
		return 0, s.failed("marking keys", err)
	}
	return round, nil
}

// sorted returns keys in order: two transactions that insert the same keys in one order cannot deadlock.
func sorted(keys []string) []any { return sqlkit.Anys(slices.Sorted(slices.Values(keys))) }

// Marked implements Store.
func (s *SQL) Marked(ctx context.Context, last int64, limit int) ([]string, error) {
	s.mu.Lock()
	var from string
	if s.walk.last == last {
		from = s.walk.from
	}
	s.mu.Unlock()
	keys, err := s.markedBehind(ctx, from, last, limit)
	if err == nil && len(keys) == 0 && from != "" {
		from = ""
		keys, err = s.markedBehind(ctx, from, last, limit)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.walk = walk{last, from, slices.Clone(keys)}
	return keys, nil
}

// markedBehind returns the first marked keys behind from.
func (s *SQL) markedBehind(ctx context.Context, from string, last int64, limit int) (keys []string, err error) {
	keys, err = sqlkit.Texts(ctx, s.db, s.text(s.read), s.opts.Name, last, from, limit)
	if err != nil {
		return nil, s.failed("reading marks", err)
	}
	return keys, nil
}

// Unmark implements Store.
func (s *SQL) Unmark(ctx context.Context, last int64, keys []string) error {
	if _, err := sqlkit.Exec(ctx, s.db, s.text(s.none), append([]any{s.opts.Name, last}, s.Values(sorted(keys))...)...); err != nil {
		return s.failed("removing marks", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(keys); n > 0 && s.walk.last == last && slices.Equal(keys, s.walk.keys) {
		s.walk = walk{last: last, from: keys[n-1]}
	}
	return nil
}

// Register implements Store.
func (s *SQL) Register(ctx context.Context, writer string, seen time.Time) error {
	if _, err := sqlkit.Exec(ctx, s.db, s.text(`INSERT INTO {t}_writer (name, writer, seen) VALUES (?1, ?2, ?3) ON CONFLICT (name, writer) DO UPDATE SET seen = excluded.seen`),
		s.opts.Name, writer, seen.UnixMilli()); err != nil {
		return s.failed(fmt.Sprintf("registering the writer %q", writer), err)
	}
	return nil
}

// Writers implements Store.
func (s *SQL) Writers(ctx context.Context) (all []Writer, err error) {
	err = sqlkit.Each(ctx, s.db, func(rows *sql.Rows) error {
		var name string
		var seen int64
		err := rows.Scan(&name, &seen)
		all = append(all, Writer{Name: name, Seen: time.UnixMilli(seen)})
		return err
	}, s.text(`SELECT writer, seen FROM {t}_writer WHERE name = ?1 ORDER BY writer`), s.opts.Name)
	if err != nil {
		return nil, s.failed("reading the writers", err)
	}
	return all, nil
}
