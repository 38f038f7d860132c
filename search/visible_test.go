package search_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// shows returns an index with a document "old", and its rows with and without versions.
func shows(t *testing.T, lag time.Duration) (srv *searchtest.Server, client *search.Client, versions, rows *search.Rows) {
	t.Helper()
	srv, client = emulatingWith(t, &searchtest.Options{VisibilityLag: lag}, everything, "everything", models.Document{"id": "old", "int": 100}, models.Document{"id": "a", "int": 3, "text": "x"})
	versions, err := search.NewRows(client, &search.RowsOptions{Version: "int", KeyField: "id"})
	require.NoError(t, err)
	rows, err = search.NewRows(client, &search.RowsOptions{Filter: search.Eq("text", "x"), KeyField: "id"})
	require.NoError(t, err)
	return srv, client, versions, rows
}

func TestWaitVisibleReturnsSoonAfterTheIndexShowsWhatWasWritten(t *testing.T) {
	for name, c := range map[string]struct {
		opts *search.VisibleOptions
		rev  int
		gone bool
		lag  time.Duration
	}{
		"a new document":        {nil, 0, false, 10 * time.Second},
		"a version":             {&search.VisibleOptions{Version: 7}, 7, false, 10 * time.Second},
		"a later version":       {&search.VisibleOptions{Version: 7}, 8, false, 10 * time.Second},
		"without a lag at once": {nil, 0, false, 0},
		"the end of it":         {&search.VisibleOptions{Gone: true}, 0, true, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, client, versions, _ := shows(t, c.lag)
				put(t, client, models.Document{"id": "new", "int": c.rev})
				if c.gone {
					time.Sleep(time.Minute)
					_, err := search.DeleteDocumentsByKey(t.Context(), client, "id", []string{"new"}, nil)
					require.NoError(t, err)
				}
				began, before := time.Now(), searches(srv)
				require.NoError(t, search.WaitVisible(t.Context(), versions, "new", c.opts))
				waited := time.Since(began)
				assert.GreaterOrEqual(t, waited, c.lag)
				assert.LessOrEqual(t, waited, c.lag+2*time.Second)
				assert.LessOrEqual(t, searches(srv)-before, 20, "the pauses grow")
			})
		})
	}
}

func TestWaitVisibleSaysWhatItHasSeenLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, versions, rows := shows(t, 0)
		for says, c := range map[string]struct {
			key  string
			opts *search.VisibleOptions
		}{
			`"b": waited 5s for its appearance; after 10 lookups the index shows no such document`: {"b", nil},
			`"a": waited 5s for version 4; after 10 lookups the index shows version 3`:             {"a", &search.VisibleOptions{Version: 4}},
			`"a": waited 5s for its deletion; after 10 lookups the index shows the document`:       {"a", &search.VisibleOptions{Gone: true}},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			err := search.WaitVisible(ctx, versions, c.key, c.opts)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, says)
			var e *search.NotVisibleError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.key, e.Key)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorContains(t, search.WaitVisible(ctx, rows, "old", nil), "the index shows no such document", "the filter does not")
		put(t, client, models.Document{"id": "none"})
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := search.WaitVisible(ctx, versions, "none", &search.VisibleOptions{Version: 1})
		require.ErrorContains(t, err, "the index shows the document without a version, whose field RowsOptions.Version must name")
	})
}

func TestWaitVisibleEndsWithTheErrorOfALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, versions, _ := shows(t, 0)
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSearch, Status: http.StatusForbidden}}})
		began := time.Now()
		require.ErrorAs(t, search.WaitVisible(t.Context(), versions, "a", nil), new(*search.Error))
		assert.Zero(t, time.Since(began))

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		err := search.WaitVisible(ended, versions, "a", nil)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "no lookup completed")
	})
}

func TestWaitVisibleRefusesWhatMakesNoSense(t *testing.T) {
	err := search.WaitVisible(t.Context(), nil, "", &search.VisibleOptions{Version: 1, Gone: true})
	for _, problem := range []string{"rows is nil", "the key is empty", "got Gone and Version, want one of them"} {
		require.ErrorContains(t, err, problem)
	}
	_, _, _, rows := shows(t, 0)
	require.ErrorContains(t, search.WaitVisible(t.Context(), rows, "a", &search.VisibleOptions{Version: 1}), "the Rows have no versions to wait for: set RowsOptions.Version")
}
