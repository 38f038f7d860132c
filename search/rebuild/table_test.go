package rebuild

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// table is a realistic source: a row for each document, with the numbers of its last change and of its last confirmed
// change. Deleted documents keep a row with a deletion mark.
type table struct {
	db      *sql.DB
	dialect Dialect
	driver  string
}

func openTable(driver, address string) (*table, error) {
	db, err := sql.Open(driver, address)
	x := &table{db, PostgreSQL, driver}
	if driver == "sqlite" {
		x.dialect = SQLite
	}
	return x, err
}

func (x *table) text(statement string) string {
	if x.dialect == PostgreSQL {
		return strings.ReplaceAll(statement, "?", "$")
	}
	return statement
}

// fillWith creates the table with documents.
func (x *table) fillWith(t *testing.T, documents int) {
	t.Helper()
	_, err := x.db.ExecContext(t.Context(), `CREATE TABLE hotels (id TEXT PRIMARY KEY, n BIGINT NOT NULL, gone BOOLEAN NOT NULL, confirmed BIGINT NOT NULL)`)
	require.NoError(t, err)
	tx, err := x.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	for i := range documents {
		_, err = tx.ExecContext(t.Context(), x.text(`INSERT INTO hotels VALUES (?1, 1, FALSE, 1)`), fmt.Sprintf("k%04d", i))
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit())
}

// store returns the store in the same database.
func (x *table) store(ctx context.Context) (Store, error) {
	s, err := NewSQL(x.db, SQLOptions{Dialect: x.dialect, Name: "hotels"})
	if err != nil {
		return nil, err
	}
	return anywhere{s}, s.CreateTables(ctx)
}

// anywhere is a store whose processes reach one service at different addresses.
type anywhere struct{ Store }

func (s anywhere) Load(ctx context.Context) (Record, error) {
	r, err := s.Store.Load(ctx)
	r.Endpoint = ""
	return r, err
}

func (s anywhere) Swap(ctx context.Context, next Record) (Record, error) {
	r, err := s.Store.Swap(ctx, next)
	r.Endpoint = ""
	return r, err
}

// rows returns the documents selected by a condition.
func (x *table) rows(ctx context.Context, where string, args ...any) (all []models.RawAction, err error) {
	rows, err := x.db.QueryContext(ctx, x.text(`SELECT id, n, gone FROM hotels WHERE `+where+` ORDER BY id`), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var n int64
		var gone bool
		if err := rows.Scan(&key, &n, &gone); err != nil {
			return nil, err
		}
		a := models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document(key, n)}
		if gone {
			a.Type, a.Document = models.ActionTypeDelete, nil
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

// fill is the source of a Run.
func (x *table) fill() Fill {
	return Fill{
		All: func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for {
					page, err := x.rows(ctx, `id > ?1 AND NOT gone AND id <= (SELECT coalesce(max(id), '') FROM (SELECT id FROM hotels WHERE id > ?1 AND NOT gone ORDER BY id LIMIT 100) AS page)`, after)
					if err != nil {
						yield(models.RawAction{}, err)
						return
					}
					for _, a := range page {
						if after = a.Key; !yield(a, nil) {
							return
						}
					}
					if len(page) == 0 {
						return
					}
					if err := sleep.For(ctx, 10*time.Millisecond); err != nil { // as if there were many more
						yield(models.RawAction{}, err)
						return
					}
				}
			}
		},
		Keys: func(ctx context.Context, keys []string) ([]models.RawAction, error) {
			list, err := json.Marshal(keys)
			if err != nil {
				return nil, err
			}
			those := `(SELECT value FROM json_each(?1))`
			if x.dialect == PostgreSQL {
				those = `(SELECT json_array_elements_text(CAST(?1 AS json)))`
			}
			return x.rows(ctx, `NOT gone AND id IN `+those, string(list))
		},
	}
}

// change writes a row and returns the action for the index.
func (x *table) change(ctx context.Context, key string, kind models.ActionType) (models.RawAction, error) {
	var n int64
	err := x.db.QueryRowContext(ctx, x.text(`INSERT INTO hotels VALUES (?1, 2, ?2, 0)
		ON CONFLICT (id) DO UPDATE SET n = hotels.n + 1, gone = excluded.gone RETURNING n`), key, kind == models.ActionTypeDelete).Scan(&n)
	a := models.RawAction{Key: key, Type: kind, Document: document(key, n)}
	if kind == models.ActionTypeDelete {
		a.Document = nil
	}
	return x.confirming(a, n), err
}

// confirming records in the row that a change is confirmed.
func (x *table) confirming(a models.RawAction, n int64) models.RawAction {
	a.OnOutcome = func(o models.Outcome) {
		if o.Completed() { // a confirmation that is not recorded only repeats the write
			_, _ = x.db.Exec(x.text(`UPDATE hotels SET confirmed = ?2 WHERE id = ?1 AND confirmed < ?2`), a.Key, n)
		}
	}
	return a
}

func tableClient(url string) (*search.IndexClient, error) {
	return search.NewIndexClientWithKey(url, azcore.NewKeyCredential(searchtest.AdminKey), nil)
}

func tableSender(indexer bufferedsender.Indexer, tap models.Tap) (*bufferedsender.BufferedSender[models.Document], error) {
	o := bufferedsender.Options[models.Document]{Limits: bufferedsender.Limits{MaxInFlight: 3}, AutoFlushInterval: 20 * time.Millisecond, OnMergeMissing: bufferedsender.MergeMissingIgnore, Tap: tap, Logger: quiet}
	o.Documents.KeyField = "id"
	return bufferedsender.New(indexer, &o)
}

// write is a program that writes its own keys until stop closes. It first repeats what an earlier process has not
// confirmed.
func (x *table) write(url, name string, stop <-chan struct{}) error {
	ctx := context.Background()
	store, err := x.store(ctx)
	if err != nil {
		return err
	}
	client, err := tableClient(url)
	if err != nil {
		return err
	}
	tap, err := NewTap(ctx, store, TapOptions{Writer: name, Index: oldIndex, IdleValid: time.Second, Connect: func(index string) (Indexer, error) { return client.Client(index) }})
	if err != nil {
		return err
	}
	sender, err := tableSender(tap.Indexer(), tap)
	if err != nil {
		return err
	}
	again, err := x.rows(ctx, `confirmed < n AND id LIKE ?1`, name+"-%")
	if err != nil {
		return err
	}
	for _, a := range again {
		var n int64
		if err := x.db.QueryRow(x.text(`SELECT n FROM hotels WHERE id = ?1`), a.Key).Scan(&n); err != nil {
			return err
		}
		if err := sender.Raw().Add(ctx, x.confirming(a, n)); err != nil {
			return err
		}
	}
	kinds := []models.ActionType{models.ActionTypeUpload, models.ActionTypeMergeOrUpload, models.ActionTypeDelete}
	for {
		select {
		case <-stop:
			return sender.Close(ctx)
		case <-time.After(time.Duration(rand.IntN(10)) * time.Millisecond):
		}
		a, err := x.change(ctx, fmt.Sprintf("%s-%02d", name, rand.IntN(50)), kinds[rand.IntN(len(kinds))])
		if err != nil {
			return err
		}
		if err := sender.Raw().Add(ctx, a); err != nil {
			return err
		}
	}
}

// rebuild is a program that runs a rebuild.
func (x *table) rebuild(ctx context.Context, url string) error {
	store, err := x.store(ctx)
	if err != nil {
		return err
	}
	client, err := tableClient(url)
	if err != nil {
		return err
	}
	var new models.SearchIndex
	if err := json.Unmarshal(fmt.Appendf(nil, `{"name":%q,`+fields+`}`, newIndex, "en.lucene"), &new); err != nil {
		return err
	}
	_, err = Run(ctx, store, client, new, x.fill(), Options{
		Alias: aliasName, Writers: []string{"a", "b"}, Settle: 300 * time.Millisecond, Logger: quiet,
		Sender: func(index string) (Sender, error) {
			c, err := client.Client(index)
			if err != nil {
				return nil, err
			}
			s, err := tableSender(c, nil)
			if err != nil {
				return nil, err
			}
			context.AfterFunc(ctx, func() { _ = s.Close(ctx) })
			return s.Raw(), nil
		},
	})
	return err
}

// serve creates a service whose old index equals the table.
func (x *table) serve(t *testing.T) *searchtest.Server {
	t.Helper()
	service := searchtest.NewServer(nil)
	t.Cleanup(func() { assert.NoError(t, service.Close()) })
	require.NoError(t, service.Listen("127.0.0.1:0"))
	client, err := tableClient(service.URL())
	require.NoError(t, err)
	_, err = client.CreateIndex(t.Context(), definition(t, oldIndex, "standard.lucene"), nil)
	require.NoError(t, err)
	_, err = client.CreateAlias(t.Context(), models.Alias{Name: aliasName, Indexes: []string{oldIndex}}, nil)
	require.NoError(t, err)
	docs, err := client.Client(oldIndex)
	require.NoError(t, err)
	all, err := x.rows(t.Context(), `NOT gone`)
	require.NoError(t, err)
	sender, err := tableSender(docs, nil)
	require.NoError(t, err)
	for _, a := range all {
		require.NoError(t, sender.Raw().Add(t.Context(), a))
	}
	require.NoError(t, sender.Close(t.Context()))
	return service
}

// check checks that the alias's index equals the table and that everything is confirmed.
func (x *table) check(t *testing.T, service *searchtest.Server) {
	t.Helper()
	client, err := tableClient(service.URL())
	require.NoError(t, err)
	alias, err := client.GetAlias(t.Context(), aliasName, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{newIndex}, alias.Indexes)
	want, got := map[string]string{}, map[string]string{}
	all, err := x.rows(t.Context(), `NOT gone`)
	require.NoError(t, err)
	for _, a := range all {
		want[a.Key] = string(a.Document)
	}
	for key, doc := range service.Documents(newIndex) {
		got[key] = string(doc)
	}
	assert.Equal(t, len(want), len(got))
	for key := range want {
		assert.JSONEq(t, want[key], got[key])
	}
	open, err := x.rows(t.Context(), `confirmed < n`)
	require.NoError(t, err)
	assert.Empty(t, open)
}

// awaitTaps waits until both writers have registered a Tap and the first one has created the record.
func awaitTaps(t *testing.T, store Store) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		all, err := store.Writers(t.Context())
		if err != nil || len(all) < 2 {
			return false
		}
		r, err := store.Load(t.Context())
		return err == nil && r.Version > 0
	})
}

func TestARebuildFromATableInPostgreSQLBesideTwoWritersMissesNothing(t *testing.T) {
	testkit.Long(t)
	x, err := openTable("pgx", servers.Postgres(t).Database(t))
	require.NoError(t, err)
	defer x.db.Close()
	x.fillWith(t, 2000)
	service := x.serve(t)
	_, err = x.store(t.Context())
	require.NoError(t, err)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	failed := make(chan error, 2)
	for _, name := range []string{"a", "b"} {
		writers.Go(func() { failed <- x.write(service.URL(), name, stop) })
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	store, err := x.store(ctx)
	require.NoError(t, err)
	awaitTaps(t, store)
	for err = errors.ErrUnsupported; err != nil; {
		if err = x.rebuild(ctx, service.URL()); !errors.Is(err, ErrTooSlow) { // on a slow machine
			require.NoError(t, err)
		}
	}
	before, err := x.rows(ctx, `confirmed > 1`)
	require.NoError(t, err)
	assert.Greater(t, len(before), 50)
	close(stop)
	writers.Wait()
	require.NoError(t, errors.Join(<-failed, <-failed))
	x.check(t, service)
}
