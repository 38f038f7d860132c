package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// Known ways to lose rows, on a real PostgreSQL: each test shows the loss with a naive reader and its absence with a
// relay.

// begin begins a transaction that ends with the test at the latest.
func (r *rig) begin(t testing.TB) *sql.Tx {
	t.Helper()
	tx, err := r.db.BeginTx(context.Background(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// cursor is a common naive reader: it selects rows above the last number it has seen.
type cursor struct{ last int64 }

func (c *cursor) read(t testing.TB, r *rig) (keys []string) {
	t.Helper()
	require.NoError(t, sqlkit.Each(t.Context(), r.db, func(rows *sql.Rows) error {
		var key string
		err := rows.Scan(&c.last, &key)
		keys = append(keys, key)
		return err
	}, r.table.text(`SELECT seq, key FROM {t} WHERE queue = ?1 AND seq > ?2 ORDER BY seq`), r.table.Queue, c.last))
	return keys
}

func TestARowThatCommitsAfterLaterOnesIsSent(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	ctx := t.Context()
	slow := r.begin(t)
	require.NoError(t, r.put(ctx, slow, "slow", 1))
	require.NoError(t, Write(ctx, slow, r.table, models.UploadAction(entity{"slow", 1, 0})))
	r.db.inTx(t, func(tx *sql.Tx) error {
		return errors.Join(r.put(ctx, tx, "fast", 1), Write(ctx, tx, r.table, models.UploadAction(entity{"fast", 1, 0})))
	})
	var naive cursor
	require.Equal(t, []string{"fast"}, naive.read(t, r))

	relay := r.run(t, RelayOptions{fullPass: time.Hour})
	r.empty(t) // of visible rows
	_, is := r.indexed(t, "fast")
	require.True(t, is)
	require.NoError(t, slow.Commit())
	require.Empty(t, naive.read(t, r), "the naive reader skips the row forever")
	r.empty(t)
	r.same(t)
	require.Zero(t, relay.Stats().Late, "an ordinary read found the row")
}

func TestADeleteUpToANumberWouldLoseALateRow(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	ctx := t.Context()
	slow := r.begin(t)
	require.NoError(t, WriteKeys(ctx, slow, r.table, "late"))
	r.db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(ctx, tx, r.table, "early") })
	var naive cursor
	naive.read(t, r)
	require.NoError(t, slow.Commit())
	result, err := r.db.ExecContext(ctx, r.table.text(`DELETE FROM {t} WHERE queue = ?1 AND seq <= ?2`), r.table.Queue, naive.last)
	require.NoError(t, err)
	n, err := result.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 2, n, "the naive delete removes an unread row")

	// The relay deletes the numbers that it has read. While its first request is in flight, a row with a lower number
	// commits.
	slow = r.begin(t)
	require.NoError(t, Write(ctx, slow, r.table, models.UploadAction(entity{"late", 1, 0})))
	require.NoError(t, r.put(ctx, slow, "late", 1))
	r.db.inTx(t, func(tx *sql.Tx) error {
		return errors.Join(r.put(ctx, tx, "early", 1), Write(ctx, tx, r.table, models.UploadAction(entity{"early", 1, 0})))
	})
	committed := sync.OnceValue(slow.Commit)
	r.intercept(func(_ *http.Request, _ []entity, next func() (*http.Response, error)) (*http.Response, error) {
		if err := committed(); err != nil {
			return nil, err
		}
		return next()
	})
	r.run(t, RelayOptions{})
	testkit.Eventually(t, func() bool { return r.service.DocumentCount("entities") == 2 })
	r.empty(t)
	r.same(t)
}

func TestATransactionThatStaysOpenDelaysNobodyElse(t *testing.T) {
	testkit.Long(t)
	for _, of := range []struct {
		name, statement string
	}{
		{"a transaction that has only read", `SELECT count(*) FROM entity`},
		{"a transaction that has written to another table", `CREATE TABLE elsewhere (n int)`},
		{"a transaction that has written to the outbox", `INSERT INTO azsearch_outbox (queue, key) VALUES ('entities', 'never')`},
	} {
		t.Run(of.name, func(t *testing.T) {
			r := newRig(t, newPostgres(t))
			ctx := t.Context()
			long, err := r.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			require.NoError(t, err)
			defer func() { require.NoError(t, long.Rollback()) }()
			_, err = long.ExecContext(ctx, of.statement)
			require.NoError(t, err)
			relay := r.run(t, RelayOptions{fullPass: time.Hour, maxRows: 50})
			for v := range 40 {
				r.db.inTx(t, func(tx *sql.Tx) error {
					var err error
					for k := range 25 {
						key := fmt.Sprint("k", k)
						err = errors.Join(err, r.put(ctx, tx, key, v), Write(ctx, tx, r.table, models.UploadAction(entity{key, v, 0})))
					}
					return err
				})
			}
			r.empty(t)
			r.same(t)
			require.Empty(t, r.goesBack())
			require.Zero(t, relay.Stats().Late)
			lag, err := r.table.Lag(ctx, r.db)
			require.NoError(t, err)
			require.Positive(t, lag.OldestTransaction)
		})
	}
}

// A prepared transaction has another name and still holds numbers.
func TestAPreparedTransactionIsWaitedForByTheFloor(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	ctx := t.Context()
	conn, err := r.db.Conn(ctx)
	require.NoError(t, err)
	defer conn.Close()
	run := func(statements ...string) {
		for _, statement := range statements {
			_, err := conn.ExecContext(ctx, statement)
			require.NoError(t, err)
		}
	}
	run(`BEGIN`, `INSERT INTO entity (id, v) VALUES ('k', 1)`,
		`INSERT INTO azsearch_outbox (queue, key, op, body) VALUES ('entities', 'k', 'upload', '{"id":"k","v":1,"extra":0}')`)
	relay := r.run(t, RelayOptions{fullPass: time.Hour})
	others := func(from, to int) {
		for i := from; i < to; i++ {
			r.db.inTx(t, func(tx *sql.Tx) error {
				key := fmt.Sprint("other", i)
				return errors.Join(r.put(ctx, tx, key, 1), Write(ctx, tx, r.table, models.UploadAction(entity{key, 1, 0})))
			})
			r.empty(t)
		}
	}
	others(0, 5) // by now the relay waits for the transaction under its current name
	run(`PREPARE TRANSACTION 'two phases'`)
	others(5, 20)
	run(`COMMIT PREPARED 'two phases'`)
	r.empty(t)
	r.same(t)
	require.Zero(t, relay.Stats().Late)
}

// Each poll is compared with the rows committed before it, while transactions begin, write, end and are prepared in
// any order.
func TestEveryRowIsReadByThePollAfterItsCommit(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	ctx, seed := t.Context(), uint64(15)
	rnd := rand.New(rand.NewPCG(seed, 0))
	type open struct {
		conn *sql.Conn
		keys []string
		name string // of a prepared one
	}
	var transactions []*open
	committed, read := make(map[string]bool), make(map[string]bool)
	exec := func(c *sql.Conn, statement string, args ...any) {
		_, err := c.ExecContext(ctx, statement, args...)
		require.NoError(t, err, "seed %d", seed)
	}
	q, p, n := newReading(r.table), progress{most: 3, fullAt: time.Now().Add(time.Hour)}, 0
	var seen look
	poll := func() {
		for more := true; more; {
			was := p.begin(time.Now(), time.Hour)
			var err error
			seen, err = q.look(ctx, r.db, seen)
			require.NoError(t, err)
			from, _, err := was.floor.rise(ctx, r.db.DB, q, seen, slices.Max(was.seen[:]))
			require.NoError(t, err)
			count := 3
			if was.back(from) {
				count += 5
			}
			a, err := q.read(ctx, r.db, -1, was.after, was.seen, was.floor.upTo(was.after), count, maxReadBytes)
			require.NoError(t, err)
			for _, row := range a.rows {
				read[row.key] = true
			}
			p.done(&a, &was, len(a.rows) > 0, time.Now(), polls)
			more = a.more
		}
	}
	for step := range 400 {
		i := 0
		if len(transactions) > 0 {
			i = rnd.IntN(len(transactions))
		}
		switch what := rnd.IntN(10); {
		case len(transactions) == 0 || what < 3 && len(transactions) < 6:
			conn, err := r.db.Conn(ctx)
			require.NoError(t, err)
			t.Cleanup(func() { conn.Close() })
			exec(conn, `BEGIN`)
			transactions = append(transactions, &open{conn: conn})
		case what < 6 && transactions[i].name == "":
			n++
			key := fmt.Sprint("k", n)
			exec(transactions[i].conn, `INSERT INTO azsearch_outbox (queue, class, key) VALUES ('entities', $1, $2)`, int64(rnd.IntN(2)), key)
			transactions[i].keys = append(transactions[i].keys, key)
		case what == 6 && transactions[i].name == "":
			transactions[i].name = fmt.Sprint("p", step)
			exec(transactions[i].conn, `PREPARE TRANSACTION '`+transactions[i].name+`'`)
		case what < 8:
			x, end := transactions[i], "COMMIT"
			transactions = slices.Delete(transactions, i, i+1)
			if rnd.IntN(4) == 0 {
				end = "ROLLBACK"
			} else {
				for _, key := range x.keys {
					committed[key] = true
				}
			}
			if x.name != "" {
				end += " PREPARED '" + x.name + "'"
			}
			exec(x.conn, end)
			require.NoError(t, x.conn.Close())
		default:
			poll()
			require.Equal(t, committed, read, "seed %d, step %d", seed, step)
		}
	}
	for _, x := range transactions {
		if x.name != "" {
			exec(x.conn, `ROLLBACK PREPARED '`+x.name+`'`)
		}
	}
}

// The numbers follow the order of changes only if the entity is locked first.
func TestARowBeforeItsEntityGetsTheOrderWrong(t *testing.T) {
	testkit.Long(t)
	for _, way := range []struct {
		name  string
		write func(ctx context.Context, r *rig, tx *sql.Tx, v int, wait func()) error
		wrong bool
	}{
		{"row first: the index keeps an outdated document", func(ctx context.Context, r *rig, tx *sql.Tx, v int, wait func()) error {
			err := Write(ctx, tx, r.table, models.UploadAction(entity{"k", v, 0}))
			wait()
			return errors.Join(err, r.put(ctx, tx, "k", v))
		}, true},
		{"entity first, as documented", func(ctx context.Context, r *rig, tx *sql.Tx, v int, wait func()) error {
			err := r.put(ctx, tx, "k", v)
			wait()
			return errors.Join(err, Write(ctx, tx, r.table, models.UploadAction(entity{"k", v, 0})))
		}, false},
		{"keys only, whenever they are written", func(ctx context.Context, r *rig, tx *sql.Tx, v int, wait func()) error {
			err := WriteKeys(ctx, tx, r.table, "k")
			wait()
			return errors.Join(err, r.put(ctx, tx, "k", v))
		}, false},
	} {
		t.Run(way.name, func(t *testing.T) {
			r := newRig(t, newPostgres(t))
			ctx := t.Context()
			first, second := r.begin(t), r.begin(t)
			begun, ended := make(chan struct{}), make(chan error, 1)
			// The first transaction pauses in the middle. The second one then runs as far as the locks allow.
			go func() {
				<-begun
				err := way.write(ctx, r, second, 2, func() {})
				ended <- errors.Join(err, second.Commit())
			}()
			require.NoError(t, way.write(ctx, r, first, 1, func() {
				close(begun)
				r.blockedOrDone(t, ended)
			}))
			require.NoError(t, first.Commit())
			require.NoError(t, <-ended)
			r.run(t, RelayOptions{Loader: r.loader()})
			r.empty(t)
			var inTable int
			require.NoError(t, sqlkit.One(ctx, r.db, &inTable, `SELECT v FROM entity WHERE id = 'k'`))
			got, _ := r.indexed(t, "k")
			if way.wrong {
				require.NotEqual(t, inTable, got.V, "the trap no longer exists: remove it from the documentation")
				return
			}
			require.Equal(t, inTable, got.V)
		})
	}
}

// blockedOrDone waits until the other transaction has ended, or waits for a lock.
func (r *rig) blockedOrDone(t testing.TB, ended chan error) {
	testkit.Eventually(t, func() bool {
		select {
		case err := <-ended:
			ended <- err
			return true
		default:
		}
		var waiting int
		return sqlkit.One(context.Background(), r.db, &waiting, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`) == nil && waiting > 0
	})
}

// loader reads the application's table.
func (r *rig) loader() Loader {
	return Load(func(ctx context.Context, keys []string) (all []models.IndexDocumentsAction[entity], err error) {
		for _, key := range keys {
			err = errors.Join(err, sqlkit.Each(ctx, r.db, func(rows *sql.Rows) error {
				e := entity{ID: key}
				err := rows.Scan(&e.V, &e.Extra)
				all = append(all, models.UploadAction(e))
				return err
			}, r.table.text(`SELECT v, extra FROM entity WHERE id = ?1`), key))
		}
		return all, err
	})
}

// Workers that each lock the next row, as most queues on PostgreSQL do, send two changes of a key concurrently.
func TestSkipLockedReordersAKeyAndTheRelaysDoNot(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	ctx := t.Context()
	for v := 1; v <= 2; v++ {
		r.db.inTx(t, func(tx *sql.Tx) error {
			return errors.Join(r.put(ctx, tx, "k", v), Write(ctx, tx, r.table, models.UploadAction(entity{"k", v, 0})))
		})
	}
	next := func(tx *sql.Tx) (seq int64) {
		require.NoError(t, tx.QueryRowContext(ctx, `SELECT seq FROM azsearch_outbox ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&seq))
		return seq
	}
	slow, quick := r.begin(t), r.begin(t)
	one, two := next(slow), next(quick)
	require.Less(t, one, two, "the quick worker would send the newer change first")
	require.NoError(t, errors.Join(slow.Rollback(), quick.Rollback()))

	for range 3 {
		r.run(t, RelayOptions{})
	}
	for v := 3; v < 60; v++ {
		r.db.inTx(t, func(tx *sql.Tx) error {
			return errors.Join(r.put(ctx, tx, "k", v), Write(ctx, tx, r.table, models.UploadAction(entity{"k", v, 0})))
		})
	}
	r.empty(t)
	r.same(t)
	require.Empty(t, r.goesBack())
}

func TestBackendsThatAreTerminatedInTheMiddleOfARequestLoseNothing(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	ctx := t.Context()
	var once sync.Once
	r.intercept(func(_ *http.Request, _ []entity, next func() (*http.Response, error)) (*http.Response, error) {
		reply, err := next()
		once.Do(func() { // the request is applied, and its reply comes after all connections have ended
			_, killed := r.db.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
			err = errors.Join(err, killed)
		})
		return reply, err
	})
	relay := r.run(t, RelayOptions{})
	r.db.inTx(t, func(tx *sql.Tx) error {
		return errors.Join(r.put(ctx, tx, "k", 1), Write(ctx, tx, r.table, models.UploadAction(entity{"k", 1, 0})))
	})
	r.empty(t)
	r.same(t)
	testkit.Eventually(t, func() bool { return relay.Ready() == nil })
	require.Zero(t, relay.Stats().LeasesLost, "a lease is a row, not a connection")
}

// After a failover a pool may keep connections to a server that has become read-only.
func TestConnectionsToAReaderAreDropped(t *testing.T) {
	r := newRig(t, newPostgres(t))
	ctx := t.Context()
	var name string
	require.NoError(t, sqlkit.One(ctx, r.db, &name, `SELECT current_database()`))
	r.db.exec(t, `ALTER DATABASE `+name+` SET default_transaction_read_only = on`)
	relay := r.run(t, RelayOptions{}) // its connections are read-only
	testkit.Eventually(t, func() bool { return relay.Ready() != nil })
	r.db.inTx(t, func(tx *sql.Tx) error {
		return errors.Join(r.put(ctx, tx, "k", 1), Write(ctx, tx, r.table, models.UploadAction(entity{"k", 1, 0})))
	})
	r.db.exec(t, `ALTER DATABASE `+name+` SET default_transaction_read_only = off`)
	r.empty(t)
	r.same(t)
}

func TestTransactionsOfTheCallerThatFailLeaveNothing(t *testing.T) {
	testkit.Long(t)
	r := newRig(t, newPostgres(t))
	r.db.SetMaxOpenConns(20)
	ctx := t.Context()
	var name string
	require.NoError(t, sqlkit.One(ctx, r.db, &name, `SELECT current_database()`))
	r.db.exec(t, `ALTER DATABASE `+name+` SET deadlock_timeout = '5ms'`)
	r.db.SetMaxIdleConns(0) // connections from now on have it
	r.db.SetMaxIdleConns(20)
	r.run(t, RelayOptions{})
	for _, key := range []string{"a", "b"} {
		r.db.inTx(t, func(tx *sql.Tx) error { return r.put(ctx, tx, key, 0) })
	}
	var failed, done atomic.Int64
	var all sync.WaitGroup
	for w := range 6 {
		all.Go(func() {
			for n := range 25 {
				keys := []string{"a", "b"}
				if (w+n)%2 == 0 {
					keys = []string{"b", "a"} // deadlocks with the others
				}
				tx, err := r.db.BeginTx(ctx, &sql.TxOptions{Isolation: []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelSerializable}[w%2]})
				if err != nil {
					t.Error(err)
					return
				}
				for _, key := range keys {
					var v int
					if err = tx.QueryRowContext(ctx, `UPDATE entity SET v = v + 1 WHERE id = $1 RETURNING v`, key).Scan(&v); err == nil {
						err = Write(ctx, tx, r.table, models.UploadAction(entity{key, v, 0}))
					}
					if err != nil {
						break
					}
				}
				if err == nil {
					err = tx.Commit()
				} else {
					_ = tx.Rollback()
				}
				if err != nil {
					failed.Add(1)
				} else {
					done.Add(1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d committed, %d failed", done.Load(), failed.Load())
	require.Positive(t, failed.Load(), "no transaction has failed, so the test proves nothing")
	r.empty(t)
	r.same(t)
	require.Empty(t, r.goesBack())
}

// Fluo's exportStressTest: many writers, few keys, several relays that start and stop.
func TestTwentyWritersAndRelaysThatComeAndGoEndWithTheSameIndex(t *testing.T) {
	r := newRig(t, newPostgres(t))
	r.db.SetMaxOpenConns(25)
	ctx := t.Context()
	lasts := stressFor(t)
	until := time.Now().Add(lasts)
	var writers, crews sync.WaitGroup
	for w := range 20 {
		writers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 7))
			for time.Now().Before(until) {
				// Half of the keys have rows with actions, the other half only keys. A key with both may go back
				// briefly, because the Loader is ahead of the remaining rows.
				n := rnd.IntN(500)
				key := fmt.Sprint("k", n)
				tx, err := r.db.BeginTx(ctx, nil)
				if err != nil {
					t.Error(err)
					return
				}
				var v int
				err = tx.QueryRowContext(ctx, `INSERT INTO entity (id, v) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET v = entity.v + 1 RETURNING v`, key).Scan(&v)
				if n%2 == 0 {
					err = errors.Join(err, WriteKeys(ctx, tx, r.table, key))
				} else {
					err = errors.Join(err, Write(ctx, tx, r.table, models.UploadAction(entity{key, v, 0})))
				}
				if rnd.IntN(8) == 0 {
					err = errors.Join(err, tx.Rollback())
				} else {
					err = errors.Join(err, tx.Commit())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	fixed := r.run(t, RelayOptions{Loader: r.loader()})
	for range 2 {
		crews.Go(func() {
			for time.Now().Before(until) {
				relay := r.run(t, RelayOptions{Loader: r.loader()})
				for began := time.Now(); relay.Stats().Deleted < 200 && time.Since(began) < lasts/4; {
					time.Sleep(5 * time.Millisecond)
				}
				if err := relay.stop(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	crews.Wait()
	r.empty(t)
	r.same(t)
	require.Empty(t, r.goesBack(), "no relay has died, so nothing is sent twice")
	require.Zero(t, fixed.Stats().LeasesLost)
}

// The database stops immediately and restarts, under load, twice.
func TestADatabaseThatCrashesUnderLoadLosesNoCommittedRow(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server := servers.NewPostgres(t)
	r := newRig(t, open(t, PostgreSQL, server.Database(t)))
	ctx := t.Context()
	relay := r.run(t, RelayOptions{Loader: r.loader()})
	end := make(chan struct{})
	var writers sync.WaitGroup
	var commits atomic.Int64
	for w := range 4 {
		writers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 8))
			for {
				select {
				case <-end:
					return
				default:
				}
				tx, err := r.db.BeginTx(ctx, nil)
				if err != nil {
					time.Sleep(10 * time.Millisecond)
					continue
				}
				key := fmt.Sprint("k", rnd.IntN(50))
				var v int
				err = tx.QueryRowContext(ctx, `INSERT INTO entity (id, v) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET v = entity.v + 1 RETURNING v`, key).Scan(&v)
				if err = errors.Join(err, Write(ctx, tx, r.table, models.UploadAction(entity{key, v, 0}))); err == nil {
					err = tx.Commit() // after an error only the table shows whether it was committed
				} else {
					_ = tx.Rollback()
				}
				if err == nil {
					commits.Add(1)
				}
			}
		})
	}
	for range 2 {
		had := commits.Load()
		testkit.Eventually(t, func() bool { return commits.Load() > had+100 && relay.Stats().Deleted > 0 })
		server.CrashImmediate(t)
		server.Restart(t)
	}
	had := commits.Load()
	testkit.Eventually(t, func() bool { return commits.Load() > had+100 })
	close(end)
	writers.Wait()
	r.empty(t)
	r.same(t)
}

// Readers that use transaction ids deliver nothing after a restore, because the ids restart.
func TestADumpThatIsRestoredInTheMiddleGoesOn(t *testing.T) {
	testkit.Long(t)
	server := servers.Postgres(t)
	r := newRig(t, newPostgres(t))
	ctx := t.Context()
	r.db.inTx(t, func(tx *sql.Tx) error {
		var err error
		for i := range 30 {
			key := fmt.Sprint("k", i)
			err = errors.Join(err, r.put(ctx, tx, key, 1), Write(ctx, tx, r.table, models.UploadAction(entity{key, 1, 0})))
		}
		return err
	})
	restored := server.Database(t)
	copyDatabase(t, server, r.db.url, restored)
	r.db = database{openPool(t, PostgreSQL, restored), PostgreSQL, restored}
	require.NoError(t, Check(ctx, r.db, PostgreSQL, nil))
	r.db.inTx(t, func(tx *sql.Tx) error { // numbers continue
		return errors.Join(r.put(ctx, tx, "k3", 2), Write(ctx, tx, r.table, models.UploadAction(entity{"k3", 2, 0})))
	})
	r.run(t, RelayOptions{})
	r.empty(t)
	r.same(t)
	require.Empty(t, r.goesBack())
}
