package outbox

import (
	"context"
	"database/sql"
	"slices"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// Bounds of one deletion.
const (
	maxDelete = 5000
	maxBury   = 200
)

// finishing holds the rows that have ended and are written about in one deletion, with everything that belongs to it.
type finishing struct {
	done  []row
	dead  []letter
	tried []row

	gens          [ranges]uint32 // of the ranges at its start
	parts, epochs []any          // of the leases on which it relies
	marks         bool           // the keys may have dead letters

	deleted int64
	buried  map[int64]bool // numbers of the rows that have become dead letters
}

// finishes holds the statements of a relay for deletions.
type finishes struct {
	table                           *Table
	keepsDeletes                    bool
	remove, bury, tried, tomb, mark string
}

func newFinishes(t *Table, tombs bool) *finishes {
	d := t.data
	latest := d.Rows(2, "k", [2]string{"key", "text"}, [2]string{"seq", "bigint"})
	return &finishes{
		table: t, keepsDeletes: tombs, remove: t.text(d.held() + d.remove), bury: t.text(d.held() + d.bury), tried: t.text(d.held() + d.tried),
		tomb: t.text(`INSERT INTO {t}_tombstone (queue, key, seq, died) SELECT CAST(?1 AS text), k.key, k.seq, {now} FROM ` + latest + ` WHERE TRUE
			ON CONFLICT (queue, key) DO UPDATE SET seq = CASE WHEN excluded.seq > {t}_tombstone.seq THEN excluded.seq ELSE {t}_tombstone.seq END, died = excluded.died`),
		mark: t.text(`UPDATE {t}_dead AS d SET newer = CASE WHEN k.seq > d.newer THEN k.seq ELSE d.newer END FROM ` + latest + `
			WHERE d.queue = ?1 AND d.key = k.key AND d.seq < k.seq`),
	}
}

// held returns a common table expression: the ranges that the owner still holds, locked. Its arguments are the queue,
// the owner and the lists of ranges and their epochs.
func (d *dialect) held() string {
	return `WITH held AS MATERIALIZED (
		SELECT l.slot FROM {t}_lease AS l JOIN ` + d.Rows(3, "w", [2]string{"slot", "bigint"}, [2]string{"epoch", "bigint"}) + ` ON l.slot = w.slot AND l.epoch = w.epoch
		WHERE l.queue = ?1 AND l.owner = ?2 AND l.expires > {now} ORDER BY l.slot {server: FOR SHARE OF l}) `
}

// run writes f: one statement if there are only rows to delete, otherwise one transaction.
func (q *finishes) run(ctx context.Context, db *sql.DB, owner string, f *finishing) error {
	d := q.table.data
	tombs := q.keepsDeletes && slices.ContainsFunc(f.done, func(r row) bool { return r.gone })
	if len(f.dead) == 0 && len(f.tried) == 0 && !tombs && !f.marks {
		return sqlkit.OnConn(ctx, db, func(c *sql.Conn) error {
			return steered(ctx, c, d, func() (err error) {
				f.deleted, err = q.delete(ctx, c, owner, f, f.done)
				return err
			})
		})
	}
	return sqlkit.InTransaction(ctx, db, d.begin(), func(c *sql.Conn) error {
		if err := q.buryAll(ctx, c, owner, f); err != nil {
			return err
		}
		if err := q.latest(ctx, c, q.mark, f.overtaken(), func(row) bool { return true }); err != nil {
			return err
		}
		if len(f.tried) > 0 {
			// Only for rows whose lease is held, so that no other relay deletes them: an update moves a row, and a
			// concurrent delete that had found the row would then skip it, and delete only the newer row that
			// supersedes it.
			class, seq := places(f.tried)
			if _, err := c.ExecContext(ctx, q.tried, q.args(owner, f, d.Values(class, seq))...); err != nil {
				return err
			}
		}
		if len(f.done) == 0 {
			return nil
		}
		var err error
		if f.deleted, err = q.delete(ctx, c, owner, f, f.done); err != nil {
			return err
		}
		if tombs {
			if err := q.latest(ctx, c, q.tomb, f.done, func(r row) bool { return r.gone }); err != nil {
				return err
			}
		}
		if f.marks {
			return q.latest(ctx, c, q.mark, f.done, func(row) bool { return true })
		}
		return nil
	})
}

// overtaken returns the late dead letters, with the rows that were applied before them.
func (f *finishing) overtaken() (rows []row) {
	for _, l := range f.dead {
		if l.newer > 0 {
			rows = append(rows, row{key: l.key, seq: l.newer})
		}
	}
	return rows
}

// args returns the arguments of a statement that begins with held, followed by more.
func (q *finishes) args(owner string, f *finishing, more []any) []any {
	return slices.Concat([]any{q.table.Queue, owner}, q.table.data.Values(f.parts, f.epochs), more)
}

// buryAll turns rows into dead letters, and deletes the rows.
func (q *finishes) buryAll(ctx context.Context, c *sql.Conn, owner string, f *finishing) error {
	if len(f.dead) == 0 {
		return nil
	}
	rows := make([]row, len(f.dead))
	var statuses, reasons, messages []any
	for i, l := range f.dead {
		rows[i] = l.row
		statuses, reasons, messages = append(statuses, int64(l.status)), append(reasons, l.reason.String()), append(messages, clean(l.message))
	}
	class, seq := places(rows)
	args := q.args(owner, f, q.table.data.Values(class, seq, writtenAt(rows), statuses, reasons, messages))
	f.buried = make(map[int64]bool, len(rows))
	err := sqlkit.Each(ctx, c, func(rows *sql.Rows) error {
		var seq int64
		err := rows.Scan(&seq)
		f.buried[seq] = true
		return err
	}, q.bury, args...)
	if err != nil {
		return err
	}
	_, err = q.delete(ctx, c, owner, f, rows)
	return err
}

// delete deletes exactly these rows, in ranges that are still held.
func (q *finishes) delete(ctx context.Context, c *sql.Conn, owner string, f *finishing, rows []row) (int64, error) {
	result, err := c.ExecContext(ctx, q.remove, q.args(owner, f, q.table.data.exactly(rows))...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// latest runs a statement with the highest number of each key.
func (q *finishes) latest(ctx context.Context, c *sql.Conn, statement string, rows []row, of func(row) bool) error {
	last := make(map[string]int64)
	for _, r := range rows {
		if of(r) {
			last[r.key] = max(last[r.key], r.seq)
		}
	}
	if len(last) == 0 {
		return nil
	}
	var keys, seqs []any
	for key, seq := range last {
		keys, seqs = append(keys, key), append(seqs, seq)
	}
	_, err := c.ExecContext(ctx, statement, append([]any{q.table.Queue}, q.table.data.Values(keys, seqs)...)...)
	return err
}

// places returns the classes and the numbers of rows.
func places(rows []row) (class, seq []any) {
	all := make([]any, 2*len(rows))
	class, seq = all[:len(rows)], all[len(rows):]
	for i := range rows {
		class[i], seq[i] = int64(rows[i].class), rows[i].seq
	}
	return class, seq
}

// writtenAt returns the times of rows. After a crash, a database with asynchronous commits gives the numbers of lost
// rows to new ones; the lost rows may still be buffered.
func writtenAt(rows []row) []any {
	all := make([]any, len(rows))
	for i := range rows {
		all[i] = rows[i].written
	}
	return all
}
