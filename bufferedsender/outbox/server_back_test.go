package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

const someKeys = 20

// rises looks for new rows, and raises a floor.
func (q *reading) rises(ctx context.Context, db *sql.DB, f *floor, read int64) (from int64, news bool, err error) {
	seen, err := q.look(ctx, db, look{})
	if err != nil {
		return 0, false, err
	}
	return f.rise(ctx, db, q, seen, read)
}

// The pooler may send two statements to two servers.
func TestAFloorWaitsForNoTransactionsOfAnotherServer(t *testing.T) {
	t.Parallel()
	db := newPostgres(t)
	table := &Table{Dialect: PostgreSQL, Queue: "q"}
	require.NoError(t, table.ready())
	_, _, err := newReading(table).watermark(t.Context(), db)
	require.NoError(t, err)
	f := floor{server: "the one before", open: map[string]int64{"9/9": 0}}
	_, _, err = newReading(table).rises(t.Context(), db.DB, &f, 0)
	require.NoError(t, err)
	require.NotEmpty(t, f.another)
	require.Len(t, f.open, 1)
}

// This includes a server that answered a tick before any read.
func TestASequenceThatIsBehindIsNamedByARelayThatRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, newPostgres(t))
	q := newReading(r.table)
	r.db.exec(t, `INSERT INTO azsearch_outbox (queue, seq, key) VALUES ('entities', 1000, 'k')`)
	for name, f := range map[string]floor{"unknown": {}, "another": {server: "the one before"}} {
		_, _, err := q.rises(t.Context(), r.db.DB, &f, 0)
		require.ErrorIs(t, err, ErrSchema, name)
		require.ErrorContains(t, err, "setval", name)
	}
	f := floor{last: 3, server: "the one before"}
	r.db.exec(t, `SELECT setval('azsearch_outbox_seq', 1000)`)
	_, _, err := q.rises(t.Context(), r.db.DB, &f, 3)
	require.NoError(t, err)
	require.NotEmpty(t, f.another)
	f.another = ""
	_, _, err = q.rises(t.Context(), r.db.DB, &f, 2000)
	require.NoError(t, err)
	require.NotEmpty(t, f.another, "the sequence has passed 2000")
}

// A role that only sends rows cannot write them, so it cannot schedule keys to be read again. The log says so, and
// the relay works.
func TestARoleThatMustNotWriteRowsReloadsNoKeys(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	r := newRig(t, newPostgres(t))
	_, app := r.db.as(t, `GRANT SELECT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public`, `GRANT INSERT ON azsearch_outbox_lease, azsearch_outbox_nonce`,
		`GRANT SELECT ON SEQUENCE azsearch_outbox_seq`)
	log := new(lockedBuffer)
	o := *short(RelayOptions{Loader: r.loader()})
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	relay, err := NewRelay(app.DB, r.table, r.sender(t).Raw(), &o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	defer func() { cancel(); require.NoError(t, <-ended) }()
	r.oneRow(t, 1)
	r.empty(t)
	r.db.exec(t, `UPDATE azsearch_outbox_nonce SET nonce = 'another'`)
	testkit.Eventually(t, func() bool { return strings.Contains(log.String(), "keys not reloaded") })
	r.oneRow(t, 2)
	r.empty(t)
	r.same(t)
	require.NoError(t, relay.Ready())
}

func TestARelayEndsWhenItsFileIsReplacedOrRemoved(t *testing.T) {
	for name, away := range map[string]func(copied, path string) error{
		"replaced": os.Rename,
		"removed":  func(_, path string) error { return os.Remove(path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newSQLite(t)
			r := newRig(t, db)
			relay, err := NewRelay(openPool(t, SQLite, db.url), r.table, r.sender(t).Raw(), short(RelayOptions{}))
			require.NoError(t, err)
			ended := make(chan error, 1)
			go func() { ended <- relay.Run(t.Context()) }()
			db.inTx(t, func(tx *sql.Tx) error {
				return errors.Join(r.put(t.Context(), tx, "k", 1), Write(t.Context(), tx, r.table, models.UploadAction(entity{"k", 1, 0})))
			})
			r.empty(t)
			paths, err := sqlkit.Texts(t.Context(), db, sqliteDialect.server.path)
			require.NoError(t, err)
			copied := paths[0] + ".copy"
			db.exec(t, `VACUUM INTO '`+copied+`'`)
			require.NoError(t, away(copied, paths[0]))
			select {
			case err = <-ended:
				require.ErrorIs(t, err, errReplaced)
				require.ErrorContains(t, err, paths[0])
			case <-time.After(30 * time.Second):
				t.Fatal("the relay continues")
			}
		})
	}
}

// A file that is overwritten by a copy keeps its name; the copy lacks later writes of relays.
func TestAFileThatIsRestoredIsReadFromItsBeginning(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	db := newSQLite(t)
	r := newRig(t, db)
	log := new(lockedBuffer)
	put := func(keys, v int) {
		for i := range keys {
			db.inTx(t, func(tx *sql.Tx) error {
				key := fmt.Sprint("k", i)
				return errors.Join(r.put(t.Context(), tx, key, v), Write(t.Context(), tx, r.table, models.UploadAction(entity{key, v, 0})))
			})
		}
	}
	o := *short(RelayOptions{Loader: r.loader()})
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	relay, err := NewRelay(openPool(t, SQLite, db.url), r.table, r.sender(t).Raw(), &o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	put(someKeys, 1)
	r.empty(t)
	copied := t.TempDir() + "/copy"
	db.exec(t, `VACUUM INTO '`+copied+`'`)
	renewals := func() (n int) {
		require.NoError(t, sqlkit.One(t.Context(), db, &n, `SELECT max(epoch) FROM azsearch_outbox_lease WHERE slot >= 64`))
		return n
	}
	was := renewals()
	testkit.Eventually(t, func() bool { return renewals() > was+1 })
	put(someKeys, 1001)
	r.empty(t)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	statements := []string{`ATTACH '` + copied + `' AS was`, `BEGIN IMMEDIATE`}
	for _, table := range []string{"entity", "azsearch_outbox", "azsearch_outbox_lease", "sqlite_sequence"} {
		columns := "*"
		if table == "azsearch_outbox" {
			columns = "seq, queue, class, key, op, body, written, attempts"
		}
		statements = append(statements, `DELETE FROM main.`+table, fmt.Sprintf(`INSERT INTO main.%s (%[2]s) SELECT %[2]s FROM was.%[1]s`, table, columns))
	}
	run := func(statements ...string) {
		for _, s := range statements {
			_, err := conn.ExecContext(t.Context(), strings.Replace(s, "(*)", "", 1))
			require.NoError(t, err, s)
		}
	}
	run(statements...)
	for i := range 2 * someKeys { // when the relay looks, numbers already exceed the previous ones
		key := fmt.Sprint("k", i%(someKeys/2))
		require.NoError(t, errors.Join(r.put(t.Context(), conn, key, 2000+i), Write(t.Context(), conn, r.table, models.UploadAction(entity{key, 2000 + i, 0}))))
	}
	run(`COMMIT`, `DETACH was`)
	require.NoError(t, conn.Close())
	testkit.Eventually(t, func() bool { return strings.Contains(log.String(), "server changed") })
	testkit.Eventually(t, func() bool { e, _ := r.indexed(t, "k19"); return e.V == 1 })
	r.empty(t)
	r.same(t)
}

// A row below the floor, which is impossible by design, in a database without other activity.
func TestAFullPassReadsAlsoWhenNothingSeemsNew(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	read := func() {
		l.begin(kindRead, time.Now())
		l.settle()
	}
	exec := func(s string) {
		_, err := l.r.db.ExecContext(t.Context(), l.r.table.text(s))
		require.NoError(t, err)
	}
	exec(`INSERT INTO {t} (seq, queue, key) VALUES (9, 'entities', 'a')`)
	read()
	require.EqualValues(t, 1, l.stats.Read)
	exec(`INSERT INTO {t} (seq, queue, key) VALUES (5, 'entities', 'b')`)
	l.jobs[kindRead].retry.At = time.Time{}
	read()
	require.EqualValues(t, 1, l.stats.Read)
	require.True(t, l.progress.dry)
	l.progress.fullAt, l.jobs[kindRead].retry.At = time.Time{}, time.Time{}
	read()
	require.EqualValues(t, 2, l.stats.Read)
	require.EqualValues(t, 1, l.stats.Late)
}

// Replies from before the change belong to the earlier server.
func TestAnAnswerOfAnEarlierServerChangesNothing(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	c := l.progress.begin(time.Now(), time.Hour)
	l.begun("b", "", time.Now())
	l.readDone(answer{last: numbers(9)}, nil, &c, l.holds.gens)
	require.Zero(t, l.progress.after)
	require.Equal(t, "b", l.progress.floor.server)
	l.tickedOff(tally{began: time.Now(), server: "a", members: 1, renewals: 9, paused: true, acquired: map[int]int64{0: 1}}, [ranges]int64{}, nil)
	require.EqualValues(t, 1, l.progress.life)
	require.Zero(t, l.back.renewals, "the next tick would find fewer")
	require.False(t, l.paused)
	require.Empty(t, l.holds.gifts)
	require.True(t, l.jobs[kindTick].retry.Due(time.Now()))
	l.ticked(map[int]int64{0: 1})
	require.Zero(t, l.holds.mask(), "another relay may have renewed its lease just before")
	require.Equal(t, []gift{{0, 1, l.r.opts.Lease}}, l.holds.gifts)
	require.GreaterOrEqual(t, time.Until(l.back.quiet), l.r.opts.Lease-time.Minute)
}

func TestARowOfANewServerMayHaveTheNumberOfAnEarlierRow(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	l.desk.reads = 1 // of a gap, from the earlier server
	l.give(rowsWith("deleted"))
	l.desk.deleted(rowsWith("deleted"), &l.holds.gens)
	l.give([]row{{seq: 2, key: "being deleted"}})
	l.plan(time.Now())
	l.desk.end(l.flights.cut(kindLoad, 1)[0], relay.Confirmed, models.Outcome{}, time.Now())
	f := l.desk.settling.begin(l.holds, time.Now())
	l.begun("b", "", time.Now())
	l.back.quiet = time.Time{}
	l.ticked(map[int]int64{0: 1})
	l.give(rowsWith("a", "b"))
	require.Contains(t, l.desk.entries, "a")
	require.Contains(t, l.desk.entries, "b")
	l.finishDone(f, nil)
	require.Equal(t, 2, l.desk.inHand())
	require.Empty(t, l.desk.gone)
}

// A trigger writes rows for keys that no document can have.
func TestAKeyThatCannotBeSentDoesNotKeepOthersFromBeingReloaded(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	l.back.doubts = []string{"a/b"}
	l.begin(kindDoubt, time.Now())
	require.False(t, l.jobs[kindDoubt].busy)
	l.back.doubts = []string{"good", "a/b"}
	l.begin(kindDoubt, time.Now())
	l.settle()
	require.Empty(t, l.back.doubts)
	keys, err := sqlkit.Texts(t.Context(), l.r.db, l.r.table.text(`SELECT key FROM {t}`))
	require.NoError(t, err)
	require.Equal(t, []string{"good"}, keys)
}

// A new server gets its identity from the first read. A tick that runs at that time has not seen one.
func TestATickThatBeganBeforeTheServerHadAnIdentityShowsNoOther(t *testing.T) {
	l := still(t, &accepting{}, RelayOptions{})
	l.progress.floor.server = "a"
	l.tickedOff(tally{began: time.Now(), members: 1}, [ranges]int64{}, nil)
	require.Zero(t, l.progress.life)
	l.tickedOff(tally{began: time.Now(), known: "a", server: "a", members: 1}, [ranges]int64{}, nil)
	require.Zero(t, l.progress.life)
	l.tickedOff(tally{began: time.Now(), known: "a", members: 1}, [ranges]int64{}, nil)
	require.EqualValues(t, 1, l.progress.life, "a server that has recovered has none until the next read")
}

// Existing roles may send rows, so they get the rights on what Migrate adds.
func TestARoleThatMaySendRowsMayRecognizeTheServer(t *testing.T) {
	db := newPostgres(t)
	db.exec(t, `DROP TABLE azsearch_outbox_nonce`)
	_, app := db.as(t, `GRANT ALL ON ALL TABLES IN SCHEMA public`, `GRANT ALL ON SEQUENCE azsearch_outbox_seq`)
	require.ErrorContains(t, Check(t.Context(), app, PostgreSQL, nil), "missing azsearch_outbox_nonce; call outbox.Migrate")
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, nil))
	require.NoError(t, Check(t.Context(), app, PostgreSQL, nil))
	role, watcher := db.as(t, `GRANT SELECT ON ALL TABLES IN SCHEMA public`, `GRANT SELECT ON SEQUENCE azsearch_outbox_seq`)
	require.NoError(t, Check(t.Context(), watcher, PostgreSQL, nil), "the caller sends nothing")
	db.exec(t, `GRANT UPDATE ON azsearch_outbox_lease TO `+role)
	err := Check(t.Context(), watcher, PostgreSQL, nil)
	require.ErrorIs(t, err, ErrSchema)
	require.ErrorContains(t, err, `GRANT SELECT, INSERT ON azsearch_outbox_nonce TO `+role)
}
