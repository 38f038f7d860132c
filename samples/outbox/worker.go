package main

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// What a worker does.
const (
	roleWrite = "write"
	roleRelay = "relay"
)

// work is the whole of a worker. It reports on out, line by line, and ends when in does, which is also when
// whoever has started it dies.
func (c *config) work(ctx context.Context, role string, in io.Reader, out io.Writer) (err error) {
	s, err := c.open()
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
	if role == roleRelay {
		return c.relay(ctx, s, out)
	}
	return write(ctx, s, out)
}

// write makes transactions until ctx ends, and reports how each has ended.
func write(ctx context.Context, s *store, out io.Writer) error {
	w := newWriter(s)
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	for {
		// Each is finished: it is for -kill to break them.
		end, n, err := w.write(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, end, n); err != nil {
			return err
		}
		if !stage.Wait(ctx, pause) {
			return nil
		}
	}
}

// relay sends until ctx ends, and reports when it is ready.
func (c *config) relay(ctx context.Context, s *store, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	err := s.sendUntil(ctx, c.endpoint, c.logger, func(r *outbox.Relay) {
		watching.Go(func() {
			if stage.Until(ctx, time.Hour, 50*time.Millisecond, func() (bool, error) { return r.Ready() == nil, nil }) == nil {
				fmt.Fprintln(out, "ready")
			}
		})
	})
	cancel()
	watching.Wait()
	return err
}

// How transactions end.
const (
	committed  = "committed"
	rolledBack = "rolled-back"
	brokenOff  = "broken-off" // with its connection, in the middle
	refused    = "refused"    // by the table: somebody was faster
)

// ghost is the guest in all transactions that do not commit: the index must never have heard of him.
const ghost = "Banquo"

// pause is how long a writer rests after a transaction.
const pause = 2 * time.Millisecond

// nightsAhead is for how many nights rooms can be booked. A night of these hotels lasts a second. What was lost of a
// night that is over stays lost, and is noticed.
const nightsAhead = 3

// writer makes random transactions.
type writer struct {
	store *store
	dice  *rand.Rand
	own   []Booking // the last ones that it has made
	due   []string  // how its first transactions have to end, so that a short run has seen all of it
}

func newWriter(s *store) *writer {
	return &writer{store: s, dice: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), due: []string{committed, brokenOff, rolledBack}}
}

// write makes one, and returns how it has ended and how many bookings it was about.
func (w *writer) write(ctx context.Context) (end string, n int, err error) {
	end = committed
	switch p := w.dice.IntN(100); {
	case len(w.due) > 0:
		end = w.due[0]
	case p < 5:
		end = brokenOff
	case p < 15:
		end = rolledBack
	}
	n, change := w.change(end)
	switch end {
	case committed:
		err = w.store.transaction(ctx, func(tx outbox.Queryer) error { return change(ctx, tx) })
	case rolledBack:
		err = w.store.transaction(ctx, func(tx outbox.Queryer) error { return cmp.Or(change(ctx, tx), errSecondThoughts) })
	case brokenOff:
		err = w.breakOff(ctx, change)
	}
	switch {
	case errors.Is(err, errTaken) || errors.Is(err, errNoBooking):
		return refused, n, nil
	case err != nil && !errors.Is(err, errSecondThoughts):
		return end, n, fmt.Errorf("a transaction that was to be %s: %w", end, err)
	}
	if len(w.due) > 0 {
		w.due = w.due[1:]
	}
	return end, n, nil
}

var errSecondThoughts = errors.New("the guest has had second thoughts")

// change returns what a transaction does.
func (w *writer) change(end string) (n int, change func(ctx context.Context, tx outbox.Queryer) error) {
	guest := ghost
	if end == committed {
		guest = []string{"Macbeth", "Macduff", "Malcolm", "Ross", "Lennox", "Duncan", "Hecate"}[w.dice.IntN(7)]
	}
	switch p := w.dice.IntN(10); {
	case p < 5:
		party := []Booking{w.room(guest)}
		for range w.dice.IntN(3) {
			if b := w.room(guest); !slices.Contains(party, b) {
				party = append(party, b)
			}
		}
		// All in the same order: two who wait for a room of the other would wait for ever.
		slices.SortFunc(party, func(a, b Booking) int { return cmp.Compare(a.ID, b.ID) })
		w.own = append(w.own, party...)
		w.own = w.own[max(0, len(w.own)-20):]
		return len(party), func(ctx context.Context, tx outbox.Queryer) error { return w.store.book(ctx, tx, party...) }
	case p < 8:
		id, guest := w.booked(), fmt.Sprintf("%s %d", guest, w.dice.IntN(1000))
		return 1, func(ctx context.Context, tx outbox.Queryer) error { return w.store.rename(ctx, tx, id, guest) }
	default:
		id := w.booked()
		return 1, func(ctx context.Context, tx outbox.Queryer) error { return w.store.cancel(ctx, tx, id) }
	}
}

// booked returns the key of a room that is probably booked.
func (w *writer) booked() string {
	if len(w.own) == 0 {
		return w.room("").ID
	}
	return w.own[w.dice.IntN(len(w.own))].ID
}

// room returns a random one, one of the nights to come.
func (w *writer) room(guest string) Booking {
	b := Booking{
		Hotel: []string{"Inverness", "Forres", "Dunsinane", "Fife", "Birnam"}[w.dice.IntN(5)],
		Room:  1 + w.dice.Int32N(30), Night: time.Now().Unix() + w.dice.Int64N(nightsAhead), Guest: guest,
	}
	if w.dice.IntN(4) == 0 {
		b.Room = 1 // which everybody wants
	}
	b.ID = fmt.Sprintf("%s-%d-%d", b.Hotel, b.Room, b.Night)
	return b
}

// breakOff begins a transaction and closes its connection without an end, as a process does that dies.
func (w *writer) breakOff(ctx context.Context, change func(ctx context.Context, tx outbox.Queryer) error) error {
	c, err := w.store.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	begin := "BEGIN"
	if w.store.outbox.Dialect == outbox.SQLite {
		begin = "BEGIN IMMEDIATE"
	}
	if _, err := c.ExecContext(ctx, begin); err != nil {
		return err
	}
	err = change(ctx, c)
	// A pool closes a connection that is said to be bad.
	if bad := c.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(bad, driver.ErrBadConn) && !errors.Is(bad, sql.ErrConnDone) {
		err = errors.Join(err, bad)
	}
	return err
}
