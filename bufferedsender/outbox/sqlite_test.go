package outbox

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/queuekill"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// noting is a connector that records the statements of its connections.
type noting struct {
	driver.Connector
	mu  sync.Mutex
	all []string
}

// statementsOf opens a database with a driver that records statements.
func statementsOf(t testing.TB, db database) (*noting, database) {
	t.Helper()
	c := &noting{Connector: &connector{&process{}, db.Driver(), db.url}}
	pool := sql.OpenDB(c)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return c, database{pool, SQLite, db.url}
}

func (c *noting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &notingConn{conn.(*connection), c}, nil
}

type notingConn struct {
	*connection
	to *noting
}

func (c *notingConn) note(query string) {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	c.to.all = append(c.to.all, query)
}

func (c *notingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.note(query)
	return c.connection.ExecContext(ctx, query, args)
}

func (c *notingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.note(query)
	return c.connection.QueryContext(ctx, query, args)
}

// since returns the number of statements after the first n, and how many of them only set up the connection, for
// which SQLite reads nothing.
func (c *noting) since(n int) (all, setUp int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, query := range c.all[n:] {
		if strings.HasPrefix(query, "PRAGMA busy_timeout") {
			setUp++
		}
	}
	return len(c.all) - n, setUp
}

func TestAnIdleRelayAsksTheDatabaseSeldom(t *testing.T) {
	testkit.Long(t)
	for name, row := range map[string]struct {
		wake bool
		most int // in ten minutes
	}{
		"with Wake: renewals of leases, one read in 15 s, and full passes":         {true, 350},
		"without Wake: one read in each Poll, renewals of leases, and full passes": {false, 2400 + 300 + 5},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, db database) {
				notes, pool := statementsOf(t, db)
				opts := RelayOptions{Logger: quiet()}
				if row.wake {
					opts.Wake = make(chan struct{})
				}
				table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
				to.info.RequestTimeout = time.Minute
				relay, err := NewRelay(pool.DB, table, to, &opts)
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- relay.Run(ctx) }()
				defer func() {
					cancel()
					require.NoError(t, <-ended)
				}()
				uploads(t, db, table, gadget{ID: "a"})
				passes(time.Minute)
				require.Equal(t, []string{"a"}, to.keys())
				was, _ := notes.since(0)
				passes(10 * time.Minute)
				n, setUp := notes.since(was)
				t.Logf("%d statements in ten minutes, and %d that set up connections", n-setUp, setUp)
				require.LessOrEqual(t, n-setUp, row.most)
			})
		})
	}
}

func TestWakeHasRowsSentAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		wake := make(chan struct{}, 1)
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		tryRelay(t, db, table, to, RelayOptions{Wake: wake, renew: time.Hour, Lease: 10 * time.Hour, fullPass: time.Hour})
		passes(time.Second)
		uploads(t, db, table, gadget{ID: "a"})
		passes(5 * time.Second)
		require.Empty(t, to.all(), "no notification came")
		wake <- struct{}{}
		passes(time.Millisecond)
		require.Equal(t, []string{"a"}, to.keys())
		uploads(t, db, table, gadget{ID: "b"})
		passes(notifyEvery)
		require.Equal(t, []string{"a", "b"}, to.keys(), "a commit without a notification soon after one")
		uploads(t, db, table, gadget{ID: "c"})
		passes(defaultIdlePoll + time.Second)
		require.Len(t, to.all(), 3)
	})
}

func TestAWakeThatIsClosedDoesNotKeepTheRelayBusy(t *testing.T) {
	db := newSQLite(t)
	notes, pool := statementsOf(t, db)
	wake := make(chan struct{})
	table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
	r := tryRelay(t, pool, table, to, RelayOptions{Wake: wake})
	testkit.Eventually(t, func() bool { return r.Ready() == nil }, "the relay is ready")
	close(wake)
	was, _ := notes.since(0)
	began := time.Now()
	uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "b"})
	emptied(t, db, table)
	testkit.Eventually(t, func() bool { return time.Since(began) > time.Second }, "a second has passed")
	n, _ := notes.since(was)
	require.Less(t, n, 300)
}

func TestTwoProcessesShareAFile(t *testing.T) {
	db := newSQLite(t)
	service := searchtest.NewServer(nil)
	defer service.Close()
	require.NoError(t, service.CreateIndex(gadgetIndex))
	table := &Table{Dialect: SQLite, Queue: "q"}
	var relays []*tried
	for range 2 {
		client, err := search.NewClientWithKey("https://test.search.windows.net", "gadgets", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}})
		require.NoError(t, err)
		pool := database{openPool(t, SQLite, db.url), SQLite, db.url}
		relays = append(relays, tryRelay(t, pool, table, newRealSender(t, client).Raw(), RelayOptions{}))
	}
	var writers sync.WaitGroup
	failed := make(chan error, 4)
	for w := range 4 {
		pool := openPool(t, SQLite, db.url)
		writers.Go(func() {
			for i := range 50 {
				tx, err := pool.BeginTx(context.Background(), nil)
				if err == nil {
					err = errors.Join(Write(context.Background(), tx, table, models.UploadAction(gadget{ID: fmt.Sprint("k", w, "-", i%10), N: i})), tx.Commit())
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	writers.Wait()
	close(failed)
	require.NoError(t, <-failed)
	emptied(t, db, table)
	docs := service.Documents("gadgets")
	require.Len(t, docs, 40)
	for key, text := range docs {
		require.Contains(t, string(text), `"n":4`+key[len(key)-1:], key)
	}
	testkit.Eventually(t, func() bool { return relays[0].Stats().Ranges == ranges/2 && relays[1].Stats().Ranges == ranges/2 }, "both relays share the ranges")
	require.Zero(t, relays[0].Stats().Late+relays[1].Stats().Late+relays[0].Stats().LeasesLost+relays[1].Stats().LeasesLost)
}

func TestAWriterThatHoldsTheLockForASecondCostsNothing(t *testing.T) {
	db := newSQLite(t)
	table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
	log := &guarded{}
	pool := database{openPool(t, SQLite, db.url), SQLite, db.url}
	r := tryRelay(t, pool, table, to, RelayOptions{Logger: logTo(log), renew: 3 * time.Second, Lease: 20 * time.Second})
	testkit.Eventually(t, func() bool { return r.Ready() == nil }, "the relay is ready")
	uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "b"})
	testkit.Eventually(t, func() bool { return len(to.all()) == 2 }, "both rows were sent")
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, Write(t.Context(), tx, table, models.UploadAction(gadget{ID: "c"})))
	began := time.Now()
	testkit.Eventually(t, func() bool { return time.Since(began) > time.Second }, "a second has passed")
	require.NoError(t, tx.Commit())
	emptied(t, db, table)
	require.NoError(t, r.Ready())
	require.NotContains(t, log.String(), "WARN")
	require.Zero(t, r.Stats().LeasesLost)
	require.Len(t, to.all(), 3)
}

// guarded is a buffer for several goroutines.
type guarded struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.Write(p)
}

func (g *guarded) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.String()
}

func TestOneConnectionIsEnough(t *testing.T) {
	db := newSQLite(t)
	db.SetMaxOpenConns(1)
	table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
	to.refuse("bad")
	tryRelay(t, db, table, to, RelayOptions{Loader: Load(func(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[gadget], error) {
		_, err := sqlkit.Texts(ctx, db, `SELECT key FROM azsearch_outbox`) // of the same pool
		return nil, err
	})})
	uploads(t, db, table, gadget{ID: "a"}, gadget{ID: "bad"})
	changes(t, db, table, "c")
	emptied(t, db, table)
	require.NoError(t, table.Retry(t.Context(), db.DB, lettersOf(t, db, table)[0].Seq))
	emptied(t, db, table)
}

// inTheWay checkpoints the log into the database, and reports whether another connection prevented that.
func inTheWay(t testing.TB, db *sql.DB) (busy bool) {
	t.Helper()
	var blocked, log, moved int
	require.NoError(t, db.QueryRowContext(context.Background(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&blocked, &log, &moved))
	return blocked != 0
}

func TestARelayHoldsNoSnapshotWhileItLoadsAndSends(t *testing.T) {
	db := newSQLite(t)
	other := openPool(t, SQLite, strings.ReplaceAll(db.url, "busy_timeout(5000)", "busy_timeout(0)"))
	table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
	loads, goOn := make(chan struct{}), make(chan struct{})
	to.room = make(chan struct{})
	tryRelay(t, db, table, to, RelayOptions{Wake: make(chan struct{}), idlePoll: time.Minute, renew: 4 * time.Second, Loader: LoadRaw(func(context.Context, []string) ([]models.RawAction, error) {
		loads <- struct{}{}
		<-goOn
		return nil, nil
	})})
	changes(t, db, table, "a", "b")
	<-loads
	testkit.Eventually(t, func() bool { return !inTheWay(t, other) }, "nothing blocks a checkpoint during a load")
	close(goOn)
	to.room <- struct{}{}
	testkit.Eventually(t, func() bool { return len(to.all()) == 1 && !inTheWay(t, other) }, "nothing blocks a checkpoint while the relay sends")
	close(to.room)
	emptied(t, db, table)
}

// flow writes rows until the log has grown by this many megabytes, or would have.
func flow(t testing.TB, db database, table *Table, megabytes int) {
	t.Helper()
	text := strings.Repeat("x", 250_000)
	for range megabytes {
		db.inTx(t, func(tx *sql.Tx) error {
			return Write(t.Context(), tx, table, models.UploadAction(gadget{ID: "a", Text: text}), models.UploadAction(gadget{ID: "b", Text: text}),
				models.UploadAction(gadget{ID: "c", Text: text}), models.UploadAction(gadget{ID: "d", Text: text}))
		})
	}
}

func sizeOfLog(t testing.TB, db database) int64 {
	t.Helper()
	path, _, _ := strings.Cut(strings.TrimPrefix(db.url, "file:"), "?")
	info, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	return info.Size()
}

func TestTheLogStaysBoundedWhileReadersHoldSnapshotsInBursts(t *testing.T) {
	db := newSQLite(t)
	fast := database{openPool(t, SQLite, strings.ReplaceAll(db.url, "FULL", "OFF")), SQLite, db.url}
	table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
	r := tryRelay(t, fast, table, to, RelayOptions{})
	for burst := range 1 + fewer(4) {
		reader, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
		require.NoError(t, err)
		_, err = sqlkit.Texts(t.Context(), reader, `SELECT count(*) FROM azsearch_outbox`)
		require.NoError(t, err)
		flow(t, fast, table, 20)
		require.NoError(t, reader.Rollback())
		emptied(t, fast, table)
		testkit.Eventually(t, func() bool { return sizeOfLog(t, db) < 64<<20 }, burst)
	}
	require.NoError(t, r.Ready())
}

// After a burst the log keeps its size on disk until a connection truncates it.
func TestAnIdleRelayTruncatesTheLog(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		db.DB = openPool(t, SQLite, strings.ReplaceAll(db.url, "FULL", "OFF"))
		table, to := &Table{Dialect: SQLite, Queue: "q"}, newScripted()
		tryRelay(t, db, table, to, RelayOptions{Poll: time.Second, renew: 3 * time.Second, Lease: time.Minute})
		reader, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
		require.NoError(t, err)
		_, err = sqlkit.Texts(t.Context(), reader, `SELECT count(*) FROM azsearch_outbox`)
		require.NoError(t, err)
		flow(t, db, table, 6)
		emptied(t, db, table)
		require.NoError(t, reader.Rollback())
		require.Greater(t, sizeOfLog(t, db), int64(5<<20))
		passes(time.Minute)
		require.Less(t, sizeOfLog(t, db), int64(1<<20))
	})
}

// killVariable makes the test binary a process that writes and relays until it is killed. Its value has database and
// service.
const killVariable = "AZSEARCH_TEST_OUTBOX_KILLED"

func init() {
	if job := os.Getenv(killVariable); job != "" {
		panic(writeAndRelay(job))
	}
}

const keysOfKills = 20

// writeAndRelay is that process. It prints "c KEY VERSION" after each commit. Versions above a million are rolled
// back.
func writeAndRelay(job string) error {
	url, address, _ := strings.Cut(job, " ")
	db, err := sql.Open("sqlite", url)
	if err != nil {
		return err
	}
	ctx, table := context.Background(), &Table{Dialect: SQLite, Queue: "q"}
	sender, err := killedSender(address, http.DefaultClient)
	if err != nil {
		return err
	}
	relay, err := NewRelay(db, table, sender.Raw(), quick(RelayOptions{}))
	if err != nil {
		return err
	}
	go func() { panic(relay.Run(ctx)) }()
	for {
		key, version := fmt.Sprint("k", rand.IntN(keysOfKills)), 0
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `INSERT INTO app (id, n) VALUES (?1, 1) ON CONFLICT (id) DO UPDATE SET n = n + 1 RETURNING n`, key).Scan(&version); err != nil {
			return err
		}
		rolledBack := rand.IntN(4) == 0
		if rolledBack {
			version += 1_000_000
		}
		if err := Write(ctx, tx, table, models.UploadAction(gadget{ID: key, N: version})); err != nil {
			return err
		}
		if rolledBack {
			err = tx.Rollback()
		} else {
			err = tx.Commit()
		}
		if err != nil {
			return err
		}
		if !rolledBack {
			fmt.Printf("c %s %d\n", key, version)
		}
	}
}

func killedSender(address string, client *http.Client) (*bufferedsender.BufferedSender[gadget], error) {
	c, err := search.NewClientWithKey(address, "gadgets", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{
		ClientOptions: azcore.ClientOptions{InsecureAllowCredentialWithHTTP: true, Transport: client},
	})
	if err != nil {
		return nil, err
	}
	return bufferedsender.New(c, &bufferedsender.Options[gadget]{AutoFlushInterval: 2 * time.Millisecond, RequestTimeout: 2 * time.Second, UnknownWait: 100 * time.Millisecond, Logger: quiet()})
}

func TestAProcessThatIsKilledLosesNothingCommittedAndSendsNothingRolledBack(t *testing.T) {
	testkit.Long(t)
	db := newSQLite(t)
	db.exec(t, `CREATE TABLE app (id text PRIMARY KEY, n integer)`)
	service := searchtest.NewServer(&searchtest.Options{KeepContents: true})
	defer service.Close()
	require.NoError(t, service.CreateIndex(gadgetIndex))
	require.NoError(t, service.Listen("127.0.0.1:0"))
	self, err := os.Executable()
	require.NoError(t, err)
	committed := map[string]int{}
	for range queuekill.Kills(4) {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), killVariable+"="+db.url+" "+service.URL())
		var problems bytes.Buffer
		cmd.Stderr, cmd.Dir = &problems, filepath.Dir(self)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		after := 20 + rand.IntN(150)
		n := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var key string
			var version int
			if read, _ := fmt.Sscanf(lines.Text(), "c %s %d", &key, &version); read < 2 {
				continue // it died in the middle of a line
			}
			committed[key] = max(committed[key], version)
			if n++; n == after {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())
		require.GreaterOrEqual(t, n, after, problems.String())
		// The process is dead, and so are its requests, so its leases may expire now instead of in twenty seconds.
		db.exec(t, `UPDATE azsearch_outbox_lease SET expires = 0`)
	}
	own := &http.Client{Transport: &http.Transport{}}
	defer own.CloseIdleConnections()
	sender, err := killedSender(service.URL(), own)
	require.NoError(t, err)
	defer func() { require.NoError(t, sender.Close(context.Background())) }()
	table := &Table{Dialect: SQLite, Queue: "q"}
	tryRelay(t, db, table, sender.Raw(), RelayOptions{})
	emptied(t, db, table)
	truth := map[string]int{}
	require.NoError(t, sqlkit.Each(t.Context(), db, func(rows *sql.Rows) error {
		var key string
		var n int
		err := rows.Scan(&key, &n)
		truth[key] = n
		return err
	}, `SELECT id, n FROM app`))
	got := map[string]int{}
	for key, text := range service.Documents("gadgets") {
		var doc gadget
		require.NoError(t, json.Unmarshal(text, &doc))
		got[key] = doc.N
	}
	require.Equal(t, truth, got)
	for key, version := range committed {
		require.GreaterOrEqual(t, got[key], version)
	}
	for _, c := range service.Changes("gadgets") {
		var doc gadget
		require.NoError(t, json.Unmarshal(c.Document, &doc))
		require.Less(t, doc.N, 1_000_000, "this version was rolled back")
	}
	require.Empty(t, lettersOf(t, db, table))
}
