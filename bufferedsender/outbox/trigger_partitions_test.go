package outbox

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// A table with a trigger becomes a partition of a table with a trigger, so each write leaves two rows.
func TestATableThatBecomesAPartitionHasOneTriggerAgain(t *testing.T) {
	testkit.Long(t)
	for _, asked := range []string{"old", "app", "both"} {
		t.Run("EnsureTrigger of "+asked, func(t *testing.T) {
			db := newPostgres(t)
			table := db.withOldPartition(t)
			require.Equal(t, 2, rowsPerInsert(t, db, "old", "q"))
			for _, name := range map[string][]string{"old": {"old", "old"}, "app": {"app", "app"}, "both": {"old", "app"}}[asked] {
				require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, name, "id"))
				require.Equal(t, 1, rowsPerInsert(t, db, "old", "q"), name)
				require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"), name)
			}
			db.exec(t, `ALTER TABLE app DETACH PARTITION old`)
			require.Zero(t, rowsPerInsert(t, db, "old", "q"), "the trigger was that of app")
			require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "old", "id"))
			require.Equal(t, 1, rowsPerInsert(t, db, "old", "q"))
		})
	}
}

func TestDropTriggerOfAPartitionLeavesTheTriggerOfItsTable(t *testing.T) {
	db := newPostgres(t)
	table := db.withOldPartition(t)
	for range 2 {
		require.NoError(t, table.DropTrigger(t.Context(), db.DB, "old", "id"))
		require.Equal(t, 1, rowsPerInsert(t, db, "old", "q"))
	}
	require.NoError(t, table.DropTrigger(t.Context(), db.DB, "app", "id"))
	require.Zero(t, rowsPerInsert(t, db, "old", "q"))
	left, err := sqlkit.Texts(t.Context(), db, `SELECT proname::text FROM pg_proc WHERE proname LIKE 'azsearch_outbox_q_%'`)
	require.NoError(t, err)
	require.Empty(t, left)
}

// An operator altered the table's trigger, which now misses deletes, so the partition must keep its own trigger.
func TestAPartitionKeepsItsOwnTriggerWhileThatOfItsTableIsAltered(t *testing.T) {
	db := newPostgres(t)
	table := db.withOldPartition(t)
	altered(t, db, table.triggerName("app", "id")) // writes nothing for a DELETE
	require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "old", "id"))
	db.exec(t, `INSERT INTO old VALUES ('gone', 1)`, `DELETE FROM azsearch_outbox`, `DELETE FROM old`)
	require.Len(t, rowsOf(t, db, "q"), 1)
	for _, name := range []string{"app", "old"} {
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, name, "id"))
		require.Equal(t, 1, rowsPerInsert(t, db, "old", "q"), name)
	}
}

// withOldPartition creates the table app with the partition old; both had a trigger before.
func (db database) withOldPartition(t testing.TB) *Table {
	t.Helper()
	db.exec(t, `CREATE TABLE app (id text, v integer) PARTITION BY LIST (v)`, `CREATE TABLE old (id text, v integer)`)
	table := &Table{Dialect: db.dialect, Queue: "q"}
	for _, name := range []string{"app", "old"} {
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, name, "id"))
	}
	db.exec(t, `ALTER TABLE app ATTACH PARTITION old FOR VALUES IN (1)`)
	return table
}

// CREATE TRIGGER needs only the TRIGGER right on the table, while LOCK needs others.
func TestARoleThatMayOnlyCreateTriggersCreatesOne(t *testing.T) {
	db := newPostgres(t)
	table := db.withApp(t)
	_, app := db.as(t, `GRANT TRIGGER, INSERT ON app`, `GRANT CREATE ON SCHEMA public`, `GRANT INSERT ON azsearch_outbox`, `GRANT USAGE ON SEQUENCE azsearch_outbox_seq`)
	require.NoError(t, table.EnsureTrigger(t.Context(), app.DB, "app", "id"))
	app.exec(t, `INSERT INTO app (id, v) VALUES ('a', 1)`)
	require.Len(t, rowsOf(t, db, "q"), 1)
	db.exec(t, `DROP FUNCTION `+table.triggerName("app", "id")+`_row CASCADE`, `DROP FUNCTION `+table.triggerName("app", "id")+`_truncate CASCADE`)
}

// PostgreSQL's lock_timeout applies to each partition, and writers wait behind the first lock.
func TestPartitionsThatAreWrittenToStopWritersNoLongerThanOneTable(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	db := newPostgres(t)
	db.exec(t, `CREATE TABLE app (id text, v integer) PARTITION BY LIST (v)`)
	for i := range 4 {
		db.exec(t, fmt.Sprintf(`CREATE TABLE app_%d PARTITION OF app FOR VALUES IN (%[1]d)`, i))
	}
	table := &Table{Dialect: db.dialect, Queue: "q"}
	// The transactions end one after the other, so each lock is granted within lock_timeout.
	call := map[string]func() error{
		"EnsureTrigger": func() error { return table.EnsureTrigger(t.Context(), db.DB, "app", "id") },
		"DropTrigger":   func() error { return table.DropTrigger(t.Context(), db.DB, "app", "id") },
	}
	for i, name := range []string{"EnsureTrigger", "DropTrigger"} {
		var writers sync.WaitGroup
		refused := make(chan struct{})
		for part := range 4 {
			tx, err := db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(t.Context(), fmt.Sprintf(`LOCK TABLE app_%d IN ROW EXCLUSIVE MODE`, part))
			require.NoError(t, err)
			writers.Go(func() {
				select {
				case <-time.After(time.Duration(part+1) * 1500 * time.Millisecond):
				case <-refused:
				}
				assert.NoError(t, tx.Commit())
			})
		}
		began := time.Now()
		err := call[name]()
		close(refused)
		assert.Less(t, time.Since(began), 4*time.Second, name)
		assert.ErrorContains(t, err, "got no lock within the lock_timeout, and changed nothing", name)
		writers.Wait()
		require.Equal(t, i, rowsPerInsert(t, db, "app", "q"), name)
		require.NoError(t, call[name]())
		require.Equal(t, 1-i, rowsPerInsert(t, db, "app", "q"), name)
	}
}
