package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

// loadInto runs azsearch load in this process, with a file of one document.
func loadInto(ctx context.Context, t *testing.T, o *searchtest.Options, before func(*searchtest.Server, *http.Request), args ...string) ended {
	t.Helper()
	server := searchtest.NewServer(o)
	defer server.Close()
	require.NoError(t, server.CreateIndex(hotelFields))
	server.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		before(server, req)
		return next(req)
	})
	file := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(hotelLines(1)), 0o600))
	require.NoError(t, server.Listen("127.0.0.1:0"))
	return runAgainst(ctx, t, server, append([]string{"load", "-index", "hotels", "-quiet", file}, args...)...)
}

// runAgainst runs azsearch in this process, with a service that listens.
func runAgainst(ctx context.Context, t *testing.T, server *searchtest.Server, args ...string) ended {
	t.Helper()
	t.Setenv("AZURE_SEARCH_ENDPOINT", server.URL())
	t.Setenv("AZURE_SEARCH_API_KEY", searchtest.AdminKey)
	var stdout, stderr bytes.Buffer
	code := run(ctx, append([]string{"azsearch"}, args...), &stdout, &stderr)
	return ended{code, stdout.String(), stderr.String()}
}

// A deletion by another program, or a permission filter, hides the document for ever.
func TestWaitForADocumentThatDoesNotAppearEnds(t *testing.T) {
	got := loadInto(t.Context(), t, &searchtest.Options{VisibilityLag: time.Hour}, func(*searchtest.Server, *http.Request) {}, "-until-visible", "-patience", "10ms")
	assert.Equal(t, 3, got.code)
	assert.Equal(t, "azsearch: everything is loaded, but queries do not show the change of document \"0\" within -patience 10ms\n", got.stderr)
}

// The report is printed after whatever follows the load.
func TestReportHasTheExitCodeOfTheProcess(t *testing.T) {
	hidden := &searchtest.Options{VisibilityLag: time.Hour}
	sends := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "search.index") }
	looks := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "search.post.search") }
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	loaded := false
	for _, c := range []struct {
		code   int
		says   string
		ctx    context.Context
		o      *searchtest.Options
		before func(*searchtest.Server, *http.Request)
		args   []string
	}{
		{0, "", t.Context(), nil, func(*searchtest.Server, *http.Request) {}, nil},
		{3, "everything is loaded, but", t.Context(), hidden, func(*searchtest.Server, *http.Request) {}, []string{"-until-visible", "-patience", "10ms"}},
		{130, "interrupted: everything is loaded", ctx, hidden, func(_ *searchtest.Server, r *http.Request) {
			if looks(r) {
				interrupt()
			}
		}, []string{"-until-visible"}},
		{1, "deleted and created again", t.Context(), nil, func(s *searchtest.Server, r *http.Request) {
			switch {
			case sends(r):
				loaded = true
			case loaded:
				loaded = false
				indexes := clienttest.NewIndexClient(t, &clienttest.Options{Server: s})
				assert.NoError(t, indexes.DeleteIndex(t.Context(), "hotels", nil))
				assert.NoError(t, s.CreateIndex(strings.Replace(hotelFields, "stars", "rooms", 1)))
			}
		}, nil},
	} {
		got := loadInto(c.ctx, t, c.o, c.before, append(c.args, "-json")...)
		assert.Equal(t, c.code, got.code, got.stderr)
		var report struct {
			Exit  int    `json:"exit"`
			Error string `json:"error"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &report), "%s", got.stdout)
		assert.Equal(t, c.code, report.Exit, c.says)
		assert.Contains(t, report.Error, c.says)
		assert.Contains(t, got.stderr, report.Error)
	}
}
