package outbox

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// beginFinish deletes what was confirmed and moves what was refused.
func (l *loop) beginFinish(now time.Time) {
	d := l.desk
	if l.busy[kindFinish] || now.Before(l.finishAt) || len(d.done)+len(d.dead)+len(d.tried) == 0 {
		return
	}
	f := &finishing{marks: l.letters || len(d.dead) > 0, dead: cut(&d.dead, maxBury), tried: cut(&d.tried, maxDelete)}
	if len(d.dead) == 0 { // the deletion of a later row marks letters that are there
		f.done = cut(&d.done, maxDelete)
	}
	for _, x := range f.dead {
		d.bytes -= int64(len(x.body))
	}
	var parts [ranges]bool
	for _, r := range f.done {
		parts[r.part] = true
	}
	for _, r := range f.dead {
		parts[r.part] = true
	}
	for _, r := range f.tried {
		parts[r.part] = true
	}
	for i := range parts {
		if p := l.holds.parts[i].lease; parts[i] && p != nil {
			f.parts, f.epochs = append(f.parts, int64(i)), append(f.epochs, p.epoch)
		}
	}
	f.gens = l.holds.gens
	if len(f.dead) > 0 {
		l.letters, l.buriedAt = true, now
	}
	l.now = f
	l.beginWork(l.work, kindFinish, statement, func(ctx context.Context) func() {
		err := l.finish.run(ctx, l.r.db, l.r.owner, f)
		return func() { l.finishDone(f, err) }
	})
}

func cut[T any](from *[]T, n int) []T {
	n = min(n, len(*from))
	taken := slices.Clone((*from)[:n])
	*from = slices.Delete(*from, 0, n)
	return taken
}

func (l *loop) finishDone(f *finishing, err error) {
	d := l.desk
	l.now = nil
	if err != nil {
		l.fails(kindFinish, slog.LevelWarn, "confirmed rows cannot be deleted: they wait", err)
		held := func(r row) bool { return l.holds.gens[r.part] == f.gens[r.part] && f.gens[r.part] != 0 }
		d.done = append(slices.DeleteFunc(f.done, func(r row) bool { return !held(r) }), d.done...)
		f.dead = slices.DeleteFunc(f.dead, func(x letter) bool { return !held(x.row) })
		for _, x := range f.dead {
			d.bytes += int64(len(x.body))
		}
		d.dead = append(f.dead, d.dead...)
		if len(d.tried) < maxAside {
			d.tried = append(slices.DeleteFunc(f.tried, func(r row) bool { return !held(r) }), d.tried...)
		}
		l.finishAt = time.Now().Add(retryAfter(l.finishFailed, 5*time.Second))
		l.finishFailed++
		return
	}
	l.finishFailed = 0
	l.works(kindFinish)
	if len(f.dead) > 0 {
		l.buriedAt = time.Now()
	}
	d.deleted(f.done, &f.gens)
	for _, x := range f.dead {
		d.deleted([]row{x.row}, &f.gens)
	}
	if f.gens != l.holds.gens { // what was to be deleted has been in hand until now, and may have to be read again
		l.restart = true
	}
	c := &l.r.stats
	c.deleted.Add(f.deleted)
	l.untidy += f.deleted
	c.dead.Add(int64(len(f.buried)))
	if missing := int64(len(f.done)+len(f.dead)-len(f.buried)) - f.deleted; missing > 0 {
		c.stale.Add(missing)
		l.tickAt = time.Now() // was a lease lost? Or were they purged?
	}
	for _, x := range f.dead {
		if f.buried[x.seq] { // else the lease was lost, or somebody has purged it
			l.r.buried(x)
		}
	}
}

// beginWithdraw takes back what the sender has not sent of leases that are revoked.
func (l *loop) beginWithdraw() {
	if !l.withdraw || l.busy[kindWithdraw] {
		return
	}
	l.withdraw = false
	l.beginWork(l.work, kindWithdraw, 0, func(context.Context) func() {
		l.r.to.Withdraw(func(_ string, tag any) bool {
			f, ours := tag.(*flight)
			return ours && f.loop == l && f.lease.revoked.Load()
		})
		return func() {}
	})
}

// tidyRows is after how many deleted rows the database is tidied although there is work.
const tidyRows = 20_000

// beginTidy does what the database wants to have done now and then, and forgets tombstones.
func (l *loop) beginTidy(now time.Time) {
	if l.busy[kindTidy] || now.Before(l.tidyAt) || l.closing {
		return
	}
	forget := l.r.opts.SeqField != "" && !now.Before(l.forgetAt)
	tidy := l.untidy > 0 && (len(l.desk.seqs) == 0 || l.untidy >= tidyRows) && l.r.table.data.tidy != nil
	if !forget && !tidy {
		return
	}
	l.tidyAt = now.Add(max(l.r.table.data.tidyEvery, time.Second))
	if forget {
		l.forgetAt = now.Add(l.r.opts.TombstonesFor / 24)
	}
	undone := int64(0)
	if tidy {
		undone, l.untidy = l.untidy, 0
	}
	l.beginWork(l.work, kindTidy, statement, func(ctx context.Context) func() {
		err := sqlkit.OnConn(ctx, l.r.db, func(c *sql.Conn) error {
			if forget {
				query := l.r.table.text(`DELETE FROM {t}_tombstone WHERE queue = ?1 AND died < {now} - ?2`)
				if _, err := c.ExecContext(ctx, query, l.r.table.Queue, l.r.opts.TombstonesFor.Milliseconds()); err != nil {
					return err
				}
			}
			if tidy {
				return l.r.table.data.tidy(ctx, c, l.r.table.text)
			}
			return nil
		})
		return func() {
			if err != nil && l.work.Err() == nil {
				l.untidy += undone // later
				l.r.log(slog.LevelDebug, "the database could not be tidied: later", err)
			}
		}
	})
}
