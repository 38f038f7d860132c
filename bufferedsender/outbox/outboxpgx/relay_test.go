package outboxpgx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox/outboxpgx"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

// relays runs a relay of a table until the test ends, and returns it with a client of the index.
func (db database) relays(t *testing.T, from *outbox.Table, opts *outbox.RelayOptions) (*outbox.Relay, *search.Client) {
	t.Helper()
	client := clienttest.New[hotel](t)
	sender, err := bufferedsender.New(client, &bufferedsender.Options[hotel]{AutoFlushInterval: 10 * time.Millisecond, RequestTimeout: 5 * time.Second})
	require.NoError(t, err)
	relay, err := outbox.NewRelay(db.sql, from, sender.Raw(), opts)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- relay.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		_ = sender.Close(context.WithoutCancel(t.Context())) // its error lists dead letters, which the test has checked
	})
	return relay, client
}

// named returns the name of a document in the index, "" if it does not exist.
func named(t *testing.T, client *search.Client, key string) string {
	t.Helper()
	h, err := search.GetDocument[hotel](t.Context(), client, key, nil)
	if missing := (*search.Error)(nil); errors.As(err, &missing) && missing.StatusCode == 404 {
		return ""
	}
	require.NoError(t, err)
	return h.Name
}

func TestARelayIsWokenByWhatIsCommitted(t *testing.T) {
	db := newDatabase(t, "")
	hotels := table("hotels")
	hotels.Notify = true
	listener, _ := follow(t, db.pool, nil, hotels)
	_, client := db.relays(t, hotels, &outbox.RelayOptions{Wake: listener.Wake(hotels)})
	for i, began := 0, time.Now(); i < 3 || time.Since(began) < time.Second; i++ {
		h := hotel{ID: "1", Name: fmt.Sprint("Ritz ", i)}
		require.NoError(t, pgx.BeginFunc(t.Context(), db.pool, func(tx pgx.Tx) error {
			batch := &pgx.Batch{}
			if err := outboxpgx.Queue(batch, hotels, models.UploadAction(h)); err != nil {
				return err
			}
			return tx.SendBatch(t.Context(), batch).Close()
		}))
		committed := time.Now()
		testkit.Eventually(t, func() bool { return named(t, client, "1") == h.Name })
		require.Less(t, time.Since(committed), 14*time.Second, "the relay is woken before it polls after 15 s")
	}
}

// Statements have no parameter types, as a pooler in transaction mode requires.
func TestARelayWorksWithoutPreparedStatements(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			db := newDatabase(t, "&default_query_exec_mode="+mode)
			ctx, hotels := t.Context(), table("hotels")
			hotels.Notify = true
			require.NoError(t, outbox.Check(ctx, db.sql, outbox.PostgreSQL, nil))
			write := func(write func(tx pgx.Tx) error) { require.NoError(t, pgx.BeginFunc(ctx, db.pool, write)) }
			write(func(tx pgx.Tx) error {
				return outboxpgx.Write(ctx, tx, hotels, models.UploadAction(hotel{ID: "1", Name: `it's a "quoted\" name`}),
					models.UploadAction(hotel{ID: "2", Name: "Adlon"}), models.DeleteAction(hotel{ID: "2"}),
					models.MergeAction(hotel{ID: "3", Name: "nowhere to be found"}))
			})
			write(func(tx pgx.Tx) error { return outboxpgx.WriteKeys(ctx, tx, hotels, "4") })
			n, err := hotels.Backfill(ctx, db.sql, func(yield func(string, error) bool) { _ = yield("5", nil) && yield("6", nil) })
			require.NoError(t, err)
			require.EqualValues(t, 2, n)
			waiting, err := hotels.Contains(ctx, db.sql, "1", "5", "9")
			require.NoError(t, err)
			require.Equal(t, []bool{true, true, false}, waiting)
			purged, err := hotels.Purge(ctx, db.sql, "6")
			require.NoError(t, err)
			require.EqualValues(t, 1, purged)

			relay, client := db.relays(t, hotels, &outbox.RelayOptions{SeqField: "seq", Loader: outbox.Load(
				func(_ context.Context, keys []string) (all []models.IndexDocumentsAction[hotel], err error) {
					for _, k := range keys {
						all = append(all, models.UploadAction(hotel{ID: k, Name: "loaded"}))
					}
					return all, nil
				})})
			settled := func() bool {
				lag, err := hotels.Lag(ctx, db.sql)
				require.NoError(t, err)
				return lag.Rows == 0 && relay.Stats().InHand == 0
			}
			testkit.Eventually(t, settled)
			require.Equal(t, []string{`it's a "quoted\" name`, "", "", "loaded", "loaded", ""},
				slices.Collect(func(yield func(string) bool) {
					for _, key := range []string{"1", "2", "3", "4", "5", "6"} {
						_ = yield(named(t, client, key))
					}
				}))
			tombs, err := hotels.Tombstones(ctx, db.sql, "1", "2")
			require.NoError(t, err)
			require.Len(t, tombs, 1)

			letters, err := hotels.DeadLetters(ctx, db.sql, 0, 10)
			require.NoError(t, err)
			require.Len(t, letters, 1)
			require.Equal(t, "3", letters[0].Key)
			write(func(tx pgx.Tx) error {
				return outboxpgx.Write(ctx, tx, hotels, models.UploadAction(hotel{ID: "3", Name: "here it is"}))
			})
			testkit.Eventually(t, settled)
			require.Equal(t, "here it is", named(t, client, "3"))
			require.ErrorIs(t, hotels.Retry(ctx, db.sql, letters[0].Seq), outbox.ErrNewer)
			gone, err := hotels.Discard(ctx, db.sql, letters[0].Seq)
			require.NoError(t, err)
			require.EqualValues(t, 1, gone)
			require.Zero(t, relay.Stats().Stale+relay.Stats().Failed+relay.Stats().LeasesLost)
		})
	}
}
