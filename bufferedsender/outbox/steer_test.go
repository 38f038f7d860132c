package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func TestPauseHoldsWhatIsNotInHandUntilResume(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		ctx := t.Context()
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		to.holds = true
		r := tryRelay(t, db, table, to, RelayOptions{renew: time.Second, Lease: time.Minute})
		uploads(t, db, table, gadget{ID: "in-hand"})
		passes(time.Second)
		require.Equal(t, []string{"in-hand"}, to.keys())
		require.NoError(t, table.Pause(ctx, db))
		require.NoError(t, table.Pause(ctx, db), "a key given twice counts once")
		passes(1100 * time.Millisecond) // within a renewal
		uploads(t, db, table, gadget{ID: "late"})
		to.release()
		passes(time.Minute)
		require.Equal(t, []string{"in-hand"}, to.keys())
		rows := rowsOf(t, db, "q")
		require.Len(t, rows, 1)
		require.Equal(t, "late", rows[0].key)
		require.ErrorContains(t, r.Ready(), "queue is paused")
		lag, err := table.Lag(ctx, db)
		require.NoError(t, err)
		require.True(t, lag.Paused)
		require.NoError(t, table.Resume(ctx, db))
		passes(1500 * time.Millisecond)
		require.Equal(t, []string{"in-hand", "late"}, to.keys())
		lag, err = table.Lag(ctx, db)
		require.NoError(t, err)
		require.False(t, lag.Paused)
		require.Zero(t, lag.Rows)
	})
}

func TestPauseIsPartOfTheTransactionOfTheCallerAndOfOneQueue(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		ctx := t.Context()
		one, other := &Table{Dialect: db.dialect, Queue: "one"}, &Table{Dialect: db.dialect, Queue: "other"}
		tx, err := db.BeginTx(ctx, nil)
		require.NoError(t, err)
		require.NoError(t, one.Pause(ctx, tx))
		require.NoError(t, tx.Rollback())
		require.NoError(t, other.Pause(ctx, db))
		for table, want := range map[*Table]bool{one: false, other: true} {
			lag, err := table.Lag(ctx, db)
			require.NoError(t, err)
			require.Equal(t, want, lag.Paused)
		}
	})
}

func TestPurgeDeletesTheRowsOfKeysAndNothingElse(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		ctx := t.Context()
		table, other := &Table{Dialect: db.dialect, Queue: "q"}, &Table{Dialect: db.dialect, Queue: "q2"}
		uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "a"}, gadget{ID: "b"})
		uploads(t, db, other, gadget{ID: "a"})
		n, err := table.Purge(ctx, db)
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = table.Purge(ctx, db, "a", "none", `"'\{},NULL`)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		require.Len(t, rowsOf(t, db, "q"), 1)
		require.Len(t, rowsOf(t, db, "q2"), 1)
	})
}

func TestPurgeAllAsksForTheNameOfTheQueue(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		ctx := t.Context()
		table := &Table{Dialect: db.dialect, Queue: "q"}
		uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "b"})
		for _, wrong := range []string{"", "Q", "yes", "q "} {
			n, err := table.PurgeAll(ctx, db, wrong)
			require.Zero(t, n)
			require.ErrorContains(t, err, `all rows of queue "q"; to confirm, pass its name`)
		}
		require.Len(t, rowsOf(t, db, "q"), 2)
		n, err := table.PurgeAll(ctx, db, "q")
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		require.Empty(t, rowsOf(t, db, "q"))
	})
}

func TestWhatIsPurgedIsNotSentButForWhatIsInHand(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		to.holds = true
		r := tryRelay(t, db, table, to, RelayOptions{maxRows: 1})
		uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "b"}, gadget{ID: "c"})
		passes(time.Second)
		n, err := table.Purge(t.Context(), db, "a", "b")
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		to.release()
		emptied(t, db, table)
		require.Equal(t, []string{"a", "c"}, to.keys())
		require.EqualValues(t, 1, r.Stats().Stale)
		require.Zero(t, r.Stats().LeasesLost)
	})
}

func TestContainsSaysOfEachKeyWhetherItWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q"}
		var all []string
		for i := range 2300 {
			all = append(all, fmt.Sprint("k", i))
		}
		changes(t, db, table, all[1000:2100]...)
		changes(t, db, table, all[1000:1100]...)
		found, err := table.Contains(t.Context(), db, all...)
		require.NoError(t, err)
		for i, is := range found {
			require.Equal(t, i >= 1000 && i < 2100, is, i)
		}
		found, err = table.Contains(t.Context(), db)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}

// sequence yields keys, and then possibly an error.
func sequence(n int, last error) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		for i := range n {
			if !yield(fmt.Sprint("old", i), nil) {
				return
			}
		}
		if last != nil {
			yield("", last)
		}
	}
}

func TestBackfillIsBehindLiveRows(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		n, err := table.Backfill(t.Context(), db.DB, sequence(1200, nil))
		require.NoError(t, err)
		require.EqualValues(t, 1200, n)
		rows := rowsOf(t, db, "q")
		require.Len(t, rows, 1200)
		require.EqualValues(t, BackfillClass, rows[0].class)
		to.holds = true
		tryRelay(t, db, table, to, RelayOptions{maxRows: 20, Loader: deletesAll})
		passes(time.Second)
		require.Len(t, to.all(), 20)
		uploads(t, db, table, gadget{ID: "live1"}, gadget{ID: "live2"}, gadget{ID: "old1100"})
		for range 3 {
			to.answerHeld()
			passes(time.Second)
		}
		sent := to.keys()
		require.Less(t, len(sent), 120)
		require.Contains(t, sent, "live1")
		require.Contains(t, sent, "live2")
		require.Contains(t, sent, "old1100", "the older row of the key is sent too")
		to.release()
		emptied(t, db, table)
	})
}

func TestBackfillReportsWhatItHasEnqueuedBeforeAnError(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q"}
		broken := errors.New("the cursor is gone")
		n, err := table.Backfill(t.Context(), db.DB, sequence(1500, broken))
		require.ErrorIs(t, err, broken)
		require.EqualValues(t, len(rowsOf(t, db, "q")), n)
		require.EqualValues(t, 1000, n)
	})
}

func TestBackfillThatEndsWithItsContextIsNotComplete(t *testing.T) {
	db := newSQLite(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := (&Table{Dialect: SQLite, Queue: "q"}).Backfill(ctx, db.DB, func(func(string, error) bool) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
}

// A *WriteError of Backfill: "Index is its position in the call", "nothing of the call was written".
func TestBackfillSaysWhichKeyIsNotLegalAndWhatWasWritten(t *testing.T) {
	db := newSQLite(t)
	table := &Table{Dialect: SQLite, Queue: "q"}
	n, err := table.Backfill(t.Context(), db.DB, func(yield func(string, error) bool) {
		for i := range 3000 {
			key := fmt.Sprint("k", i)
			if i == 1500 {
				key = "a b"
			}
			if !yield(key, nil) {
				return
			}
		}
	})
	require.EqualValues(t, len(rowsOf(t, db, "q")), n)
	var refused *WriteError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "a b", refused.Key)
	require.Equal(t, 1500, refused.Index)
	if n > 0 {
		require.NotContains(t, err.Error(), "nothing was written")
	}
}

func TestLagSaysHowFarBehindAQueueIs(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		ctx := t.Context()
		table := &Table{Dialect: db.dialect, Queue: "q"}
		lag, err := table.Lag(ctx, db)
		require.NoError(t, err)
		require.Less(t, lag.OldestTransaction, 10*time.Second, "the oldest transaction is the call's own")
		lag.OldestTransaction = 0
		require.Equal(t, Lag{Buckets: map[int]BucketLag{}}, lag)
		uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "a"}, gadget{ID: "b"})
		uploads(t, db, &Table{Dialect: db.dialect, Queue: "other"}, gadget{ID: "z"})
		db.exec(t, `UPDATE azsearch_outbox SET written = written - 60000 WHERE key = 'a'`)
		lag, err = table.Lag(ctx, db)
		require.NoError(t, err)
		require.EqualValues(t, 3, lag.Rows)
		require.False(t, lag.Estimated)
		require.InDelta(t, 60, lag.Oldest.Seconds(), 20)
		require.Len(t, lag.Buckets, 2)
		for _, b := range lag.Buckets {
			if b.Rows == 2 {
				require.InDelta(t, 60, b.Oldest.Seconds(), 20)
			} else {
				require.Less(t, b.Oldest, 20*time.Second)
			}
		}
		db.exec(t, `INSERT INTO azsearch_outbox_dead (queue, seq, class, key, op, written, attempts, status, reason, message, died) VALUES ('q', 1, 0, 'a', '', 0, 1, 400, 'r', 'm', 0)`)
		lag, err = table.Lag(ctx, db)
		require.NoError(t, err)
		require.EqualValues(t, 1, lag.Dead)
	})
}

func TestLagCountsUpToTenThousandRowsAndEstimatesMore(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		ctx := t.Context()
		table := &Table{Dialect: db.dialect, Queue: "q"}
		old := &Table{Dialect: db.dialect, Queue: "q", Class: 7}
		changes(t, db, old, "oldest")
		db.exec(t, `UPDATE azsearch_outbox SET written = written - 3600000`)
		all := make([]string, 25_000)
		for i := range all {
			all[i] = fmt.Sprint("k", i)
		}
		changes(t, db, table, all[:LagRows-2]...)
		lag, err := table.Lag(ctx, db)
		require.NoError(t, err)
		require.EqualValues(t, LagRows-1, lag.Rows)
		require.False(t, lag.Estimated)
		require.InDelta(t, 3600, lag.Oldest.Seconds(), 60)
		changes(t, db, table, all[LagRows:]...)
		testkit.Eventually(t, func() bool {
			if db.dialect == PostgreSQL {
				// A connection adds what it has inserted up to a second later, also to what ANALYZE has counted before.
				db.exec(t, `ANALYZE azsearch_outbox`)
			}
			lag, err = table.Lag(ctx, db)
			return err == nil && lag.Rows > 20_000 && lag.Rows < 30_000
		}, "there is an estimate")
		require.True(t, lag.Estimated)
		counted := int64(0)
		for _, b := range lag.Buckets {
			counted += b.Rows
		}
		require.EqualValues(t, LagRows, counted)
		require.InDelta(t, 3600, lag.Oldest.Seconds(), 60, "the age of the oldest row of any class")
	})
}

func TestLagSeesTheOldestTransaction(t *testing.T) {
	db := newPostgres(t)
	table := &Table{Dialect: PostgreSQL, Queue: "q"}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	var one int
	require.NoError(t, tx.QueryRowContext(t.Context(), `SELECT count(*) FROM azsearch_outbox`).Scan(&one))
	began := time.Now()
	testkit.Eventually(t, func() bool {
		lag, err := table.Lag(context.Background(), db)
		return err == nil && lag.OldestTransaction > 300*time.Millisecond && lag.OldestTransaction < time.Since(began)+time.Minute
	}, "the age grows with the transaction")
}

// Transactions in another database do not delay the clean-up of this one.
func TestLagDoesNotSeeTransactionsOfOtherDatabases(t *testing.T) {
	testkit.Long(t)
	db, other := newPostgres(t), newPostgres(t)
	tx, err := other.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(t.Context(), `SELECT count(*), pg_sleep(0.5) FROM azsearch_outbox`)
	require.NoError(t, err)
	lag, err := (&Table{Dialect: PostgreSQL, Queue: "q"}).Lag(t.Context(), db)
	require.NoError(t, err)
	require.Less(t, lag.OldestTransaction, 400*time.Millisecond)
}

func TestTheMostUrgentClassIsSentFirstAndAKeyKeepsItsOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		to := newScripted()
		var tables []*Table
		for class := range uint8(classes) {
			tables = append(tables, &Table{Dialect: db.dialect, Queue: "q", Class: class})
		}
		uploads(t, db, tables[7], gadget{ID: "both", N: 1}, gadget{ID: "c7"})
		uploads(t, db, tables[3], gadget{ID: "c3"})
		db.inTx(t, func(tx *sql.Tx) error {
			return Write(t.Context(), tx, tables[0], models.MergeAction(gadget{ID: "both", N: 2}), models.UploadAction(gadget{ID: "c0"}))
		})
		tryRelay(t, db, tables[0], to, RelayOptions{})
		emptied(t, db, tables[0])
		require.Equal(t, "c0 c3 c7", strings.Join(without(to.keys(), "both"), " "))
		var last models.RawAction
		for _, a := range to.all() {
			if a.Key == "both" {
				last = a
			}
		}
		require.JSONEq(t, `{"id":"both","n":2}`, string(last.Document))
		require.NotEqual(t, "c7", to.keys()[0])
	})
}

func without(all []string, key string) (rest []string) {
	for _, k := range all {
		if k != key {
			rest = append(rest, k)
		}
	}
	return rest
}
