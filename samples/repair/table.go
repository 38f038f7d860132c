package main

// What your program would have: the table, and the two sides that are compared.

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/search"
)

// Hotel is a row and a document. Each change of a row raises its version.
type Hotel struct {
	ID      string `json:"id" search:"key,filterable,sortable"`
	Name    string `json:"name" search:"searchable"`
	Version int64  `json:"version"`
}

// open opens the database.
func open(file string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(normal)")
}

const schema = `CREATE TABLE hotels (id TEXT PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL)`

// source is the table as repair reads it: keys and versions in the order of keys, and the hotels of some keys.
func source(db *sql.DB) *repair.SQLSource {
	return &repair.SQLSource{
		DB: db, Table: "hotels", Key: "id", Version: "version",
		Load: repair.Uploads(func(ctx context.Context, keys []string) ([]Hotel, error) { return load(ctx, db, keys) }, func(h Hotel) string { return h.ID }),
	}
}

// load returns those of the hotels that there are.
func load(ctx context.Context, db *sql.DB, keys []string) ([]Hotel, error) {
	args := make([]any, len(keys))
	for i, k := range keys {
		args[i] = k
	}
	return hotels(ctx, db, `WHERE id IN (?`+strings.Repeat(", ?", len(keys)-1)+`)`, args...)
}

// hotels returns the hotels that meet a condition.
func hotels(ctx context.Context, db *sql.DB, condition string, args ...any) (all []Hotel, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, name, version FROM hotels `+condition, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h Hotel
		if err := rows.Scan(&h.ID, &h.Name, &h.Version); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, rows.Err()
}

// index is the index as repair reads it: keys and versions.
func index(client *search.Client) (*search.Rows, error) {
	return search.NewRows(client, &search.RowsOptions{Version: "version"})
}
