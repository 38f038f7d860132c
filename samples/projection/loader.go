package main

// Triggers on all three tables record the key of the document. load reads up to a thousand hotels with one query per
// table; the relay deletes the documents of keys that it does not return.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// open opens the database. _txlock: a transaction that reads first could not write later if another one wrote in
// between. foreign_keys is off by default in SQLite.
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

// newOutbox returns the outbox of the hotels.
func newOutbox() *outbox.Table {
	return &outbox.Table{Dialect: outbox.SQLite, Queue: indexName}
}

// follow creates the outbox and its triggers. Earlier rows need backfill. Call it at each start: it skips what
// exists.
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

// backfill queues all existing hotels, with lower priority than live changes.
func backfill(ctx context.Context, db *sql.DB, to *outbox.Table) error {
	_, err := to.Backfill(ctx, db, keysOf(ctx, db))
	return err
}

// keysOf reads the keys of all hotels before it yields them, because Backfill writes while it iterates.
func keysOf(ctx context.Context, db *sql.DB) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var keys []string
		err := each(ctx, db, `SELECT id FROM hotels`, func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			keys = append(keys, keyOf(id))
			return err
		})
		if err != nil {
			yield("", err)
			return
		}
		for _, key := range keys {
			if !yield(key, nil) {
				return
			}
		}
	}
}

const indexName = "hotels"

// Hotel is the document.
type Hotel struct {
	ID       string  `json:"id" search:"key"`
	Name     string  `json:"name" search:"searchable"`
	City     string  `json:"city" search:"filterable,facetable"`
	Rooms    []Room  `json:"rooms"`
	Cheapest int64   `json:"cheapest" search:"filterable,sortable"` // of the rooms, 0 without rooms
	Stars    float64 `json:"stars" search:"filterable,sortable"`    // average of the reviews, 0 without reviews
	Reviews  int64   `json:"reviews" search:"sortable"`             // number of reviews
}

// Room is a nested object of Hotel.
type Room struct {
	ID    int64  `json:"id"`
	Kind  string `json:"kind" search:"filterable"`
	Price int64  `json:"price" search:"filterable"`
}

// keyOf returns the key of a document, in the format that triggers write.
func keyOf(id int64) string { return strconv.FormatInt(id, 10) }

// loader reads hotels from the tables.
type loader struct {
	db      *sql.DB
	queries atomic.Int64 // number of queries, for the story
}

// load is the function for outbox.Load.
func (l *loader) load(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[Hotel], error) {
	// One transaction, so that all parts of a document are of one moment. On PostgreSQL add Isolation:
	// sql.LevelRepeatableRead.
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // it is read-only
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	// SQLite receives the list as JSON; PostgreSQL takes an array: WHERE id = ANY($1).
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
		h := hotels[id]
		if h == nil {
			return nil // its room was written without foreign keys, for example in the sqlite3 shell
		}
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
		if h := hotels[id]; h != nil {
			h.Reviews, h.Stars = n, average
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	actions := make([]models.IndexDocumentsAction[Hotel], 0, len(hotels))
	for _, h := range hotels {
		// An upload, not a merge: it also removes deleted rooms.
		actions = append(actions, models.UploadAction(*h))
	}
	return actions, nil
}

func (l *loader) each(ctx context.Context, tx *sql.Tx, query string, list []byte, scan func(*sql.Rows) error) error {
	l.queries.Add(1)
	return each(ctx, tx, query, scan, string(list))
}

// each calls scan for each row of a query.
func each(ctx context.Context, db outbox.Queryer, query string, scan func(*sql.Rows) error, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
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

// projection is a running relay with its sender.
type projection struct {
	relay  *outbox.Relay
	sender *bufferedsender.BufferedSender[Hotel]
	cancel context.CancelFunc
	ended  chan error
}

// project starts a relay that sends the documents of a loader.
func project(l *loader, from *outbox.Table, client *search.Client, logger *slog.Logger) (*projection, error) {
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{AutoFlushInterval: 20 * time.Millisecond, Logger: logger})
	if err != nil {
		return nil, err
	}
	relay, err := outbox.NewRelay(l.db, from, sender.Raw(), &outbox.RelayOptions{
		Loader: outbox.Load(l.load),
		Poll:   20 * time.Millisecond, // so that the story is short
		Logger: logger,
	})
	if err != nil {
		return nil, errors.Join(err, sender.Close(context.Background()))
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &projection{relay, sender, cancel, make(chan error, 1)}
	go func() {
		err := relay.Run(ctx)
		if ctx.Err() == nil {
			logger.Error("projection: the relay ended; restart the program", "error", err)
		}
		p.ended <- err
	}()
	return p, nil
}

// close ends the relay, and then the sender, which may still hold actions of the relay.
func (p *projection) close() error {
	p.cancel()
	err := <-p.ended
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return errors.Join(err, p.sender.Close(ctx))
}
