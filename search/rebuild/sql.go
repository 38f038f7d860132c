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
	"sync"
	"time"
)

// Dialect is the kind of database that a SQL store is in.
type Dialect string

// The dialects that there are.
const (
	// PostgreSQL is version 12 or newer, by any driver of database/sql. Connect to the primary.
	PostgreSQL Dialect = "postgresql"
	// SQLite is version 3.38 or newer, by any driver of database/sql. Set busy_timeout to some
	// seconds, and journal_mode to WAL. It is not fair to who waits for it: where a process writes without a pause,
	// have all in it share one *sql.DB, with SetMaxOpenConns(1), on which they queue.
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
	swap string // the statement of Swap, where there is a record
	read string // the statement of Marked
	none string // the statement of Unmark
	mark func(ctx context.Context, epoch int64, list string) (round int64, err error)

	mu   sync.Mutex
	walk walk
}

// walk is how far marks of rounds up to last are removed. Without it each Marked would pass the keys of later rounds that are
// before that, and the dead rows. It saves time only: before Marked says that there are none it looks from the beginning.
type walk struct {
	last int64
	from string   // up to which there are none
	keys []string // what follows, which was returned
}

// What PostgreSQL does in one statement, so that a writer that is stopped, or whose line is cut, holds no lock
// on the record: the statement has ended, or it has not begun.
//
// FOR SHARE is what a mark stands on: it and Swap wait for each other, marks do not, and who has waited looks at the
// record as it is then. It alone is not fair: Swap would wait until for one moment nobody marks. So both queue
// at an advisory lock before. On that one nothing stands.
const (
	queue = `hashtextextended('{t} ' || CAST(?1 AS text), 0)`

	postgresMark = `WITH r AS MATERIALIZED (
	SELECT CAST(CAST(body AS json) ->> 'round' AS bigint) AS round FROM {t}
	WHERE name = ?1 AND CAST(CAST(body AS json) ->> 'epoch' AS bigint) = ?2 AND CAST(body AS json) ->> 'phase' IN ('marking', 'swapped')
		AND (SELECT pg_advisory_xact_lock_shared(` + queue + `)) IS NOT NULL
	FOR SHARE
), i AS (
	INSERT INTO {t}_mark (name, key, round) SELECT ?1, k.value, r.round FROM r, json_array_elements_text(CAST(?3 AS json)) AS k (value)
	ON CONFLICT DO NOTHING
) SELECT round FROM r`

	postgresSwap = sqlSwap + ` AND (SELECT pg_advisory_xact_lock(` + queue + `)) IS NOT NULL`
	sqlSwap      = `UPDATE {t} SET version = version + 1, body = ?2 WHERE name = ?1 AND version = ?3`

	// An array is looked up in the index whatever the planner thinks of the sizes.
	postgresNone = `DELETE FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key = ANY (ARRAY(SELECT json_array_elements_text(CAST(?3 AS json))))`
	sqliteNone   = `DELETE FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key IN (SELECT value FROM json_each(?3))`

	// The index of the primary key has them in this order: it is read until there are enough. PostgreSQL would rather read and sort all of them
	// where it does not know how many there are, but not for one.
	sqliteRead   = `SELECT DISTINCT key FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key > ?3 ORDER BY key LIMIT ?4`
	postgresRead = `WITH RECURSIVE k (key, n) AS (
	SELECT CAST(?3 AS text) COLLATE "C", 0
	UNION ALL
	SELECT (SELECT m.key FROM {t}_mark AS m WHERE m.name = ?1 AND m.round <= ?2 AND m.key > k.key ORDER BY m.key LIMIT 1), n + 1
	FROM k WHERE k.key IS NOT NULL AND n < ?4
) SELECT key FROM k WHERE n > 0 AND key IS NOT NULL`
)

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
		s.mark, s.swap, s.read, s.none = s.markPostgres, postgresSwap, postgresRead, postgresNone
	case SQLite:
		s.mark, s.swap, s.read, s.none = s.markSQLite, sqlSwap, sqliteRead, sqliteNone
	default:
		errs = append(errs, fmt.Errorf("SQLOptions.Dialect is %q: use rebuild.PostgreSQL or rebuild.SQLite", opts.Dialect))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("rebuild: %w", err)
	}
	return s, nil
}

// exec executes a statement.
func (s *SQL) exec(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = tries(ctx, func() error {
		done, err := s.db.ExecContext(ctx, s.text(statement), args...)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, err
}

// tries calls f, which executes one statement, and calls it again when PostgreSQL has undone it for a reason that passes: 40001, where the
// default isolation is stricter than READ COMMITTED and the record has changed while the statement waited;
// 40P01, a deadlock; and what two get that create the same table at once, IF NOT EXISTS or not.
func tries(ctx context.Context, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		var state interface{ SQLState() string }
		if !errors.As(err, &state) || n == 10 || !slices.Contains([]string{"40001", "40P01", "23505", "42P07", "42710"}, state.SQLState()) {
			return err
		}
		if sleep(ctx, time.Duration(n)*5*time.Millisecond) != nil {
			return err
		}
	}
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
	statement, args := s.swap, []any{s.opts.Name, string(body), next.Version}
	if next.Version == 0 {
		statement, args = `INSERT INTO {t} (name, version, body) VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING`, args[:2]
	}
	n, err := s.exec(ctx, statement, args...)
	if err != nil {
		return Record{}, fmt.Errorf("rebuild: changing the record: %w", err)
	}
	if n == 0 {
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
	err = tries(ctx, func() error {
		round, err = s.mark(ctx, epoch, list)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrStale
	}
	if err != nil {
		return 0, fmt.Errorf("rebuild: marking keys: %w", err)
	}
	return round, nil
}

// markPostgres returns sql.ErrNoRows if nothing is marked now.
func (s *SQL) markPostgres(ctx context.Context, epoch int64, list string) (round int64, err error) {
	err = s.db.QueryRowContext(ctx, s.text(postgresMark), s.opts.Name, epoch, list).Scan(&round)
	return round, err
}

// markSQLite is markPostgres for SQLite. Its transaction is of statements of which none leaves the process: only a
// process that is stopped as a whole in it keeps the file locked, as it would in a single one. That is SQLite's
// own limit, for all who share a file.
func (s *SQL) markSQLite(ctx context.Context, epoch int64, list string) (round int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	// It begins with a write: one that begins with reading may see what was before Swap, and then fails.
	var body string
	if err := tx.QueryRowContext(ctx, s.text(`UPDATE {t} SET name = name WHERE name = ?1 RETURNING body`), s.opts.Name).Scan(&body); err != nil {
		return 0, err
	}
	r, err := decodeRecord(0, body)
	if err != nil {
		return 0, err
	}
	if r.Epoch != epoch || !r.Phase.marks() {
		return 0, sql.ErrNoRows
	}
	if _, err := tx.ExecContext(ctx, s.text(`INSERT INTO {t}_mark (name, key, round) SELECT ?1, value, ?2 FROM json_each(?3) WHERE TRUE ON CONFLICT DO NOTHING`),
		s.opts.Name, r.Round, list); err != nil {
		return 0, err
	}
	return r.Round, tx.Commit()
}

// sortedList returns keys as JSON, in an order that all have in common, so that two who insert
// the same keys do not wait for each other.
func sortedList(keys []string) (string, error) {
	sorted := append([]string{}, keys...) // none are [], not null
	slices.Sort(sorted)
	list, err := json.Marshal(sorted)
	if err != nil {
		return "", fmt.Errorf("rebuild: %w", err)
	}
	return string(list), nil
}

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

// markedBehind returns the first keys behind one.
func (s *SQL) markedBehind(ctx context.Context, from string, last int64, limit int) (keys []string, err error) {
	rows, err := s.db.QueryContext(ctx, s.text(s.read), s.opts.Name, last, from, limit)
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
	if _, err := s.exec(ctx, s.none, s.opts.Name, last, list); err != nil {
		return fmt.Errorf("rebuild: removing marks: %w", err)
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
	if _, err := s.exec(ctx, `INSERT INTO {t}_writer (name, writer, seen) VALUES (?1, ?2, ?3) ON CONFLICT (name, writer) DO UPDATE SET seen = excluded.seen`,
		s.opts.Name, writer, seen.UnixMilli()); err != nil {
		return fmt.Errorf("rebuild: registering the writer %q in the tables that CreateTables makes: %w", writer, err)
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
