package rebuild

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Dialect is the kind of database that a SQL store is in.
type Dialect string

// The dialects that there are.
const (
	// PostgreSQL is version 12 or newer, by any driver of database/sql. Connect to the primary.
	PostgreSQL Dialect = "postgresql"
	// SQLite is version 3.38 or newer, by any driver of database/sql. Set busy_timeout to some
	// seconds, and journal_mode to WAL.
	SQLite Dialect = "sqlite"
)

// SQLOptions are the options of NewSQL.
type SQLOptions struct {
	// Dialect must be given.
	Dialect Dialect
	// Name is of what is rebuilt: all stores of one name share a record. Any number of names
	// share the tables. Must be given; the name of the alias is a good one.
	Name string
	// Prefix is what the names of the tables begin with: letters, digits and underscores,
	// with a schema and a point before it if wanted. Defaults to "azsearch_rebuild".
	Prefix string
}

// SQL is a Store in a database: a row for the record, one for each mark, one for each writer.
// It is safe for concurrent use, and closes nothing.
type SQL struct {
	db   *sql.DB
	opts SQLOptions
	lock string // of Mark
	list string // the keys of a list in JSON, which is argument 3
}

var prefixes = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*\.)?[A-Za-z_][A-Za-z0-9_]{0,39}$`)

// NewSQL returns a store in db. It makes no request: see CreateTables. The error names every
// problem of the options at once.
func NewSQL(db *sql.DB, opts SQLOptions) (*SQL, error) {
	var errs []error
	if db == nil {
		errs = append(errs, errors.New("db is nil: open one with sql.Open"))
	}
	if opts.Name == "" {
		errs = append(errs, errors.New("SQLOptions.Name is empty: give what is rebuilt a name, that of the alias for example"))
	}
	if opts.Prefix == "" {
		opts.Prefix = "azsearch_rebuild"
	}
	if !prefixes.MatchString(opts.Prefix) {
		errs = append(errs, fmt.Errorf("SQLOptions.Prefix is %q: use up to 40 letters, digits and underscores, with a schema and a point before them if wanted", opts.Prefix))
	}
	s := &SQL{db: db, opts: opts}
	switch opts.Dialect {
	case PostgreSQL:
		// Swap waits for it, and it for Swap; marks do not wait for each other.
		s.lock = `SELECT body FROM {t} WHERE name = ?1 FOR SHARE`
		s.list = `SELECT value FROM json_array_elements_text(CAST(?3 AS json))`
	case SQLite:
		// A transaction that begins with reading may see what was before Swap, and then fails.
		s.lock = `UPDATE {t} SET name = name WHERE name = ?1 RETURNING body`
		s.list = `SELECT value FROM json_each(?3)`
	default:
		errs = append(errs, fmt.Errorf("SQLOptions.Dialect is %q: use rebuild.PostgreSQL or rebuild.SQLite", opts.Dialect))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("rebuild: %w", err)
	}
	return s, nil
}

// CreateTables creates the three tables if they are not there.
func (s *SQL) CreateTables(ctx context.Context) error {
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS {t} (name TEXT PRIMARY KEY, version BIGINT NOT NULL, body TEXT NOT NULL)`,
		`CREATE TABLE IF NOT EXISTS {t}_mark (name TEXT NOT NULL, round BIGINT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (name, round, key))`,
		`CREATE TABLE IF NOT EXISTS {t}_writer (name TEXT NOT NULL, writer TEXT NOT NULL, seen BIGINT NOT NULL, PRIMARY KEY (name, writer))`,
	} {
		if _, err := s.db.ExecContext(ctx, s.text(statement)); err != nil {
			return fmt.Errorf("rebuild: creating the tables: %w", err)
		}
	}
	return nil
}

// text returns a statement of this store.
func (s *SQL) text(statement string) string {
	statement = strings.ReplaceAll(statement, "{t}", s.opts.Prefix)
	if s.opts.Dialect == PostgreSQL {
		return strings.ReplaceAll(statement, "?", "$")
	}
	return statement
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
		return Record{}, fmt.Errorf("rebuild: reading the record: %w", err)
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

// Swap implements Store.
func (s *SQL) Swap(ctx context.Context, next Record) (Record, error) {
	body, err := json.Marshal(next)
	if err != nil {
		return Record{}, fmt.Errorf("rebuild: %w", err)
	}
	statement := `UPDATE {t} SET version = version + 1, body = ?2 WHERE name = ?1 AND version = ?3`
	args := []any{s.opts.Name, string(body), next.Version}
	if next.Version == 0 {
		statement, args = `INSERT INTO {t} (name, version, body) VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING`, args[:2]
	}
	done, err := s.db.ExecContext(ctx, s.text(statement), args...)
	if err != nil {
		return Record{}, fmt.Errorf("rebuild: changing the record: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil {
		return Record{}, fmt.Errorf("rebuild: changing the record: %w", err)
	} else if n == 0 {
		return Record{}, ErrChanged
	}
	next.Version++
	return next, nil
}

// Mark implements Store.
func (s *SQL) Mark(ctx context.Context, epoch int64, keys []string) (round int64, err error) {
	list, err := sortedList(keys)
	if err != nil {
		return 0, err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("rebuild: marking keys: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	var body string
	err = tx.QueryRowContext(ctx, s.text(s.lock), s.opts.Name).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrStale
	}
	if err != nil {
		return 0, fmt.Errorf("rebuild: marking keys: %w", err)
	}
	r, err := decodeRecord(0, body)
	if err != nil {
		return 0, err
	}
	if r.Epoch != epoch || !r.Phase.marks() {
		return 0, ErrStale
	}
	if _, err := tx.ExecContext(ctx, s.text(`INSERT INTO {t}_mark (name, round, key) SELECT ?1, ?2, value FROM (`+s.list+`) AS k WHERE TRUE ON CONFLICT DO NOTHING`),
		s.opts.Name, r.Round, list); err != nil {
		return 0, fmt.Errorf("rebuild: marking keys: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("rebuild: marking keys: %w", err)
	}
	return r.Round, nil
}

// sortedList returns keys as JSON, in an order that all have in common, so that two who insert
// the same keys do not wait for each other.
func sortedList(keys []string) (string, error) {
	list, err := json.Marshal(slices.Sorted(slices.Values(keys)))
	if err != nil {
		return "", fmt.Errorf("rebuild: %w", err)
	}
	return string(list), nil
}

// Marked implements Store.
func (s *SQL) Marked(ctx context.Context, last int64, limit int) (keys []string, err error) {
	rows, err := s.db.QueryContext(ctx, s.text(`SELECT DISTINCT key FROM {t}_mark WHERE name = ?1 AND round <= ?2 LIMIT ?3`), s.opts.Name, last, limit)
	if err != nil {
		return nil, fmt.Errorf("rebuild: reading marks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, fmt.Errorf("rebuild: reading marks: %w", err)
		}
		keys = append(keys, key)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("rebuild: reading marks: %w", err)
	}
	return keys, nil
}

// Unmark implements Store.
func (s *SQL) Unmark(ctx context.Context, last int64, keys []string) error {
	list, err := sortedList(keys)
	if err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, s.text(`DELETE FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key IN (`+s.list+`)`), s.opts.Name, last, list); err != nil {
		return fmt.Errorf("rebuild: removing marks: %w", err)
	}
	return nil
}

// Register implements Store.
func (s *SQL) Register(ctx context.Context, writer string, seen time.Time) error {
	if _, err := s.db.ExecContext(ctx, s.text(`INSERT INTO {t}_writer (name, writer, seen) VALUES (?1, ?2, ?3) ON CONFLICT (name, writer) DO UPDATE SET seen = excluded.seen`),
		s.opts.Name, writer, seen.UnixMilli()); err != nil {
		return fmt.Errorf("rebuild: registering the writer %q: %w", writer, err)
	}
	return nil
}

// Writers implements Store.
func (s *SQL) Writers(ctx context.Context) (all []Writer, err error) {
	rows, err := s.db.QueryContext(ctx, s.text(`SELECT writer, seen FROM {t}_writer WHERE name = ?1 ORDER BY writer`), s.opts.Name)
	if err != nil {
		return nil, fmt.Errorf("rebuild: reading the writers: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var seen int64
		if err := rows.Scan(&name, &seen); err != nil {
			return nil, fmt.Errorf("rebuild: reading the writers: %w", err)
		}
		all = append(all, Writer{Name: name, Seen: time.UnixMilli(seen)})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("rebuild: reading the writers: %w", err)
	}
	return all, nil
}
