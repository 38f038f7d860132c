package main

// This file is the transaction, which is what you would write yourself. Look at how each change ends: the table of
// the application first, then outbox.Write, on the same tx.

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/models"
)

// Booking is that of a room for a night: a row of the table, and a document of the index.
type Booking struct {
	ID    string `json:"id" search:"key"`
	Hotel string `json:"hotel" search:"filterable,facetable"`
	Room  int32  `json:"room" search:"filterable"`
	Night int64  `json:"night" search:"filterable,sortable"`
	Guest string `json:"guest" search:"searchable"`
}

var (
	errTaken     = errors.New("somebody has booked one of the rooms already")
	errNoBooking = errors.New("nobody has booked the room")
)

// transaction commits what change has written: what it has put into the outbox will be in the
// index. If it returns an error neither the table nor the index will know of it.
func (s *store) transaction(ctx context.Context, change func(tx outbox.Queryer) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, after Commit
	if err := change(tx); err != nil {
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
		if errors.Is(err, errNothing) {
			return errTaken
		}
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
		return noBooking(err)
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
		return noBooking(err)
	}
	return outbox.Write(ctx, tx, s.outbox, models.DeleteAction(Booking{ID: id}))
}

var errNothing = errors.New("the statement has changed nothing")

// changesOne returns an error unless a statement has changed a row: who has changed nothing has locked
// nothing, and has nothing to tell the index.
func changesOne(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return errNothing
}

func noBooking(err error) error {
	if errors.Is(err, errNothing) {
		return errNoBooking
	}
	return err
}
