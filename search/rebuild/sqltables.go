package rebuild

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// CreateTables creates the three tables, all or none. Call it at each start, also from several processes at once. If
// the tables exist it only reads them, and needs no right to create tables. On PostgreSQL it waits for another program
// that creates them for at most 30 seconds, or for the lock_timeout of the session if that is set.
func (s *SQL) CreateTables(ctx context.Context) error {
	err := s.Migrate(ctx, s.db, sqlkit.Migration{Table: s.opts.Prefix, Lock: 7064, Patience: "30s", Settled: s.there, Change: s.create})
	if sqlkit.Classify(err) == sqlkit.LockTimeout {
		return fmt.Errorf("rebuild: creating the tables: got no lock within the lock_timeout, and created nothing; end the transaction that creates %s (pg_stat_activity lists it), then call it again: %w", s.opts.Prefix, err)
	}
	if err != nil {
		return s.failed("creating the tables", err)
	}
	return nil
}

// there reports whether the tables exist. It takes no lock.
func (s *SQL) there(ctx context.Context, db sqlkit.Queryer) (bool, error) {
	missing, err := s.NotThere(ctx, db, s.opts.Prefix, s.opts.Prefix+"_mark", s.opts.Prefix+"_writer")
	return len(missing) == 0, err
}

// create creates the tables.
func (s *SQL) create(ctx context.Context, c *sql.Conn) error {
	return sqlkit.Run(ctx, c,
		s.text(`CREATE TABLE IF NOT EXISTS {t} (name TEXT PRIMARY KEY, version BIGINT NOT NULL, body TEXT NOT NULL)`),
		s.text(`CREATE TABLE IF NOT EXISTS {t}_mark (name TEXT NOT NULL, key `+s.key+`, round BIGINT NOT NULL, PRIMARY KEY (name, key, round))`),
		s.text(`CREATE TABLE IF NOT EXISTS {t}_writer (name TEXT NOT NULL, writer TEXT NOT NULL, seen BIGINT NOT NULL, PRIMARY KEY (name, writer))`))
}
