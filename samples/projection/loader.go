package main

// This file makes documents. Look at load: it reads all hotels that it is asked for with one query for each table, because the
// relay asks for up to a thousand at once. Those that it finds nothing of are deleted from the index.

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"sync/atomic"

	"github.com/go-azsearch/azsearch/models"
)

const indexName = "hotels"

// Hotel is the document.
type Hotel struct {
	ID       string  `json:"id" search:"key"`
	Name     string  `json:"name" search:"searchable"`
	City     string  `json:"city" search:"filterable,facetable"`
	Rooms    []Room  `json:"rooms"`
	Cheapest int64   `json:"cheapest" search:"filterable,sortable"` // of the rooms, 0 without any
	Stars    float64 `json:"stars" search:"filterable,sortable"`    // of all reviews, on average; 0 without any
	Reviews  int64   `json:"reviews" search:"sortable"`             // how many there are
}

// Room is a part of the document.
type Room struct {
	ID    int64  `json:"id"`
	Kind  string `json:"kind" search:"filterable"`
	Price int64  `json:"price" search:"filterable"`
}

// keyOf is the key of a document. A trigger writes the number of a hotel in the same way.
func keyOf(id int64) string { return strconv.FormatInt(id, 10) }

// loader reads hotels.
type loader struct {
	db      *sql.DB
	queries atomic.Int64 // how many there were, for the story
}

// load is for outbox.Load.
func (l *loader) load(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[Hotel], error) {
	// One transaction, so the parts of a document are of the same moment: on PostgreSQL add Isolation: sql.LevelRepeatableRead.
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // it has written nothing
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	// SQLite takes a list as JSON; PostgreSQL takes an array: WHERE id = ANY($1).
	const among = ` IN (SELECT CAST(value AS INTEGER) FROM json_each($1))`
	hotels := make(map[int64]*Hotel, len(keys))
	err = l.each(ctx, tx, `SELECT id, name, city FROM hotels WHERE id`+among, list, func(rows *sql.Rows) error {
		h, id := &Hotel{Rooms: []Room{}}, int64(0)
		err := rows.Scan(&id, &h.Name, &h.City)
		h.ID = keyOf(id)
		hotels[id] = h
		return err
	})
	if err != nil {
		return nil, err
	}
	err = l.each(ctx, tx, `SELECT hotel_id, id, kind, price FROM rooms WHERE hotel_id`+among+` ORDER BY id`, list, func(rows *sql.Rows) error {
		var r Room
		var id int64
		if err := rows.Scan(&id, &r.ID, &r.Kind, &r.Price); err != nil {
			return err
		}
		h := hotels[id] // a foreign key says that it is there, and the snapshot is the same
		if h.Rooms = append(h.Rooms, r); len(h.Rooms) == 1 || r.Price < h.Cheapest {
			h.Cheapest = r.Price
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = l.each(ctx, tx, `SELECT hotel_id, count(*), avg(stars) FROM reviews WHERE hotel_id`+among+` GROUP BY hotel_id`, list, func(rows *sql.Rows) error {
		var id, n int64
		var average float64
		if err := rows.Scan(&id, &n, &average); err != nil {
			return err
		}
		hotels[id].Reviews, hotels[id].Stars = n, average
		return nil
	})
	if err != nil {
		return nil, err
	}
	actions := make([]models.IndexDocumentsAction[Hotel], 0, len(hotels))
	for _, h := range hotels {
		// The whole document: what it does not have any more goes.
		actions = append(actions, models.UploadAction(*h))
	}
	return actions, nil
}

// each calls scan with each row of a query.
func (l *loader) each(ctx context.Context, tx *sql.Tx, query string, list []byte, scan func(*sql.Rows) error) error {
	l.queries.Add(1)
	rows, err := tx.QueryContext(ctx, query, string(list))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
