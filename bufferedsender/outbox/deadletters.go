package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
)

// DeadLetter is a row that the service, or the sender, has rejected for good.
type DeadLetter struct {
	Row
	// Status is the HTTP status of the service's answer, 0 if the row was not sent.
	Status int
	// Reason is models.Reason.String, most often "document", "missing document" (a merge into a missing document), "too
	// large", "index", or "superseded" (the row became visible after a later row of its key was applied). Message has
	// the details.
	Reason  string
	Message string
	// Died is the time of the failure by the clock of the database, or for RelayOptions.Dead by that of the process.
	Died time.Time
	// Newer is the number of a later row of the key that was applied since, 0 if there is none.
	Newer int64
}

// DeadLetters returns at most limit dead letters of the queue, with numbers above after.
func (t *Table) DeadLetters(ctx context.Context, db Queryer, after int64, limit int) (all []DeadLetter, err error) {
	defer t.explain(&err)
	if err := t.usable(db); err != nil {
		return nil, err
	}
	err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
		var l DeadLetter
		var op string
		var written, died int64
		err := rows.Scan(&l.Seq, &l.Class, &l.Key, &op, (*[]byte)(&l.Body), &written, &l.Attempts, &l.Status, &l.Reason, &l.Message, &died, &l.Newer)
		l.Op, l.Written, l.Died = models.ActionType(op), time.UnixMilli(written), time.UnixMilli(died)
		all = append(all, l)
		return err
	}, t.text(`SELECT seq, class, key, op, body, written, attempts, status, reason, message, died, newer FROM {t}_dead
		WHERE queue = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3`), t.Queue, after, int64(max(limit, 0)))
	return all, err
}

// ErrNewer reports that a dead letter was kept because its key has later rows.
var ErrNewer = errors.New("newer rows of this key exist; retrying the dead letter would overwrite them")

// ErrNoLetter reports that the dead letter does not exist.
var ErrNoLetter = errors.New("dead letter does not exist")

// Retry turns a dead letter into a row with a new number. A dead letter with a body is kept, with ErrNewer, if its key
// has later rows, applied or waiting. Uncommitted rows are not visible to this check: call Retry in a transaction that
// has locked the entity, or write the entity again instead. A dead letter that holds only a key can always be retried.
// Of several dead letters of a key, retry the newest first. tx is a transaction; for a *sql.DB, Retry makes one.
func (t *Table) Retry(ctx context.Context, tx Queryer, seq int64) error {
	if err := t.usable(tx); err != nil {
		return err
	}
	if db, ok := tx.(*sql.DB); ok {
		return sqlkit.InTransaction(ctx, db, t.data.begin(), func(c *sql.Conn) error { return t.Retry(ctx, c, seq) })
	}
	if err := t.inside(ctx, tx); err != nil {
		return err
	}
	l, err := t.deadLetter(ctx, tx, seq)
	if err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, t.text(`DELETE FROM {t}_dead WHERE queue = ?1 AND seq = ?2 AND
		(op = '' OR newer = 0 AND NOT EXISTS (SELECT 1 FROM {t} r WHERE r.queue = ?1 AND r.key = ?3 AND r.seq > ?2))`), t.Queue, seq, l.Key)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil { // the dead letter stays, so its row must not be written: it could overwrite a newer one
		return err
	}
	if n == 0 {
		if _, err := t.deadLetter(ctx, tx, seq); err != nil {
			return err
		}
		return fmt.Errorf("outbox: dead letter %d of %q: %w", seq, l.Key, ErrNewer)
	}
	b := newBatch(1)
	var body any
	if l.Body != nil {
		body = string(l.Body)
	}
	b.add(l.Key, l.Op, body)
	return t.write(ctx, tx, l.Class, b)
}

// deadLetter returns the dead letter with a number.
func (t *Table) deadLetter(ctx context.Context, tx Queryer, seq int64) (DeadLetter, error) {
	all, err := t.DeadLetters(ctx, tx, seq-1, 1)
	if err == nil && (len(all) == 0 || all[0].Seq != seq) {
		err = fmt.Errorf("outbox: %q has no dead letter %d: %w", t.Queue, seq, ErrNoLetter)
	}
	if err != nil {
		return DeadLetter{}, err
	}
	return all[0], nil
}

// Discard deletes dead letters by their numbers, and returns how many existed.
func (t *Table) Discard(ctx context.Context, db Execer, seqs ...int64) (int64, error) {
	return t.remove(ctx, db, `{t}_dead`, "seq", "bigint", sqlkit.Anys(seqs))
}

// buried reports a new dead letter.
func (r *Relay) buried(l letter) {
	if r.opts.Dead == nil {
		r.opts.Logger.Error("outbox: row rejected; it is a dead letter", // key and message must not be logged
			"queue", r.table.Queue, "seq", l.seq, "status", l.status, "reason", l.reason.String(), "next", "read it with Table.DeadLetters")
		return
	}
	defer func() {
		if v := recover(); v != nil {
			r.opts.Logger.Error("outbox: RelayOptions.Dead panicked", "panic", v)
		}
	}()
	l.tries++ // as counted in the table
	r.opts.Dead(DeadLetter{Row: l.public(), Status: l.status, Reason: l.reason.String(), Message: clean(l.message), Died: time.Now(), Newer: l.newer})
}

// clean returns text that every database accepts.
func clean(s string) string {
	if len(s) > 4000 {
		s = s[:4000]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
