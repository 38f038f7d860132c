package webpage

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func serve(h http.Handler, target, host string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://"+host+target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAPageAnswersToItsOwnNamesOnly(t *testing.T) {
	h := Guard([]string{"Ops.example", ""}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for name, status := range map[string]int{
		"localhost": 204, "LOCALHOST:8080": 204, "127.0.0.1:8080": 204, "[::1]:8080": 204, "10.0.0.7": 204, "ops.example:443": 204,
		"evil.example": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, ":8080": 403, "": 403,
	} {
		assert.Equal(t, status, serve(h, "/debug/", name).Code, name)
	}
	assert.Equal(t, http.StatusForbidden, serve(h, "/debug/state", "localhost", "Sec-Fetch-Site", "cross-site").Code)
	assert.Equal(t, http.StatusNoContent, serve(h, "/debug/", "localhost", "Sec-Fetch-Site", "cross-site").Code, "a link to the page")
	policy := serve(h, "/debug/", "evil.example").Header().Get("Content-Security-Policy")
	assert.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
	assert.NotContains(t, policy, "unsafe")
}

func TestScriptsThatPagesShareMakeNoMarkup(t *testing.T) {
	entries, err := shared.ReadDir("page")
	require.NoError(t, err)
	for _, e := range entries {
		w := httptest.NewRecorder()
		ServeFile(w, fstest.MapFS{}, e.Name())
		assert.Equal(t, http.StatusOK, w.Code)
		assert.NotEmpty(t, w.Header().Get("Content-Type"), e.Name())
		for _, forbidden := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
			assert.NotContains(t, w.Body.String(), forbidden, e.Name())
		}
	}
	w := httptest.NewRecorder()
	ServeFile(w, fstest.MapFS{"page/dom.js": {Data: []byte("own")}}, "dom.js")
	assert.Equal(t, "own", w.Body.String(), "a page can have another one")
	w = httptest.NewRecorder()
	ServeFile(w, fstest.MapFS{}, "../guard.go")
	assert.Equal(t, http.StatusNotFound, w.Code)
}
