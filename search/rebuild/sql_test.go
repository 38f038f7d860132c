package rebuild

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func openDB(t *testing.T, driver, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func sqlStore(t *testing.T, db *sql.DB, dialect Dialect) *SQL {
	t.Helper()
	s, err := NewSQL(db, SQLOptions{Dialect: dialect, Name: "hotels"})
	require.NoError(t, err)
	require.NoError(t, s.CreateTables(t.Context()))
	return s
}

// marking returns a record with marking enabled.
func marking(t *testing.T, s Store) Record {
	t.Helper()
	x, err := s.Swap(t.Context(), Record{Phase: PhaseMarking, Route: "x", Epoch: 1, Round: 1})
	require.NoError(t, err)
	return x
}

// stopping is a proxy that makes a client look stopped: after a number of its messages nothing more arrives, and the
// connection stays open.
type stopping struct {
	net.Listener
	left  atomic.Int64
	conns sync.WaitGroup
}

func newStopping(t *testing.T, server string) *stopping {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &stopping{Listener: l}
	s.left.Store(1 << 60)
	over := make(chan struct{})
	s.conns.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if !assert.NoError(t, err) {
				return
			}
			s.conns.Go(func() {
				defer to.Close()
				buf := make([]byte, 1<<16)
				for {
					n, err := client.Read(buf)
					if s.left.Add(-1) < 0 {
						<-over
						return
					}
					if err != nil {
						return
					}
					_, _ = to.Write(buf[:n])
				}
			})
			s.conns.Go(func() {
				defer client.Close()
				buf := make([]byte, 1<<16)
				for {
					n, err := to.Read(buf)
					if err != nil {
						return
					}
					_, _ = client.Write(buf[:n])
				}
			})
		}
	})
	t.Cleanup(func() {
		assert.NoError(t, l.Close())
		close(over)
		s.conns.Wait()
	})
	return s
}

func TestAWriterThatIsStoppedWhileItMarksStopsNoSwap(t *testing.T) {
	address := servers.Postgres(t).Database(t)
	s := sqlStore(t, openDB(t, "pgx", address), PostgreSQL)
	x := marking(t, s)
	u, err := url.Parse(address)
	require.NoError(t, err)
	through := newStopping(t, u.Host)
	u.Host = through.Addr().String()
	for messages, whole := 0, false; !whole; messages++ {
		require.Less(t, messages, 50)
		db := openDB(t, "pgx", u.String())
		through.left.Store(1 << 60)
		require.NoError(t, db.PingContext(t.Context()))
		through.left.Store(int64(messages))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			writer, err := NewSQL(db, s.opts)
			if err == nil {
				_, err = writer.Mark(ctx, 1, []string{"a", "b"})
			}
			done <- err
		}()
		time.Sleep(100 * time.Millisecond) // as far as it gets
		limited, end := context.WithTimeout(t.Context(), 5*time.Second)
		x.Round++
		x, err = s.Swap(limited, x)
		require.NoError(t, err, "behind %d messages", messages)
		end()
		through.left.Store(1 << 60)
		cancel()
		whole = <-done == nil
	}
}

func TestAMarkThatHasWaitedForASwapGoesByTheNewRecordWhateverTheDefaultIsolation(t *testing.T) {
	for _, isolation := range []string{"read committed", "repeatable read", "serializable"} {
		for name, change := range map[string]func(*Record){
			"round":  func(x *Record) { x.Round = 2 },
			"closed": func(x *Record) { x.Phase = PhaseClosed },
			"epoch":  func(x *Record) { x.Epoch = 2 },
		} {
			t.Run(isolation+"/"+name, func(t *testing.T) {
				t.Parallel()
				ctx, address := t.Context(), servers.Postgres(t).Database(t)
				other := openDB(t, "pgx", address)
				u, err := url.Parse(address)
				require.NoError(t, err)
				q := u.Query()
				q.Set("default_transaction_isolation", isolation)
				u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
				s := sqlStore(t, openDB(t, "pgx", u.String()), PostgreSQL)
				x := marking(t, s)
				tx, err := other.BeginTx(ctx, nil)
				require.NoError(t, err)
				change(&x)
				body, err := json.Marshal(x)
				require.NoError(t, err)
				// Like Swap, without the preceding lock.
				_, err = tx.ExecContext(ctx, s.text(sqlSwap), "hotels", string(body), x.Version)
				require.NoError(t, err)
				type answer struct {
					round int64
					err   error
				}
				answers := make(chan answer, 1)
				go func() {
					round, err := s.Mark(ctx, 1, []string{"a"})
					answers <- answer{round, err}
				}()
				waits(t, other, 1)
				require.NoError(t, tx.Commit())
				got := <-answers
				keys, err := s.Marked(ctx, 1, 10)
				require.NoError(t, err)
				assert.Empty(t, keys, "round 1 was over")
				if name != "round" {
					assert.ErrorIs(t, got.err, ErrStale)
					return
				}
				require.NoError(t, got.err)
				assert.EqualValues(t, 2, got.round)
				keys, err = s.Marked(ctx, 2, 10)
				require.NoError(t, err)
				assert.Equal(t, []string{"a"}, keys)
			})
		}
	}
}

// waits returns when this many connections wait for a lock.
func waits(t *testing.T, db *sql.DB, many int) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		var waiting int
		err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`).Scan(&waiting)
		return err == nil && waiting >= many
	})
}

func TestAMarkThatComesBehindAWaitingSwapLetsItGoFirst(t *testing.T) {
	ctx, db := t.Context(), openDB(t, "pgx", servers.Postgres(t).Database(t))
	s := sqlStore(t, db, PostgreSQL)
	x := marking(t, s)
	tx, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(ctx, s.text(postgresMark), "hotels", 1, `{"long"}`)
	require.NoError(t, err)
	var both sync.WaitGroup
	both.Go(func() {
		x.Round = 2
		_, err := s.Swap(ctx, x)
		assert.NoError(t, err)
	})
	waits(t, db, 1)
	both.Go(func() {
		round, err := s.Mark(ctx, 1, []string{"behind"})
		assert.NoError(t, err)
		assert.EqualValues(t, 2, round)
	})
	waits(t, db, 2)
	require.NoError(t, tx.Commit())
	both.Wait()
}

func TestASwapTakesItsTurnAmongManyThatMarkConcurrentSafe(t *testing.T) {
	db := openDB(t, "pgx", servers.Postgres(t).Database(t))
	db.SetMaxIdleConns(40)
	s := sqlStore(t, db, PostgreSQL)
	x := marking(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	var marks atomic.Int64
	for i := range 32 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				keys := make([]string, 100)
				for k := range keys {
					keys[k] = fmt.Sprintf("%d-%d-%d", i, n%10, k)
				}
				if _, err := s.Mark(ctx, 1, keys); err == nil {
					marks.Add(1)
				} else if ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	for marks.Load() < 100 {
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		began := time.Now()
		limited, end := context.WithTimeout(ctx, 10*time.Second)
		x.Round++
		var err error
		x, err = s.Swap(limited, x)
		end()
		t.Log(time.Since(began))
		if !assert.NoError(t, err) {
			break
		}
	}
	cancel()
	writers.Wait()
}

func TestTablesThatManyCreateAtOnceAreThereConcurrentSafe(t *testing.T) {
	db := openDB(t, "pgx", servers.Postgres(t).Database(t))
	db.SetMaxIdleConns(30)
	for n := range 10 {
		var all sync.WaitGroup
		for range 24 {
			all.Go(func() {
				s, err := NewSQL(db, SQLOptions{Dialect: PostgreSQL, Name: "hotels", Prefix: fmt.Sprintf("p%d", n)})
				if assert.NoError(t, err) {
					assert.NoError(t, s.CreateTables(t.Context()))
				}
			})
		}
		all.Wait()
	}
}

// drainAll removes all marks in batches, as a round trip does.
func drainAll(t *testing.T, s Store, marks int, between func(n int)) {
	t.Helper()
	ctx, began, total := t.Context(), time.Now(), 0
	for n := 0; ; n++ {
		keys, err := s.Marked(ctx, 1, chunk)
		require.NoError(t, err)
		if len(keys) == 0 {
			break
		}
		if n%50 == 10 {
			between(n)
		}
		require.NoError(t, s.Unmark(ctx, 1, keys))
		total += len(keys)
	}
	assert.Equal(t, marks, total)
	t.Log(time.Since(began))
	assert.Less(t, time.Since(began), 3*time.Minute)
}

func TestManyMarksAreDrainedInPostgreSQLWithoutReadingThemAllForEachChunk(t *testing.T) {
	ctx, db := t.Context(), openDB(t, "pgx", servers.Postgres(t).Database(t))
	s := sqlStore(t, db, PostgreSQL)
	_, err := db.ExecContext(ctx, s.text(`INSERT INTO {t}_mark (name, key, round) SELECT 'hotels', md5(CAST(n AS text)), r FROM generate_series(1, 50000) AS n, generate_series(1, 2) AS r`))
	require.NoError(t, err)
	rows := func(statement string, args ...any) float64 {
		tx, err := db.BeginTx(ctx, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback()) }()
		var text []byte
		require.NoError(t, tx.QueryRowContext(ctx, `EXPLAIN (ANALYZE, FORMAT JSON) `+s.text(statement), args...).Scan(&text))
		var plans []map[string]any
		require.NoError(t, json.Unmarshal(text, &plans))
		return rowsRead(plans[0]["Plan"].(map[string]any))
	}
	drainAll(t, s, 50_000, func(n int) {
		keys, err := s.Marked(ctx, 1, chunk)
		require.NoError(t, err)
		read, removed := rows(postgresRead, "hotels", 1, s.walk.from, chunk), rows(s.none, "hotels", 1, s.Values(sorted(keys))[0])
		t.Log(n, read, removed)
		assert.NotEmpty(t, s.walk.from, "it continues after the removed marks")
		assert.Less(t, read, 20.0*chunk, "rows that Marked reads for a chunk")
		assert.Less(t, removed, 20.0*chunk, "rows that Unmark reads for a chunk")
	})
}

func TestManyMarksAreDrainedInMemoryWithoutLookingAtAllForEachKey(t *testing.T) {
	ctx, s := t.Context(), NewMemory()
	x := marking(t, s)
	keys := make([]string, 200_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%06d", i)
	}
	for round := range int64(2) {
		if round > 0 {
			x.Round++
			_, err := s.Swap(ctx, x)
			require.NoError(t, err)
		}
		_, err := s.Mark(ctx, 1, keys)
		require.NoError(t, err)
	}
	began := time.Now()
	for {
		keys, err := s.Marked(ctx, 1, 10)
		require.NoError(t, err)
		if len(keys) == 0 {
			break
		}
		require.NoError(t, s.Unmark(ctx, 1, keys))
	}
	t.Log(time.Since(began))
	assert.Less(t, time.Since(began), 20*time.Second) // else minutes
	left, err := s.Marked(ctx, 2, 1_000_000)
	require.NoError(t, err)
	assert.Len(t, left, len(keys))
}

// rowsRead counts the rows read by the nodes of a plan.
func rowsRead(plan map[string]any) float64 {
	number := func(name string) float64 { f, _ := plan[name].(float64); return f }
	n := (number("Actual Rows") + number("Rows Removed by Filter") + number("Rows Removed by Index Recheck")) * number("Actual Loops")
	below, _ := plan["Plans"].([]any)
	for _, x := range below {
		n += rowsRead(x.(map[string]any))
	}
	return n
}

func TestManyMarksAreDrainedInSQLiteWithoutReadingThemAllForEachChunk(t *testing.T) {
	// SQLite runs in this process and is slow under the race detector: fewer rows, and the plan shows how they are read.
	ctx := t.Context()
	db := openDB(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)")
	s := sqlStore(t, db, SQLite)
	_, err := db.ExecContext(ctx, s.text(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
		INSERT INTO {t}_mark (name, key, round) SELECT 'hotels', printf('%08x', n * 2654435761 % 4294967296), r.value FROM n, json_each('[1, 2]') AS r`))
	require.NoError(t, err)
	plan := func(statement string, args ...any) string {
		rows, err := db.QueryContext(ctx, `EXPLAIN QUERY PLAN `+s.text(statement), args...)
		require.NoError(t, err)
		defer rows.Close()
		var lines []string
		for rows.Next() {
			var id, parent, unused int
			var line string
			require.NoError(t, rows.Scan(&id, &parent, &unused, &line))
			lines = append(lines, line)
		}
		require.NoError(t, rows.Err())
		return strings.Join(lines, "\n")
	}
	marked, none := plan(sqliteRead, "hotels", 1, "a", chunk), plan(s.none, "hotels", 1, "[]")
	assert.Contains(t, marked, "(name=? AND key>?)")
	assert.NotContains(t, marked, "TEMP B-TREE", "the marks are read in index order, and only as far as needed")
	assert.Contains(t, none, "(name=? AND key=? AND round<?)")
	drainAll(t, s, 20_000, func(int) { assert.NotEmpty(t, s.walk.from, "it continues after the removed marks") })
}

func TestASQLStoreSaysAtOnceWhatIsWrongWithItsOptions(t *testing.T) {
	_, err := NewSQL(nil, SQLOptions{Prefix: "x; DROP TABLE y", Dialect: "mysql"})
	for _, want := range []string{"db is nil", "Name is empty", "Prefix is", `the dialect "mysql" is not supported`} {
		assert.ErrorContains(t, err, want)
	}
}

// The store's calls take time and may fail because another process has locked it.
func TestARebuildByADatabaseMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50)
		db := openDB(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)")
		s, err := NewSQL(db, SQLOptions{Dialect: SQLite, Name: "hotels", Prefix: "other"})
		require.NoError(t, err)
		require.NoError(t, s.CreateTables(t.Context()))
		w.store = s
		a, b := w.write("a", 1), w.write("b", 2)
		time.Sleep(time.Second)
		m := w.runner(Options{Writers: []string{"a", "b"}, Settle: 5 * time.Second})
		require.NoError(t, m.run(t.Context()))
		a.end()
		b.end()
		w.checkTruth(newIndex)
		require.NoError(t, DropOld(t.Context(), s, w.client, &DropOptions{Now: true}))
	})
}

// While a tap is idle its record is lost and created again, or an earlier one is restored. A rebuild that begins then
// waits only for taps that read the record.
func TestATapUsesARecordThatWasLostAndCreatedAgainOrRestored(t *testing.T) {
	for _, restored := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 0)
			db := openDB(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "db"))
			w.store = sqlStore(t, db, SQLite)
			tap, first := w.opened(w.store), w.record()
			for range 20 {
				w.set(func(r *Record) { r.Beat++ })
			}
			lost := w.record()
			time.Sleep(defaultIdleValid)
			require.NoError(t, tap.Before(t.Context(), []string{"x"}))
			assert.Equal(t, lost, tap.record)
			_, err := db.ExecContext(t.Context(), `DELETE FROM azsearch_rebuild`)
			require.NoError(t, err)
			if restored {
				_, err = db.ExecContext(t.Context(), `INSERT INTO azsearch_rebuild (name, version, body) VALUES ('hotels', ?1, '{"phase":"idle","route":"hotels-1"}')`, first.Version)
				require.NoError(t, err)
			} else {
				w.opened(w.store)
				assert.Greater(t, w.record().Version, lost.Version)
			}
			w.set(func(r *Record) { r.Phase, r.Epoch, r.Round = PhaseMarking, 1, 1 })
			time.Sleep(defaultIdleValid)
			require.NoError(t, tap.Before(t.Context(), []string{"x"}))
			keys, err := w.store.Marked(t.Context(), 1, 10)
			require.NoError(t, err)
			assert.Equal(t, []string{"x"}, keys, restored)
		})
	}
}
