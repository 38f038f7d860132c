package outbox

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// A beat renews the row of a process, and reads the leases of its queues. It waits for no lock of a range. After lines
// of code, a process that stops leaves
//
//   - its row, which ends after a lease, the longest of its relays. The next beat of another process buries it: it
//     frees the ranges and relays that depend on the row, in its own queues. Other queues wait for their next relay.
//   - after acquire, before its answer: a range that no loop knows. The next beat finds it, and it is given away.
//   - while bury or stretch runs: one statement, so all or nothing.
//
// A relay that ends without its process, and could not give all away: leave, and for a minute the beats of the other
// relays, end the rest after a lease. They do the same for a relay that has not asked for a beat for a lease.
//
// A row that has ended is not renewed; its process buries itself and begins again. bury holds the row, so that no
// renewal is under way; acquire holds that of its own process, so that a buried one takes nothing.
//
// stands is how long the rows of ranges and relays are valid without their process, and stretched how much of it is
// left when they are written again. Relays of earlier versions look at nothing else: they take no range that is held,
// and share the others; after the death of a process they wait this long, unless a relay of this version buries it.
const (
	stands    = 10 * time.Minute
	stretched = stands / 2
)

// beating holds the statements of a hub about its own row, which has no queue, and about the rows that depend on it.
type beating struct {
	slot                                                      int64
	values                                                    func(columns ...[]any) []any
	renew, register, forget, census, bury, stretch, rest, row string
	mint                                                      string // "" if servers have no identity
}

func newBeating(t *Table, slot int64) beating {
	of := func(argument int) string { return t.data.Rows(argument, "w", [2]string{"queue", "text"}) }
	those := ` WHERE queue <> '' AND (queue, slot) IN (SELECT queue, slot FROM those)`
	return beating{
		slot: slot, values: t.data.Values, mint: t.text(t.data.server.mint),
		// A row that has ended is not renewed: what depends on it may already be another's.
		renew: t.text(`UPDATE {t}_lease SET expires = {now} + ?3, epoch = epoch + 1 WHERE queue = '' AND slot = ?1 AND owner = ?2 AND expires > {now} RETURNING epoch, ` + t.data.server.identity),
		register: t.text(`INSERT INTO {t}_lease (queue, slot, owner, epoch, expires) VALUES ('', ?1, ?2, 0, {now} + ?3)
			ON CONFLICT (queue, slot) DO UPDATE SET owner = excluded.owner, expires = excluded.expires`),
		forget: t.text(`DELETE FROM {t}_lease WHERE queue = '' AND expires < {now} - 86400000`),
		census: t.text(`SELECT m.queue, m.slot, m.epoch, CASE WHEN m.owner <> ?1 THEN m.owner END, m.expires - {now}, ` + t.data.server.identity + ` FROM ` + of(2) + ` JOIN {t}_lease m ON m.queue = w.queue
			UNION ALL SELECT w.queue, -1, (SELECT count(*) FROM {t}_queue q WHERE q.queue = w.queue AND q.paused), NULL, CASE WHEN EXISTS (SELECT 1 FROM {t}_dead d WHERE d.queue = w.queue) THEN 1 ELSE 0 END, ` + t.data.server.identity + ` FROM ` + of(2)),
		// The lock on the row of the process waits for no renewal, and shows one that was not visible yet.
		bury: t.text(`WITH gone AS MATERIALIZED (SELECT owner FROM {t}_lease WHERE queue = '' AND expires <= {now} ORDER BY slot {server: FOR UPDATE SKIP LOCKED}),
			those AS MATERIALIZED (SELECT m.queue, m.slot FROM ` + of(1) + ` JOIN {t}_lease m ON m.queue = w.queue WHERE m.owner IN (SELECT owner FROM gone) ORDER BY m.queue, m.slot {server: FOR UPDATE OF m SKIP LOCKED})
			UPDATE {t}_lease SET owner = '', expires = 0` + those),
		stretch: t.text(`WITH those AS MATERIALIZED (SELECT m.queue, m.slot FROM ` + of(4) + ` JOIN {t}_lease m ON m.queue = w.queue WHERE m.owner = ?1 AND m.expires > {now} AND m.expires < {now} + ?2 ORDER BY m.queue, m.slot {server: FOR UPDATE OF m SKIP LOCKED})
			UPDATE {t}_lease SET expires = {now} + ?3` + those),
		rest: t.text(`WITH those AS MATERIALIZED (SELECT slot FROM {t}_lease WHERE queue = ?1 AND owner = ?2 AND slot < 64 ORDER BY slot {server: FOR UPDATE SKIP LOCKED})
			UPDATE {t}_lease SET owner = '', expires = {now} + ?3 WHERE queue = ?1 AND slot IN (SELECT slot FROM those)`),
		row: t.text(`DELETE FROM {t}_lease WHERE queue = ?1 AND slot >= 64 AND (owner = ?2 OR expires < {now} - 3600000)`),
	}
}

// beat is one renewal of the row of a process, and what the table of leases has then.
type beat struct {
	n        uint64
	began    time.Time
	server   string
	renewals int64 // how often this process has renewed its row
	of       map[string]*census
}

// census counts the rows of a queue.
type census struct {
	renewed map[int]int64 // epochs of the ranges that this process has
	slot    int64         // of its relay; 0: none
	relays  []int64       // slots of relays that are alive
	free    int           // ranges without a holder
	paused  bool
	letters bool // there are dead letters
}

// beat returns a beat with a number above after that began since then, for the relay of a queue.
func (h *hub) beat(ctx context.Context, queue string, after uint64, since time.Time) (beat, error) {
	h.mu.Lock()
	if _, is := h.members[queue]; is {
		h.members[queue] = time.Now()
	}
	h.mu.Unlock()
	return h.beats.get(ctx, after, since, func(c *call[beat]) error {
		return h.on(c.ctx, func(db Queryer) (err error) {
			c.result, err = h.renew(c.ctx, db)
			c.result.began, c.result.n = c.began, c.n
			return err
		})
	})
}

// on calls f with the connection for beats; another call gets another connection meanwhile.
func (h *hub) on(ctx context.Context, f func(Queryer) error) error {
	if !dialects[h.key.dialect].Server {
		return sqlkit.OnConn(ctx, h.key.db, func(c *sql.Conn) error { return f(c) })
	}
	h.mu.Lock()
	c := h.conn
	h.conn = nil
	h.mu.Unlock()
	var err error
	if c == nil {
		if c, err = sqlkit.Conn(ctx, h.key.db); err != nil {
			return err
		}
	}
	if err = f(c); err != nil || ctx.Err() != nil || !h.keep(c) { // the call may have been abandoned
		closeConn(c)
	}
	return err
}

// keep keeps a connection for the next beat.
func (h *hub) keep(c *sql.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn != nil || len(h.members) == 0 {
		return false
	}
	h.conn = c
	return true
}

func closeConn(c *sql.Conn) {
	sqlkit.Drop(c)
	_ = c.Close() // the pool has dropped it
}

var errTwoServers = errors.New("two servers have answered")

// renew renews the row of the process.
func (h *hub) renew(ctx context.Context, db Queryer) (b beat, err error) {
	h.mu.Lock()
	now, lease, left, queues := time.Now(), h.lease, maps.Clone(h.left), []any{""}
	for queue, asked := range h.members {
		if now.Sub(asked) <= lease {
			queues = append(queues, queue)
		} else {
			left[queue] = time.Time{} // its loop hangs: others shall have its ranges
		}
	}
	h.mu.Unlock()
	if err := h.alive(ctx, db, &b, queues, lease); err != nil {
		return b, err
	}
	for queue, until := range left {
		if err := h.leave(ctx, db, queue, lease); err != nil {
			return b, err
		}
		if h.mu.Lock(); now.After(until) && h.left[queue].Equal(until) {
			delete(h.left, queue)
		}
		h.mu.Unlock()
	}
	orphans, short, err := h.count(ctx, db, &b, queues)
	if err == nil && orphans {
		if _, err = db.ExecContext(ctx, h.text.bury, h.text.values(queues)...); err == nil {
			_, short, err = h.count(ctx, db, &b, queues) // rows that were locked wait for the next beat
		}
	}
	if err == nil && short {
		_, err = db.ExecContext(ctx, h.text.stretch, append([]any{h.owner, stretched.Milliseconds(), stands.Milliseconds()}, h.text.values(queues)...)...)
	}
	return b, err
}

// alive renews the row. If there is none, or it has ended, everything that depends on it ends first. A server without
// an identity gets one, as in watermark.
func (h *hub) alive(ctx context.Context, db Queryer, b *beat, queues []any, lease time.Duration) error {
	args := []any{h.text.slot, h.owner, lease.Milliseconds()}
	for range 3 {
		b.renewals = 0
		err := sqlkit.Each(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&b.renewals, &b.server) }, h.text.renew, args...)
		switch {
		case err != nil:
			return err
		case b.renewals == 0:
			if err := h.register(ctx, db, queues, args); err != nil {
				return err
			}
		case b.server != "" || h.text.mint == "":
			return nil
		default:
			if _, err := db.ExecContext(ctx, h.text.mint); err != nil {
				return err
			}
		}
	}
	return errNoIdentity
}

// register makes the row, after burying those that have ended.
func (h *hub) register(ctx context.Context, db Queryer, queues, args []any) error {
	if _, err := db.ExecContext(ctx, h.text.bury, h.text.values(queues)...); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, h.text.forget); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, h.text.register, args...)
	return err
}

// count reads the leases of queues; the first queue is that of processes. orphans reports whether there are rows of
// processes that have ended, short whether rows of this one must be stretched.
func (h *hub) count(ctx context.Context, db Queryer, b *beat, queues []any) (orphans, short bool, err error) {
	b.of = make(map[string]*census)
	for _, queue := range queues {
		b.of[queue.(string)] = &census{renewed: make(map[int]int64)} //nolint:forcetypeassert // it is a string
	}
	var others []string // owners of valid rows
	gone := make(map[string]bool)
	err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
		var queue, server string
		var slot, epoch, left int64
		var other sql.NullString
		if err := rows.Scan(&queue, &slot, &epoch, &other, &left, &server); err != nil {
			return err
		}
		c := b.of[queue]
		switch {
		case server != b.server:
			return errTwoServers
		case slot < 0:
			c.paused, c.letters = epoch > 0, left > 0
		case queue == "":
			if other.Valid && left <= 0 {
				gone[other.String] = true
			}
		case left > 0:
			if other.Valid {
				others = append(others, other.String)
			} else if short = short || left < stretched.Milliseconds(); slot < ranges {
				c.renewed[int(slot)] = epoch
			} else {
				c.slot = slot
			}
			if slot >= ranges {
				c.relays = append(c.relays, slot)
			}
		case slot < ranges:
			c.free++
		}
		return nil
	}, h.text.census, append([]any{h.owner}, h.text.values(queues)...)...)
	return slices.ContainsFunc(others, func(owner string) bool { return gone[owner] }), short, err
}

// leave removes the relay of a queue from those that share its ranges. Ranges that it still has end after a lease.
func (h *hub) leave(ctx context.Context, db Queryer, queue string, lease time.Duration) error {
	if _, err := db.ExecContext(ctx, h.text.rest, queue, h.owner, lease.Milliseconds()); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, h.text.row, queue, h.owner)
	return err
}
