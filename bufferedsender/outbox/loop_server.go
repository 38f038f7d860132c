package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// back is what the loop knows of servers that go back.
type back struct {
	renewals int64     // of leases, as the database has counted them
	quiet    time.Time // until when no range is taken
	doubts   []string  // keys to be read again
}

// begun begins with a server that may lack what the one before had: nothing that was read is sent, no number is
// compared with one of before, and ranges are taken after a margin, in which requests of other relays end. server is
// its identity, "" if that is not known, and how what has shown that it is another one.
func (l *loop) begun(server, how string, now time.Time) {
	keys, since := l.desk.doubtful(now)
	for i := range l.holds.parts {
		if l.holds.parts[i].lease != nil {
			l.holds.lose(i)
			l.desk.drop(uint8(i))
		}
	}
	l.holds.withdraw = true
	l.progress = progress{most: firstRead, life: l.progress.life + 1, floor: floor{server: server}, wokenAt: now}
	l.back.quiet, l.back.renewals = now.Add(l.r.terms.Margin), 0
	l.jobs[kindTick].retry.At, l.jobs[kindRead].retry.At = now, now
	if l.desk.loads {
		l.back.doubts = append(l.back.doubts, keys...)
	}
	l.r.opts.Logger.Warn("outbox: server changed; index may be ahead of it", "queue", l.r.table.Queue, "known_by", how, "keys", len(keys), "since", since, "reloaded", l.desk.loads,
		"next", "if commits may have been lost, compare index and source with repair.Repairer")
}

// wentBack says how a tick shows that another server has answered it, or one that lacks a renewal which this relay has
// made; "" if it does not. A tick that began before another one was found says nothing, and one that began before any
// was known may have been answered by a new server that had no identity yet.
func (l *loop) wentBack(t *tally) string {
	switch {
	case t.life != l.progress.life:
	case t.known != "" && t.server != t.known:
		return "another identity"
	case l.back.renewals > 0 && t.renewals <= l.back.renewals:
		return fmt.Sprintf("it knows of %d renewals of leases after %d", t.renewals, l.back.renewals)
	}
	return ""
}

// beginDoubt writes rows of keys of which the index may be ahead: the Loader reads them behind all others.
func (l *loop) beginDoubt(time.Time) {
	keys := cut(&l.back.doubts, atOnce)
	lost := func(err error) {
		l.back.doubts = append(l.back.doubts, keys...)
		l.fails(kindDoubt, slog.LevelWarn, "outbox: keys that the index is ahead of wait", err)
	}
	l.ask(kindDoubt, statement, func(ctx context.Context) func() {
		t := l.r.table
		b, err := keysOnly(t, keys)
		if err == nil {
			err = sqlkit.InTransaction(ctx, l.r.db, t.data.begin(), func(c *sql.Conn) error { return t.write(ctx, c, BackfillClass, b) })
		}
		return func() {
			if sqlkit.Classify(err) == sqlkit.Denied {
				l.r.opts.Logger.Warn("outbox: role must not insert; keys not reloaded", "queue", t.Queue, "keys", len(keys), "error", err, "next", "compare index and source with repair.Repairer")
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
