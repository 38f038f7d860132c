package main

// Each change ends with outbox.Write on the transaction that changes the table. sendUntil is the whole life of a
// relay; any number of relays, in any processes, share the keys. A row stays in the outbox until the service has
// confirmed it.

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

// Booking is a room booked for a night: a row of the table and a document of the index.
type Booking struct {
	ID    string `json:"id" search:"key"`
	Hotel string `json:"hotel" search:"filterable,facetable"`
	Room  int32  `json:"room" search:"filterable"`
	Night int64  `json:"night" search:"filterable,sortable"`
	Guest string `json:"guest" search:"searchable"`
}

// errRefused means that the statement changed no row: the room is already booked, or the booking does not exist.
var errRefused = errors.New("the statement has changed nothing")

// transaction runs change in a transaction. After a commit its outbox rows will be in the index. After an error
// neither table nor index changes.
func (s *store) transaction(ctx context.Context, change change) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := change(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// book books all rooms or none.
func (s *store) book(ctx context.Context, tx outbox.Queryer, bookings ...Booking) error {
	var actions []models.IndexDocumentsAction[Booking]
	for _, b := range bookings {
		// The insert waits for another transaction that books the same room. So until the commit, only the
		// transaction that wrote the table row writes outbox rows for it.
		err := changesOne(tx.ExecContext(ctx, `INSERT INTO bookings (id, hotel, room, night, guest) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (id) DO NOTHING`, b.ID, b.Hotel, b.Room, b.Night, b.Guest))
		if err != nil {
			return err
		}
		actions = append(actions, models.UploadAction(b))
	}
	// One statement, after the table is changed: in this order two transactions on a room reach the index in the
	// order in which they changed the table.
	return outbox.Write(ctx, tx, s.outbox, actions...)
}

// rename changes the guest of a booking. Other fields of the document are unchanged.
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

// cancel deletes a booking.
func (s *store) cancel(ctx context.Context, tx outbox.Queryer, id string) error {
	if err := changesOne(tx.ExecContext(ctx, `DELETE FROM bookings WHERE id = $1`, id)); err != nil {
		return err
	}
	return outbox.Write(ctx, tx, s.outbox, models.DeleteAction(Booking{ID: id}))
}

// changesOne returns errRefused if a statement changed no row. Such a transaction holds no lock and must not write to
// the outbox.
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

// store is the database with its outbox.
type store struct {
	db     *sql.DB
	outbox *outbox.Table
}

// place locates the database: a file, or a server with a schema.
type place struct{ File, DSN, Schema string }

// open opens the database. Any number of processes can open it.
func (p place) open() (*store, error) {
	if p.DSN == "" {
		// _txlock: a transaction that reads first could not write later if another one wrote in between. synchronous:
		// commits survive a power cut.
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
	cfg.RuntimeParams["search_path"] = p.Schema // so that statements need no schema
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(8) // a relay needs four
	return &store{db, &outbox.Table{Dialect: outbox.PostgreSQL, Queue: indexName}}, nil
}

// prepare creates missing tables. A program with migrations puts its tables, and the statements that outbox.Schema
// returns, there.
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

// all returns the rows of the table, which the index must match.
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

// lease delays the keys of a killed relay. It must be at least a margin of five seconds plus time to renew. These
// values are short for the demonstration; use the defaults (12 s), which tolerate a slow database.
const (
	requestTimeout = 2 * time.Second
	lease          = 9 * time.Second
)

// sendUntil runs a relay until ctx ends. The relay then releases its keys, so that another relay continues at once.
func (s *store) sendUntil(ctx context.Context, endpoint string, logger *slog.Logger) (err error) {
	client, err := search.NewClientWithKey(endpoint, indexName, azcore.NewKeyCredential(searchtest.AdminKey), nil)
	if err != nil {
		return err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Booking]{
		AutoFlushInterval: 20 * time.Millisecond, // latency of the index; a longer interval folds more changes
		RequestTimeout:    requestTimeout,
		UnknownWait:       requestTimeout,
		Logger:            logger,
	})
	if err != nil {
		return err
	}
	defer func() { // after the relay, which waits for its actions
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
