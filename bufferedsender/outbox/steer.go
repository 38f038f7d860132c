package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// Pause makes all relays of the queue stop reading, within ten seconds, until Resume; what they have buffered is still
// sent. The database stores it.
func (t *Table) Pause(ctx context.Context, db Execer) error { return t.pause(ctx, db, true) }

// Resume ends a Pause, within ten seconds.
func (t *Table) Resume(ctx context.Context, db Execer) error { return t.pause(ctx, db, false) }

func (t *Table) pause(ctx context.Context, db Execer, paused bool) (err error) {
	defer t.explain(&err)
	if err := t.usable(db); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, t.text(`INSERT INTO {t}_queue (queue, paused) VALUES (?1, ?2) ON CONFLICT (queue) DO UPDATE SET paused = excluded.paused`), t.Queue, paused)
	return err
}

// atOnce is the number of keys in one statement.
const atOnce = 1000

// Contains reports for each raw key whether it has rows. It reads all rows of the queue.
func (t *Table) Contains(ctx context.Context, db Queryer, keys ...string) (found []bool, err error) {
	defer t.explain(&err)
	if err := t.usable(db); err != nil {
		return nil, err
	}
	found = make([]bool, len(keys))
	for from := 0; from < len(keys); from += atOnce {
		part := keys[from:min(from+atOnce, len(keys))]
		have, err := sqlkit.Texts(ctx, db, t.text(`SELECT DISTINCT key FROM {t} WHERE queue = ?1 AND key `+t.data.In("?2", "text")), append([]any{t.Queue}, t.data.Values(sqlkit.Anys(part))...)...)
		if err != nil {
			return nil, err
		}
		waits := make(map[string]bool, len(have))
		for _, k := range have {
			waits[k] = true
		}
		for i, k := range part {
			found[from+i] = waits[k]
		}
	}
	return found, nil
}

// Purge deletes the rows of raw keys and returns how many it deleted. A relay may still send those that it has
// buffered.
func (t *Table) Purge(ctx context.Context, db Execer, keys ...string) (int64, error) {
	return t.remove(ctx, db, `{t}`, "key", "text", sqlkit.Anys(keys))
}

// remove deletes the rows with one of these values, and returns how many.
func (t *Table) remove(ctx context.Context, db Execer, from, column, typ string, values []any) (n int64, err error) {
	defer t.explain(&err)
	if err := t.usable(db); err != nil || len(values) == 0 {
		return 0, err
	}
	result, err := db.ExecContext(ctx, t.text(`DELETE FROM `+from+` WHERE queue = ?1 AND `+column+` `+t.data.In("?2", typ)), append([]any{t.Queue}, t.data.Values(values)...)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// PurgeAll is Purge for all rows of the queue written until now. confirm must be the name of the queue.
func (t *Table) PurgeAll(ctx context.Context, db Execer, confirm string) (int64, error) {
	if err := t.ready(); err != nil {
		return 0, err
	}
	if confirm != t.Queue {
		return 0, fmt.Errorf("outbox: PurgeAll deletes all rows of queue %q; to confirm, pass its name, not %q", t.Queue, confirm)
	}
	return t.remove(ctx, db, `{t}`, "queue", "text", []any{t.Queue})
}

// BackfillClass is the class of rows added by Backfill: behind all others.
const BackfillClass = classes - 1

// Backfill enqueues raw keys of existing entities behind all other rows, 1000 in each transaction, and returns how many
// it enqueued. The relay needs a Loader. After an error it may be called again; keys enqueued twice are then read
// twice.
func (t *Table) Backfill(ctx context.Context, db *sql.DB, all iter.Seq2[string, error]) (n int64, err error) {
	if err := t.usable(db); err != nil {
		return 0, err
	}
	keys := make([]string, 0, atOnce)
	flush := func() error {
		b, err := keysOnly(t, keys)
		if bad := (*WriteError)(nil); errors.As(err, &bad) {
			bad.Index, bad.written = bad.Index+int(n), int(n)
		}
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			return nil
		}
		err = sqlkit.InTransaction(ctx, db, t.data.begin(), func(c *sql.Conn) error { return t.write(ctx, c, BackfillClass, b) })
		if err == nil {
			n += int64(len(keys))
		}
		keys = keys[:0]
		return err
	}
	for key, err := range all {
		if err != nil {
			return n, err
		}
		if keys = append(keys, key); len(keys) == atOnce {
			if err := flush(); err != nil {
				return n, err
			}
		}
	}
	if err := ctx.Err(); err != nil { // all may have ended because of it
		return n, err
	}
	return n, flush()
}

// Lag reports how far behind the relays of a queue are.
type Lag struct {
	// Rows is the number of rows, up to LagRows. If there are more, Estimated is set and Rows is an estimate for all
	// queues with the same prefix.
	Rows      int64
	Estimated bool
	// Oldest is the age of the oldest row, 0 if there is none.
	Oldest time.Duration
	// Buckets covers the first LagRows rows: their number, and the age of the oldest, by bucket.
	Buckets map[int]BucketLag
	// Dead is the number of dead letters, up to LagRows.
	Dead int64
	// OldestTransaction is the age of the oldest transaction in the database that holds a snapshot. While it is open,
	// vacuum cannot remove deleted rows. 0 on SQLite, and if the user may not see the transactions of others.
	OldestTransaction time.Duration
	// Paused is true after Pause.
	Paused bool
}

// BucketLag describes the waiting rows of a bucket.
type BucketLag struct {
	Rows   int64
	Oldest time.Duration
}

// LagRows is the maximum number of rows that Lag counts.
const LagRows = 10_000

// Lag returns how far behind the relays are. It reads at most LagRows rows. If Rows is 0, everything committed before
// is in the index, or is a dead letter.
func (t *Table) Lag(ctx context.Context, db Queryer) (lag Lag, err error) {
	lag.Buckets = make(map[int]BucketLag)
	defer t.explain(&err)
	if err := t.usable(db); err != nil {
		return lag, err
	}
	err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
		var bucket int
		var n, age int64
		if err := rows.Scan(&bucket, &n, &age); err != nil {
			return err
		}
		oldest := time.Duration(max(age, 0)) * time.Millisecond
		lag.Buckets[bucket] = BucketLag{n, oldest}
		lag.Rows += n
		lag.Oldest = max(lag.Oldest, oldest)
		return nil
	}, t.text(`SELECT bucket, count(*), {now} - min(written) FROM (SELECT bucket, written FROM {t} WHERE queue = ?1 ORDER BY class, seq LIMIT ?2) w GROUP BY bucket`), t.Queue, int64(LagRows))
	if err != nil {
		return lag, err
	}
	if lag.Rows >= LagRows {
		lag.Estimated = true
		var estimate int64
		if err := sqlkit.One(ctx, db, &estimate, t.text(t.data.estimate)); err != nil {
			return lag, err
		}
		lag.Rows = max(lag.Rows, estimate)
	}
	if err := sqlkit.One(ctx, db, &lag.Dead, t.text(`SELECT count(*) FROM (SELECT 1 FROM {t}_dead WHERE queue = ?1 LIMIT ?2) d`), t.Queue, int64(LagRows)); err != nil {
		return lag, err
	}
	for class := range classes { // each in the order of its numbers: the oldest row is among the first
		err := sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
			var age int64
			err := rows.Scan(&age)
			lag.Oldest = max(lag.Oldest, time.Duration(age)*time.Millisecond)
			return err
		}, t.text(`SELECT {now} - written FROM {t} WHERE queue = ?1 AND class = ?2 ORDER BY seq LIMIT 1`), t.Queue, int64(class))
		if err != nil {
			return lag, err
		}
	}
	var age, paused int64
	if err := sqlkit.One(ctx, db, &age, t.text(t.data.oldestTransaction)); err != nil {
		return lag, err
	}
	lag.OldestTransaction = time.Duration(age) * time.Millisecond
	err = sqlkit.One(ctx, db, &paused, t.text(`SELECT count(*) FROM {t}_queue WHERE queue = ?1 AND paused`), t.Queue)
	lag.Paused = paused > 0
	return lag, err
}

// Tombstones returns the numbers of the last confirmed deletes of raw keys, by a relay with SeqField, as long as they
// are kept (RelayOptions.TombstonesFor).
func (t *Table) Tombstones(ctx context.Context, db Queryer, keys ...string) (found map[string]int64, err error) {
	defer t.explain(&err)
	if err := t.usable(db); err != nil {
		return nil, err
	}
	found = make(map[string]int64)
	err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
		var key string
		var seq int64
		err := rows.Scan(&key, &seq)
		found[key] = seq
		return err
	}, t.text(`SELECT key, seq FROM {t}_tombstone WHERE queue = ?1 AND key `+t.data.In("?2", "text")), append([]any{t.Queue}, t.data.Values(sqlkit.Anys(keys))...)...)
	return found, err
}
