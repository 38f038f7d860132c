package outbox

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Only foreign writers make such rows.
func TestARowThatLacksItsBodyBecomesADeadLetter(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		r := newRig(t, db)
		for _, op := range []string{"upload", "merge"} {
			_, err := db.ExecContext(t.Context(), r.table.text(`INSERT INTO {t} (queue, key, op) VALUES ('entities', ?1, ?2)`), op, op)
			require.NoError(t, err)
		}
		r.run(t, RelayOptions{})
		r.empty(t)
		require.Len(t, lettersOf(t, r.db, r.table), 2)
	})
}

// While other code uses all connections of the pool the relay cannot work. It logs that, and also the end.
func TestARelayWithoutConnectionsSaysWhatItLacks(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	db := newPostgres(t)
	config, err := pgxpool.ParseConfig(db.url)
	require.NoError(t, err)
	config.MaxConns = 2
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	small := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { require.NoError(t, small.Close()) })
	table, to, log := &Table{Dialect: PostgreSQL, Queue: "q"}, newScripted(), new(lockedBuffer)
	r := tryRelay(t, database{small, PostgreSQL, db.url}, table, to, RelayOptions{Logger: logTo(log)})
	testkit.Eventually(t, func() bool { return r.Ready() == nil }, "the relay works")
	taken, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	testkit.Eventually(t, func() bool { return r.Ready() != nil })
	require.ErrorContains(t, r.Ready(), "allow more with SetMaxOpenConns")
	taken.Release()
	uploads(t, db, table, gadget{ID: "a"})
	emptied(t, db, table)
	testkit.Eventually(t, func() bool { return r.Ready() == nil }, "the relay works again")
	require.Contains(t, log.String(), "rows cannot be read")
	require.Contains(t, log.String(), "outbox: recovered\" queue")
}

func TestSettingsOfSQLiteThatWillHurtAreTold(t *testing.T) {
	for settings, want := range map[string]string{
		"": "journal_mode is delete", "?_pragma=journal_mode(WAL)": "busy_timeout is 0",
		"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(1000)": "", ":memory:": "busy_timeout is 0", ":memory:?_pragma=busy_timeout(1000)": "no file that can be examined",
	} {
		t.Run(settings, func(t *testing.T) {
			address := "file:" + t.TempDir() + "/db" + settings
			if strings.HasPrefix(settings, ":memory:") {
				address = settings
			}
			db := openPool(t, SQLite, address)
			db.SetMaxOpenConns(1)
			require.NoError(t, Migrate(t.Context(), db, SQLite, nil))
			log := new(lockedBuffer)
			r := tryRelay(t, database{db, SQLite, address}, &Table{Dialect: SQLite, Queue: "q"}, newScripted(), RelayOptions{Logger: logTo(log)})
			testkit.Eventually(t, func() bool { return r.Ready() == nil }, "the relay works")
			if want == "" {
				require.NotContains(t, log.String(), "WARN")
			}
			require.Contains(t, log.String(), want)
		})
	}
}

func TestTablesThatAreNotThereAreToldWithWhatToDo(t *testing.T) {
	bareBoth(t, func(t *testing.T, db database) {
		ctx, table := t.Context(), &Table{Dialect: db.dialect, Queue: "q"}
		for what, call := range map[string]func() error{
			"Pause":       func() error { return table.Pause(ctx, db) },
			"Lag":         func() error { _, err := table.Lag(ctx, db); return err },
			"Contains":    func() error { _, err := table.Contains(ctx, db, "k"); return err },
			"Purge":       func() error { _, err := table.Purge(ctx, db, "k"); return err },
			"DeadLetters": func() error { _, err := table.DeadLetters(ctx, db, 0, 1); return err },
			"Retry":       func() error { return table.Retry(ctx, db.DB, 1) },
			"Discard":     func() error { _, err := table.Discard(ctx, db, 1); return err },
			"Tombstones":  func() error { _, err := table.Tombstones(ctx, db, "k"); return err },
			"WriteKeys": func() error {
				tx, err := db.BeginTx(ctx, nil)
				require.NoError(t, err)
				defer func() { _ = tx.Rollback() }()
				return WriteKeys(ctx, tx, table, "k")
			},
		} {
			err := call()
			require.ErrorIs(t, err, ErrSchema, what)
			require.ErrorContains(t, err, "call outbox.Migrate", what)
		}
		var none *sql.Tx
		require.ErrorContains(t, WriteKeys(ctx, none, table, "k"), "the transaction is nil")
	})
}

func TestATriggerOnAColumnThatIsNotThereIsRefusedAndOneCanBeTakenAway(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q"}
		db.exec(t, `CREATE TABLE app (id text PRIMARY KEY, v integer)`)
		require.ErrorContains(t, table.EnsureTrigger(t.Context(), db.DB, "app", "idd"), "idd")
		require.ErrorContains(t, table.EnsureTrigger(t.Context(), db.DB, "apps", "id"), "apps")
		db.exec(t, `INSERT INTO app VALUES ('a', 1)`)
		require.Empty(t, rowsOf(t, db, "q"))
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", "id"))
		db.exec(t, `UPDATE app SET v = 2`)
		for range 2 {
			require.NoError(t, table.DropTrigger(t.Context(), db.DB, "app", "id"))
		}
		db.exec(t, `UPDATE app SET v = 3`, `DELETE FROM app`)
		require.Len(t, rowsOf(t, db, "q"), 1)
		if db.dialect == PostgreSQL {
			var left int
			require.NoError(t, sqlkit.One(t.Context(), db, &left, `SELECT count(*) FROM pg_proc WHERE proname LIKE 'azsearch%'`))
			require.Zero(t, left)
		}
	})
}

// A gateway repeatedly answers requests in place of the service: no row becomes a dead letter.
func TestForeignRepliesMakeNoDeadLetters(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db database) {
		sender, service := realSender(t)
		var left atomic.Int32 // number of requests that the gateway answers
		bodies := []string{"<html>400 Bad Request</html>", "", `{"statusCode":400,"message":"no healthy upstream"}`}
		service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			n := left.Add(-1)
			if n < 0 {
				return next(req)
			}
			body := bodies[int(n)%len(bodies)]
			return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
		})
		table := &Table{Dialect: db.dialect, Queue: "q"}
		r := tryRelay(t, db, table, sender.Raw(), RelayOptions{})
		for hiccup := range 2 {
			left.Store(4)
			var docs []gadget
			for i := range 50 {
				docs = append(docs, gadget{ID: fmt.Sprintf("%d-%d", hiccup, i)})
			}
			uploads(t, db, table, docs...)
			emptied(t, db, table)
		}
		require.NoError(t, r.end())
		require.Empty(t, lettersOf(t, db, table))
		for hiccup := range 2 {
			for i := range 50 {
				_, found := service.Document("gadgets", fmt.Sprintf("%d-%d", hiccup, i))
				require.True(t, found)
			}
		}
	})
}
