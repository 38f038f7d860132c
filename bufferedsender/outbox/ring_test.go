package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// newRotating returns a database whose outbox has partitions.
func newRotating(t testing.TB) database {
	t.Helper()
	address := servers.Postgres(t).Database(t)
	db := database{openPool(t, PostgreSQL, address), PostgreSQL, address}
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, rotating))
	return db
}

var rotating = &SchemaOptions{Rotate: time.Minute}

// turned directs new rows into a partition.
func (db database) turned(t testing.TB, part int) {
	t.Helper()
	db.exec(t, fmt.Sprintf(`ALTER TABLE azsearch_outbox ALTER part SET DEFAULT %d`, part))
}

// sizes returns the sizes of the partitions in bytes.
func (db database) sizes(t testing.TB) (all [ringLeaves]int64) {
	t.Helper()
	for i := range all {
		require.NoError(t, sqlkit.One(t.Context(), db, &all[i], fmt.Sprintf(`SELECT pg_relation_size('azsearch_outbox_r%d')`, i)))
	}
	return all
}

func (r *rig) emptied(t testing.TB) error {
	t.Helper()
	return sqlkit.OnConn(t.Context(), r.db.DB, func(c *sql.Conn) error { return emptyRing(t.Context(), c, r.table.text) })
}

// fill writes enough rows to make emptying a partition worthwhile, and deletes all but kept.
func (r *rig) fill(t testing.TB, part int, kept ...string) {
	t.Helper()
	r.db.turned(t, part)
	r.db.exec(t, `INSERT INTO azsearch_outbox (queue, key, op, body) SELECT 'other', 'k' || n, 'upload', repeat(md5(n::text), 40) FROM generate_series(1, 10000) n`)
	_, err := r.db.ExecContext(t.Context(), fmt.Sprintf(`DELETE FROM azsearch_outbox_r%d`, part)+` WHERE queue = 'other' AND NOT key = ANY ($1::text::text[])`, "{"+strings.Join(kept, ",")+"}")
	require.NoError(t, err)
	require.Greater(t, r.db.sizes(t)[part], int64(ringRest))
}

func TestPartitionsAreOfferedToPostgreSQLAlone(t *testing.T) {
	for text, try := range map[string]func() error{
		"sqlite has no partitions": func() error { _, err := Schema(SQLite, rotating); return err },
		"whole seconds": func() error {
			_, err := Schema(PostgreSQL, &SchemaOptions{Rotate: 10*time.Second + 1})
			return err
		},
		"10s at least": func() error { _, err := Schema(PostgreSQL, &SchemaOptions{Rotate: time.Second}); return err },
		"or 0":         func() error { _, err := Schema(PostgreSQL, &SchemaOptions{Rotate: -time.Minute}); return err },
	} {
		require.ErrorContains(t, try(), text)
	}
}

func TestTheSchemaOfPartitionsIsWhatMigrateMakes(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	db := newRotating(t)
	require.NoError(t, Check(t.Context(), db, PostgreSQL, rotating))
	require.NoError(t, Check(t.Context(), db, PostgreSQL, nil))
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, nil), "without the option the partitions stay")
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, WriteKeys(t.Context(), tx, &Table{Dialect: PostgreSQL, Queue: "q"}, "k"))
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, rotating), "no lock is needed if nothing changes")
	hourly := &SchemaOptions{Rotate: time.Hour}
	require.ErrorContains(t, Migrate(t.Context(), db.DB, PostgreSQL, hourly), "lock timeout")
	require.NoError(t, tx.Rollback())
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, hourly))
	var part string
	require.NoError(t, sqlkit.One(t.Context(), db, &part, postgresDialect.Text(ringPart, defaultPrefix)))
	require.Contains(t, part, " / 3600)")
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, rotating))
	other := database{openPool(t, PostgreSQL, servers.Postgres(t).Database(t)), PostgreSQL, ""}
	text, err := Schema(PostgreSQL, rotating)
	require.NoError(t, err)
	other.exec(t, text)
	require.NoError(t, Check(t.Context(), other, PostgreSQL, rotating))
	columns := `SELECT string_agg(c.relname || ' ' || a.attname || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), ''), E'\n' ORDER BY c.relname, a.attnum)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE c.relname LIKE 'azsearch%' AND a.attnum > 0`
	var made, written string
	require.NoError(t, sqlkit.One(t.Context(), db, &made, columns))
	require.NoError(t, sqlkit.One(t.Context(), other, &written, columns))
	require.Equal(t, made, written)
}

// Rows of a key are in the same positions of several partitions; only confirmed ones are deleted.
func TestRowsOfAllPartitionsAreSentInTheirOrderAndOnlyTheseAreDeleted(t *testing.T) {
	db := newRotating(t)
	r := newRig(t, db)
	const keys = 50
	for v := 1; v <= ringLeaves; v++ {
		db.turned(t, v%ringLeaves)
		db.inTx(t, func(tx *sql.Tx) error {
			for k := range keys {
				if err := r.put(t.Context(), tx, fmt.Sprint("k", k), v); err != nil {
					return err
				}
				if err := Write(t.Context(), tx, r.table, models.UploadAction(entity{fmt.Sprint("k", k), v, 0})); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var places int
	require.NoError(t, sqlkit.One(t.Context(), db, &places, `SELECT count(DISTINCT ctid) FROM azsearch_outbox`))
	require.Equal(t, keys, places, "each place is used in each partition")
	a, err := newReading(r.table).read(t.Context(), db, -1, [classes]int64{}, [classes]int64{}, math.MaxInt64, 1000, maxReadBytes)
	require.NoError(t, err)
	require.Len(t, a.rows, keys*ringLeaves)
	for part := range ranges {
		r.leased(t, uint8(part), "me", 1)
	}
	f := &finishing{done: a.rows[keys : keys+10]}
	for part := range ranges {
		f.parts, f.epochs = append(f.parts, int64(part)), append(f.epochs, int64(1))
	}
	require.NoError(t, newFinishes(r.table, false).run(t.Context(), db.DB, "me", f))
	require.EqualValues(t, 10, f.deleted)
	var left, gone int
	require.NoError(t, sqlkit.One(t.Context(), db, &left, `SELECT count(*) FROM azsearch_outbox`))
	require.NoError(t, sqlkit.One(t.Context(), db, &gone, fmt.Sprintf(`SELECT 10 - count(*) FROM azsearch_outbox WHERE seq BETWEEN %d AND %d`, f.done[0].seq, f.done[9].seq)))
	require.Equal(t, []int{keys*ringLeaves - 10, 10}, []int{left, gone})
	tried := &finishing{tried: a.rows[:5], parts: f.parts, epochs: f.epochs}
	require.NoError(t, newFinishes(r.table, false).run(t.Context(), db.DB, "me", tried))
	require.NoError(t, sqlkit.One(t.Context(), db, &left, `SELECT sum(attempts) FROM azsearch_outbox`))
	require.Equal(t, 5, left)
	db.exec(t, `UPDATE azsearch_outbox_lease SET expires = 0`)
	r.run(t, RelayOptions{})
	r.empty(t)
	require.Empty(t, r.goesBack())
	r.same(t)
}

func TestAPartitionIsEmptiedThoughASnapshotIsOpen(t *testing.T) {
	r := newRig(t, newRotating(t))
	snapshot, err := r.db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	require.NoError(t, err)
	defer func() { require.NoError(t, snapshot.Rollback()) }()
	var n int
	require.NoError(t, snapshot.QueryRowContext(t.Context(), `SELECT count(*) FROM entity`).Scan(&n))
	r.fill(t, 1)
	r.fill(t, 2, "k77")
	r.fill(t, 3)
	require.NoError(t, r.emptied(t))
	sizes := r.db.sizes(t)
	assert.Zero(t, sizes[1])
	assert.NotZero(t, sizes[2], "the partition has a row")
	assert.NotZero(t, sizes[3], "the partition is written to")
	var left int
	require.NoError(t, sqlkit.One(t.Context(), r.db, &left, `SELECT count(*) FROM azsearch_outbox WHERE key = 'k77'`))
	require.Equal(t, 1, left)
}

// A transaction that has already chosen the partition writes a row between the check without a lock and the
// truncation.
func TestARowThatComesWhileAPartitionIsEmptiedStays(t *testing.T) {
	r := newRig(t, newRotating(t))
	late := func() *sql.Tx {
		r.fill(t, 1)
		r.db.turned(t, 2)
		tx, err := r.db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), `INSERT INTO azsearch_outbox (queue, key, part) VALUES ('entities', 'late', 1)`)
		require.NoError(t, err)
		return tx
	}
	stays := func() {
		var left int
		require.NoError(t, sqlkit.One(t.Context(), r.db, &left, `SELECT count(*) FROM azsearch_outbox WHERE key = 'late'`))
		require.Equal(t, 1, left)
		require.NotZero(t, r.db.sizes(t)[1])
		r.db.exec(t, `DELETE FROM azsearch_outbox`)
	}
	tx := late()
	err := r.emptied(t)
	require.ErrorContains(t, err, "azsearch_outbox_r1")
	require.Equal(t, "55P03", sqlkit.State(err), "the relay does not wait for a writer")
	require.NoError(t, tx.Commit())
	require.NoError(t, r.emptied(t))
	stays()

	tx = late()
	ended := make(chan error, 1)
	go func() {
		ended <- sqlkit.OnConn(context.Background(), r.db.DB, func(c *sql.Conn) error {
			return emptyLeaf(context.Background(), c, r.table.text, "{t}_r1", "TRUE", 20*time.Second)
		})
	}()
	testkit.Eventually(t, func() bool {
		var waits int
		return sqlkit.One(t.Context(), r.db, &waits, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE%' AND datname = current_database()`) == nil && waits > 0
	})
	require.NoError(t, tx.Commit())
	require.NoError(t, <-ended)
	stays()
}

// A relay empties partitions without being asked, and keeps rows of other queues in them.
func TestARelayEmptiesPartitionsThatItHasLeft(t *testing.T) {
	r := newRig(t, newRotating(t))
	r.fill(t, 0)
	r.fill(t, 1, "k7")
	r.db.turned(t, 2)
	r.run(t, RelayOptions{})
	r.db.inTx(t, func(tx *sql.Tx) error { // it checks after a delete
		require.NoError(t, r.put(t.Context(), tx, "k", 1))
		return Write(t.Context(), tx, r.table, models.UploadAction(entity{"k", 1, 0}))
	})
	testkit.Eventually(t, func() bool { return r.db.sizes(t)[0] == 0 })
	require.NotZero(t, r.db.sizes(t)[1])
}

// The table is partitioned while it is written to and relays run: nothing is lost, rights stay.
func TestATableInUseGetsPartitions(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	role := fmt.Sprintf("app_%d", time.Now().UnixNano())
	r.db.exec(t, `CREATE ROLE `+role+` LOGIN`, `GRANT INSERT, SELECT ON azsearch_outbox TO `+role, `GRANT SELECT ON azsearch_outbox TO PUBLIC`,
		`GRANT USAGE ON SEQUENCE azsearch_outbox_seq TO `+role, `GRANT INSERT, UPDATE, SELECT ON entity TO `+role)
	t.Cleanup(func() {
		_, err := r.db.ExecContext(context.Background(), `DROP OWNED BY `+role)
		require.NoError(t, err)
		_, err = r.db.ExecContext(context.Background(), `DROP ROLE `+role)
		require.NoError(t, err)
	})
	address, err := url.Parse(r.db.url)
	require.NoError(t, err)
	address.User = url.User(role)
	app := database{openPool(t, PostgreSQL, address.String()), PostgreSQL, address.String()}
	r.run(t, RelayOptions{})
	r.run(t, RelayOptions{})
	var committed atomic.Int64
	stop, stopped := make(chan struct{}), make(chan error, 2)
	for w := range 2 {
		go func() {
			for v := 1; ; v++ {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				tx, err := app.BeginTx(context.Background(), nil)
				if err == nil {
					key := fmt.Sprint("w", w, "-", v%20)
					if err = r.put(context.Background(), tx, key, v); err == nil {
						err = Write(context.Background(), tx, r.table, models.UploadAction(entity{key, v, 0}))
					}
					if err == nil {
						err = tx.Commit()
					}
				}
				if err != nil {
					stopped <- err
					return
				}
				committed.Add(1)
			}
		}()
	}
	more := func() {
		until := committed.Load() + 100
		testkit.Eventually(t, func() bool { return committed.Load() >= until })
	}
	more()
	require.NoError(t, Migrate(t.Context(), r.db.DB, PostgreSQL, rotating))
	more()
	close(stop)
	require.NoError(t, <-stopped)
	require.NoError(t, <-stopped)
	require.NoError(t, Check(t.Context(), r.db, PostgreSQL, rotating))
	r.empty(t)
	require.Empty(t, r.goesBack())
	r.same(t)
	_, err = app.ExecContext(t.Context(), `DELETE FROM azsearch_outbox`)
	require.Equal(t, "42501", sqlkit.State(err), "the role has its previous rights")
}

func TestPartitionsAreMadeOfAllOrNothing(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	r := newRig(t, newPostgres(t))
	tx := r.begin(t)
	require.NoError(t, Write(t.Context(), tx, r.table, models.UploadAction(entity{"k", 1, 0})))
	err := Migrate(t.Context(), r.db.DB, PostgreSQL, rotating)
	require.ErrorContains(t, err, "lock timeout")
	require.NoError(t, Check(t.Context(), r.db, PostgreSQL, nil))
	require.ErrorContains(t, Check(t.Context(), r.db, PostgreSQL, rotating), "no partitions")
	require.NoError(t, tx.Commit())
	require.NoError(t, Migrate(t.Context(), r.db.DB, PostgreSQL, rotating))
	rows := rowsOf(t, r.db, "entities")
	require.Len(t, rows, 1)
}

// as creates a role with rights and opens the database as that role.
func (db database) as(t testing.TB, rights ...string) (role string, app database) {
	t.Helper()
	role = fmt.Sprintf("app_%d", time.Now().UnixNano())
	db.exec(t, `CREATE ROLE `+role+` LOGIN`)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), `DROP OWNED BY `+role)
		require.NoError(t, err)
		_, err = db.ExecContext(context.Background(), `DROP ROLE `+role)
		require.NoError(t, err)
	})
	for _, s := range rights {
		db.exec(t, s+` TO `+role)
	}
	address, err := url.Parse(db.url)
	require.NoError(t, err)
	address.User = url.User(role)
	return role, database{openPool(t, PostgreSQL, address.String()), PostgreSQL, address.String()}
}

// Row policies of the table decide which rows are visible; a partition without policies shows none, and TRUNCATE
// ignores them.
func TestRowsThatPoliciesHideAreNoReasonToEmptyAPartition(t *testing.T) {
	r := newRig(t, newRotating(t))
	r.fill(t, 1, "k7")
	r.db.turned(t, 3)
	_, app := r.db.as(t, `GRANT ALL ON ALL TABLES IN SCHEMA public`)
	r.db.exec(t, `ALTER TABLE azsearch_outbox_r1 ENABLE ROW LEVEL SECURITY`)
	err := sqlkit.OnConn(t.Context(), app.DB, func(c *sql.Conn) error { return emptyRing(t.Context(), c, r.table.text) })
	require.ErrorContains(t, err, "row-level security")
	var left int
	require.NoError(t, sqlkit.One(t.Context(), r.db, &left, `SELECT count(*) FROM azsearch_outbox WHERE key = 'k7'`))
	require.Equal(t, 1, left)
}

func TestAnOpenTransactionThatWroteToAPartitionKeepsOnlyThatOne(t *testing.T) {
	r := newRig(t, newRotating(t))
	r.fill(t, 1)
	r.fill(t, 2)
	r.db.turned(t, 3)
	tx := r.begin(t)
	_, err := tx.ExecContext(t.Context(), `INSERT INTO azsearch_outbox (queue, key, part) VALUES ('entities', 'k', 1)`)
	require.NoError(t, err)
	require.Equal(t, "55P03", sqlkit.State(r.emptied(t)))
	require.Zero(t, r.db.sizes(t)[2])
	require.NoError(t, tx.Commit())
	var left int
	require.NoError(t, sqlkit.One(t.Context(), r.db, &left, `SELECT count(*) FROM azsearch_outbox WHERE key = 'k'`))
	require.Equal(t, 1, left)
}

// Its turn may come during the second check, and then writers would wait for the end of the check.
func TestThePartitionWhoseTurnComesNextIsNotEmptied(t *testing.T) {
	r := newRig(t, newRotating(t))
	r.fill(t, 0)
	r.fill(t, 3)
	r.db.turned(t, 3)
	require.NoError(t, r.emptied(t))
	require.NotZero(t, r.db.sizes(t)[0])
	r.db.turned(t, 2)
	require.NoError(t, r.emptied(t))
	require.Zero(t, r.db.sizes(t)[0])
	require.NotZero(t, r.db.sizes(t)[3])
}

func TestWhatLargeDocumentsLeaveBehindGoesAway(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newRotating(t))
	r.db.turned(t, 1)
	r.db.exec(t, `INSERT INTO azsearch_outbox (queue, key, op, body) SELECT 'other', 'k' || n, 'upload', (SELECT string_agg(md5(n::text || m::text), '') FROM generate_series(1, 1000) m) FROM generate_series(1, 500) n`,
		`DELETE FROM azsearch_outbox`)
	r.db.turned(t, 3)
	require.Less(t, r.db.sizes(t)[1], int64(ringRest), "the rows are stored in another partition")
	require.NoError(t, r.emptied(t))
	require.Zero(t, r.db.sizes(t)[1])
}

// The owner of the table owns its partitions, so relays of the owner can empty them. Column rights and grant options
// stay, and no rights are added.
func TestOwnerAndRightsAreTheSameWithPartitions(t *testing.T) {
	r := newRig(t, newPostgres(t))
	owner, relay := r.db.as(t, `GRANT CREATE ON SCHEMA public`)
	r.db.exec(t, `ALTER TABLE azsearch_outbox OWNER TO `+owner, `ALTER TABLE azsearch_outbox_version OWNER TO `+owner)
	_, app := r.db.as(t, `GRANT INSERT (queue, class, key, op, body) ON azsearch_outbox`, `GRANT USAGE ON SEQUENCE azsearch_outbox_seq`)
	lender, _ := r.db.as(t)
	r.db.exec(t, `GRANT SELECT ON azsearch_outbox TO `+lender+` WITH GRANT OPTION`, `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO PUBLIC`)
	_, stranger := r.db.as(t)
	require.NoError(t, Migrate(t.Context(), r.db.DB, PostgreSQL, rotating))

	app.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, r.table, "k") })
	for _, name := range []string{"azsearch_outbox", "azsearch_outbox_r0", "azsearch_outbox_r3"} {
		_, err := stranger.ExecContext(t.Context(), `SELECT FROM `+name)
		require.Equal(t, "42501", sqlkit.State(err), name)
		var lends bool
		require.NoError(t, sqlkit.One(t.Context(), r.db, &lends, fmt.Sprintf(`SELECT has_table_privilege('%s', '%s', 'SELECT WITH GRANT OPTION')`, lender, name)))
		require.True(t, lends, name)
	}
	r.db.exec(t, `DELETE FROM azsearch_outbox`)
	r.fill(t, 1)
	r.db.turned(t, 3)
	require.NoError(t, sqlkit.OnConn(t.Context(), relay.DB, func(c *sql.Conn) error { return emptyRing(t.Context(), c, r.table.text) }))
	require.Zero(t, r.db.sizes(t)[1])
	require.NoError(t, Migrate(t.Context(), relay.DB, PostgreSQL, &SchemaOptions{Rotate: time.Hour}))
}

// A transaction that has taken a dead letter, as Retry does, accesses the table of rows while it is being
// partitioned.
func TestPartitionsAreMadeThoughDeadLettersAreLocked(t *testing.T) {
	r := newRig(t, newPostgres(t))
	r.db.exec(t, `INSERT INTO azsearch_outbox_dead (queue, seq, class, key, op, written, attempts, status, reason, message, died) VALUES ('entities', 1, 0, 'a', '', 0, 0, 400, '', '', 0)`)
	tx := r.begin(t)
	_, err := r.table.Discard(t.Context(), tx, 1)
	require.NoError(t, err)
	require.NoError(t, Migrate(t.Context(), r.db.DB, PostgreSQL, rotating))
	require.NoError(t, WriteKeys(t.Context(), tx, r.table, "a"))
	require.NoError(t, tx.Commit())
}

// Row policies may hide rows from the owner, who would leave them behind.
func TestATableWithPoliciesOrTriggersIsLeftAsItIs(t *testing.T) {
	db := newPostgres(t)
	owner, app := db.as(t, `GRANT CREATE ON SCHEMA public`, `GRANT ALL ON ALL TABLES IN SCHEMA public`)
	db.exec(t, `ALTER TABLE azsearch_outbox OWNER TO `+owner, `INSERT INTO azsearch_outbox (queue, key) VALUES ('q', 'a')`,
		`ALTER TABLE azsearch_outbox ENABLE ROW LEVEL SECURITY`, `ALTER TABLE azsearch_outbox FORCE ROW LEVEL SECURITY`)
	require.ErrorContains(t, Migrate(t.Context(), app.DB, PostgreSQL, rotating), "row-level security")
	require.Len(t, rowsOf(t, db, "q"), 1)
	db.exec(t, `ALTER TABLE azsearch_outbox DISABLE ROW LEVEL SECURITY`,
		`CREATE TRIGGER mine BEFORE UPDATE ON azsearch_outbox FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`)
	require.ErrorContains(t, Migrate(t.Context(), app.DB, PostgreSQL, rotating), "triggers")
	db.exec(t, `DROP TRIGGER mine ON azsearch_outbox`)
	require.NoError(t, Migrate(t.Context(), app.DB, PostgreSQL, rotating))
	require.Len(t, rowsOf(t, db, "q"), 1)
}

func TestAPrefixThatIsAPartitionOfAnotherIsRefused(t *testing.T) {
	_, err := Schema(PostgreSQL, &SchemaOptions{Prefix: "box_r1"})
	require.ErrorContains(t, err, "like a table of another outbox")
	_, err = Schema(SQLite, &SchemaOptions{Prefix: "box_r1"})
	require.NoError(t, err, "SQLite has no partitions")
}
