package main

// What your program would have: the table, and the two sides that are compared.

import (
	"context"
	"database/sql"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/samples/internal/hotels"
	"github.com/go-azsearch/azsearch/search"
)

// Hotel is a row and a document. Each change of a row raises its version.
type Hotel = hotels.Hotel

// source is the table as repair reads it: keys and versions in the order of keys, and the hotels of some keys.
func source(db *sql.DB) *repair.SQLSource {
	return &repair.SQLSource{
		DB: db, Table: "hotels", Key: "id", Version: "version",
		Load: repair.Uploads(func(ctx context.Context, keys []string) ([]Hotel, error) { return hotels.Keys(ctx, db, keys) }, func(h Hotel) string { return h.ID }),
	}
}

// index is the index as repair reads it: keys and versions.
func index(client *search.Client) (*search.Rows, error) {
	return search.NewRows(client, &search.RowsOptions{Version: "version"})
}
