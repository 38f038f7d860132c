package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

type hotel struct {
	ID   string `json:"id" search:"key"`
	Name string `json:"name"`
}

func TestSmoke(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		client := clienttest.New[hotel](t)
		sender, err := bufferedsender.New(client, &bufferedsender.Options[hotel]{AutoFlushInterval: 10 * time.Millisecond, RequestTimeout: 5 * time.Second})
		require.NoError(t, err)
		hotels := &Table{Dialect: db.dialect, Queue: "hotels"}
		db.inTx(t, func(tx *sql.Tx) error {
			return Write(t.Context(), tx, hotels, models.UploadAction(hotel{"1", "Ritz"}))
		})
		db.inTx(t, func(tx *sql.Tx) error {
			var all []models.IndexDocumentsAction[hotel]
			for i := range 100 {
				all = append(all, models.UploadAction(hotel{fmt.Sprint(i + 2), `a "quoted\" name, {with} ünïcode`}))
			}
			return Write(t.Context(), tx, hotels, all...)
		})
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, Write(t.Context(), tx, hotels, models.UploadAction(hotel{"999", "nowhere"})))
		require.NoError(t, tx.Rollback())

		relay, err := NewRelay(db.DB, hotels, sender.Raw(), nil)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- relay.Run(ctx) }()
		require.Eventually(t, func() bool {
			lag, err := hotels.Lag(t.Context(), db)
			require.NoError(t, err)
			return lag.Rows == 0 && relay.Stats().Deleted > 0
		}, 10*time.Second, 10*time.Millisecond)
		t.Logf("%+v", relay.Stats())
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, sender.Close(t.Context()))
		n, err := client.DocumentCount(t.Context(), nil)
		require.NoError(t, err)
		require.EqualValues(t, 101, n)
	})
}
