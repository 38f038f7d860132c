package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const securedIndex = `{"name":"everything","permissionFilterOption":"enabled","fields":[
	{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
	{"name":"owner","type":"Edm.String","filterable":true},
	{"name":"users","type":"Collection(Edm.String)","filterable":true,"permissionFilter":"userIds"},
	{"name":"team","type":"Edm.String","filterable":true,"permissionFilter":"groupIds"}]}`

// secured is a service with an index of one owner's documents: three public ones and the given number of restricted
// ones.
func secured(t *testing.T, restricted int) *searchtest.Server {
	t.Helper()
	srv := searchtest.NewServer(&searchtest.Options{Token: func(string) bool { return true }})
	t.Cleanup(func() { assert.NoError(t, srv.Close()) })
	_, err := search.Do(t.Context(), byKey(t, srv, searchtest.AdminKey, nil), http.MethodPost, "/indexes", json.RawMessage(securedIndex), &search.DoOptions{APIVersion: "2026-10-01"})
	require.NoError(t, err)
	type document struct {
		ID    string   `json:"id"`
		Owner string   `json:"owner"`
		Users []string `json:"users"`
		Team  string   `json:"team"`
	}
	docs := []document{{"open0", "a", []string{"all"}, ""}, {"open1", "a", nil, "all"}, {"open2", "a", []string{"alice", "all"}, "g"}}
	for i := range restricted {
		docs = append(docs, document{"secret" + string(rune('0'+i)), "a", []string{"alice"}, ""})
	}
	_, err = search.UploadDocuments(t.Context(), byKey(t, srv, searchtest.AdminKey, nil), docs, nil)
	require.NoError(t, err)
	return srv
}

func securedOptions(srv *searchtest.Server, opts *search.ClientOptions) *search.ClientOptions {
	if opts == nil {
		opts = &search.ClientOptions{}
	}
	opts.Transport, opts.Retry.MaxRetries = srv, -1
	return opts
}

func byKey(t *testing.T, srv *searchtest.Server, key string, opts *search.ClientOptions) *search.Client {
	t.Helper()
	client, err := search.NewClientWithKey(srv.URL(), "everything", azcore.NewKeyCredential(key), securedOptions(srv, opts))
	require.NoError(t, err)
	return client
}

func byToken(t *testing.T, srv *searchtest.Server, opts *search.ClientOptions) *search.Client {
	t.Helper()
	client, err := search.NewClient(srv.URL(), "everything", &tokens{expires: time.Hour}, securedOptions(srv, opts))
	require.NoError(t, err)
	return client
}

// wholeReads has the calls whose result must cover the whole index. Each returns the number of documents it saw.
var wholeReads = map[string]func(context.Context, *search.Client) (int, error){
	"Scan": func(ctx context.Context, c *search.Client) (n int, _ error) {
		for _, err := range search.ScanKeys(ctx, c, &search.ScanOptions{KeyField: "id"}) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	},
	"Rows.Lookup": func(ctx context.Context, c *search.Client) (int, error) {
		rows, err := search.NewRows(c, nil)
		if err != nil {
			return 0, err
		}
		found, err := rows.Lookup(ctx, []string{"open0", "open1", "open2", "secret0", "secret1"})
		return len(found), err
	},
	"Rows.Scan": func(ctx context.Context, c *search.Client) (n int, _ error) {
		rows, err := search.NewRows(c, &search.RowsOptions{KeyField: "id", ReadAhead: 2, PageSize: 2})
		if err != nil {
			return 0, err
		}
		for _, err := range rows.Scan(ctx, "", "") {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	},
	"DocumentCount": func(ctx context.Context, c *search.Client) (int, error) {
		n, err := c.DocumentCount(ctx, nil)
		return int(n), err
	},
}

// statistics answers index statistics with these document counts in turn, cyclically.
func statistics(documents ...int) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	asked := 0
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if !strings.HasSuffix(req.URL.Path, "search.stats") {
			return next(req)
		}
		n := documents[asked%len(documents)]
		asked++
		return response(http.StatusOK, fmt.Sprintf(`{"documentCount":%d,"storageSize":1}`, n)), nil
	}
}

func TestWholeIndexIsReadElevatedOrNotAtAll(t *testing.T) {
	const restricted = 2
	refused := func(words string) func(*testing.T, int, error) {
		return func(t *testing.T, _ int, err error) {
			require.ErrorIs(t, err, search.ErrPartialView)
			assert.ErrorContains(t, err, words)
		}
	}
	complete := func(all int) func(*testing.T, int, error) {
		return func(t *testing.T, n int, err error) {
			require.NoError(t, err)
			assert.Equal(t, all, n)
		}
	}
	ignored := func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		req.Header.Del("X-Ms-Enable-Elevated-Read")
		return next(req)
	}
	// halfElevated removes the header from queries with these options in their bodies.
	halfElevated := func(has string) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if req.Body != nil {
				body, err := io.ReadAll(req.Body)
				if err != nil {
					return nil, err
				}
				if req.Body = io.NopCloser(bytes.NewReader(body)); strings.Contains(string(body), has) {
					req.Header.Del("X-Ms-Enable-Elevated-Read")
				}
			}
			return next(req)
		}
	}
	unstated := func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, "search.stats") {
			return response(http.StatusForbidden, ""), nil
		}
		return next(req)
	}
	old := func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if strings.Contains(req.URL.RawQuery, "2026-10-01") || strings.Contains(req.URL.RawQuery, "preview") {
			return response(http.StatusBadRequest, `{"error":{"message":"Invalid or missing api-version query string parameter."}}`), nil
		}
		return next(req)
	}
	defined := func(definition string) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/indexes('everything')") {
				return response(http.StatusOK, definition), nil
			}
			return next(req)
		}
	}
	for name, test := range map[string]struct {
		restricted int
		client     func(*testing.T, *searchtest.Server) *search.Client
		intercept  func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)
		want       func(*testing.T, int, error)
	}{
		"a role": {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byToken(t, s, nil) }, nil, complete(5)},
		"a role and a version of its own": {restricted, func(t *testing.T, s *searchtest.Server) *search.Client {
			return byToken(t, s, &search.ClientOptions{APIVersion: "2025-11-01-preview"})
		}, nil, complete(5)},
		"a key, which may not":              {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byKey(t, s, searchtest.AdminKey, nil) }, nil, refused("elevated read was refused; use an identity of a role with the permission Microsoft.Search/")},
		"a service that ignores the header": {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byKey(t, s, searchtest.AdminKey, nil) }, ignored, refused("no reply shows that this client reads elevated (of restricted documents 0 came with")},
		"only counts are elevated":          {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byToken(t, s, nil) }, halfElevated(`"top":1`), refused("the service counts 2 documents, but shows 0 of them")},
		"only results are elevated":         {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byToken(t, s, nil) }, halfElevated(`"top":0`), refused("no reply shows that this client reads elevated (of restricted documents 0 came with")},
		"nothing restricted to show it":     {0, func(t *testing.T, s *searchtest.Server) *search.Client { return byToken(t, s, nil) }, nil, complete(3)},
		"nothing to hide":                   {0, func(t *testing.T, s *searchtest.Server) *search.Client { return byKey(t, s, searchtest.AdminKey, nil) }, ignored, complete(3)},
		"statistics that lag a little":      {0, func(t *testing.T, s *searchtest.Server) *search.Client { return byToken(t, s, nil) }, statistics(2, 2, 4, 3), complete(3)},
		"statistics of too few":             {0, func(t *testing.T, s *searchtest.Server) *search.Client { return byToken(t, s, nil) }, statistics(2), refused("and it counts 3 documents, the statistics 2; use")},
		"statistics that are refused":       {0, func(t *testing.T, s *searchtest.Server) *search.Client { return byToken(t, s, nil) }, unstated, refused("its statistics were refused; grant the role")},
		"a query key":                       {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byKey(t, s, searchtest.QueryKey, nil) }, nil, refused(`grant the role "Search Service Contributor" or use an admin key`)},
		"labels instead of filters":         {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byKey(t, s, searchtest.AdminKey, nil) }, defined(`{"name":"everything","permissionFilterOption":"disabled","purviewEnabled":true,"fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true}]}`), refused("elevated read was refused")},
		"a filter in a complex field":       {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byKey(t, s, searchtest.AdminKey, nil) }, defined(`{"name":"everything","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"a","type":"Edm.ComplexType","fields":[{"name":"users","type":"Edm.String","permissionFilter":"userIds"}]}]}`), refused("elevated read was refused")},
		"a service of an older version":     {restricted, func(t *testing.T, s *searchtest.Server) *search.Client { return byToken(t, s, nil) }, old, refused("cannot be read in api-version 2026-10-01")},
	} {
		for read, call := range wholeReads {
			t.Run(name+" "+read, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := secured(t, test.restricted)
					if test.intercept != nil {
						srv.Intercept(test.intercept)
					}
					began := time.Now()
					n, err := call(wholeindex.Require(t.Context()), test.client(t, srv))
					test.want(t, n, err)
					assert.LessOrEqual(t, time.Since(began), 5*time.Second)
				})
			})
		}
	}
}

// A scan that cannot read the definition continues and warns once per client. With AssumeWholeView it does not warn.
func TestScanGoesOnWithAWarning(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	srv := secured(t, 2)
	client := byKey(t, srv, searchtest.QueryKey, nil)
	for range 2 {
		n, err := wholeReads["Scan"](t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, 3, n)
	}
	assert.Equal(t, 1, strings.Count(log.String(), "definition unreadable; documents may be hidden"), "%s", log.String())
	log.Reset()
	n, err := wholeReads["Scan"](wholeindex.Require(t.Context()), byKey(t, srv, searchtest.QueryKey, &search.ClientOptions{AssumeWholeView: true}))
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	assert.Empty(t, log.String())
	_, err = wholeReads["Scan"](t.Context(), byKey(t, srv, searchtest.AdminKey, nil))
	require.ErrorIs(t, err, search.ErrPartialView, "the definition is known to hide documents")
}

func TestAliasShowsTheDefinitionOfItsIndex(t *testing.T) {
	srv := secured(t, 2)
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), securedOptions(srv, nil))
	require.NoError(t, err)
	_, err = search.Do(t.Context(), indexes, http.MethodPut, search.PathOf("aliases", "now"), map[string]any{"name": "now", "indexes": []string{"everything"}}, nil)
	require.NoError(t, err)
	client, err := indexes.Client("now")
	require.NoError(t, err)
	_, err = wholeReads["Scan"](t.Context(), client)
	require.ErrorIs(t, err, search.ErrPartialView)
	_, err = indexes.GetIndex(t.Context(), "now", nil)
	require.ErrorIs(t, err, search.ErrIndexNotFound)
	require.ErrorContains(t, err, `it is an alias of the index "everything": use that name`)
	report, err := search.Check[models.Document](t.Context(), client, nil)
	require.NoError(t, err)
	assert.Equal(t, "everything", report.Index.Name)
	srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, "/indexes('now')") { // a service that shows no definition by an alias
			return response(http.StatusNotFound, `{"error":{"code":"","message":"No index with the name 'now' was found."}}`), nil
		}
		return next(req)
	})
	_, err = wholeReads["Scan"](t.Context(), client)
	require.ErrorIs(t, err, search.ErrPartialView)
	name, err := client.KeyFieldName(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "id", name)
	gone, err := indexes.Client("gone")
	require.NoError(t, err)
	_, err = wholeReads["Scan"](wholeindex.Require(t.Context()), gone)
	require.ErrorIs(t, err, search.ErrIndexNotFound)
	assert.False(t, errors.Is(err, search.ErrPartialView))
}

// An alias that cannot be read may be that of an index with permissions: it is not the answer "no such index".
func TestAnAliasThatCannotBeReadIsNotAMissingIndex(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusServiceUnavailable} {
		srv := secured(t, 2)
		opts := securedOptions(srv, nil)
		opts.Retry.MaxRetries = -1
		client, err := search.NewClientWithKey(srv.URL(), "now", azcore.NewKeyCredential(searchtest.AdminKey), opts)
		require.NoError(t, err)
		_, err = search.Do(t.Context(), client, http.MethodPut, search.PathOf("aliases", "now"), map[string]any{"name": "now", "indexes": []string{"everything"}}, nil)
		require.NoError(t, err)
		srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			switch {
			case strings.HasSuffix(req.URL.Path, "/indexes('now')"):
				return response(http.StatusNotFound, `{"error":{"code":"","message":"No index with the name 'now' was found."}}`), nil
			case strings.HasSuffix(req.URL.Path, "/aliases('now')"):
				return response(status, `{"error":{"code":"","message":"not now"}}`), nil
			}
			return next(req)
		})
		_, err = wholeReads["Scan"](wholeindex.Require(t.Context()), client)
		require.Error(t, err)
		assert.NotErrorIs(t, err, search.ErrIndexNotFound, status)
		_, err = search.Check[models.Document](t.Context(), client, nil)
		assert.NotErrorIs(t, err, search.ErrIndexNotFound, status)
		_, err = client.KeyFieldName(t.Context())
		require.Error(t, err)
		assert.NotErrorIs(t, err, search.ErrIndexNotFound, status)
	}
}

// TestPagesThatAreNotElevatedEndTheScan: one page of results shows restricted documents, the pages of a scan do not.
// Documents that were deleted or added between a page and its count are no such difference.
func TestPagesThatAreNotElevatedEndTheScan(t *testing.T) {
	query := func(change func(srv *searchtest.Server, body string, req *http.Request)) func(*testing.T) (*searchtest.Server, *search.Client) {
		return func(t *testing.T) (*searchtest.Server, *search.Client) {
			srv := secured(t, 2)
			srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
				if strings.HasSuffix(req.URL.Path, "/docs/search.post.search") {
					body, err := io.ReadAll(req.Body)
					if err != nil {
						return nil, err
					}
					req.Body = io.NopCloser(bytes.NewReader(body))
					change(srv, string(body), req)
				}
				return next(req)
			})
			return srv, byToken(t, srv, nil)
		}
	}
	results := func(body string) bool {
		return !strings.Contains(body, `"top":0`) && !strings.Contains(body, `"top":1,`)
	}
	for name, read := range map[string]func(context.Context, *search.Client) (int, error){
		"Scan": wholeReads["Scan"], "Rows.Lookup": wholeReads["Rows.Lookup"], "Rows.Scan": wholeReads["Rows.Scan"],
		"DeleteMatching": func(ctx context.Context, c *search.Client) (int, error) {
			deleted, err := search.DeleteMatching(ctx, c, "id", search.Eq("owner", "a"), nil)
			return len(deleted), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, client := query(func(_ *searchtest.Server, body string, req *http.Request) {
					if results(body) {
						req.Header.Del("X-Ms-Enable-Elevated-Read")
					}
				})(t)
				began := time.Now()
				_, err := read(wholeindex.Require(t.Context()), client)
				require.ErrorIs(t, err, search.ErrPartialView)
				require.ErrorContains(t, err, "permission filters apply to its results, but not to its counts")
				assert.LessOrEqual(t, time.Since(began), 5*time.Second)
				assert.Len(t, srv.DocumentKeys("everything"), 5)
			})
		})
		t.Run(name+" while documents are written", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				changes := 0
				_, client := query(func(srv *searchtest.Server, body string, _ *http.Request) {
					if strings.Contains(body, `"top":0`) && changes < 12 {
						changes++
						key := []string{"open0", "open1"}[changes%2]
						writer := byKey(t, srv, searchtest.AdminKey, nil)
						_, err := search.DeleteDocumentsByKey(t.Context(), writer, "id", []string{key}, nil)
						assert.NoError(t, err)
						_, err = search.UploadDocuments(t.Context(), writer, []map[string]any{{"id": "later" + string(rune('a'+changes)), "owner": "a", "users": []string{"alice"}}}, nil)
						assert.NoError(t, err)
					}
				})(t)
				_, err := read(wholeindex.Require(t.Context()), client)
				require.NoError(t, err)
			})
		})
	}
}

func TestDeleteMatchingLeavesNothingBehindPermissions(t *testing.T) {
	srv := secured(t, 2)
	ctx := t.Context()
	_, err := search.DeleteMatching(ctx, byKey(t, srv, searchtest.AdminKey, nil), "id", search.Eq("owner", "a"), nil)
	require.ErrorIs(t, err, search.ErrPartialView)
	assert.Len(t, srv.DocumentKeys("everything"), 5, "nothing was deleted")
	deleted, err := search.DeleteMatching(ctx, byToken(t, srv, nil), "id", search.Eq("owner", "a"), nil)
	require.NoError(t, err)
	assert.Len(t, deleted, 5)
	assert.Empty(t, srv.DocumentKeys("everything"))
}

// The test counts the requests for the definition.
func TestDefinitionIsReadOnceForWorkAndNotForPages(t *testing.T) {
	srv, client := emulatingEverything(t, numbered(50)...)
	rows, err := search.NewRows(client, &search.RowsOptions{KeyField: "id", PageSize: 10})
	require.NoError(t, err)
	definitions := func() (n int) {
		for _, r := range srv.Requests() {
			if r.Operation == "getIndex" {
				n++
			}
		}
		return n
	}
	before := definitions()
	for i := range 2 {
		ctx := wholeindex.Require(t.Context())
		for range 3 {
			for _, err := range rows.Scan(ctx, "", "") {
				require.NoError(t, err)
			}
			_, err := rows.Lookup(ctx, []string{numberedID(1)})
			require.NoError(t, err)
		}
		_, err := client.DocumentCount(ctx, nil)
		require.NoError(t, err)
		assert.Equal(t, before+i+1, definitions())
	}
}

// Without this protection an update in a version that lacks permission filters would remove them, and every user
// could read every document.
func TestAnUpdateKeepsPermissionFilters(t *testing.T) {
	srv := secured(t, 1)
	client, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), securedOptions(srv, nil))
	require.NoError(t, err)
	_, err = client.UpdateIndex(t.Context(), "everything", func(x *models.SearchIndex) error {
		x.Description = "changed"
		return nil
	}, nil)
	require.NoError(t, err)
	shown := 0
	for _, err := range search.Search[models.Document](t.Context(), byKey(t, srv, searchtest.AdminKey, nil), "", nil) {
		require.NoError(t, err)
		shown++
	}
	assert.Equal(t, 3, shown, "public documents")
}

// Members of newer versions survive an update, in each representation of the definition.
func TestAnOlderVersionDoesNotRemoveWhatItDoesNotShow(t *testing.T) {
	srv := secured(t, 1)
	key := azcore.NewKeyCredential(searchtest.AdminKey)
	before := srv.Definitions()
	for _, version := range []string{"2019-05-06", "2024-07-01", "2025-09-01", "2026-04-01"} {
		opts := securedOptions(srv, &search.ClientOptions{APIVersion: version})
		indexes, err := search.NewIndexClientWithKey(srv.URL(), key, opts)
		require.NoError(t, err)
		const sentence = "the index has fields/users.permissionFilter, fields/team.permissionFilter, permissionFilterOption, which api-version "
		_, err = indexes.UpdateIndex(t.Context(), "everything", func(x *models.SearchIndex) error {
			x.DefaultScoringProfile = ""
			x.CORSOptions = &models.CORSOptions{AllowedOrigins: []string{"*"}}
			return nil
		}, nil)
		require.ErrorContains(t, err, sentence+version)
		assert.ErrorContains(t, err, "set ClientOptions.APIVersion to 2026-10-01")
		read, err := indexes.GetIndex(t.Context(), "everything", nil)
		require.NoError(t, err)
		_, err = indexes.CreateOrUpdateIndex(t.Context(), read, nil)
		require.ErrorContains(t, err, sentence+version)
		_, err = indexes.CreateOrUpdateIndex(t.Context(), read, &search.CreateOrUpdateIndexOptions{IfNoneMatch: new(azcore.ETag(`"0x1"`))})
		require.ErrorContains(t, err, sentence+version, "it replaces an index with any other ETag")
		_, err = indexes.CreateOrUpdateIndex(t.Context(), models.SearchIndex{Name: "everything", Fields: read.Fields}, nil)
		require.ErrorContains(t, err, sentence+version)
	}
	assert.Equal(t, before, srv.Definitions())

	source := indexers.DataSource{
		Name: "blobs", Type: indexers.DataSourceTypeAzureBlob, Container: indexers.Container{Name: "c"}, Credentials: indexers.Credentials{ConnectionString: "ResourceId=/x;"},
	}
	newest, err := search.NewIndexerClientWithKey(srv.URL(), key, securedOptions(srv, nil))
	require.NoError(t, err)
	older, err := search.NewIndexerClientWithKey(srv.URL(), key, securedOptions(srv, &search.ClientOptions{APIVersion: "2026-04-01"}))
	require.NoError(t, err)
	_, err = older.CreateOrUpdateDataSource(t.Context(), source, nil)
	require.NoError(t, err, "a new one")
	_, err = older.CreateOrUpdateDataSource(t.Context(), source, nil)
	require.NoError(t, err, "nothing is hidden")
	source.PermissionOptions = []indexers.PermissionOption{indexers.PermissionOptionUserIDs}
	_, err = newest.CreateOrUpdateDataSource(t.Context(), source, nil)
	require.NoError(t, err)
	source.PermissionOptions = nil
	_, err = older.CreateOrUpdateDataSource(t.Context(), source, nil)
	require.ErrorContains(t, err, "the data source has indexerPermissionOptions, which api-version 2026-04-01 does not show")
}
