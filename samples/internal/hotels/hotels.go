// Package hotels is the application of samples that keep an index equal to a table: the table, and a program that
// writes to it without pause.
package hotels

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// Hotel is a row and a document. Each change of a row raises its version.
type Hotel struct {
	ID      string `json:"id" search:"key,filterable,sortable"`
	Text    string `json:"text" search:"searchable"`
	Version int64  `json:"version"`
}

// Schema makes the table.
const Schema = `CREATE TABLE hotels (id TEXT PRIMARY KEY, text TEXT NOT NULL, version INTEGER NOT NULL)`

// Open opens the database in a folder. It uses one connection, so that statements queue: SQLite runs one write at a
// time and is not fair, so with several connections a statement could wait longer than busy_timeout.
func Open(folder string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(folder, "hotels.db"))+
		"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(normal)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// Commit upserts and deletes hotels in one transaction.
func Commit(ctx context.Context, db *sql.DB, upload, remove []Hotel) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	for _, h := range upload {
		if _, err := tx.ExecContext(ctx, `INSERT INTO hotels (id, text, version) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET text = ?2, version = ?3`, h.ID, h.Text, h.Version); err != nil {
			return err
		}
	}
	for _, h := range remove {
		if _, err := tx.ExecContext(ctx, `DELETE FROM hotels WHERE id = ?`, h.ID); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Keys returns the hotels with the given keys that exist.
func Keys(ctx context.Context, db *sql.DB, keys []string) ([]Hotel, error) {
	args := make([]any, len(keys))
	for i, k := range keys {
		args[i] = k
	}
	return Select(ctx, db, `WHERE id IN (?`+strings.Repeat(", ?", len(keys)-1)+`)`, args...)
}

// Select returns the hotels that meet a condition.
func Select(ctx context.Context, db *sql.DB, condition string, args ...any) (all []Hotel, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, text, version FROM hotels `+condition, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h Hotel
		if err := rows.Scan(&h.ID, &h.Text, &h.Version); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, rows.Err()
}

// Table returns the hotels that meet a condition, by key.
func Table(ctx context.Context, db *sql.DB, condition string) (map[string]Hotel, error) {
	all, err := Select(ctx, db, condition)
	table := make(map[string]Hotel, len(all))
	for _, h := range all {
		table[h.ID] = h
	}
	return table, err
}

// Writer generates random changes of 500 hotels: uploads, and deletes of existing ones.
type Writer struct {
	Prefix  string // prefix of its keys
	there   [500]bool
	version int64
}

// Next returns n changes.
func (w *Writer) Next(n int) (upload, remove []Hotel) {
	w.version++
	for _, i := range rand.Perm(len(w.there))[:n] {
		h := Hotel{ID: fmt.Sprintf("%s%05d", w.Prefix, i), Text: fmt.Sprint("Hotel ", w.version), Version: w.version}
		if w.there[i] && rand.IntN(4) == 0 {
			remove, w.there[i] = append(remove, h), false
		} else {
			upload, w.there[i] = append(upload, h), true
		}
	}
	return upload, remove
}
