package outbox

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// room returns how many rows a read may return; 0 until a read is worthwhile.
func (l *loop) room() int {
	room := l.r.opts.maxRows - l.desk.inHand()
	if room < min(maxRead, l.r.opts.maxRows)/2 && l.desk.inHand() > 0 {
		return 0
	}
	return max(min(room, maxRead), 0)
}

func (l *loop) beginRead(now time.Time) {
	c := l.progress.begin(now, l.r.opts.fullPass)
	mask, gens := l.holds.mask(), l.holds.gens
	count, bytes := min(l.room(), c.most), min(maxReadBytes, l.r.opts.maxBytes-l.desk.size())
	inHand, file := len(l.desk.seqs), l.r.file
	since := now.Add(-l.r.opts.Poll / 2)
	l.desk.reads++
	l.ask(kindRead, statement, func(ctx context.Context) func() {
		var a answer
		err := func() error {
			if err := file.check(); err != nil {
				return err
			}
			seen, past, err := l.hub.look(ctx, l.read, c.past, since)
			if err != nil {
				return err
			}
			c.past, c.began = past, seen.began
			from, news, err := c.floor.rise(ctx, l.r.db, l.read, seen, slices.Max(c.seen[:]))
			if err != nil || c.floor.another != "" || !news && c.dry && !c.full {
				return err
			}
			if c.back(from) {
				count += inHand
			}
			err = sqlkit.OnConn(ctx, l.r.db, func(conn *sql.Conn) error {
				return steered(ctx, conn, l.r.table.data, func() (err error) {
					a, err = l.read.read(ctx, conn, mask, c.after, c.seen, c.floor.upTo(c.after), count, bytes)
					return err
				})
			})
			c.past = l.hub.looks.begun() // the rows have numbers above those of earlier looks
			return err
		}()
		return func() { l.readDone(a, err, &c, gens) }
	}, func(err error) { l.readDone(answer{}, err, nil, gens) })
}

// readDone takes over the result of a read. was is where the read began.
func (l *loop) readDone(a answer, err error, was *progress, gens [ranges]uint32) {
	now := time.Now()
	defer l.desk.read()
	if err != nil {
		l.fails(kindRead, slog.LevelWarn, "outbox: rows cannot be read", err)
		l.progress.most = max(1, l.progress.most/4) // the statement may have taken too long
		return
	}
	l.works(kindRead)
	switch {
	case was.life != l.progress.life: // the rows may be from the earlier server
		return
	case was.floor.another != "":
		l.begun(was.floor.server, was.floor.another, now)
		return
	}
	l.desk.confirmed.prune(now.Add(-confirmedFor), was.floor.at())
	for i := range gens { // only ranges that are still held as at the start of the read
		if gens[i] != l.holds.gens[i] {
			gens[i] = 0
		}
	}
	fresh, late := l.desk.take(a.rows, &gens, was.known)
	l.stats.Read += int64(fresh)
	l.stats.Late += int64(late)
	l.jobs[kindRead].retry.At = l.progress.done(&a, was, fresh > 0, now, &l.r.opts)
	if !l.progress.passed.IsZero() {
		l.r.passed.Store(l.progress.passed.UnixNano())
	}
}

// readAgain reads from the beginning, because rows were skipped.
func (l *loop) readAgain() {
	l.progress.restart = true
	l.jobs[kindRead].retry.At = time.Time{}
}

// beginRefill reads rows of a key that are only in the table.
func (l *loop) beginRefill(time.Time) {
	flights := l.flights.cut(kindRefill, 1)
	if len(flights) == 0 {
		return
	}
	e := flights[0].entry
	e.gap.came = nil
	key, first, last := e.key, e.gap.first, e.gap.last
	l.desk.reads++
	lost := func(err error) {
		l.desk.read()
		l.flights.putBack(kindRefill, flights)
		l.fails(kindRefill, slog.LevelWarn, "outbox: rows of a waiting key cannot be read", err)
	}
	l.ask(kindRefill, statement, func(ctx context.Context) func() {
		var rows []row
		err := sqlkit.OnConn(ctx, l.r.db, func(c *sql.Conn) error {
			return steered(ctx, c, l.r.table.data, func() (err error) {
				rows, err = l.read.ofKey(ctx, c, key, first, last)
				return err
			})
		})
		return func() {
			if err != nil {
				lost(err)
				return
			}
			l.works(kindRefill)
			l.desk.refilled(flights[0], rows, l.holds.gens[e.part], len(rows) == maxRefill)
			l.desk.read()
		}
	}, lost)
}
