package repair

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// refusing is a sender whose add fails for a reason unrelated to the documents.
type refusing struct {
	Sender
	err error
}

func (r *refusing) HoldKeys(ctx context.Context, keys []string, act func(context.Context, func(...models.RawAction) error) error) error {
	return r.Sender.HoldKeys(ctx, keys, func(ctx context.Context, add func(...models.RawAction) error) error {
		return act(ctx, func(actions ...models.RawAction) error {
			if r.err != nil {
				return &bufferedsender.AddError{Err: r.err}
			}
			return add(actions...)
		})
	})
}

// A sender that is closed between hold and add has not rejected the documents, so later passes must not skip them.
func TestASenderThatTakesNothingHasNotRejectedTheDocument(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		report, err := w.run(&refusing{w.sender(nil).Raw(), bufferedsender.ErrClosed}, &Options{Store: store})
		require.ErrorIs(t, err, bufferedsender.ErrClosed)
		assert.Zero(t, report.Rejected)
		report, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Repaired)
		w.agrees()
	})
}

// Without versions and digests a changed row cannot be detected, so rejected ones are tried again.
func TestARowThatNothingTellsApartIsNotRejectedForEver(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		for k := range w.table {
			h := hotel{ID: k}
			w.table[k], w.index[k], w.shown[k] = h, h, h
		}
		w.behind(key(1), nil)
		w.refuses[key(1)] = true
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		report, err := w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Rejected)
		delete(w.refuses, key(1)) // an operator corrects the row
		report, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Repaired)
		w.agrees()
	})
}

func TestWhatWasRejectedIsTriedAgainAfterADay(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		w.refuses[key(1)] = true
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		for _, want := range []int{1, 1, 1} {
			report, err := w.repair(&Options{Store: store})
			require.NoError(t, err)
			assert.EqualValues(t, 1, report.Rejected)
			assert.Equal(t, want, w.written[key(1)])
			dry, err := w.repair(&Options{Store: store, DryRun: true})
			require.NoError(t, err)
			assert.True(t, dry.Agrees(), "a dry run reports it, too")
		}
		delete(w.refuses, key(1)) // an operator changes the index
		time.Sleep(rejectedFor)
		_, err = w.repair(&Options{Store: store})
		require.NoError(t, err)
		w.agrees()
	})
}
