package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// back is the loop's state for detecting a server that has gone back, and for the recovery.
type back struct {
	renewals int64     // of leases, as counted by the database
	quiet    time.Time // until then no range is taken
	doubts   []string  // keys to read again
	moved    bool      // the next tick takes a new connection: the old one may lead to the old server
}

// begun starts over with a server that may lack commits of the previous one. Rows read so far are not sent, numbers of
// the two are not compared, and ranges are taken only after a lease, so that those of other relays have ended.
// server is its identity, "" if unknown, and how is the evidence that it is another one.
func (l *loop) begun(server, how string, now time.Time) {
	keys, since := l.desk.doubtful(now)
	for i := range l.holds.parts {
		if l.holds.parts[i].lease != nil {
			l.holds.lose(i)
			l.desk.drop(uint8(i))
		}
	}
	clear(l.desk.gone) // the numbers may be those of other rows now
	l.holds.withdraw = true
	l.progress = progress{most: firstRead, life: l.progress.life + 1, past: l.hub.looks.begun(), floor: floor{server: server}, wokenAt: now}
	l.back.quiet, l.back.renewals, l.back.moved = now.Add(l.r.opts.Lease), 0, true
	l.jobs[kindTick].retry.At, l.jobs[kindRead].retry.At = now, now
	if l.desk.loads {
		l.back.doubts = append(l.back.doubts, keys...)
	}
	l.r.opts.Logger.Warn("outbox: server changed; index may be ahead of it", "queue", l.r.table.Queue, "known_by", how, "keys", len(keys), "since", since, "reloaded", l.desk.loads,
		"next", "if commits may have been lost, compare index and source with repair.Repairer")
}

// wentBack returns the evidence of a tick that another server answered, or one that lacks a renewal made by this relay;
// "" for none. A tick that began before any server was known may have been answered by a new server without an
// identity.
func (l *loop) wentBack(t *tally) string {
	switch {
	case t.known != "" && t.server != t.known:
		return "another identity"
	case l.back.renewals > 0 && t.renewals <= l.back.renewals:
		return fmt.Sprintf("it knows of %d renewals of leases after %d", t.renewals, l.back.renewals)
	}
	return ""
}

// beginDoubt writes rows for keys for which the index may be ahead: the Loader reads them behind all other rows.
func (l *loop) beginDoubt(time.Time) {
	keys := slices.DeleteFunc(cut(&l.back.doubts, atOnce), func(key string) bool { return l.r.table.checkKey(key) != nil }) // never sent
	if len(keys) == 0 {
		return
	}
	lost := func(err error) {
		l.back.doubts = append(l.back.doubts, keys...)
		l.fails(kindDoubt, slog.LevelWarn, "outbox: keys to reload not written; retrying", err)
	}
	l.ask(kindDoubt, statement, func(ctx context.Context) func() {
		t := l.r.table
		b, err := keysOnly(t, keys)
		if err == nil {
			err = sqlkit.InTransaction(ctx, l.r.db, t.data.begin(), func(c *sql.Conn) error { return t.write(ctx, c, BackfillClass, b) })
		}
		return func() {
			if sqlkit.Classify(err) == sqlkit.Denied {
				l.r.opts.Logger.Warn("outbox: role lacks INSERT; keys not reloaded", "queue", t.Queue, "keys", len(keys), "error", err, "next", "compare index and source with repair.Repairer")
				return
			}
			if err != nil {
				lost(err)
				return
			}
			l.works(kindDoubt)
		}
	}, lost)
}
