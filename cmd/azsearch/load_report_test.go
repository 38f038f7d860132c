package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
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
	require.NoError(t, server.Listen("127.0.0.1:0"))
	t.Setenv("AZURE_SEARCH_ENDPOINT", server.URL())
	t.Setenv("AZURE_SEARCH_API_KEY", searchtest.AdminKey)
	file := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(hotelLines(1)), 0o600))
	var stdout, stderr bytes.Buffer
	code := run(ctx, append([]string{"azsearch", "load", "-index", "hotels", "-quiet", file}, args...), &stdout, &stderr)
	return ended{code, stdout.String(), stderr.String()}
}

// A deletion by another program, or a permission filter, hides the document for ever.
func TestWaitForADocumentThatDoesNotAppearEnds(t *testing.T) {
	got := loadInto(t.Context(), t, &searchtest.Options{VisibilityLag: time.Hour}, func(*searchtest.Server, *http.Request) {}, "-until-visible", "-patience", "10ms")
	assert.Equal(t, 3, got.code)
	assert.Equal(t, "azsearch: everything is loaded, but queries do not show the change of document \"0\" within -patience 10ms\n", got.stderr)
}
