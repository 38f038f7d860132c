//go:build unix

package main

import (
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestSignalStopsTheEmulatorCleanly(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			e := startEmulator(t, "-quiet")
			got := e.stop(t, s)
			assert.Equal(t, ended{}, got, "exit 0 and not a word")
		})
	}
}

func TestEachRequestIsOneLineWithoutKeysOrContents(t *testing.T) {
	e := startEmulator(t)
	c := http.DefaultClient
	e.call(t, c, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
	e.call(t, c, http.MethodPost, "/indexes('hotels')/docs/search.index", searchtest.AdminKey,
		`{"value":[{"@search.action":"upload","id":"key-1","name":"content"},{"@search.action":"merge","id":"key-2"}]}`)
	e.call(t, c, http.MethodGet, "/indexes('hotels')/docs('key-1')", searchtest.QueryKey, "")
	e.call(t, c, http.MethodGet, "/indexes/hotels/docs/key-1", searchtest.QueryKey, "")
	e.call(t, c, http.MethodGet, "/indexes/hotels/docs/key-1", "wrong-secret", "")
	got := e.stop(t, syscall.SIGTERM)

	requests, found := strings.CutPrefix(got.stderr, "export AZURE_SEARCH_ENDPOINT="+e.url+"\nexport AZURE_SEARCH_API_KEY="+searchtest.AdminKey+"\n")
	require.True(t, found, got.stderr)
	lines := strings.Split(strings.TrimSuffix(requests, "\n"), "\n")
	require.Len(t, lines, 5, got.stderr)
	assert.Regexp(t, `^POST /indexes 201 \S+s$`, lines[0])
	assert.Regexp(t, `^POST /indexes\('hotels'\)/docs/search\.index 207 \S+s 2 actions$`, lines[1])
	assert.Regexp(t, `^GET /indexes\('hotels'\)/docs\('\*'\) 200 \S+s$`, lines[2])
	assert.Regexp(t, `^GET /indexes/hotels/docs/\* 200 \S+s$`, lines[3])
	assert.Regexp(t, `^GET /indexes/hotels/docs/\* 40[13] \S+s$`, lines[4])
	for _, secret := range []string{"key-1", "key-2", "content", "secret", searchtest.AdminKey, searchtest.QueryKey} {
		assert.NotContains(t, requests, secret)
	}
}

func TestQuietPrintsNoRequests(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodGet, "/indexes", searchtest.AdminKey, "")
	assert.Equal(t, ended{}, e.stop(t, syscall.SIGTERM))
}

// A scripted delay of an hour must not keep the process alive.
func TestSignalEndsRequestsThatHang(t *testing.T) {
	e := startEmulator(t, "-latency", "1h")
	underWay, answered := make(chan struct{}), make(chan error, 1)
	go func() {
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			// The server sends 100 Continue when its handler reads the body.
			Got100Continue: func() { close(underWay) },
		})
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+"/indexes?api-version=2026-04-01", strings.NewReader(hotels))
		if err == nil {
			req.Header.Set("Api-Key", searchtest.AdminKey)
			req.Header.Set("Expect", "100-continue")
			var transport http.Transport
			transport.ExpectContinueTimeout = 1 << 40
			defer transport.CloseIdleConnections()
			var resp *http.Response
			if resp, err = transport.RoundTrip(req); err == nil {
				_ = resp.Body.Close()
			}
		}
		answered <- err
	}()
	select {
	case <-underWay:
	case err := <-answered:
		t.Fatalf("answered before the signal: %v", err)
	}
	got := e.stop(t, syscall.SIGTERM)
	assert.Zero(t, got.code, got.stderr)
	assert.Error(t, <-answered)
	// The process may end before it prints the last line.
	assert.Regexp(t, `^(export \S+\n){2}(POST /indexes cut \S+s\n)?$`, got.stderr)
}

func TestTokensForEveryoneAreWarnedOfWhereOthersReach(t *testing.T) {
	for addr, warned := range map[string]bool{"127.0.0.1:0": false, ":0": true} {
		e := startEmulator(t, "-quiet", "-any-token", "-addr", addr)
		got := e.stop(t, syscall.SIGTERM)
		assert.Zero(t, got.code)
		assert.Equal(t, warned, strings.Contains(got.stderr, "-any-token on a public address"), got.stderr)
	}
}
