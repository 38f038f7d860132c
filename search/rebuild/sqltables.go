package rebuild

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// CreateTables creates the three tables, all of them or none. Call it at each start, from any number of processes at
// once: if the tables are there it reads and does nothing, and needs no right to create tables. On PostgreSQL it waits
// at most 30 seconds, or for the lock_timeout of the session if that is set, for another program that is creating them.
func (s *SQL) CreateTables(ctx context.Context) error {
	err := tries(ctx, func() error {
		if there, err := s.there(ctx); there || err != nil {
			return err
		}
		return s.create(ctx)
	})
	if known := (interface{ SQLState() string })(nil); errors.As(err, &known) && known.SQLState() == "55P03" {
		return fmt.Errorf("rebuild: creating the tables: got no lock within the lock_timeout, and created nothing; end the transaction that creates %s (pg_stat_activity lists it), then call it again: %w", s.opts.Prefix, err)
	}
	if err != nil {
		return fmt.Errorf("rebuild: creating the tables: %w", err)
	}
	return nil
}

// there reports whether the tables are there, without a lock.
func (s *SQL) there(ctx context.Context) (bool, error) {
	if s.opts.Dialect == PostgreSQL {
		var missing int
		err := s.db.QueryRowContext(ctx, s.text(`SELECT count(*) FROM (VALUES ('{t}'), ('{t}_mark'), ('{t}_writer')) AS n (name) WHERE to_regclass(n.name) IS NULL`)).Scan(&missing)
		return missing == 0, err
	}
	var none int
	err := s.db.QueryRowContext(ctx, s.text(`SELECT 1 FROM {t}, {t}_mark, {t}_writer LIMIT 0`)).Scan(&none)
	return errors.Is(err, sql.ErrNoRows), nil // what else is wrong is wrong with CREATE too
}

// create creates the tables in one transaction, one process at a time: of two that create the same table at once on
// PostgreSQL one fails, IF NOT EXISTS or not.
func (s *SQL) create(ctx context.Context) error {
	key := `TEXT NOT NULL`
	if s.opts.Dialect == PostgreSQL {
		key = `TEXT COLLATE "C" NOT NULL` // the order of bytes
	}
	statements := []string{
		`CREATE TABLE IF NOT EXISTS {t} (name TEXT PRIMARY KEY, version BIGINT NOT NULL, body TEXT NOT NULL)`,
		`CREATE TABLE IF NOT EXISTS {t}_mark (name TEXT NOT NULL, key ` + key + `, round BIGINT NOT NULL, PRIMARY KEY (name, key, round))`,
		`CREATE TABLE IF NOT EXISTS {t}_writer (name TEXT NOT NULL, writer TEXT NOT NULL, seen BIGINT NOT NULL, PRIMARY KEY (name, writer))`,
	}
	if s.opts.Dialect == PostgreSQL {
		_, err := s.db.ExecContext(ctx, s.text(`DO $$ DECLARE patience text := current_setting('lock_timeout'); BEGIN
	PERFORM set_config('lock_timeout', '30s', true) WHERE patience = '0';
	PERFORM pg_advisory_xact_lock(hashtextextended('{t}', 7064));
	`+strings.Join(statements, ";\n\t")+`;
END $$`))
		return err
	}
	c, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	// It begins with a write: one that begins with reading fails when it writes, if another has written meanwhile.
	for _, statement := range append(append([]string{`BEGIN IMMEDIATE`}, statements...), `COMMIT`) {
		if _, err := c.ExecContext(ctx, s.text(statement)); err != nil {
			undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_, _ = c.ExecContext(undo, `ROLLBACK`) // fails where nothing has begun
			return err
		}
	}
	return nil
}
