package repair

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// SQLStore keeps the state of each range in a table, for processes on any number of machines. Make one with
// NewSQLStore. It is safe for concurrent use.
//
// The process that has a range increments a number in the range's row every two seconds. Another process that wants the
// range polls the number. If it changes, Lock returns false within three seconds. If it has not changed for ten
// seconds, the owner has ended or is cut off, and the polling process takes the range. Clocks need not agree. A process
// that was only stopped gets an error from its next Save; until then two processes may compare the same range, which
// only costs time.
type SQLStore struct {
	db          *sql.DB
	table       string
	placeholder func(n int) string
	calls       sqlkit.Calls

	beat, dead time.Duration

	mu     sync.Mutex // guards owners
	owners map[string]string
}

// NewSQLStore returns a store in a table, which CreateTable creates. placeholder is as in SQLSource: nil for "?",
// Dollar for PostgreSQL.
func NewSQLStore(db *sql.DB, table string, placeholder func(n int) string) (*SQLStore, error) {
	if db == nil {
		return nil, errors.New("repair: NewSQLStore: the database is nil")
	}
	if !sqlkit.PlainName(table, math.MaxInt) {
		return nil, fmt.Errorf("repair: NewSQLStore: %q cannot be the name of a table: use letters, digits and underscores, with a schema and a point before them if wanted", table)
	}
	if placeholder == nil {
		placeholder = func(int) string { return "?" }
	}
	return &SQLStore{db: db, table: table, placeholder: placeholder, beat: 2 * time.Second, dead: 10 * time.Second, owners: make(map[string]string)}, nil
}

// CreateTable creates the table. Call it at each start, also from several processes at once. If the table exists
// CreateTable only reads it, and needs no right to create tables. While another program is creating it, CreateTable
// waits until ctx ends.
func (s *SQLStore) CreateTable(ctx context.Context) error {
	return s.explain(sqlkit.Retry(ctx, func() error {
		if s.there(ctx) == nil {
			return nil
		}
		_, err := s.db.ExecContext(ctx, s.text(`CREATE TABLE IF NOT EXISTS {t} (name VARCHAR(250) PRIMARY KEY, owner VARCHAR(64) NOT NULL, beat BIGINT NOT NULL, state TEXT NOT NULL)`))
		// If two sessions create a table at once PostgreSQL fails one of them, even with IF NOT EXISTS, as soon as the other
		// commits.
		if there := s.there(ctx); there == nil || err == nil {
			return there
		}
		return err
	}))
}

// there returns nil if the table exists with its columns.
func (s *SQLStore) there(ctx context.Context) error {
	return sqlkit.Each(ctx, s.db, func(*sql.Rows) error { return nil }, s.text(`SELECT name, owner, beat, state FROM {t} WHERE 1 = 0`))
}

// text returns a statement with the table for {t} and placeholders for {1}, {2} …, each used once and in ascending
// order.
func (s *SQLStore) text(statement string) string {
	statement = strings.ReplaceAll(statement, "{t}", s.table)
	for n := 1; n <= 4; n++ {
		statement = strings.Replace(statement, fmt.Sprintf("{%d}", n), s.placeholder(n), 1)
	}
	return statement
}

// row returns the key of a range's row. It is short and contains a hash, because some databases compare names without
// case.
func (s *SQLStore) row(name string) string {
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:min(len(name), 100)], "") + " " + hex.EncodeToString(sum[:8])
}

func (s *SQLStore) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case sqlkit.Classify(err) == sqlkit.NoTable:
		return fmt.Errorf("the table %s is missing; call SQLStore.CreateTable: %w", s.table, err)
	}
	return fmt.Errorf("the table %s: %s%w", s.table, sqlkit.Advice(err), err)
}

// change executes a statement and reports whether it changed a row.
func (s *SQLStore) change(ctx context.Context, statement string, args ...any) (bool, error) {
	n, err := ended(ctx, s, func(ctx context.Context) (int64, error) { return sqlkit.Exec(ctx, s.db, s.text(statement), args...) })
	return n > 0, err
}

// ended runs a statement for at most a minute, and returns although a driver ignores the end of its context. What an
// abandoned statement still changes is guarded by the owner; a range that it takes is taken again after ten seconds.
func ended[T any](ctx context.Context, s *SQLStore, statement func(ctx context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, answerAtMost)
	defer cancel()
	result, err := sqlkit.Call(limited, &s.calls, abandonAfter, func() (T, error) { return statement(limited) })
	return result, s.explain(err)
}

// sqlRow is a row of the table.
type sqlRow struct {
	owner string
	beat  int64
	state string
}

// read returns the row of a range, nil if there is none.
func (s *SQLStore) read(ctx context.Context, row string) (*sqlRow, error) {
	return ended(ctx, s, func(ctx context.Context) (*sqlRow, error) {
		r := new(sqlRow)
		err := s.db.QueryRowContext(ctx, s.text(`SELECT owner, beat, state FROM {t} WHERE name = {1}`), row).Scan(&r.owner, &r.beat, &r.state)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		return r, err
	})
}

// Lock implements Store. If another process has the range it returns false within three seconds, or takes the range
// after ten if that process is dead.
func (s *SQLStore) Lock(ctx context.Context, name string) (unlock func() error, ok bool, err error) {
	name = s.row(name)
	owner := rand.Text()
	ok, err = s.take(ctx, name, owner)
	if err != nil || !ok {
		return nil, false, err
	}
	s.mu.Lock()
	s.owners[name] = owner
	s.mu.Unlock()
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() {
		for sleep.For(beating, s.beat) == nil {
			_, _ = s.change(beating, `UPDATE {t} SET beat = beat + 1 WHERE name = {1} AND owner = {2}`, name, owner) // after too long an outage Save fails
		}
	})
	return func() error {
		stop()
		group.Wait()
		s.mu.Lock()
		delete(s.owners, name)
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.dead)
		defer cancel()
		_, err := s.change(ctx, `UPDATE {t} SET owner = '' WHERE name = {1} AND owner = {2}`, name, owner) // false: another process has taken the range and keeps it
		return err
	}, true, nil
}

// take tries to become the owner of a range.
func (s *SQLStore) take(ctx context.Context, name, owner string) (bool, error) {
	var first string // owner and beat when first seen
	var since time.Time
	for {
		ok, err := s.change(ctx, `UPDATE {t} SET owner = {1}, beat = beat + 1 WHERE name = {2} AND owner = ''`, owner, name)
		if ok || err != nil {
			return ok, err
		}
		row, err := s.read(ctx, name)
		switch {
		case err != nil:
			return false, err
		case row == nil:
			if ok, err = s.change(ctx, `INSERT INTO {t} (name, owner, beat, state) VALUES ({1}, {2}, 1, '')`, name, owner); ok {
				return true, nil
			}
			if first == "insert" { // the INSERT failed though no other process inserted the row
				return false, err
			}
			first, since = "insert", time.Now()
			continue
		}
		seen := fmt.Sprint(row.owner, " ", row.beat)
		switch {
		case since.IsZero() || first == "insert":
			first, since = seen, time.Now()
		case seen != first:
			return false, nil
		case time.Since(since) >= s.dead:
			return s.change(ctx, `UPDATE {t} SET owner = {1}, beat = beat + 1 WHERE name = {2} AND owner = {3} AND beat = {4}`, owner, name, row.owner, row.beat)
		}
		if err := sleep.For(ctx, s.beat/4); err != nil {
			return false, err
		}
	}
}

// Load implements Store.
func (s *SQLStore) Load(ctx context.Context, name string) ([]byte, error) {
	row, err := s.read(ctx, s.row(name))
	if err != nil || row == nil || row.state == "" {
		return nil, err
	}
	return []byte(row.state), nil
}

// Save implements Store. It fails if another process has taken the range because this one was stopped or cut off for
// too long.
func (s *SQLStore) Save(ctx context.Context, name string, state []byte) error {
	name = s.row(name)
	s.mu.Lock()
	owner := s.owners[name]
	s.mu.Unlock()
	ok, err := s.change(ctx, `UPDATE {t} SET state = {1} WHERE name = {2} AND owner = {3}`, string(state), name, owner)
	if err == nil && (!ok || owner == "") {
		return errors.New("another process has taken the range, because this one was stopped or cut off for too long: run it again")
	}
	return err
}
