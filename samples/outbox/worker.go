package main

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// The roles of workers.
const (
	roleWrite = "write"
	roleRelay = "relay"
)

// job is the configuration of a worker process.
type job struct {
	place
	Role     string
	Endpoint string
}

// work is the whole life of a worker. It reports on out line by line, and ends with in, which also ends when the
// parent process dies.
func (j *job) work(ctx context.Context, logger *slog.Logger, in io.Reader, out io.Writer) (err error) {
	s, err := j.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := stage.Orders(in)
	go func() {
		<-told
		cancel()
	}()
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	if j.Role == roleRelay {
		return s.sendUntil(ctx, j.Endpoint, logger)
	}
	for i := 0; stage.Wait(ctx, 2*time.Millisecond); i++ {
		// Each transaction is completed; only -kill interrupts one.
		end, n, err := s.write(context.WithoutCancel(ctx), i)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, end, n); err != nil {
			return err
		}
	}
	return nil
}

// How transactions end.
const (
	committed  = "committed"
	rolledBack = "rolled-back"
	brokenOff  = "broken-off" // its connection was closed half-way
	refused    = "refused"    // by the table: another transaction was first
)

// ghost is the guest of all transactions that do not commit: the index must never contain this name.
const ghost = "Banquo"

// change is the content of a transaction.
type change func(ctx context.Context, tx outbox.Queryer) error

var errSecondThoughts = errors.New("rolled back on purpose")

// write runs transaction i of a writer, and returns its end and its number of bookings.
func (s *store) write(ctx context.Context, i int) (end string, n int, err error) {
	end, guest := committed, fmt.Sprint("Macbeth ", rand.IntN(1000))
	switch i % 20 {
	case 1, 11:
		end, guest = rolledBack, ghost
	case 2:
		end, guest = brokenOff, ghost
	}
	n, change := s.change(guest)
	switch end {
	case committed:
		err = s.transaction(ctx, change)
	case rolledBack:
		err = s.transaction(ctx, func(ctx context.Context, tx outbox.Queryer) error { return cmp.Or(change(ctx, tx), errSecondThoughts) })
	case brokenOff:
		err = s.breakOff(ctx, change)
	}
	switch {
	case errors.Is(err, errRefused):
		return refused, n, nil
	case err != nil && !errors.Is(err, errSecondThoughts):
		return end, n, fmt.Errorf("transaction (expected: %s): %w", end, err)
	}
	return end, n, nil
}

// change returns a random change and its number of bookings.
func (s *store) change(guest string) (int, change) {
	id := room(guest).ID
	switch rand.IntN(10) {
	case 0, 1, 2:
		return 1, func(ctx context.Context, tx outbox.Queryer) error { return s.rename(ctx, tx, id, guest) }
	case 3, 4:
		return 1, func(ctx context.Context, tx outbox.Queryer) error { return s.cancel(ctx, tx, id) }
	}
	party := []Booking{room(guest), room(guest)}
	// In one order for all transactions, because two that wait for each other's room would deadlock.
	slices.SortFunc(party, func(a, b Booking) int { return cmp.Compare(a.ID, b.ID) })
	party = slices.Compact(party)
	return len(party), func(ctx context.Context, tx outbox.Queryer) error { return s.book(ctx, tx, party...) }
}

// room returns a random room for one of the next three nights. A night lasts a second, and a past night is never
// booked again, so a lost change is never overwritten and verify finds it.
func room(guest string) Booking {
	b := Booking{
		Hotel: []string{"Inverness", "Forres", "Dunsinane", "Fife", "Birnam"}[rand.IntN(5)],
		Room:  1 + rand.Int32N(1+rand.Int32N(1+rand.Int32N(20))), // low numbers are booked most
		Night: time.Now().Unix() + rand.Int64N(3), Guest: guest,
	}
	b.ID = fmt.Sprintf("%s-%d-%d", b.Hotel, b.Room, b.Night)
	return b
}

// breakOff begins a transaction and closes its connection, like a process that dies.
func (s *store) breakOff(ctx context.Context, change change) error {
	c, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err = change(ctx, c)
	_ = c.Raw(func(any) error { return driver.ErrBadConn }) // the pool closes a connection that returns ErrBadConn
	return err
}
