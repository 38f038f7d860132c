package outbox

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
)

// inHand writes uploads of one key and returns them as a relay reads them.
func (r *rig) inHand(t testing.TB, values ...int) (rows []row) {
	t.Helper()
	r.db.inTx(t, func(tx *sql.Tx) error {
		var err error
		for _, v := range values {
			err = errors.Join(err, Write(t.Context(), tx, r.table, models.UploadAction(entity{"k", v, 0})))
		}
		return err
	})
	a, err := newReading(r.table).read(t.Context(), r.db, -1, [classes]int64{}, [classes]int64{}, math.MaxInt64, 100, maxReadBytes)
	require.NoError(t, err)
	require.Len(t, a.rows, len(values))
	return a.rows
}

// leased lets an owner hold a range, or removes its lease.
func (r *rig) leased(t testing.TB, part uint8, owner string, epoch int64) {
	t.Helper()
	_, err := r.db.ExecContext(t.Context(), r.table.text(`INSERT INTO {t}_lease (queue, slot, owner, epoch, expires) VALUES (?1, ?2, ?3, ?4, {now} + 60000)
		ON CONFLICT (queue, slot) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch, expires = excluded.expires`), r.table.Queue, int64(part), owner, epoch)
	require.NoError(t, err)
}

// A delete finds rows by position. A concurrent update moves a row: the delete would miss it, and delete the newer
// row that supersedes it.
func TestARelayWhoseLeaseHasEndedWritesToNoRow(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		r := newRig(t, db)
		rows := r.inHand(t, 1, 2)
		part := rows[0].part
		r.leased(t, part, "new", 2)
		q := newFinishes(r.table, false)
		zombie := &finishing{tried: rows[:1], parts: []any{int64(part)}, epochs: []any{int64(1)}}
		require.NoError(t, q.run(t.Context(), r.db.DB, "old", zombie))
		var attempts int
		require.NoError(t, sqlkit.One(t.Context(), r.db, &attempts, r.table.text(`SELECT sum(attempts) FROM {t}`)))
		require.Zero(t, attempts)
		zombie.parts, zombie.epochs = nil, nil
		require.NoError(t, q.run(t.Context(), r.db.DB, "old", zombie))
		require.NoError(t, sqlkit.One(t.Context(), r.db, &attempts, r.table.text(`SELECT sum(attempts) FROM {t}`)))
		require.Zero(t, attempts)
		own := &finishing{tried: rows[:1], parts: []any{int64(part)}, epochs: []any{int64(2)}}
		require.NoError(t, q.run(t.Context(), r.db.DB, "new", own))
		require.NoError(t, sqlkit.One(t.Context(), r.db, &attempts, r.table.text(`SELECT sum(attempts) FROM {t}`)))
		require.Equal(t, 1, attempts)
	})
}

func TestADeleteMeetsNoUpdateOfARelayWhoseLeaseHasEnded(t *testing.T) {
	r := newRig(t, newPostgres(t))
	rows := r.inHand(t, 1, 2)
	part := rows[0].part
	r.leased(t, part, "new", 2)
	q := newFinishes(r.table, false)
	tx := r.begin(t)
	class, seq := places(rows[:1])
	values := r.table.data.Values
	args := append([]any{r.table.Queue, "old"}, values([]any{int64(part)}, []any{int64(1)})...)
	_, err := tx.ExecContext(t.Context(), q.tried, append(args, values(class, seq)...)...)
	require.NoError(t, err)
	f := &finishing{done: rows, parts: []any{int64(part)}, epochs: []any{int64(2)}}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // it does not wait for a lock
	defer cancel()
	require.NoError(t, q.run(ctx, r.db.DB, "new", f))
	require.NoError(t, tx.Commit())
	require.EqualValues(t, 2, f.deleted)
}

// With synchronous_commit = off PostgreSQL may reuse numbers after a crash. The number of a buffered row then belongs
// to another row, which was not sent.
func TestARowThatGotTheNumberOfALostOneIsNotDeletedForIt(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		r := newRig(t, db)
		rows := r.inHand(t, 1, 2)
		part := rows[0].part
		r.leased(t, part, "relay", 1)
		_, err := db.ExecContext(t.Context(), r.table.text(`UPDATE {t} SET written = written + 5`))
		require.NoError(t, err)
		f := &finishing{done: rows[:1], dead: []letter{{row: rows[1]}}, parts: []any{int64(part)}, epochs: []any{int64(1)}}
		require.NoError(t, newFinishes(r.table, false).run(t.Context(), db.DB, "relay", f))
		require.Zero(t, f.deleted)
		require.Empty(t, f.buried)
		var left int
		require.NoError(t, sqlkit.One(t.Context(), db, &left, r.table.text(`SELECT count(*) FROM {t}`)))
		require.Equal(t, 2, left)
		found, err := newReading(r.table).bodies(t.Context(), db, rows)
		require.NoError(t, err)
		require.Equal(t, map[int64][]byte{1: nil, 2: nil}, found, "bodies of other rows are not read")
	})
}

func TestRetrySeesALaterRowThatIsAppliedMeanwhile(t *testing.T) {
	r := newRig(t, newPostgres(t))
	rows := r.inHand(t, 1, 2)
	part := rows[0].part
	r.leased(t, part, "relay", 1)
	q := newFinishes(r.table, false)
	f := &finishing{dead: []letter{{row: rows[0]}}, parts: []any{int64(part)}, epochs: []any{int64(1)}}
	require.NoError(t, q.run(t.Context(), r.db.DB, "relay", f))
	// After Retry has read the dead letter, the later row is deleted and the dead letter marked.
	tx := r.begin(t)
	later := &finishing{done: rows[1:], marks: true, parts: f.parts, epochs: f.epochs}
	err := r.table.Retry(t.Context(), &appliedIn{Queryer: tx, then: func() { require.NoError(t, q.run(t.Context(), r.db.DB, "relay", later)) }}, rows[0].seq)
	require.ErrorIs(t, err, ErrNewer)
}

// appliedIn runs a function before it counts waiting rows.
type appliedIn struct {
	Queryer
	then func()
}

func (a *appliedIn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if strings.Contains(query, "count(*)") && a.then != nil {
		a.then()
		a.then = nil
	}
	return a.Queryer.QueryContext(ctx, query, args...)
}

// doubtful is a database that fails when it reports the result of a delete of dead letters.
type doubtful struct {
	Queryer
	counts bool // it reports a count of 0
	asked  int
}

var errBrokenOff = errors.New("broken off")

func (d *doubtful) ExecContext(context.Context, string, ...any) (sql.Result, error) { return d, nil }
func (d *doubtful) LastInsertId() (int64, error)                                    { return 0, nil }

func (d *doubtful) RowsAffected() (int64, error) {
	if d.counts {
		return 0, nil
	}
	return 0, errBrokenOff
}

func (d *doubtful) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if strings.Contains(query, "_dead") {
		if d.asked++; d.asked > 1 {
			return nil, errBrokenOff
		}
	}
	return d.Queryer.QueryContext(ctx, query, args...)
}

func TestRetryThatDoesNotKnowWhatItHasDeletedWritesNothing(t *testing.T) {
	db := newSQLite(t)
	table := &Table{Dialect: SQLite, Queue: "q"}
	bury(t, db, table, gadget{ID: "a"})
	seq := lettersOf(t, db, table)[0].Seq
	for _, counts := range []bool{false, true} {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.ErrorIs(t, table.Retry(t.Context(), &doubtful{Queryer: tx, counts: counts}, seq), errBrokenOff)
		require.NoError(t, tx.Rollback())
	}
	require.ErrorContains(t, table.Retry(t.Context(), db, seq), "want the *sql.Tx", "a type that embeds the pool")
	require.Empty(t, rowsOf(t, db, "q"))
}

func TestSQLiteLooksForRowsByTheirNumbers(t *testing.T) {
	db := newSQLite(t)
	table := &Table{Dialect: SQLite, Queue: "entities"}
	require.NoError(t, table.ready())
	for _, statement := range []string{sqliteDialect.remove, sqliteDialect.tried, sqliteDialect.bury} {
		var plan []string
		require.NoError(t, sqlkit.Each(t.Context(), db, func(rows *sql.Rows) error {
			var id, parent, unused int
			var step string
			err := rows.Scan(&id, &parent, &unused, &step)
			plan = append(plan, step)
			return err
		}, "EXPLAIN QUERY PLAN "+table.text(sqliteDialect.held()+statement), "entities", "relay", "[]", "[]"))
		require.Contains(t, strings.Join(plan, "\n"), "USING INTEGER PRIMARY KEY (rowid=?)")
	}
}
