package main

// Each change ends with outbox.Write, on the tx that has changed the table. sendUntil is the whole life of a relay: any
// number of them, in any processes, share the keys. A row stays in the outbox until it is confirmed.

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Booking is that of a room for a night: a row of the table, and a document of the index.
type Booking struct {
	ID    string `json:"id" search:"key"`
	Hotel string `json:"hotel" search:"filterable,facetable"`
	Room  int32  `json:"room" search:"filterable"`
	Night int64  `json:"night" search:"filterable,sortable"`
	Guest string `json:"guest" search:"searchable"`
}

// errRefused says that there is nothing to change: the room is booked already, or nobody has booked it.
var errRefused = errors.New("the statement has changed nothing")

// transaction commits what change has written: what it has put into the outbox will be in the
// index. If it returns an error neither the table nor the index will know of it.
func (s *store) transaction(ctx context.Context, change change) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, after Commit
	if err := change(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// book books rooms: all of them, or none.
func (s *store) book(ctx context.Context, tx outbox.Queryer, bookings ...Booking) error {
	var actions []models.IndexDocumentsAction[Booking]
	for _, b := range bookings {
		// This waits for a transaction that is booking the same room. So whoever has written the row
		// of the table is the only one to write to the outbox about it, until the commit.
		err := changesOne(tx.ExecContext(ctx, `INSERT INTO bookings (id, hotel, room, night, guest) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (id) DO NOTHING`, b.ID, b.Hotel, b.Room, b.Night, b.Guest))
		if err != nil {
			return err
		}
		actions = append(actions, models.UploadAction(b))
	}
	// One statement, and after those of the application: in this order two transactions about a
	// room reach the index as they have reached the table.
	return outbox.Write(ctx, tx, s.outbox, actions...)
}

// rename has a booking under another name. Other fields of the document stay as they are.
func (s *store) rename(ctx context.Context, tx outbox.Queryer, id, guest string) error {
	if err := changesOne(tx.ExecContext(ctx, `UPDATE bookings SET guest = $2 WHERE id = $1`, id, guest)); err != nil {
		return err
	}
	type name struct {
		ID    string `json:"id" search:"key"`
		Guest string `json:"guest"`
	}
	return outbox.Write(ctx, tx, s.outbox, models.MergeAction(name{id, guest}))
}

// cancel takes a booking back.
func (s *store) cancel(ctx context.Context, tx outbox.Queryer, id string) error {
	if err := changesOne(tx.ExecContext(ctx, `DELETE FROM bookings WHERE id = $1`, id)); err != nil {
		return err
	}
	return outbox.Write(ctx, tx, s.outbox, models.DeleteAction(Booking{ID: id}))
}

// changesOne returns an error unless a statement has changed a row: who has changed nothing has locked
// nothing, and has nothing to tell the index.
func changesOne(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return errRefused
}

const indexName = "bookings"

// store is the database, and the outbox in it.
type store struct {
	db     *sql.DB
	outbox *outbox.Table
}

// place is where the database is: a file, or a schema on a server.
type place struct{ File, DSN, Schema string }

// open connects to it. Any number of processes may.
func (p place) open() (*store, error) {
	if p.DSN == "" {
		// _txlock: a transaction that begins with reading could not write later, if another one has written
		// meanwhile. synchronous: what was committed survives a power cut.
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(p.File)+
			"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			return nil, err
		}
		return &store{db, &outbox.Table{Dialect: outbox.SQLite, Queue: indexName}}, nil
	}
	cfg, err := pgx.ParseConfig(p.DSN)
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["search_path"] = p.Schema // so all names can be short
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(8) // a relay needs four
	return &store{db, &outbox.Table{Dialect: outbox.PostgreSQL, Queue: indexName}}, nil
}

// prepare makes the tables, and does nothing where they are there. A program that has migrations puts its tables, and
// what outbox.Schema returns, into them.
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

// How late the keys of a relay are that was killed: they wait for its lease, which has to outlast a margin of
// five seconds and its renewals. These are short; a program takes the defaults, with which it is 15 seconds, and which
// forgive a database that is slow.
const (
	requestTimeout = 2 * time.Second
	lease          = 9 * time.Second
)

// sendUntil runs a relay until ctx ends. It gives its keys away then, so that another one goes on
// at once.
func (s *store) sendUntil(ctx context.Context, endpoint string, logger *slog.Logger) (err error) {
	client, err := search.NewClientWithKey(endpoint, indexName, azcore.NewKeyCredential(searchtest.AdminKey), nil)
	if err != nil {
		return err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Booking]{
		AutoFlushInterval: 20 * time.Millisecond, // how late the index is; larger ones fold more
		RequestTimeout:    requestTimeout,
		UnknownWait:       requestTimeout,
		Logger:            logger,
	})
	if err != nil {
		return err
	}
	defer func() { // after the relay, which waits for what it has handed over
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, sender.Close(closing))
	}()
	relay, err := outbox.NewRelay(s.db, s.outbox, sender.Raw(), &outbox.RelayOptions{
		Lease:  lease,
		Poll:   20 * time.Millisecond,
		Logger: logger,
	})
	if err != nil {
		return err
	}
	return relay.Run(ctx)
}
