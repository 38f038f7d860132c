package main

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeysOfDocumentsAreMaskedInEverySpelling(t *testing.T) {
	for path, want := range map[string]string{
		"/indexes('i')/docs('k')":         "/indexes('i')/docs('*')",
		"/indexes('i')/docs('a%2Fb')":     "/indexes('i')/docs('*')",
		"/indexes('i')/docs%28%27k%27%29": "/indexes('i')/docs('*')",
		"/indexes/i/docs/k":               "/indexes/i/docs/*",
		"/indexes/i/d%6Fcs/k":             "/indexes/i/d%6Fcs/*",
		"/indexes/docs/docs/k":            "/indexes/docs/*/*",
		"/indexes/i/docs/%zz":             "/indexes/i/docs/*",
		"/indexes/i/docs/search.index":    "/indexes/i/docs/search.index",
		"/indexes/i/docs/index":           "/indexes/i/docs/index",
		"/indexes('i')/docs/$count":       "/indexes('i')/docs/$count",
		"/indexes('i')/search.stats":      "/indexes('i')/search.stats",
		"/servicestats":                   "/servicestats",
		"":                                "",
		"/a\x1b[2Jb\n":                    "/a?[2Jb?",
		"/" + strings.Repeat("a", 300):    "/" + strings.Repeat("a", 199) + "...",
	} {
		assert.Equal(t, want, maskedPath(path))
	}
}

// The test covers the join of requests with actions, and that unanswered requests leave nothing behind.
func TestActionsReachTheLineOfTheirRequest(t *testing.T) {
	var out strings.Builder
	l := newRequestLog(&out)
	logger := slog.New(l)
	req := httptest.NewRequest(http.MethodPost, "/indexes/i/docs/index?api-key=secret", http.NoBody)

	answered := func(id string, actions int) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) {
			logger.Debug("request", slog.String("request_id", id), slog.Int("actions", actions), slog.Any("error", error(nil)))
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Request-Id": {id}}}, nil
		}
	}
	// The second request ends before the first.
	first := answered("one", 3)
	resp, err := l.intercept(req, func(r *http.Request) (*http.Response, error) {
		resp, err := first(r)
		inner, innerErr := l.intercept(req, answered("two", 5))
		require.NoError(t, innerErr)
		require.NotNil(t, inner)
		return resp, err
	})
	require.NoError(t, err)
	require.NotNil(t, resp)

	_, err = l.intercept(req, func(*http.Request) (*http.Response, error) {
		logger.Debug("request", slog.String("request_id", "three"), slog.Int("actions", 7), slog.Any("error", io.ErrUnexpectedEOF))
		return nil, io.ErrUnexpectedEOF
	})
	require.True(t, errors.Is(err, io.ErrUnexpectedEOF), "the error is passed on")

	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, lines, 3)
	assert.Regexp(t, `^POST /indexes/i/docs/index 200 \S+s 5 actions$`, lines[0])
	assert.Regexp(t, `^POST /indexes/i/docs/index 200 \S+s 3 actions$`, lines[1])
	assert.Regexp(t, `^POST /indexes/i/docs/index cut \S+s$`, lines[2])
	assert.Empty(t, l.actions)
}
