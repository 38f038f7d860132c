package outboxpgx_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox/outboxpgx"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

var modes = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}

// awkward has texts that are easy to quote wrongly or to encode wrongly in an array.
var awkward = []string{
	`plain`, `'`, `"`, `\`, `\\"'`, `{a,b}`, `NULL`, `null`, `$1`, `--`, ` `, "\n\t", `ünïcode 漢字 🏨`, `%s ?1 {t}`, `E'\x41'`, `🏨\u0041`,
}

// awkwardly is a table whose raw keys may be any text.
func awkwardly(queue string) *outbox.Table {
	t := table(queue)
	t.Class = 3
	t.Key = keys.Encode
	t.RawKey = func(doc any) (string, error) { return keys.Decode(doc.(hotel).ID) }
	return t
}

func awkwardActions() []models.IndexDocumentsAction[hotel] {
	make := []func(hotel) models.IndexDocumentsAction[hotel]{
		models.UploadAction[hotel], models.MergeAction[hotel], models.MergeOrUploadAction[hotel], models.DeleteAction[hotel],
	}
	var all []models.IndexDocumentsAction[hotel]
	for i, text := range awkward {
		for j := range make { // an entity with each action, in different orders
			all = append(all, make[(i+j)%len(make)](hotel{ID: keys.Encode(text), Name: text}))
		}
	}
	return all
}

func TestRowsAreThoseOfOutboxWrite(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			db := newDatabase(t, "&default_query_exec_mode="+mode)
			actions := awkwardActions()

			want, batched, written, single := awkwardly("want"), awkwardly("batched"), awkwardly("written"), awkwardly("single")
			tx, err := db.sql.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			require.NoError(t, outbox.Write(t.Context(), tx, want, actions...))
			require.NoError(t, outbox.WriteKeys(t.Context(), tx, want, awkward...))
			require.NoError(t, tx.Commit())

			require.NoError(t, pgx.BeginFunc(t.Context(), db.pool, func(tx pgx.Tx) error {
				batch := &pgx.Batch{}
				require.NoError(t, outboxpgx.Queue(batch, batched, actions...))
				require.NoError(t, outboxpgx.QueueKeys(batch, batched, awkward...))
				require.Equal(t, 2, batch.Len())
				require.NoError(t, tx.SendBatch(t.Context(), batch).Close())

				require.NoError(t, outboxpgx.Write(t.Context(), tx, written, actions...))
				require.NoError(t, outboxpgx.WriteKeys(t.Context(), tx, written, awkward...))

				batch = &pgx.Batch{}
				for _, a := range actions {
					require.NoError(t, outboxpgx.Queue(batch, single, a))
				}
				for _, k := range awkward {
					require.NoError(t, outboxpgx.QueueKeys(batch, single, k))
				}
				return tx.SendBatch(t.Context(), batch).Close()
			}))

			rows := db.rows(t, "want")
			require.Len(t, rows, len(actions)+len(awkward))
			require.Equal(t, `{"id":"`+keys.Encode(`\\"'`)+`","name":"\\\\\"'"}`, *rows[4*4].Body, "an upload, compared with a literal and not with the adapter itself")
			require.Nil(t, rows[3].Body, "a delete")
			require.Nil(t, rows[len(rows)-1].Body, "a key")
			for _, queue := range []string{"batched", "written", "single"} {
				require.Equal(t, rows, db.rows(t, queue), queue)
			}
		})
	}
}

func TestARollbackLeavesNothing(t *testing.T) {
	db := newDatabase(t, "")
	tx, err := db.pool.Begin(t.Context())
	require.NoError(t, err)
	batch := &pgx.Batch{}
	require.NoError(t, outboxpgx.Queue(batch, table("hotels"), models.UploadAction(hotel{ID: "1"})))
	require.NoError(t, tx.SendBatch(t.Context(), batch).Close())
	require.NoError(t, outboxpgx.WriteKeys(t.Context(), tx, table("hotels"), "2", "3"))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Empty(t, db.rows(t, "hotels"))
}

func TestABatchHasTheEntityAndItsRow(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			db := newDatabase(t, "&default_query_exec_mode="+mode)
			db.exec(t, `CREATE TABLE hotel (id text PRIMARY KEY, name text NOT NULL)`)
			upsert := func(h hotel, last string) error {
				batch := &pgx.Batch{}
				batch.Queue(`INSERT INTO hotel (id, name) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET name = excluded.name`, h.ID, h.Name)
				require.NoError(t, outboxpgx.Queue(batch, table("hotels"), models.UploadAction(h)))
				batch.Queue(last)
				return db.pool.SendBatch(t.Context(), batch).Close() // in a new transaction
			}
			require.NoError(t, upsert(hotel{ID: "1", Name: "Ritz"}, `SELECT 1`))
			require.Error(t, upsert(hotel{ID: "2", Name: "Adlon"}, `SELECT 1/0`))

			var names []string
			require.NoError(t, db.pool.QueryRow(t.Context(), `SELECT array_agg(name) FROM hotel`).Scan(&names))
			require.Equal(t, []string{"Ritz"}, names)
			rows := db.rows(t, "hotels")
			require.Len(t, rows, 1)
			require.Equal(t, "1", rows[0].Key)
		})
	}
}

// nobody is a transaction that must not be written to.
type nobody struct{}

func (nobody) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, errors.New("nothing should be written")
}

func TestAnErrorIsThatOfOutboxWriteAndQueuesNothing(t *testing.T) {
	good := models.UploadAction(hotel{ID: "1"})
	unknown, called := good, good
	unknown.Type = "replace"
	called.OnOutcome = func(models.Outcome) {}
	keyed := table("hotels")
	keyed.Key = keys.Encode
	for name, c := range map[string]struct {
		to      *outbox.Table
		actions []models.IndexDocumentsAction[hotel]
		at      int // index of the action; -1: not about an action
	}{
		"no key":          {table("hotels"), []models.IndexDocumentsAction[hotel]{good, models.DeleteAction(hotel{})}, 1},
		"illegal key":     {table("hotels"), []models.IndexDocumentsAction[hotel]{models.UploadAction(hotel{ID: "a b"})}, 0},
		"zero byte":       {table("hotels"), []models.IndexDocumentsAction[hotel]{models.UploadAction(hotel{ID: "a\x00b"})}, 0},
		"unknown type":    {table("hotels"), []models.IndexDocumentsAction[hotel]{good, good, unknown}, 2},
		"with OnOutcome":  {table("hotels"), []models.IndexDocumentsAction[hotel]{called}, 0},
		"Key, no RawKey":  {keyed, []models.IndexDocumentsAction[hotel]{good}, -1},
		"table not valid": {table("no spaces please"), []models.IndexDocumentsAction[hotel]{good}, -1},
		"no table":        {nil, []models.IndexDocumentsAction[hotel]{good}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			batch := &pgx.Batch{}
			batch.Queue(`SELECT 1`)
			err := outboxpgx.Queue(batch, c.to, c.actions...)
			require.Error(t, err)
			require.Equal(t, 1, batch.Len())
			want := outbox.Write(t.Context(), nobody{}, c.to, c.actions...)
			require.Equal(t, want.Error(), err.Error())
			var about *outbox.WriteError
			if is := errors.As(err, &about); c.at >= 0 {
				require.True(t, is)
				require.Equal(t, c.at, about.Index)
			} else {
				require.False(t, is)
			}
		})
	}
	batch := &pgx.Batch{}
	var about *outbox.WriteError
	require.ErrorAs(t, outboxpgx.QueueKeys(batch, table("hotels"), "1", ""), &about)
	require.Equal(t, 1, about.Index)
	require.ErrorContains(t, outboxpgx.QueueKeys(batch, &outbox.Table{Dialect: outbox.SQLite, Queue: "hotels"}, "1"), "PostgreSQL")
	require.Zero(t, batch.Len())
	require.Error(t, outboxpgx.QueueKeys(nil, table("hotels"), "1"))
}

func TestNothingIsQueuedForNothing(t *testing.T) {
	batch := &pgx.Batch{}
	require.NoError(t, outboxpgx.Queue[hotel](batch, table("hotels")))
	require.NoError(t, outboxpgx.QueueKeys(batch, table("hotels")))
	require.Zero(t, batch.Len())
}

// sent returns the statement that a batch sends.
func sent(t *testing.T, batch *pgx.Batch) string {
	t.Helper()
	q := batch.QueuedQueries[0]
	statement, args, err := q.Arguments[0].(pgx.QueryRewriter).RewriteQuery(t.Context(), nil, q.SQL, q.Arguments[1:])
	require.NoError(t, err)
	require.Len(t, args, 5)
	return statement
}

func TestRelaysAreNotifiedByWhatIsSentFirst(t *testing.T) {
	to := table("hotels")
	to.Notify = true
	early, late := &pgx.Batch{}, &pgx.Batch{}
	require.NoError(t, outboxpgx.QueueKeys(early, to, "1"))
	require.NoError(t, outboxpgx.QueueKeys(late, to, "2", "3"))
	require.Contains(t, sent(t, late), "pg_notify", "a batch that may never be sent must not replace the notification")
}

func TestAProcessNotifiesEvery50msAtMost(t *testing.T) {
	to := table("hotels")
	to.Notify = true
	n, began := 0, time.Now()
	for i := range 1000 {
		batch := &pgx.Batch{}
		require.NoError(t, outboxpgx.QueueKeys(batch, to, fmt.Sprint(i)))
		if strings.Contains(sent(t, batch), "pg_notify") {
			n++
		}
	}
	require.Positive(t, n)
	require.LessOrEqual(t, n, 1+int(time.Since(began)/(50*time.Millisecond)))
}
