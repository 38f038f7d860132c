package repair

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// bad is a source whose Read may fail or return less.
type bad struct {
	half
	read func(n int, all []models.RawAction) ([]models.RawAction, error)
	n    *atomic.Int64
}

func (b bad) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	all, err := b.half.Read(ctx, keys)
	if err != nil {
		return nil, err
	}
	return b.read(int(b.n.Add(1)), all)
}

// lose removes documents from the index.
func (w *world) lose(n int) {
	for i := range n {
		w.behind(key(i), nil)
	}
}

// total returns the number of documents that have reached the service.
func (w *world) total() (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, times := range w.written {
		n += int64(times)
	}
	return n
}

func TestAPassThatBreaksOffTellsWhatItHasWritten(t *testing.T) {
	away := errors.New("the database is away")
	for name, end := range map[string]func(w *world, cancel func()) Source{
		"Read fails": func(w *world, _ func()) Source {
			return bad{half{w, "source"}, func(n int, all []models.RawAction) ([]models.RawAction, error) {
				if n == 3 {
					return nil, away
				}
				return all, nil
			}, new(atomic.Int64)}
		},
		"ctx ends": func(w *world, cancel func()) Source {
			w.takes = 400 * time.Millisecond // so that a request is in flight
			return bad{half{w, "source"}, func(n int, all []models.RawAction) ([]models.RawAction, error) {
				if n == 3 {
					time.AfterFunc(300*time.Millisecond, cancel)
				}
				return all, nil
			}, new(atomic.Int64)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(5000)
				w.lose(400)
				for i := range 5 {
					w.refuses[key(i)] = true
				}
				time.Sleep(time.Minute)
				store, err := NewFileStore(t.TempDir())
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				sender := w.sender(nil)
				report, err := repairer(end(w, cancel), half{w, "index"}, sender.Raw(), &Options{Store: store, Logger: quiet}).Run(ctx)
				require.Error(t, err)
				_ = sender.Flush(t.Context(), nil) // its error lists the refused ones
				wrote := w.total()
				require.Greater(t, wrote, int64(5))
				assert.Equal(t, wrote, report.Repaired+report.Rejected)
				assert.LessOrEqual(t, report.Rejected, int64(5))
				assert.GreaterOrEqual(t, report.Missing, report.Repaired)
				assert.False(t, report.Complete)

				time.Sleep(time.Minute)
				report, err = w.repair(&Options{Store: store})
				require.NoError(t, err)
				assert.EqualValues(t, 395, report.Repaired, "the sum of both passes, as documented")
				assert.EqualValues(t, 5, report.Rejected, "rejected keys are not counted twice")
				assert.EqualValues(t, 400, w.total())
				assert.False(t, report.Agrees())
			})
		})
	}
}

func TestAWatchTellsOfThePassThatItsContextHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		w.lose(100)
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		to := &stops{Sender: w.sender(nil).Raw()}
		to.afterHold = func() { time.AfterFunc(time.Second, cancel) }
		var reports []Report
		err := repairer(half{w, "source"}, half{w, "index"}, to, &Options{Logger: quiet}).Watch(ctx, time.Hour, func(r Report, err error) {
			assert.ErrorIs(t, err, context.Canceled)
			reports = append(reports, r)
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, reports, 1)
		assert.EqualValues(t, 100, reports[0].Repaired)
	})
}

// Read does not return keys that must be deleted either, but not because the source reads nothing.
func TestAnIndexThatDoesNotShowDeletesIsNotTakenForASourceThatReadsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(5000)
		for i := range 150 {
			w.set(key(i), nil)
		}
		w.lag = time.Hour
		_, err := w.repair(nil)
		require.ErrorIs(t, err, ErrNothingSettles)
		require.ErrorContains(t, err, "Pause must be longer")
		require.NotContains(t, err.Error(), "Read or Load lacks")
	})
}

func TestASourceThatFindsKeysAndReadsNoneIsNamed(t *testing.T) {
	for _, n := range []int{20, 500} {
		inBubble(t, func(t *testing.T, w *world) {
			w.fill(1000)
			w.lose(n)
			time.Sleep(time.Minute)
			var log bytes.Buffer
			source := bad{half{w, "source"}, func(int, []models.RawAction) ([]models.RawAction, error) { return nil, nil }, new(atomic.Int64)}
			report, err := repairer(source, half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Run(t.Context())
			if n < keysAtOnce {
				require.NoError(t, err)
				assert.EqualValues(t, n, report.Unsettled)
				assert.Contains(t, log.String(), "Read or Load lacks")
				return
			}
			require.ErrorIs(t, err, ErrNothingSettles)
			require.ErrorContains(t, err, "its Read, or Load, returns no document")
		})
	}
}
