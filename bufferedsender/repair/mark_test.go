package repair

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// load is the Loader of a queue or an outbox.
func (w *world) load(_ context.Context, keys []string) (found []models.IndexDocumentsAction[hotel], err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		if row, ok := w.table[key]; ok {
			found = append(found, models.UploadAction(row))
		}
	}
	return found, nil
}

// damaged is a world whose index lacks 50 documents, has 20 in another version, and 10 that the table does not have.
func damaged(w *world) {
	w.fill(300)
	for i := range 50 {
		w.behind(key(i), nil)
	}
	for i := range 20 {
		w.behind(key(100+i), &hotel{ID: key(100 + i), Version: 0})
	}
	for i := range 10 {
		w.set(key(200+i), nil)
	}
}

func TestDifferencesAreRepairedThroughAQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		damaged(w)
		time.Sleep(time.Minute)
		q, err := memqueue.New(nil)
		require.NoError(t, err)
		s := w.sender(&bufferedsender.Options[hotel]{Queue: q, Loader: w.load, DeleteMissing: true})
		opts := &Options{
			MaxShare: 1,
			Mark:     func(ctx context.Context, keys []string) error { return s.IndexKeys(ctx, keys...) },
			Pending:  func(ctx context.Context, keys []string) ([]bool, error) { return q.Contains(ctx, keys...) },
		}
		s.Pause()
		report, err := w.run(nil, opts)
		require.NoError(t, err)
		assert.EqualValues(t, 80, report.Marked)
		report, err = w.run(nil, opts)
		require.NoError(t, err)
		assert.Zero(t, report.Marked, "the keys wait in the queue")
		assert.EqualValues(t, 80, report.Pending)
		// Meanwhile a row is created: its key is in the queue, and a later read of it is current.
		w.set(key(200), &hotel{ID: key(200), Version: 5})
		s.Resume()
		require.NoError(t, s.Flush(t.Context(), nil))
		time.Sleep(time.Minute)
		w.agrees()
		assert.Len(t, w.written, 80, "no other document was written")
		report, err = w.run(nil, opts)
		require.NoError(t, err)
		assert.True(t, report.Agrees(), "%+v", report)
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestDifferencesAreRepairedThroughAnOutbox(t *testing.T) {
	w := newWorld(t)
	damaged(w)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "hotels.db")+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, outbox.Migrate(t.Context(), db, outbox.SQLite, nil))
	hotels := &outbox.Table{Dialect: outbox.SQLite, Queue: "hotels"}
	opts := &Options{
		MaxShare: 1, Pause: time.Millisecond,
		Mark: func(ctx context.Context, keys []string) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }() // no effect after a commit
			if err := outbox.WriteKeys(ctx, tx, hotels, keys...); err != nil {
				return err
			}
			return tx.Commit()
		},
		Pending: func(ctx context.Context, keys []string) ([]bool, error) { return hotels.Contains(ctx, db, keys...) },
	}
	report, err := w.run(nil, opts)
	require.NoError(t, err)
	assert.EqualValues(t, 80, report.Marked)
	report, err = w.run(nil, opts)
	require.NoError(t, err)
	assert.Zero(t, report.Marked, "the keys wait in the outbox")
	assert.EqualValues(t, 80, report.Pending)

	sender := w.sender(&bufferedsender.Options[hotel]{AutoFlushInterval: time.Millisecond})
	relay, err := outbox.NewRelay(db, hotels, sender.Raw(), &outbox.RelayOptions{Loader: outbox.Load(w.load)})
	require.NoError(t, err)
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(running) }()
	testkit.Eventually(t, func() bool {
		lag, err := hotels.Lag(t.Context(), db)
		return assert.NoError(t, err) && lag.Rows == 0
	})
	stop()
	require.NoError(t, <-ended)
	w.agrees()
	report, err = w.run(nil, opts)
	require.NoError(t, err)
	assert.True(t, report.Agrees(), "%+v", report)
}
