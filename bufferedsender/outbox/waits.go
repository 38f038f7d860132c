package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// waits holds the reason for which a relay moves no row. It is logged when it begins, and then every ten seconds. The
// loop owns it.
type waits struct {
	share int // of the ranges, as logged
	on    waitsOn
	attrs []any
	since time.Time // since when rows are on their way and none is settled; zero: not so
	said  time.Time
}

// waitsOn is whom a relay waits for, besides its sender.
type waitsOn int

const (
	nobody waitsOn = iota
	resume
	earlier // relays of the server of before
	holders
)

var errPaused = errors.New("outbox: queue is paused and rows wait, until Table.Resume")

// waiting records after a tick whom this relay waits for, and returns it for Ready. want is its share.
func (l *loop) waiting(t *tally, want int, now time.Time) (err error) {
	w := &l.waits
	if n := share(ranges, max(t.members, 1), t.rank); l.stuck.place == sharing && n != w.share {
		w.share = n
		l.r.log(slog.LevelInfo, "outbox: share of ranges changed", nil, "ranges", n, "relays", t.members)
	}
	held, draining := l.holds.count()
	held -= draining
	was := w.on
	switch w.on, w.attrs = nobody, nil; {
	case t.paused && t.rows:
		w.on, w.attrs, err = resume, []any{"next", "Table.Resume"}, errPaused
	case held >= want:
	case now.Before(l.back.quiet):
		w.on, w.attrs = earlier, []any{"until", l.back.quiet}
		err = fmt.Errorf("outbox: no ranges until %s, when no relay has leases of the earlier server", l.back.quiet.Format(time.RFC3339))
	case !t.until.IsZero():
		if t.holder == "" { // a relay that has ended had to cut a request
			t.holder = "a request that was cut"
		}
		w.on, w.attrs = holders, []any{"held", held, "share", want, "holder", t.holder, "until", t.until}
		if held == 0 {
			err = fmt.Errorf("outbox: no ranges: %s holds them until %s", t.holder, t.until.Format(time.RFC3339))
		}
	}
	if w.on != was {
		if w.said = (time.Time{}); held > 0 && !t.paused { // it works, and a handover takes a second
			w.said = now
		}
	}
	return err
}

// logWaits logs what the relay waits for, if it is time.
func (l *loop) logWaits(now time.Time) {
	w := &l.waits
	switch settled := l.desk.settled; {
	case l.flights.planned() == 0: // keys in back-off have logged why
		w.since = time.Time{}
	case w.since.IsZero():
		w.since = now
	case settled.After(w.since):
		w.since = settled
	}
	at := w.next()
	if at.IsZero() || now.Before(at) {
		return
	}
	w.said = now
	switch w.on {
	case nobody:
		l.r.log(slog.LevelInfo, "outbox: buffered rows, none settled", nil, "since", w.since, "rows", l.stats.InHand, "in_sender", l.flights.offered,
			"next", "see the Health of its sender")
	case resume:
		l.r.log(slog.LevelInfo, "outbox: queue paused while rows wait", nil, w.attrs...)
	case earlier:
		l.r.log(slog.LevelInfo, "outbox: no ranges yet after server change", nil, w.attrs...)
	case holders:
		l.r.log(slog.LevelInfo, "outbox: waiting for ranges of another relay", nil, w.attrs...)
	}
}

// next returns when something must be logged, zero for never.
func (w *waits) next() time.Time {
	switch said := w.said.Add(unheard); {
	case w.on != nobody:
		return said
	case w.since.IsZero():
		return time.Time{}
	default:
		if at := w.since.Add(unheard); at.After(said) {
			return at
		}
		return said
	}
}

// rowsWait reports whether a paused queue has rows. It is asked on a connection of the pool and for a second at most,
// because a table that is locked while its queue is paused must not delay the renewal of leases.
func (t *Table) rowsWait(ctx context.Context, db *sql.DB) (is bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = sqlkit.OnConn(ctx, db, func(c *sql.Conn) error {
		return sqlkit.One(ctx, c, &is, t.text(`SELECT EXISTS (SELECT 1 FROM {t} WHERE queue = ?1)`), t.Queue)
	}) // an error means no: what fails is reported by ticks
	return is
}
