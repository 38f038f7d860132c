package repair

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// failsOnce is a sender whose first hold of keys fails.
type failsOnce struct {
	Sender
	failed bool
}

func (f *failsOnce) HoldKeys(ctx context.Context, keys []string, act func(context.Context, func(...models.RawAction) error) error) error {
	if !f.failed {
		f.failed = true
		return errors.New("transient")
	}
	return f.Sender.HoldKeys(ctx, keys, act)
}

// A negative AllowDeletes counts no deletes, so the state of an interrupted pass must not claim them as counted.
func TestDeletesThatWereNotAllowedAreCountedByTheNextPass(t *testing.T) {
	for name, c := range map[string]struct {
		next    Options
		deleted int
		refused bool
	}{
		"beyond the bound": {Options{}, 0, true},
		"asked for":        {Options{AllowDeletes: 500}, 500, false},
		"never":            {Options{AllowDeletes: -1}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(1000)
				w.invent(500, "x")
				w.behind(key(1), &hotel{ID: key(1)})
				time.Sleep(time.Minute)
				store, err := NewFileStore(t.TempDir())
				require.NoError(t, err)
				to := &failsOnce{Sender: w.sender(nil).Raw()}
				_, err = w.run(to, &Options{Store: store, AllowDeletes: -1})
				require.ErrorContains(t, err, "transient")
				c.next.Store = store
				_, err = w.run(to, &c.next)
				assert.Equal(t, c.refused, refused(err), "%v", err)
				assert.Len(t, w.deleted, c.deleted)
			})
		})
	}
}

// The pass without deletes has read an empty source.
func TestASourceWithoutRowsDeletesNothingInAResumedPass(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		w.invent(500, "x")
		clear(w.table)
		time.Sleep(time.Minute)
		store, err := NewFileStore(t.TempDir())
		require.NoError(t, err)
		opts := &Options{Store: store, AllowDeletes: -1, Splits: []string{"l"}, parallel: 1}
		r := repairer(half{w, "source"}, half{w, "index"}, w.sender(nil).Raw(), opts)
		p, err := r.newPass()
		require.NoError(t, err)
		sections, err := p.compare(t.Context(), new(Report), time.Now())
		require.NoError(t, err)
		_, err = p.allow(t.Context(), sections)
		require.NoError(t, err)
		for _, s := range sections {
			require.NoError(t, s.unlock())
		}
		opts.AllowDeletes, opts.MaxShare = 0, 1
		_, err = w.repair(opts)
		require.ErrorIs(t, err, ErrNoRows)
		assert.Empty(t, w.deleted)
	})
}
