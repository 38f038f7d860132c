package outbox

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// childVariable makes the test binary run as a process with a relay. Its value is dialect, database and service,
// separated by spaces.
const childVariable = "AZSEARCH_TEST_OUTBOX_CHILD"

// childMain is that process. It prints a line when its relay is ready and one for each key that it loads, and then
// waits for a line on standard input.
func childMain(job string) error {
	var d Dialect
	var url, service string
	if _, err := fmt.Sscan(job, &d, &url, &service); err != nil {
		return err
	}
	db, err := sql.Open(map[Dialect]string{SQLite: "sqlite", PostgreSQL: "pgx"}[d], url)
	if err != nil {
		return err
	}
	client, err := search.NewClientWithKey(service, "entities", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{
		ClientOptions: azcore.ClientOptions{InsecureAllowCredentialWithHTTP: true},
	})
	if err != nil {
		return err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[entity]{
		AutoFlushInterval: 5 * time.Millisecond, RequestTimeout: testTimeout, UnknownWait: 500 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	input := bufio.NewReader(os.Stdin)
	relay, err := NewRelay(db, &Table{Dialect: d, Queue: "entities"}, sender.Raw(), short(RelayOptions{
		Loader: Load(func(_ context.Context, keys []string) ([]models.IndexDocumentsAction[entity], error) {
			fmt.Println("loads", keys)
			if _, err := input.ReadString('\n'); err != nil {
				return nil, err
			}
			return nil, nil
		}),
	}))
	if err != nil {
		return err
	}
	go func() {
		for relay.Stats().Ranges == 0 {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("ready")
	}()
	return relay.Run(context.Background())
}

// child is a process with a relay that holds all ranges.
type child struct {
	*exec.Cmd
	lines chan string
}

func (r *rig) child(t testing.TB) *child {
	t.Helper()
	require.NoError(t, r.service.Listen("127.0.0.1:0"))
	c := &child{exec.Command(os.Args[0]), make(chan string, 100)}
	c.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{string(r.db.dialect), r.db.url, r.service.URL()}, " "))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	_, err = c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() { c.kill(); <-read })
	require.Equal(t, "ready", c.line(t))
	return c
}

func (c *child) line(t testing.TB) string {
	t.Helper()
	select {
	case line := <-c.lines:
		return line
	case <-time.After(20 * time.Second):
		t.Fatal("the process prints nothing")
		return ""
	}
}

// kill sends SIGKILL.
func (c *child) kill() {
	_ = c.Process.Signal(syscall.SIGKILL)
	_ = c.Wait()
}

// oneRow writes the entity "k" and its row.
func (r *rig) oneRow(t testing.TB, v int) {
	t.Helper()
	r.db.inTx(t, func(tx *sql.Tx) error {
		return errors.Join(r.put(t.Context(), tx, "k", v), Write(t.Context(), tx, r.table, models.UploadAction(entity{"k", v, 0})))
	})
}

// A relay is killed at critical moments. Another one, running or started later, sends the remaining rows.
func TestARelayThatIsKilledLeavesItsRowsToAnother(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	for _, at := range []struct {
		name string
		// kill brings the process to the critical moment and kills it there.
		kill func(t *testing.T, r *rig, c *child)
	}{
		{"before its first request", func(t *testing.T, r *rig, c *child) {
			r.db.inTx(t, func(tx *sql.Tx) error {
				return errors.Join(r.put(t.Context(), tx, "k", 1), WriteKeys(t.Context(), tx, r.table, "k"))
			})
			require.Equal(t, "loads [k]", c.line(t))
			c.kill()
		}},
		{"with a request that has not been applied", func(t *testing.T, r *rig, c *child) {
			var once sync.Once
			dead := make(chan struct{})
			r.intercept(func(_ *http.Request, _ []entity, next func() (*http.Response, error)) (*http.Response, error) {
				first := false
				once.Do(func() { first = true })
				if first {
					c.kill()
					close(dead)
					return nil, errors.New("no relay is there")
				}
				return next()
			})
			r.oneRow(t, 1)
			<-dead
		}},
		{"with a request that has been applied", func(t *testing.T, r *rig, c *child) {
			var once sync.Once
			dead := make(chan struct{})
			r.intercept(func(_ *http.Request, _ []entity, next func() (*http.Response, error)) (*http.Response, error) {
				reply, err := next()
				once.Do(func() {
					c.kill()
					close(dead)
				})
				return reply, err
			})
			r.oneRow(t, 1)
			<-dead
		}},
		{"during its delete", func(t *testing.T, r *rig, c *child) {
			if r.db.dialect == SQLite {
				t.Skip("DID NOT RUN: SQLite has no row locks; the loop of kills reaches this moment by chance")
			}
			locked := make(chan struct{})
			r.intercept(func(_ *http.Request, _ []entity, next func() (*http.Response, error)) (*http.Response, error) {
				<-locked // the row still exists
				return next()
			})
			r.oneRow(t, 1)
			lock := r.begin(t)
			_, err := lock.ExecContext(t.Context(), `SELECT 1 FROM azsearch_outbox FOR UPDATE`)
			close(locked)
			require.NoError(t, err)
			testkit.Eventually(t, func() bool {
				var waits int
				return sqlkit.One(t.Context(), r.db, &waits, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%DELETE FROM azsearch_outbox%'`) == nil && waits > 0
			})
			c.kill()
			require.NoError(t, lock.Rollback())
		}},
	} {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel() // mostly waits for a lease to expire
			onBoth(t, func(t *testing.T, db database) {
				r := newRig(t, db)
				at.kill(t, r, r.child(t))
				r.run(t, RelayOptions{Loader: r.loader()})
				r.oneRow(t, 2)
				r.empty(t)
				r.same(t)
				require.Empty(t, r.goesBack())
			})
		})
	}
}

// A relay that has not detected the end of its lease deletes nothing: its successor may have read an older row of the
// key, and without the newer row it would send only that one.
func TestTheDeleteOfALeaseThatHasEndedDeletesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		r := newRig(t, db)
		r.oneRow(t, 1)
		ctx := t.Context()
		relay, err := NewRelay(db.DB, r.table, r.sender(t).Raw(), short(RelayOptions{}))
		require.NoError(t, err)
		leases := newLeasing(relay)
		defer leases.close()
		got, err := leases.tick(ctx, db.DB, sharing, 0)
		require.NoError(t, err)
		require.Len(t, got.acquired, ranges)
		q := newReading(r.table)
		a, err := q.read(ctx, db, -1, [classes]int64{}, [classes]int64{}, math.MaxInt64, 10, maxReadBytes)
		require.NoError(t, err)
		require.Len(t, a.rows, 1)
		part := int(a.rows[0].part)
		f := finishing{done: a.rows, parts: []any{int64(part)}, epochs: []any{got.acquired[part]}}
		finish := newFinishes(r.table, false)
		rows := func() (n int) {
			require.NoError(t, sqlkit.One(ctx, db, &n, `SELECT count(*) FROM azsearch_outbox`))
			return n
		}

		for _, ended := range []string{
			`UPDATE azsearch_outbox_lease SET epoch = epoch + 1`,
			`UPDATE azsearch_outbox_lease SET epoch = epoch - 1, expires = 1`,
			`UPDATE azsearch_outbox_lease SET expires = 99999999999999, owner = 'another'`,
		} {
			db.exec(t, ended)
			require.NoError(t, finish.run(ctx, db.DB, relay.owner, &f))
			require.Zero(t, f.deleted, ended)
			require.Equal(t, 1, rows(), ended)
		}
		_, err = db.ExecContext(ctx, r.table.text(`UPDATE azsearch_outbox_lease SET owner = ?1`), relay.owner)
		require.NoError(t, err)
		require.NoError(t, finish.run(ctx, db.DB, relay.owner, &f))
		require.EqualValues(t, 1, f.deleted)
		require.Zero(t, rows())
	})
}
