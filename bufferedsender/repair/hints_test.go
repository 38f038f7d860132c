package repair

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/models"
)

// The table is being restored, and the keys of an outage are hints.
func TestHintsDoNotLiftTheGuard(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		set := new(hints.Set)
		for i := 1; i < 1000; i++ {
			w.set(key(i), nil)
			require.NoError(t, set.Add("hotels", key(i)))
		}
		report, err := w.repair(&Options{Hints: set, HintsOf: "hotels"})
		require.ErrorAs(t, err, new(*DeletesError))
		assert.Zero(t, report.Deleted)
		assert.Empty(t, w.deleted)
		n := set.Stats().Keys["hotels"]
		assert.Equal(t, 999, n, "the hinted keys must still be repaired")

		report, err = w.repair(&Options{Hints: set, HintsOf: "hotels", AllowDeletes: 999})
		require.NoError(t, err)
		assert.EqualValues(t, 999, report.Deleted)
		n = set.Stats().Keys["hotels"]
		assert.Zero(t, n)
		w.agrees()
	})
}

// forgetful claims to have written documents that it drops.
type forgetful struct{ Sender }

func (f forgetful) HoldKeys(ctx context.Context, keys []string, act func(context.Context, func(...models.RawAction) error) error) error {
	return f.Sender.HoldKeys(ctx, keys, func(ctx context.Context, _ func(...models.RawAction) error) error {
		return act(ctx, func(actions ...models.RawAction) error {
			for _, a := range actions {
				a.OnOutcome(models.Outcome{Key: a.Key, Reason: models.ReasonClosed, Err: bufferedsender.ErrClosed})
			}
			return nil
		})
	})
}

func TestHintsOfWhatWasNotRepairedAreKept(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		set := new(hints.Set)
		require.NoError(t, set.Add("hotels", key(1), key(2)))
		time.Sleep(time.Minute)
		report, err := w.run(forgetful{w.sender(nil).Raw()}, &Options{Hints: set, HintsOf: "hotels"})
		require.NoError(t, err)
		assert.Zero(t, report.Repaired)
		n := set.Stats().Keys["hotels"]
		assert.Equal(t, 1, n, "the only key that differs")
	})
}

// Hinted keys are counted only in Hinted.
func TestHintedKeysAreNotCountedAsDifferences(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.behind(key(1), nil)
		set := new(hints.Set)
		require.NoError(t, set.Add("hotels", key(1)))
		time.Sleep(time.Minute)
		report, err := w.repair(&Options{Hints: set, HintsOf: "hotels"})
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 1, 0}, []int64{report.Hinted, report.Repaired, report.Missing})
	})
}

// The report that every key may differ came when half had been compared.
func TestAPassThatGoesOnIsNotOneOfEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(30_000)
		w.reads = 200 * time.Millisecond
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		set := new(hints.Set)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		opts := &Options{Store: store, Hints: set, HintsOf: "hotels", Logger: quiet}
		to := w.sender(nil).Raw()
		_, err = repairer(half{w, "source"}, half{w, "index"}, to, opts).Run(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.behind(key(1), nil)
		require.NoError(t, set.AddEverything("hotels"))
		time.Sleep(time.Minute)
		_, err = w.run(to, opts)
		require.NoError(t, err)
		if everything := set.Stats().Everything["hotels"]; !everything {
			w.agrees()
		}
		_, err = w.run(to, opts)
		require.NoError(t, err)
		w.agrees()
		everything := set.Stats().Everything["hotels"]
		assert.False(t, everything)
	})
}

// The scan fails, so no report has the keys that cannot be repaired.
func TestHintsOfWhatCannotBeRepairedAreKeptUntilAPassHasComparedEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.behind(key(1), &hotel{ID: key(1), Version: 5})
		w.behind(key(2), nil)
		w.refuses[key(2)] = true
		w.behind(key(3), nil)
		time.Sleep(time.Minute)
		set := new(hints.Set)
		require.NoError(t, set.Add("hotels", key(1), key(2), key(3), key(4)))
		broken := errors.New("no scan")
		w.failScan = func(string, int) error { return broken }
		opts := &Options{Hints: set, HintsOf: "hotels"}
		_, err := w.repair(opts)
		require.ErrorIs(t, err, broken)
		n := set.Stats().Keys["hotels"]
		assert.Equal(t, 2, n, "the keys that are ahead and rejected")
		w.failScan = nil
		report, err := w.repair(opts)
		require.NoError(t, err)
		assert.Equal(t, []string{key(1)}, report.Keys[Ahead])
		n = set.Stats().Keys["hotels"]
		assert.Zero(t, n)
	})
}
