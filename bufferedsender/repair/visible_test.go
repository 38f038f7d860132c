package repair_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// versions is an index as it shows the revisions of records.
func (r *deleteRig) versions() *watched {
	r.t.Helper()
	rows, err := search.NewRows(r.client, &search.RowsOptions{Version: "rev"})
	require.NoError(r.t, err)
	return &watched{Index: rows}
}

func TestWaitVisibleReturnsSoonAfterTheIndexShowsWhatWasWritten(t *testing.T) {
	for name, c := range map[string]struct {
		opts  *repair.VisibleOptions
		write func(r *deleteRig)
		lag   time.Duration
	}{
		"a new document":        {nil, func(r *deleteRig) { r.write(record{ID: "new"}) }, 10 * time.Second},
		"a version":             {&repair.VisibleOptions{Version: 7}, func(r *deleteRig) { r.write(record{ID: "new", Rev: 7}) }, 10 * time.Second},
		"a later version":       {&repair.VisibleOptions{Version: 7}, func(r *deleteRig) { r.write(record{ID: "new", Rev: 8}) }, 10 * time.Second},
		"without a lag at once": {nil, func(r *deleteRig) { r.write(record{ID: "new"}) }, 0},
		"the end of it": {&repair.VisibleOptions{Gone: true}, func(r *deleteRig) {
			r.write(record{ID: "new"})
			time.Sleep(time.Minute)
			_, err := search.DeleteDocumentsByKey(context.Background(), r.client, "id", []string{"new"}, nil)
			require.NoError(r.t, err)
		}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newDeleteRig(t, &searchtest.Options{VisibilityLag: c.lag}, nil)
				r.write(record{ID: "old", Rev: 100})
				c.write(r)
				began, index := time.Now(), r.versions()
				lookups := 0
				index.beforeLookup = func([]string) { lookups++ }
				require.NoError(t, repair.WaitVisible(t.Context(), index, "new", c.opts))
				waited := time.Since(began)
				assert.GreaterOrEqual(t, waited, c.lag)
				assert.LessOrEqual(t, waited, c.lag+2*time.Second)
				assert.LessOrEqual(t, lookups, 20, "the pauses grow")
			})
		})
	}
}

func TestWaitVisibleSaysWhatItHasSeenLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.write(record{ID: "a", Rev: 3})
		for says, c := range map[string]struct {
			key  string
			opts *repair.VisibleOptions
		}{
			`"b": it was waited for, for 5s, and after 10 lookups the index shows no such document`: {"b", nil},
			`"a": version 4 was waited for, for 5s, and after 10 lookups the index shows version 3`: {"a", &repair.VisibleOptions{Version: 4}},
			`"a": its end was waited for, for 5s, and after 10 lookups the index shows it still`:    {"a", &repair.VisibleOptions{Gone: true}},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			err := repair.WaitVisible(ctx, r.versions(), c.key, c.opts)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, says)
			var e *repair.NotVisibleError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.key, e.Key)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := repair.WaitVisible(ctx, r.of("ann"), "a", &repair.VisibleOptions{Version: 1})
		require.ErrorContains(t, err, "the index shows no such document", "the filter does not")
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = repair.WaitVisible(ctx, r.of(""), "a", &repair.VisibleOptions{Version: 1})
		require.ErrorContains(t, err, "the index shows it without a version, whose field search.RowsOptions.Version is to name")

		began := time.Now()
		err = repair.WaitVisible(t.Context(), r.of("").Index, "a", &repair.VisibleOptions{Version: 1})
		require.ErrorContains(t, err, "the index has no versions to wait for: set search.RowsOptions.Version")
		require.NoError(t, repair.WaitVisible(t.Context(), r.versions().Index, "a", &repair.VisibleOptions{Version: 1}))
		assert.Zero(t, time.Since(began))
	})
}

func TestWaitVisibleEndsWithTheErrorOfALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		index := r.versions()
		index.lookupFails = errNoIndex
		began := time.Now()
		require.ErrorIs(t, repair.WaitVisible(t.Context(), index, "a", nil), errNoIndex)
		assert.Zero(t, time.Since(began))

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		err := repair.WaitVisible(ended, index, "a", nil)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "no lookup has ended")
	})
}

func TestWaitVisibleRefusesWhatMakesNoSense(t *testing.T) {
	err := repair.WaitVisible(t.Context(), nil, "", &repair.VisibleOptions{Version: 1, Gone: true})
	for _, problem := range []string{"there is no index", "there is no key", "what is gone has no Version"} {
		require.ErrorContains(t, err, problem)
	}
	other := fixedIndex{"other"}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	require.Error(t, repair.WaitVisible(ended, other, "a", nil), "the row of another key says nothing")
	require.NoError(t, repair.WaitVisible(t.Context(), other, "other", nil))
}
