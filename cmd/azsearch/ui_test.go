package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestPageIsServedAtTheEndpoint(t *testing.T) {
	script := filepath.Join(t.TempDir(), "faults.json")
	require.NoError(t, os.WriteFile(script, []byte(`{"rules":[{"operation":"getIndex","status":503}]}`), 0o600))
	e := startEmulator(t, "-ui", "-query-key", "reader", "-faults", script)
	status, header, body := e.call(t, http.DefaultClient, http.MethodGet, "/", "", "")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	assert.Contains(t, body, "azsearch emulator")
	_, _, body = e.call(t, http.DefaultClient, http.MethodGet, "/_ui/session", "", "")
	assert.Contains(t, body, `"queryKey":"reader"`)
	assert.NotContains(t, body, searchtest.AdminKey)
	_, _, body = e.call(t, http.DefaultClient, http.MethodGet, "/_ui/state", "", "")
	assert.Contains(t, body, "getIndex", "the script that it was started with")

	status, _, body = e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
	require.Equal(t, http.StatusCreated, status, body)
	_, _, body = e.call(t, http.DefaultClient, http.MethodGet, "/_ui/requests/1", "", "")
	assert.Contains(t, body, `\"name\":\"hotels\"`, "the page knows the beginning of bodies")

	got := e.stop(t, os.Kill)
	assert.Empty(t, got.stdout, "stdout has only the endpoint")
	lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
	require.Len(t, lines, 4, "requests of the page are not requests of a client: %q", got.stderr)
	assert.Equal(t, "azsearch: the page for browsers is at "+e.url+"/", lines[0], "the first line has the address of the page")
	assert.Contains(t, lines[3], "POST /indexes 201")
}

func TestWithoutTheFlagThereIsNoPage(t *testing.T) {
	e := startEmulator(t)
	for _, path := range []string{"/", "/_ui/state", "/_ui/session", "/_ui/page/main.js"} {
		status, _, body := e.call(t, http.DefaultClient, http.MethodGet, path, "", "")
		assert.GreaterOrEqual(t, status, 400, path)
		assert.NotContains(t, body, "queryKey", path)
	}
	assert.NotContains(t, e.stop(t, os.Kill).stderr, "page for browsers")
}

func TestPageOfAnEmulatorOnAllAddressesIsOneThatBrowsersFind(t *testing.T) {
	for endpoint, page := range map[string]string{
		"http://127.0.0.1:8080":   "http://127.0.0.1:8080/",
		"http://[::]:8080":        "http://localhost:8080/",
		"https://0.0.0.0:8443":    "https://localhost:8443/",
		"http://[::1]:8080":       "http://[::1]:8080/",
		"http://192.168.1.7:8080": "http://192.168.1.7:8080/",
	} {
		assert.Equal(t, page, pageURL(endpoint))
	}
}
