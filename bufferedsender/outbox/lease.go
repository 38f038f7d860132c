package outbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// leasing holds the statements of a relay about its leases. They are renewed by the beats of its hub.
type leasing struct {
	table                           *Table
	hub                             *hub
	slot                            int64
	file                            *databaseFile
	join, move, fill, acquire, give string
}

func newLeasing(r *Relay, h *hub) *leasing {
	t := r.table
	return &leasing{
		table: t, file: r.file, hub: h, slot: r.slot,
		join: t.text(`INSERT INTO {t}_lease (queue, slot, owner, epoch, expires) VALUES (?1, ?2, ?3, 0, {now} + ?4)
			ON CONFLICT (queue, slot) DO UPDATE SET owner = excluded.owner, expires = excluded.expires`),
		move: t.text(`UPDATE {t}_lease SET slot = ?3 WHERE queue = ?1 AND owner = ?2 AND slot >= 64 AND slot <> ?3`),
		fill: t.text(`WITH RECURSIVE slots (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM slots WHERE n < 63)
			INSERT INTO {t}_lease (queue, slot, owner, epoch, expires) SELECT CAST(?1 AS text), n, '', 0, 0 FROM slots WHERE TRUE ON CONFLICT (queue, slot) DO NOTHING`),
		// The lock keeps others from burying this process meanwhile. Rows are locked in an order common to all relays.
		acquire: t.text(`WITH alive AS MATERIALIZED (SELECT slot FROM {t}_lease WHERE queue = '' AND owner = ?2 AND expires > {now} {server: FOR SHARE}),
			free AS MATERIALIZED (SELECT slot FROM {t}_lease WHERE queue = ?1 AND slot < 64 AND expires <= {now} AND EXISTS (SELECT 1 FROM alive) ORDER BY slot LIMIT ?4 {server: FOR UPDATE SKIP LOCKED})
			UPDATE {t}_lease SET owner = ?2, epoch = epoch + 1, expires = {now} + ?3 WHERE queue = ?1 AND slot IN (SELECT slot FROM free) RETURNING slot, epoch`),
		give: t.text(`UPDATE {t}_lease SET owner = '', expires = {now} + ?3 WHERE queue = ?1 AND owner = ?2 AND slot = ?4 AND epoch = ?5`),
	}
}

// tally is the result of a tick.
type tally struct {
	n             uint64 // of the beat
	began         time.Time
	renewed       map[int]int64 // epochs of the ranges that this relay had
	acquired      map[int]int64 // and of those that it acquired
	members, rank int           // relays that share the ranges, including this one
	probing       int           // relays that try one range each
	paused        bool
	letters       bool  // there are dead letters
	renewals      int64 // how often this process has renewed its leases
	server        string
	life          uint32 // of the progress at its start
	known         string // the server at its start, "" before it was known
}

// tick renews the leases, with a beat above after that began since then, registers this relay if it is not known, moves
// it to a place, and takes free ranges until it has its share. draining is how many ranges it holds and is giving away.
func (l *leasing) tick(ctx context.Context, at place, draining int, after uint64, since time.Time) (t tally, err error) {
	if err := l.file.check(); err != nil {
		return t, err
	}
	slot, is, free := l.slot+int64(at)<<placeBits, int64(0), 0
	if is, free, err = l.renewed(ctx, &t, after, since); err != nil {
		return t, err
	}
	on := func(f func(c *sql.Conn) error) error { return sqlkit.OnConn(ctx, l.hub.key.db, f) }
	if is != slot {
		err = on(func(c *sql.Conn) (err error) {
			if is != 0 {
				_, err = c.ExecContext(ctx, l.move, l.table.Queue, l.hub.owner, slot)
				return err
			}
			if _, err = c.ExecContext(ctx, l.fill, l.table.Queue); err == nil {
				_, err = c.ExecContext(ctx, l.join, l.table.Queue, slot, l.hub.owner, stands.Milliseconds())
			}
			return err
		})
		if err != nil {
			return t, err
		}
	}
	if is == 0 {
		if is, free, err = l.renewed(ctx, &t, l.hub.beats.begun(), time.Time{}); err != nil {
			return t, err
		}
		if is == 0 {
			return t, errors.New("registration of the relay not found")
		}
	}
	want := t.share(at) - (len(t.renewed) - draining)
	if want <= 0 || free == 0 {
		return t, nil
	}
	err = on(func(c *sql.Conn) error {
		return sqlkit.Each(ctx, c, func(rows *sql.Rows) error {
			var slot, epoch int64
			err := rows.Scan(&slot, &epoch)
			t.acquired[int(slot)] = epoch
			return err
		}, l.acquire, l.table.Queue, l.hub.owner, stands.Milliseconds(), int64(want))
	})
	return t, err
}

// renewed fills a tally in from a beat. It returns the slot of this relay, 0 if it is not registered, and the number of
// free ranges.
func (l *leasing) renewed(ctx context.Context, t *tally, after uint64, since time.Time) (slot int64, free int, err error) {
	b, err := l.hub.beat(ctx, l.table.Queue, after, since)
	if err != nil {
		return 0, 0, err
	}
	c := b.of[l.table.Queue]
	if c == nil {
		return 0, 0, errNotRunning
	}
	*t = tally{
		n: b.n, began: b.began, renewals: b.renewals, server: b.server, members: 1, paused: c.paused, letters: c.letters,
		renewed: c.renewed, acquired: make(map[int]int64),
	}
	for _, slot := range c.relays {
		if slot < int64(aside+1)<<placeBits && slot != l.slot {
			t.members++
		}
		if slot < l.slot {
			t.rank++
		}
		if slot >= int64(probing+1)<<placeBits {
			t.probing++
		}
	}
	return c.slot, c.free, nil
}

// gift is a range that is given away.
type gift struct {
	part  int
	epoch int64
	wait  time.Duration // how long no relay may send rows of it
}

// givenAway ends leases.
func (l *leasing) givenAway(ctx context.Context, gifts []gift) error {
	return sqlkit.OnConn(ctx, l.hub.key.db, func(c *sql.Conn) error {
		for _, g := range gifts {
			if _, err := c.ExecContext(ctx, l.give, l.table.Queue, l.hub.owner, g.wait.Milliseconds(), int64(g.part), g.epoch); err != nil {
				return err
			}
		}
		return nil
	})
}

// leave removes this relay from those that share the ranges; those that it still has end after a lease. If that fails,
// the next beats do it, and without beats everything of this process ends.
func (l *leasing) leave(ctx context.Context, lease time.Duration) error {
	return sqlkit.OnConn(ctx, l.hub.key.db, func(c *sql.Conn) error { return l.hub.leave(ctx, c, l.table.Queue, lease) })
}
