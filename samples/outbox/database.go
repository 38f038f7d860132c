package main

// This file has the tables. Look at prepare: outbox.Migrate makes those of the outbox beside yours, in the same database,
// because a transaction has to reach both.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

const indexName = "bookings"

// store is the database, and the outbox in it.
type store struct {
	db     *sql.DB
	outbox *outbox.Table
}

// place is where the database is: a file, or a schema on a server.
type place struct {
	file        string
	dsn, schema string
}

// open connects to it. Any number of processes may.
func (p place) open() (*store, error) {
	if p.dsn == "" {
		// _txlock: a transaction that begins with reading could not write later, if another one has written
		// meanwhile. synchronous: what was committed survives a power cut.
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(p.file)+
			"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			return nil, err
		}
		return &store{db, &outbox.Table{Dialect: outbox.SQLite, Queue: indexName}}, nil
	}
	cfg, err := pgx.ParseConfig(p.dsn)
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["search_path"] = p.schema // so all names can be short
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(8) // a relay needs four
	return &store{db, &outbox.Table{Dialect: outbox.PostgreSQL, Queue: indexName}}, nil
}

// prepare makes the tables, and does nothing where they are there. A program that has migrations puts its tables, and what outbox.Schema
// returns, into them.
func (s *store) prepare(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS bookings (
		id    text PRIMARY KEY,
		hotel text NOT NULL,
		room  integer NOT NULL,
		night bigint NOT NULL,
		guest text NOT NULL
	)`)
	if err != nil {
		return err
	}
	return outbox.Migrate(ctx, s.db, s.outbox.Dialect, nil)
}

// all returns the truth: what the index has to hold.
func (s *store) all(ctx context.Context) (map[string]Booking, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, hotel, room, night, guest FROM bookings`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[string]Booking)
	for rows.Next() {
		var b Booking
		if err := rows.Scan(&b.ID, &b.Hotel, &b.Room, &b.Night, &b.Guest); err != nil {
			return nil, err
		}
		found[b.ID] = b
	}
	return found, rows.Err()
}

// createSchema makes the schema on a server, and returns what removes it.
func (p place) createSchema(ctx context.Context) (remove func() error, err error) {
	s, err := p.open()
	if err != nil {
		return nil, err
	}
	if _, err := s.db.ExecContext(ctx, "CREATE SCHEMA "+p.schema); err != nil {
		return nil, errors.Join(fmt.Errorf("making the schema %s: %w", p.schema, err), s.db.Close())
	}
	return func() error {
		_, err := s.db.ExecContext(context.Background(), "DROP SCHEMA "+p.schema+" CASCADE")
		return errors.Join(err, s.db.Close())
	}, nil
}
