package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// Pages wait for their confirmation concurrently.
func TestManyDifferencesDoNotWaitForEachOther(t *testing.T) {
	testkit.Long(t)
	inBubble(t, func(t *testing.T, w *world) {
		w.lag = 100 * time.Millisecond
		w.fill(30_000)
		clear(w.index)
		clear(w.shown)
		began := time.Now()
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.EqualValues(t, 30_000, report.Repaired)
		assert.Less(t, time.Since(began), 40*time.Second, "60 pages of 500 differences")
		w.agrees()
	})
}

func TestWatchLogsWhatGoesWrong(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.failScan = func(string, int) error { return errors.New("connection reset") }
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		var log bytes.Buffer
		err := repairer(half{w, "source"}, half{w, "index"}, w.sender(nil).Raw(), &Options{
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}).Watch(ctx, time.Hour, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Contains(t, log.String(), "connection reset")
		assert.Contains(t, log.String(), "WARN")
	})
}

// A document that was written again counts once.
func TestADocumentThatIsRepairedTwiceCountsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.lag = 5 * time.Second // longer than the pause
		w.fill(100)
		w.behind(key(1), nil)
		w.behind("orphan", &hotel{ID: "orphan", Version: 1})
		time.Sleep(time.Minute)
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 1}, []int64{report.Repaired, report.Deleted})
		assert.Greater(t, w.written[key(1)], 1)
		w.agrees()
	})
}

// Another process writes a row while its delete is in flight, and this process is killed before the check: the next
// run finds the key in its state.
func TestABirthUnderADeleteOfAProcessThatWasKilledIsRepaired(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.behind("orphan", &hotel{ID: "orphan", Version: 1})
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		to := &stops{Sender: w.sender(nil).Raw()}
		to.beforeAdd = func() {
			w.set("orphan", &hotel{ID: "orphan", Version: 2})
			w.behind("orphan", &hotel{ID: "orphan", Version: 2})
		}
		to.afterHold = func() {
			time.Sleep(time.Second) // it was sent
			cancel()
		}
		_, err = repairer(half{w, "source"}, half{w, "index"}, to, &Options{Store: store, Logger: quiet}).Run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		w.falsely = nil
		time.Sleep(time.Minute)
		_, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		w.agrees()
	})
}

// calm is a sender that was busy at first.
type calm struct {
	Sender
	until time.Time
}

func (c *calm) Info() models.SenderInfo {
	info := c.Sender.Info()
	if time.Now().Before(c.until) {
		info.Pending += 50_000
	}
	return info
}

func TestARepairDoesNotWaitForWhatASenderHadToDo(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		for i := range 100 {
			w.behind(key(i), nil)
		}
		time.Sleep(time.Minute)
		began := time.Now()
		_, err := w.run(&calm{w.sender(nil).Raw(), began.Add(10 * time.Second)}, nil)
		require.NoError(t, err)
		assert.Less(t, time.Since(began), 30*time.Second)
	})
}

func TestAPassOfLongAgoBeginsAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		for i := range 50 {
			w.behind(fmt.Sprint("x", i), &hotel{ID: fmt.Sprint("x", i)})
		}
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		to := &stops{Sender: w.sender(nil).Raw(), afterAdd: cancel}
		_, err = repairer(half{w, "source"}, half{w, "index"}, to, &Options{Store: store, Logger: quiet, AllowDeletes: 50}).Run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		time.Sleep(oldest + time.Minute)
		scans := len(w.scanned[1])
		report, err := w.repair(&Options{Store: store, AllowDeletes: -1})
		require.NoError(t, err)
		assert.Len(t, w.scanned[1], scans+1)
		assert.Zero(t, report.Deleted)
	})
}

func TestAReportThatCameWithAnErrorDoesNotAgree(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.failScan = func(string, int) error { return errors.New("broken") }
		report, err := w.repair(nil)
		require.Error(t, err)
		assert.False(t, report.Agrees())
	})
}
