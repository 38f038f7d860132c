package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// scanned returns the keys of a scan of the index everything, in order.
func scanned(t testing.TB, client *search.Client, opts *search.ScanOptions) (ids []string, err error) {
	t.Helper()
	for doc, err := range search.Scan[struct {
		ID string `json:"id" search:"key"`
	}](t.Context(), client, opts) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, doc.ID)
	}
	return ids, nil
}

// Another goroutine adds and deletes documents before, between and after the permanent ones.
func TestScanSeesWhatLivesExactlyOnce(t *testing.T) {
	lives := testkit.Cases(1200, 5000, 5000)
	for _, pageSize := range []int{7, 1000} {
		t.Run(fmt.Sprint("in pages of ", pageSize), func(t *testing.T) {
			docs := numbered(lives)
			want := make([]string, lives)
			for i, doc := range docs {
				want[i] = doc["id"].(string)
			}
			srv, client := emulatingEverything(t, docs...)
			turns := make(chan struct{}) // unbuffered: pages and writes alternate
			srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
				if strings.HasSuffix(req.URL.Path, "search.post.search") {
					turns <- struct{}{}
				}
				return next(req)
			})
			var others sync.WaitGroup
			var failed error
			others.Go(func() {
				round := 0
				for range turns {
					failed = errors.Join(failed, comeAndGo(t.Context(), client, round, lives))
					round++
				}
			})
			ids, err := scanned(t, client, &search.ScanOptions{PageSize: pageSize})
			close(turns)
			others.Wait()
			require.NoError(t, errors.Join(err, failed))
			require.True(t, slices.IsSorted(ids))
			require.Len(t, slices.Compact(slices.Clone(ids)), len(ids), "nothing twice")
			ids = slices.DeleteFunc(ids, func(id string) bool { return len(id) > len(want[0]) })
			assert.Equal(t, want, ids)
		})
	}
}

// comeAndGo picks a hundred temporary keys between n numbered documents. It uploads every other one and deletes the
// rest.
func comeAndGo(ctx context.Context, client *search.Client, round, n int) error {
	actions := make([]models.IndexDocumentsAction[models.Document], 100)
	for i := range actions {
		guest := models.Document{"id": numberedID((round*37+i*53)%n) + "-guest"}
		if (round+i)%2 == 0 {
			actions[i] = models.UploadAction(guest)
		} else {
			actions[i] = models.DeleteAction(guest)
		}
	}
	_, err := search.IndexDocuments(ctx, client, models.NewIndexDocumentsBatch(actions...), &search.IndexDocumentsOptions{KeyField: "id"})
	return err
}

// Keys are returned in character order, from any starting key.
func TestScanReturnsEveryLegalKey(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.StringMatching(`[A-Za-z0-9=-][A-Za-z0-9_=-]{0,8}`)
		keys := rapid.SliceOfNDistinct(key, 1, 60, rapid.ID).Draw(rt, "keys")
		after := rapid.OneOf(rapid.SampledFrom(keys), key, rapid.Just("")).Draw(rt, "after")
		docs := make([]models.Document, len(keys))
		for i, k := range keys {
			docs[i] = models.Document{"id": k}
		}
		_, client := emulatingEverything(t, docs...)
		slices.Sort(keys)
		behind := slices.DeleteFunc(keys, func(k string) bool { return k <= after })
		ids, err := scanned(t, client, &search.ScanOptions{PageSize: rapid.IntRange(1, 20).Draw(rt, "page size"), After: after})
		require.NoError(rt, err)
		require.ElementsMatch(rt, behind, ids)
		require.True(rt, slices.IsSorted(ids))
	})
}

// The scan continues after the failure and neither loses nor repeats a document.
func TestScanGoesOnWhereItFailed(t *testing.T) {
	srv, client := emulatingEverything(t, numbered(500)...)
	var ids []string
	for after := 3; len(ids) < 500 && after < 100; after++ {
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSearch, After: after, Status: 503}}})
		opts := &search.ScanOptions{PageSize: 13}
		if len(ids) > 0 {
			opts.After = ids[len(ids)-1]
		}
		more, err := scanned(t, client, opts)
		assert.Equal(t, err == nil, len(ids)+len(more) == 500)
		ids = append(ids, more...)
	}
	require.Len(t, ids, 500)
	assert.True(t, slices.IsSorted(ids))
	assert.Len(t, slices.Compact(ids), 500)
}

// The key is returned even if it is not selected.
func TestScanReturnsWhatMeetsItsFilter(t *testing.T) {
	_, client := emulatingEverything(t, numbered(100)...)
	filter := search.Or(search.Lt("int", 10), search.Ge("int", 95))
	ids, err := scanned(t, client, &search.ScanOptions{Filter: filter, PageSize: 4, Select: []string{"int"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"00000", "00001", "00002", "00003", "00004", "00005", "00006", "00007", "00008", "00009", "00095", "00096", "00097", "00098", "00099"}, ids)
	ids, err = scanned(t, client, &search.ScanOptions{Filter: filter, After: "00008", PageSize: 1})
	require.NoError(t, err)
	assert.Equal(t, []string{"00009", "00095", "00096", "00097", "00098", "00099"}, ids)
	ids, err = scanned(t, client, &search.ScanOptions{Filter: search.Lt("int", 0)})
	require.NoError(t, err)
	assert.Empty(t, ids)
	_, err = scanned(t, client, &search.ScanOptions{Filter: search.Eq("plain", "x")})
	require.ErrorContains(t, err, "'plain' is not a filterable field", "the filter is refused, not the key")
}

// A refusal whose text merely contains "id" is not about the key.
func TestOnlyARefusalOfTheKeySaysWhatAKeyIsToBe(t *testing.T) {
	_, client := emulatingEverything(t, numbered(1)...)
	for field, opts := range map[string]*search.ScanOptions{
		"nope":    {KeyField: "id", Select: []string{"nope"}},
		"invalid": {KeyField: "id", Filter: search.Eq("invalid", 1)},
	} {
		_, err := scanned(t, client, opts)
		require.ErrorContains(t, err, "'"+field+"'")
		assert.NotContains(t, err.Error(), "must be filterable and sortable")
	}
}

// Ordinary searches end at 100 000 results.
func TestScanGetsPastWhereSearchEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("uploads 101500 documents")
	}
	_, client := emulatingEverything(t, numbered(101_500)...)
	n, last := 0, ""
	for doc, err := range search.Scan[models.Document](t.Context(), client, &search.ScanOptions{Select: []string{"id"}, KeyField: "id"}) {
		require.NoError(t, err)
		last = doc["id"].(string)
		n++
	}
	assert.Equal(t, 101_500, n)
	assert.Equal(t, "99999", last)

	n = 0
	var failed error
	for _, err := range search.Search[models.Document](t.Context(), client, "", &search.SearchOptions{Top: to.Ptr(101_500), Select: []string{"id"}}) {
		if failed = err; err == nil {
			n++
		}
	}
	var e *search.Error
	require.ErrorAs(t, failed, &e, "a search reports its limit instead of just stopping")
	assert.Contains(t, e.Message, "$skip")
	assert.GreaterOrEqual(t, n, 100_000)
}

// The refusal comes from the definition, or from the service if the definition cannot be read.
func TestKeyThatCannotBeScannedIsRefusedBeforeTheFirstDocument(t *testing.T) {
	for _, attributes := range []string{`"filterable":false,"sortable":true`, `"filterable":true,"sortable":false`, `"filterable":true,"sortable":true,"normalizer":"lowercase"`} {
		_, client := emulating(t, `{"name":"fixed","fields":[{"name":"id","type":"Edm.String","key":true,`+attributes+`}]}`, "fixed", models.Document{"id": "1"})
		for doc, err := range search.Scan[models.Document](t.Context(), client, nil) {
			require.ErrorIs(t, err, search.ErrNotScannable, attributes)
			assert.Nil(t, doc)
		}
	}
	for attributes, text := range map[string]string{
		`"filterable":false,"sortable":true`: "'id' is not a filterable field",
		`"filterable":true,"sortable":false`: "'id' is not a sortable field",
	} {
		_, client := emulating(t, `{"name":"fixed","fields":[{"name":"id","type":"Edm.String","key":true,`+attributes+`}]}`, "fixed", models.Document{"id": "1"})
		ids, err := scanned(t, client, nil)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, "must be filterable and sortable")
		assert.Empty(t, ids)
	}
}

// If a scan cannot learn about a normalizer of the key, it returns all documents or an error.
func TestScanPassesOverNoKeyThatANormalizerMakesEqual(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[abAB]{1,2}`), 1, 12, rapid.ID).Draw(rt, "keys")
		docs := make([]models.Document, len(keys))
		for i, key := range keys {
			docs[i] = models.Document{"id": key}
		}
		srv, client := emulating(t, `{"name":"fixed","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true,"normalizer":"lowercase"}]}`, "fixed", docs...)
		if rapid.Bool().Draw(rt, "pages with room for one") {
			srv.Intercept(withRoomForOne)
		}
		got, err := scanned(t, client, &search.ScanOptions{PageSize: rapid.IntRange(1, 4).Draw(rt, "page size")})
		if err == nil {
			require.ElementsMatch(rt, keys, got)
			return
		}
		require.ErrorContains(rt, err, "the service orders \"id\" in another way than by its characters")
		require.Subset(rt, keys, got)
	})
}

// withRoomForOne limits pages to one result, as the service does for large documents.
func withRoomForOne(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := next(req)
	if req.Method == http.MethodGet { // the definition
		return resp, err
	}
	var page map[string]json.RawMessage
	var values []json.RawMessage
	if err != nil || json.NewDecoder(resp.Body).Decode(&page) != nil || json.Unmarshal(page["value"], &values) != nil {
		return resp, errors.Join(err, errors.New("no page"))
	}
	if len(values) > 1 {
		page["value"], _ = json.Marshal(values[:1])
		page["@odata.nextLink"], page["@search.nextPageParameters"] = json.RawMessage(`"x"`), json.RawMessage(`{}`)
	}
	body, err := json.Marshal(page)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, err
}

// Only admins can read definitions.
func TestScanWithAQueryKeyNeedsTheNameOfTheKey(t *testing.T) {
	srv, _ := emulatingEverything(t, numbered(3)...)
	reader, err := search.NewClientWithKey(srv.URL(), "everything", azcore.NewKeyCredential(searchtest.QueryKey), impatient(srv))
	require.NoError(t, err)
	for _, err := range search.Scan[models.Document](t.Context(), reader, nil) {
		var e *search.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 403, e.StatusCode)
		require.ErrorContains(t, err, "or name the key field")
	}
	n := 0
	for _, err := range search.Scan[models.Document](t.Context(), reader, &search.ScanOptions{KeyField: "id"}) {
		require.NoError(t, err)
		n++
	}
	assert.Equal(t, 3, n)
	ids, err := scanned(t, reader, nil)
	require.NoError(t, err, "the tag of the type names it")
	assert.Len(t, ids, 3)
}
