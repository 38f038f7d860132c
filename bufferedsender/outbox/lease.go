package outbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// leasing holds the statements about leases. Its methods are not called concurrently, except give.
type leasing struct {
	table                                        *Table
	owner                                        string
	slot                                         int64
	lease                                        int64 // in milliseconds
	renew, join, move, fill, acquire, give, quit string
	holder                                       string // looks up the owner of a range that this relay lacks

	file *databaseFile

	conn *sql.Conn // its own connection on PostgreSQL, nil until needed
	owed []gift    // which the next tick gives away; set between ticks
}

func newLeasing(r *Relay) *leasing {
	t := r.table
	of := `FROM {t}_lease m WHERE m.queue = ?1 AND m.expires > {now} AND m.slot `
	// Rows are locked first, in an order common to all relays.
	mine := `WITH mine AS MATERIALIZED (SELECT slot FROM {t}_lease WHERE queue = ?1 AND owner = ?2 AND expires > {now} ORDER BY slot {server: FOR UPDATE})
		UPDATE {t}_lease SET expires = {now} + ?3, epoch = epoch + CASE WHEN slot < 64 THEN 0 ELSE 1 END WHERE queue = ?1 AND slot IN (SELECT slot FROM mine) RETURNING slot, epoch`
	free := `WITH free AS MATERIALIZED (SELECT slot FROM {t}_lease WHERE queue = ?1 AND slot < 64 AND expires <= {now} ORDER BY slot LIMIT ?4 {server: FOR UPDATE SKIP LOCKED})
		UPDATE {t}_lease SET owner = ?2, epoch = epoch + 1, expires = {now} + ?3 WHERE queue = ?1 AND slot IN (SELECT slot FROM free) RETURNING slot, epoch`
	return &leasing{
		table: t, file: r.file, owner: r.owner, slot: r.slot, lease: r.opts.Lease.Milliseconds(),
		renew: t.text(mine + `,
			(SELECT count(*) ` + of + `BETWEEN 64 AND ` + lastSlot + ` AND m.slot <> ?4), (SELECT count(*) ` + of + `>= 64 AND m.slot < ?4), (SELECT count(*) ` + of + `>= ` + probeSlots + `),
			(SELECT count(*) FROM {t}_lease m WHERE m.queue = ?1 AND m.slot < 64 AND m.expires <= {now}),
			(SELECT count(*) FROM {t}_queue q WHERE q.queue = ?1 AND q.paused),
			EXISTS (SELECT 1 FROM {t}_dead d WHERE d.queue = ?1), ` + t.data.server.identity),
		join: t.text(`INSERT INTO {t}_lease (queue, slot, owner, epoch, expires) VALUES (?1, ?2, ?3, 0, {now} + ?4)
			ON CONFLICT (queue, slot) DO UPDATE SET owner = excluded.owner, expires = excluded.expires`),
		move: t.text(`UPDATE {t}_lease SET slot = ?3 WHERE queue = ?1 AND owner = ?2 AND slot >= 64 AND slot <> ?3`),
		fill: t.text(`WITH RECURSIVE slots (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM slots WHERE n < 63)
			INSERT INTO {t}_lease (queue, slot, owner, epoch, expires) SELECT CAST(?1 AS text), n, '', 0, 0 FROM slots WHERE TRUE ON CONFLICT (queue, slot) DO NOTHING`),
		acquire: t.text(free),
		holder:  t.text(`SELECT owner, expires - {now} FROM {t}_lease WHERE queue = ?1 AND slot < 64 AND owner <> ?2 AND expires > {now} ORDER BY expires, slot LIMIT 1`),
		give:    t.text(`UPDATE {t}_lease SET owner = '', expires = {now} + ?3 WHERE queue = ?1 AND owner = ?2 AND slot = ?4 AND epoch = ?5`),
		quit:    t.text(`DELETE FROM {t}_lease WHERE queue = ?1 AND slot >= 64 AND (owner = ?2 OR expires < {now} - 3600000)`),
	}
}

// tally is the result of a tick.
type tally struct {
	began         time.Time
	renewed       map[int]int64 // epochs of the ranges that this relay had
	acquired      map[int]int64 // and of those that it acquired
	members, rank int           // relays that share the ranges, including this one
	probing       int           // relays that try one range each
	paused        bool
	rows          bool      // it is paused and has rows
	holder        string    // of a range that this relay lacks, "" if a wait must end before its use
	until         time.Time // end of that lease; zero: this relay lacks none
	letters       bool      // there are dead letters
	renewals      int64     // how often this relay has renewed its leases
	server        string
	life          uint32 // of the progress at its start
	known         string // the server at its start, "" before it was known
}

// on calls f with the connection for leases.
func (l *leasing) on(ctx context.Context, db *sql.DB, f func(Queryer) error) error {
	if !l.table.data.Server {
		return sqlkit.OnConn(ctx, db, func(c *sql.Conn) error { return f(c) })
	}
	if l.conn == nil {
		c, err := sqlkit.Conn(ctx, db)
		if err != nil {
			return err
		}
		l.conn = c
	}
	err := f(l.conn)
	if err != nil {
		l.close()
	}
	return err
}

// close closes the connection.
func (l *leasing) close() {
	if l.conn != nil {
		sqlkit.Drop(l.conn)
		_ = l.conn.Close() // the pool has dropped it
		l.conn = nil
	}
}

// tick renews the leases, registers this relay if it is not known, moves it to a place, and takes free ranges until it
// has its share; otherwise it looks up the owner of one that it lacks. draining is how many ranges it holds and is
// giving away. A tick without changes is one statement.
func (l *leasing) tick(ctx context.Context, db *sql.DB, at place, draining int) (t tally, err error) {
	err = l.on(ctx, db, func(c Queryer) error {
		if err := l.file.check(); err != nil {
			return err
		}
		if err := l.giveAll(ctx, c, l.owed); err != nil {
			return err
		}
		l.owed = nil
		slot, is, free := l.slot+int64(at)<<placeBits, int64(0), 0
		renew := func() error {
			t.began, t.renewed, t.acquired = time.Now(), make(map[int]int64), make(map[int]int64)
			return sqlkit.Each(ctx, c, func(rows *sql.Rows) error {
				var slot, epoch int64
				var paused int
				if err := rows.Scan(&slot, &epoch, &t.members, &t.rank, &t.probing, &free, &paused, &t.letters, &t.server); err != nil {
					return err
				}
				t.members++
				t.paused = paused > 0
				if slot < ranges {
					t.renewed[int(slot)] = epoch
				} else {
					is, t.renewals = slot, epoch
				}
				return nil
			}, l.renew, l.table.Queue, l.owner, l.lease, l.slot)
		}
		if err := renew(); err != nil {
			return err
		}
		if is != slot {
			if _, err := c.ExecContext(ctx, l.move, l.table.Queue, l.owner, slot); err != nil {
				return err
			}
		}
		if is == 0 {
			if _, err := c.ExecContext(ctx, l.fill, l.table.Queue); err != nil {
				return err
			}
			if _, err := c.ExecContext(ctx, l.join, l.table.Queue, slot, l.owner, l.lease); err != nil {
				return err
			}
			if err := renew(); err != nil {
				return err
			}
			if is == 0 {
				return errors.New("registration of the relay not found")
			}
		}
		want := t.share(at) - (len(t.renewed) - draining)
		if want <= 0 {
			return nil
		}
		if free > 0 {
			err := sqlkit.Each(ctx, c, func(rows *sql.Rows) error {
				var slot, epoch int64
				err := rows.Scan(&slot, &epoch)
				t.acquired[int(slot)] = epoch
				return err
			}, l.acquire, l.table.Queue, l.owner, l.lease, int64(want))
			if err != nil || len(t.acquired) >= want {
				return err
			}
		}
		_ = sqlkit.Each(ctx, c, func(rows *sql.Rows) error {
			var left int64
			err := rows.Scan(&t.holder, &left)
			t.until = time.Now().Add(time.Duration(left) * time.Millisecond)
			return err
		}, l.holder, l.table.Queue, l.owner) // only for the log; the next tick reports what fails
		return nil
	})
	return t, err
}

// gift is a range that is given away.
type gift struct {
	part  int
	epoch int64
	wait  time.Duration // how long no relay may send rows of it
}

// givenAway ends leases. It uses a connection of the pool, because tick may be running.
func (l *leasing) givenAway(ctx context.Context, db *sql.DB, gifts []gift) error {
	return sqlkit.OnConn(ctx, db, func(c *sql.Conn) error { return l.giveAll(ctx, c, gifts) })
}

func (l *leasing) giveAll(ctx context.Context, c Queryer, gifts []gift) error {
	for _, g := range gifts {
		if _, err := c.ExecContext(ctx, l.give, l.table.Queue, l.owner, g.wait.Milliseconds(), int64(g.part), g.epoch); err != nil {
			return err
		}
	}
	return nil
}

// leave removes this relay from those that share the ranges.
func (l *leasing) leave(ctx context.Context, db *sql.DB) error {
	return sqlkit.OnConn(ctx, db, func(c *sql.Conn) error {
		_, err := c.ExecContext(ctx, l.quit, l.table.Queue, l.owner)
		return err
	})
}
