package main

// This file has the tables and their triggers. Look at follow: a trigger takes the column with the key of the document, and
// the tables of rooms and reviews have it as well as that of hotels. So nobody who writes to a table has
// to know what documents are made of it, and a room that moves is about two hotels.

import (
	"context"
	"database/sql"
	"iter"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// open opens the database. _txlock: a transaction that begins with reading could not write later, if another
// one has written meanwhile. foreign_keys is off in SQLite unless it is asked for.
func open(file string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.ToSlash(file)+
		"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)")
}

var schema = []string{
	`CREATE TABLE hotels (
		id   INTEGER PRIMARY KEY,
		name TEXT NOT NULL,
		city TEXT NOT NULL
	)`,
	`CREATE TABLE rooms (
		id       INTEGER PRIMARY KEY,
		hotel_id INTEGER NOT NULL REFERENCES hotels ON DELETE CASCADE ON UPDATE CASCADE,
		kind     TEXT NOT NULL,
		price    INTEGER NOT NULL
	)`,
	`CREATE INDEX rooms_of_hotels ON rooms (hotel_id)`,
	`CREATE TABLE reviews (
		id       INTEGER PRIMARY KEY,
		hotel_id INTEGER NOT NULL REFERENCES hotels ON DELETE CASCADE ON UPDATE CASCADE,
		stars    INTEGER NOT NULL,
		words    TEXT NOT NULL
	)`,
	`CREATE INDEX reviews_of_hotels ON reviews (hotel_id)`,
}

// newOutbox returns the outbox of the documents.
func newOutbox() *outbox.Table {
	return &outbox.Table{Dialect: outbox.SQLite, Queue: indexName}
}

// follow has the outbox follow the tables from now on. What is in them already is for backfill. A program calls it at each start:
// it does nothing where all is there.
func follow(ctx context.Context, db *sql.DB, to *outbox.Table) error {
	if err := outbox.Migrate(ctx, db, to.Dialect, nil); err != nil {
		return err
	}
	for _, t := range []struct{ table, keyColumn string }{
		{"hotels", "id"},
		{"rooms", "hotel_id"},
		{"reviews", "hotel_id"},
	} {
		if err := to.EnsureTrigger(ctx, db, t.table, t.keyColumn); err != nil {
			return err
		}
	}
	return nil
}

// backfill has all hotels sent that were there before the triggers, behind what changes meanwhile.
func backfill(ctx context.Context, db *sql.DB, to *outbox.Table) error {
	_, err := to.Backfill(ctx, db, keysOf(ctx, db))
	return err
}

// keysOf reads the keys of all hotels, a page at a time: Backfill writes between them.
func keysOf(ctx context.Context, db *sql.DB) iter.Seq2[string, error] {
	const page = 1000
	return func(yield func(string, error) bool) {
		for last := int64(0); ; {
			ids, err := column(ctx, db, `SELECT id FROM hotels WHERE id > $1 ORDER BY id LIMIT $2`, last, page)
			if err != nil {
				yield("", err)
				return
			}
			for _, id := range ids {
				if !yield(keyOf(id), nil) {
					return
				}
			}
			if len(ids) < page {
				return
			}
			last = ids[len(ids)-1]
		}
	}
}

// column reads one of numbers.
func column(ctx context.Context, db *sql.DB, query string, args ...any) (numbers []int64, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, rows.Err()
}
