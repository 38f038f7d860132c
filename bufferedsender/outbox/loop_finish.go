package outbox

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// beginFinish deletes confirmed rows and turns rejected ones into dead letters.
func (l *loop) beginFinish(now time.Time) {
	f := l.desk.settling.begin(l.holds, now)
	l.ask(kindFinish, statement, func(ctx context.Context) func() {
		err := l.finish.run(ctx, l.r.db, l.r.owner, f)
		return func() { l.finishDone(f, err) }
	}, func(err error) {
		l.desk.settling.now = &finishing{done: slices.Clone(f.done), dead: slices.Clone(f.dead), tried: slices.Clone(f.tried), gens: f.gens}
		l.finishDone(nil, err)
	})
}

func (l *loop) finishDone(f *finishing, err error) {
	d := l.desk
	if err != nil {
		if d.settling.failed(l.holds) { // this relay may have taken the ranges again
			l.readAgain()
		}
		l.fails(kindFinish, slog.LevelWarn, "outbox: confirmed rows not deleted; retrying", err)
		return
	}
	d.settling.ended(time.Now())
	l.works(kindFinish)
	d.deleted(f.done, &f.gens)
	for _, x := range f.dead {
		d.deleted([]row{x.row}, &f.gens)
	}
	if f.gens != l.holds.gens { // rows of a range that was taken again were stale until now
		l.readAgain()
	}
	l.stats.Deleted += f.deleted
	l.untidy += f.deleted
	l.stats.Dead += int64(len(f.buried))
	if missing := int64(len(f.done)+len(f.dead)-len(f.buried)) - f.deleted; missing > 0 {
		l.stats.Stale += missing
		d.confirmed.doubt(f.done, &f.gens)      // they may be read again
		l.jobs[kindTick].retry.At = time.Time{} // find out whether a lease was lost, or the rows were purged
	}
	for _, x := range f.dead {
		if f.buried[x.seq] { // otherwise the lease was lost, or the row was purged
			l.r.buried(x)
		}
	}
}

// tidyRows is the number of deleted rows after which the database is tidied in spite of other work.
const tidyRows = 20_000

// untidied reports whether old tombstones are due for deletion, and whether the database should be tidied.
func (l *loop) untidied(now time.Time) (forget, tidy bool) {
	return l.r.opts.SeqField != "" && !now.Before(l.forgetAt),
		l.untidy > 0 && (len(l.desk.seqs) == 0 || l.untidy >= tidyRows) && l.r.table.data.tidy != nil
}

// beginTidy tidies the database, and deletes old tombstones.
func (l *loop) beginTidy(now time.Time) {
	forget, tidy := l.untidied(now)
	l.jobs[kindTidy].retry.At = now.Add(max(l.r.table.data.tidyEvery, time.Second))
	if forget {
		l.forgetAt = now.Add(l.r.opts.TombstonesFor / 24)
	}
	undone := int64(0)
	if tidy {
		undone, l.untidy = l.untidy, 0
	}
	lost := func(err error) {
		l.untidy += undone // retried later
		l.r.log(slog.LevelDebug, "outbox: clean-up postponed", err)
	}
	l.ask(kindTidy, statement, func(ctx context.Context) func() {
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
				lost(err)
			}
		}
	}, lost)
}
