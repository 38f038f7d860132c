package main

// The part to copy: the table and the index as the two sides of a comparison.

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

// source returns the table for repair: keys and versions sorted by key, and the hotels of given keys.
func source(db *sql.DB) *repair.SQLSource {
	return &repair.SQLSource{
		DB: db, Table: "hotels", Key: "id", Version: "version",
		Load: repair.Uploads(func(ctx context.Context, keys []string) ([]Hotel, error) { return hotels.Keys(ctx, db, keys) }, func(h Hotel) string { return h.ID }),
	}
}

// index returns the index for repair: keys and versions.
func index(client *search.Client) (*search.Rows, error) {
	return search.NewRows(client, &search.RowsOptions{Version: "version"})
}
