package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// rig is an outbox with the application's table, a service, and relays.
type rig struct {
	db      database
	table   *Table
	service *searchtest.Server
}

// newRig creates the application's table "entity" next to the outbox.
func newRig(t testing.TB, db database) *rig {
	t.Helper()
	r := &rig{db: db, table: &Table{Dialect: db.dialect, Queue: "entities"}, service: searchtest.NewServer(&searchtest.Options{KeepContents: true})}
	t.Cleanup(func() { require.NoError(t, r.service.Close()) })
	require.NoError(t, r.table.ready())
	require.NoError(t, r.service.CreateIndex(entityIndex))
	db.exec(t, `CREATE TABLE entity (id text PRIMARY KEY, v integer NOT NULL, extra integer NOT NULL DEFAULT 0)`)
	return r
}

// intercept passes requests with documents through f, with their actions.
func (r *rig) intercept(f func(req *http.Request, actions []entity, next func() (*http.Response, error)) (*http.Response, error)) {
	r.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if !strings.HasSuffix(req.URL.Path, "/docs/search.index") {
			return next(req)
		}
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		var body struct{ Value []entity }
		if err := json.Unmarshal(raw, &body); err != nil {
			return nil, err
		}
		again := req.Clone(req.Context())
		again.Body = io.NopCloser(bytes.NewReader(raw))
		return f(req, body.Value, func() (*http.Response, error) { return next(again) })
	})
}

// short returns options with short leases, so that a dead relay is replaced soon.
func short(o RelayOptions) *RelayOptions {
	if o.Lease == 0 {
		o.Lease, o.renew = testTimeout+7*time.Second, 500*time.Millisecond
	}
	o.Poll, o.Logger = 20*time.Millisecond, slog.New(slog.NewTextHandler(io.Discard, nil))
	return &o
}

const testTimeout = 2 * time.Second

// sender creates a sender to the service.
func (r *rig) sender(t testing.TB) *bufferedsender.BufferedSender[entity] {
	t.Helper()
	client, err := search.NewClientWithKey("https://test.search.windows.net", "entities", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: r.service},
	})
	require.NoError(t, err)
	sender, err := bufferedsender.New(client, &bufferedsender.Options[entity]{
		AutoFlushInterval: 5 * time.Millisecond, RequestTimeout: testTimeout, UnknownWait: 500 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = sender.Close(context.Background()) })
	return sender
}

// running is a started relay.
type running struct {
	*Relay
	stop func() error
}

// run starts a relay with its own pool and sender. It ends with the test unless stopped earlier.
func (r *rig) run(t testing.TB, opts RelayOptions) *running {
	t.Helper()
	relay, err := NewRelay(openPool(t, r.db.dialect, r.db.url), r.table, r.sender(t).Raw(), short(opts))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	var err2 error
	stopped := false
	stop := func() error {
		if !stopped {
			cancel()
			err2, stopped = <-ended, true
		}
		return err2
	}
	t.Cleanup(func() { require.NoError(t, stop()) })
	return &running{relay, stop}
}

// empty waits until the table is empty.
func (r *rig) empty(t testing.TB) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		lag, err := r.table.Lag(context.Background(), r.db)
		return err == nil && lag.Rows == 0
	}, "rows are left")
}

// indexed returns the document of a key in the index.
func (r *rig) indexed(t testing.TB, key string) (e entity, is bool) {
	t.Helper()
	text, is := r.service.Document("entities", key)
	if is {
		require.NoError(t, json.Unmarshal(text, &e))
	}
	return e, is
}

// same compares the index with the application's table, key by key.
func (r *rig) same(t testing.TB) {
	t.Helper()
	want := make(map[string]entity)
	require.NoError(t, sqlkit.Each(context.Background(), r.db, func(rows *sql.Rows) error {
		var e entity
		err := rows.Scan(&e.ID, &e.V, &e.Extra)
		want[e.ID] = e
		return err
	}, `SELECT id, v, extra FROM entity`))
	got := make(map[string]entity)
	for key, text := range r.service.Documents("entities") {
		var e entity
		require.NoError(t, json.Unmarshal(text, &e))
		got[key] = e
	}
	require.Equal(t, want, got)
}

// put writes an entity in a transaction.
func (r *rig) put(ctx context.Context, tx Execer, key string, v int) error {
	_, err := tx.ExecContext(ctx, r.table.text(`INSERT INTO entity (id, v) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET v = excluded.v`), key, int64(v))
	return err
}

// goesBack returns the keys whose document in the index went back to an older version.
func (r *rig) goesBack() (keys []string) {
	newest := make(map[string]int)
	for _, c := range r.service.Changes("entities") {
		var e entity
		if json.Unmarshal(c.Document, &e) != nil || c.Document == nil {
			continue
		}
		if e.V < newest[c.Key] {
			keys = append(keys, c.Key)
		}
		newest[c.Key] = max(newest[c.Key], e.V)
	}
	return keys
}
