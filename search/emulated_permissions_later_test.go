package search_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// define creates or replaces an index.
func define(t *testing.T, client *search.Client, definition string) {
	t.Helper()
	var index struct{ Name string }
	require.NoError(t, json.Unmarshal([]byte(definition), &index))
	_, err := search.Do(t.Context(), client, http.MethodPut, search.PathOf("indexes", index.Name), json.RawMessage(definition), &search.DoOptions{APIVersion: "2026-10-01"})
	require.NoError(t, err)
}

// Rows of a long-lived program see that permission filters were enabled since their last call.
func TestRowsSeeFiltersThatWereAddedSince(t *testing.T) {
	for name, call := range map[string]func(context.Context, *search.Rows) error{
		"Scan": func(ctx context.Context, rows *search.Rows) error {
			for _, err := range rows.Scan(ctx, "", "") {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"Lookup": func(ctx context.Context, rows *search.Rows) error {
			_, err := rows.Lookup(ctx, []string{"secret0"})
			return err
		},
		"WaitVisible": func(ctx context.Context, rows *search.Rows) error {
			return search.WaitVisible(ctx, rows, "secret0", &search.VisibleOptions{Gone: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := secured(t, 2)
			client := byKey(t, srv, searchtest.AdminKey, nil)
			define(t, client, strings.Replace(securedIndex, `"enabled"`, `"disabled"`, 1))
			rows := rowsOf(t, client, nil)
			found, err := rows.Lookup(t.Context(), []string{"secret0"})
			require.NoError(t, err)
			require.Len(t, found, 1)
			define(t, client, securedIndex)
			require.ErrorIs(t, call(t.Context(), rows), search.ErrPartialView)
		})
	}
}

// Permission filters that are enabled during the wait hide the document. Hidden is not gone.
func TestWaitVisibleDoesNotTakeHiddenForGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := secured(t, 2)
		client := byKey(t, srv, searchtest.AdminKey, nil)
		define(t, client, strings.Replace(securedIndex, `"enabled"`, `"disabled"`, 1))
		gone := make(chan error, 1)
		go func() {
			gone <- search.WaitVisible(t.Context(), rowsOf(t, client, nil), "secret0", &search.VisibleOptions{Gone: true})
		}()
		time.Sleep(10 * time.Second)
		define(t, client, securedIndex)
		require.ErrorIs(t, <-gone, search.ErrPartialView)
	})
}

func TestWaitVisibleReadsTheDefinitionAtItsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, client := emulatingEverything(t, numbered(1)...)
		gone := make(chan error, 1)
		go func() {
			gone <- search.WaitVisible(t.Context(), rowsOf(t, client, nil), "00000", &search.VisibleOptions{Gone: true})
		}()
		time.Sleep(time.Minute)
		_, err := search.DeleteDocumentsByKey(t.Context(), client, "id", []string{"00000"}, nil)
		require.NoError(t, err)
		require.NoError(t, <-gone)
		assert.Equal(t, 2, definitionReads(srv), "before the first lookup and before the answer")
	})
}

// An alias may move to an index with permission filters, and with another key.
func TestRowsFollowAnAlias(t *testing.T) {
	srv := secured(t, 2)
	everything := byKey(t, srv, searchtest.AdminKey, nil)
	define(t, everything, `{"name":"plain","fields":[{"name":"key","type":"Edm.String","key":true,"filterable":true,"sortable":true}]}`)
	point := func(index string) {
		_, err := search.Do(t.Context(), everything, http.MethodPut, search.PathOf("aliases", "now"), map[string]any{"name": "now", "indexes": []string{index}}, nil)
		require.NoError(t, err)
	}
	client, err := search.NewClientWithKey(srv.URL(), "now", azcore.NewKeyCredential(searchtest.AdminKey), securedOptions(srv, nil))
	require.NoError(t, err)
	point("plain")
	_, err = search.UploadDocuments(t.Context(), client, []models.Document{{"key": "1"}}, nil)
	require.NoError(t, err)
	rows, err := search.NewRows(client, nil)
	require.NoError(t, err)
	keys, err := walked(t.Context(), rows, "", "")
	require.NoError(t, err)
	require.Equal(t, []string{"1"}, keys)

	define(t, everything, strings.Replace(securedIndex, `"enabled"`, `"disabled"`, 1))
	point("everything")
	keys, err = walked(t.Context(), rows, "", "")
	require.NoError(t, err)
	assert.Equal(t, []string{"open0", "open1", "open2", "secret0", "secret1"}, keys)
	define(t, everything, securedIndex)
	_, err = walked(t.Context(), rows, "", "")
	require.ErrorIs(t, err, search.ErrPartialView)
}

// Sensitivity labels are not in definitions of a stable api-version, but apply to queries in each.
func TestLabelsThatOnlyAPreviewShowsHideDocuments(t *testing.T) {
	srv := secured(t, 2)
	client := byKey(t, srv, searchtest.AdminKey, nil)
	labelled := strings.Replace(securedIndex, `"enabled"`, `"disabled","purviewEnabled":true`, 1)
	_, err := search.Do(t.Context(), client, http.MethodPut, search.PathOf("indexes", "everything"), json.RawMessage(labelled), &search.DoOptions{APIVersion: "2026-08-01-preview"})
	require.NoError(t, err)
	for name, call := range wholeReads {
		_, err := call(wholeindex.Require(t.Context()), client)
		require.ErrorIs(t, err, search.ErrPartialView, name)
	}
	_, err = search.DeleteMatching(t.Context(), client, "id", search.Eq("owner", "a"), nil)
	require.ErrorIs(t, err, search.ErrPartialView)
}
