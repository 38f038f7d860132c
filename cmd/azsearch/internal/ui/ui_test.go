package ui

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const hostileText = `<script>alert(1)</script><img src=x onerror="alert(2)">`

// host is a browser's URL of an emulator on this machine.
const host = "http://127.0.0.1:8080"

// shown is a server with a page, as seen by a browser.
type shown struct {
	t *testing.T
	*searchtest.Server
	client *http.Client
}

func show(t *testing.T, opts Options) shown {
	t.Helper()
	srv := searchtest.NewServer(&searchtest.Options{KeepRequests: KeepRequests, KeepBodies: KeepBodies})
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	require.NoError(t, srv.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"name","type":"Edm.String","filterable":false,"sortable":false,"facetable":false},{"name":"notes","type":"Edm.String","retrievable":false}]}`))
	srv.Intercept(New(srv, opts).Intercept)
	return shown{t, srv, &http.Client{Transport: srv.Transport()}}
}

// reply is a reply with its body.
type reply struct {
	*http.Response
	body string
}

// send sends a request; headers are names and values in turn, and Host sets the host of the request.
func (s shown) send(method, address, body string, headers ...string) reply {
	s.t.Helper()
	if !strings.Contains(address, "://") {
		address = host + address
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, address, strings.NewReader(body))
	require.NoError(s.t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return reply{resp, string(content)}
}

// get reads JSON from below /_ui/.
func get[T any](s shown, path string) T {
	s.t.Helper()
	r := s.send("GET", path, "")
	require.Equal(s.t, http.StatusOK, r.StatusCode, r.body)
	require.Equal(s.t, "application/json; charset=utf-8", r.Header.Get("Content-Type"))
	var v T
	require.NoError(s.t, json.Unmarshal([]byte(r.body), &v))
	return v
}

// upload writes documents with the key of a client.
func (s shown) upload(documents ...string) {
	s.t.Helper()
	r := s.send("POST", "/indexes('hotels')/docs/search.index?api-version=2026-04-01", `{"value":[`+strings.Join(documents, ",")+`]}`,
		"Api-Key", searchtest.AdminKey, "Content-Type", "application/json", "X-Test", hostileText)
	require.Equal(s.t, http.StatusOK, r.StatusCode, r.body)
}

func TestThePageAndItsFilesAreServed(t *testing.T) {
	s := show(t, Options{})
	page := s.send("GET", "/", "")
	assert.Equal(t, http.StatusOK, page.StatusCode)
	assert.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
	assert.NotContains(t, page.body, "//", "an address somewhere else, or a script in the page")
	entries, err := files.ReadDir("page")
	require.NoError(t, err)
	for _, e := range entries {
		r := s.send("GET", "/_ui/page/"+e.Name(), "")
		assert.Equal(t, http.StatusOK, r.StatusCode, e.Name())
		assert.NotEmpty(t, r.Header.Get("Content-Type"), e.Name())
		if strings.HasSuffix(e.Name(), ".js") {
			for _, forbidden := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
				assert.NotContains(t, r.body, forbidden, e.Name())
			}
		}
	}
	head := s.send("HEAD", "/", "")
	assert.Equal(t, http.StatusOK, head.StatusCode)
	assert.Empty(t, head.body)
	assert.EqualValues(t, len(page.body), head.ContentLength)
}

func TestNothingButThePageIsAllowedInThePage(t *testing.T) {
	s := show(t, Options{})
	for _, path := range []string{"/", "/_ui/state", "/_ui/page/main.js", "/_ui/nothing"} {
		h := s.send("GET", path, "").Header
		policy := h.Get("Content-Security-Policy")
		assert.True(t, strings.HasPrefix(policy, "default-src 'none'; "), path)
		assert.NotContains(t, policy, "unsafe", path)
		assert.NotContains(t, policy, "http", path)
		assert.Contains(t, policy, "frame-ancestors 'none'", path)
		assert.Contains(t, policy, "require-trusted-types-for 'script'", path)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "no-store", h.Get("Cache-Control"), path)
		for name := range h {
			assert.NotContains(t, name, "Access-Control", path)
		}
	}
}

func TestEverythingElseGoesToTheEmulatorUnchanged(t *testing.T) {
	s := show(t, Options{})
	without := searchtest.NewServer(nil)
	plain := shown{t, without, &http.Client{Transport: without.Transport()}}
	for _, path := range []string{"/indexes?api-version=2026-04-01", "/_ui", "/favicon.ico", "//", "/servicestats?api-version=2026-04-01", "/indexes('_ui')?api-version=2026-04-01"} {
		got, want := s.send("GET", path, "", "Host", "evil.example", "Sec-Fetch-Site", "cross-site"), plain.send("GET", path, "", "Host", "evil.example")
		assert.Equal(t, want.StatusCode, got.StatusCode, path)
		assert.Equal(t, want.body, got.body, path)
		assert.Empty(t, got.Header.Get("Content-Security-Policy"), path)
	}
	assert.Len(t, s.Requests(), 6)
}

func TestAServerWithoutAPageServesNothingOfIt(t *testing.T) {
	srv := searchtest.NewServer(nil)
	s := shown{t, srv, &http.Client{Transport: srv.Transport()}}
	for _, path := range []string{"/", "/_ui/state", "/_ui/session", "/_ui/page/main.js"} {
		r := s.send("GET", path, "")
		assert.GreaterOrEqual(t, r.StatusCode, 400, path)
		assert.NotContains(t, r.body, searchtest.QueryKey, path)
	}
}

func TestMethodsThatAnAddressDoesNotHaveAreRefused(t *testing.T) {
	s := show(t, Options{})
	for _, c := range [][2]string{
		{"POST", "/"}, {"PUT", "/"}, {"POST", "/_ui/state"}, {"DELETE", "/_ui/documents"}, {"POST", "/_ui/faults"}, {"GET", "/_ui/faults"}, {"OPTIONS", "/_ui/faults"}, {"PUT", "/_ui/session"},
	} {
		r := s.send(c[0], c[1], "")
		assert.Equal(t, http.StatusMethodNotAllowed, r.StatusCode, c)
		assert.NotEmpty(t, r.Header.Get("Allow"), c)
	}
	assert.Equal(t, http.StatusNotFound, s.send("GET", "/_ui/nothing", "").StatusCode)
	assert.Equal(t, http.StatusNotFound, s.send("GET", "/_ui/page/nothing", "").StatusCode)
	assert.Equal(t, http.StatusNotFound, s.send("GET", "/_ui/page/..%2fui.go", "").StatusCode)
}

func TestThePageIsThereUnderNamesOfOurOwnOnly(t *testing.T) {
	s := show(t, Options{Hosts: []string{"devbox"}})
	for name, status := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1": 200, "127.0.0.1:8080": 200, "[::1]": 200, "[::1]:8080": 200, "192.168.1.7:8080": 200, "devbox:8080": 200, "DevBox": 200,
		"evil.example": 403, "evil.example:8080": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "devbox.evil.example": 403, ":8080": 403, "0x7f.1": 403,
	} {
		for _, path := range []string{"/", "/_ui/session", "/_ui/state"} {
			r := s.send("GET", path, "", "Host", name)
			assert.Equal(t, status, r.StatusCode, "%s as %s", path, name)
			assert.Equal(t, status == 200 && path == "/_ui/session", strings.Contains(r.body, searchtest.QueryKey), "%s as %s", path, name)
		}
		status := map[int]int{200: 204, 403: 403}[status]
		r := s.send("DELETE", "/_ui/faults", "", "Host", name)
		assert.Equal(t, status == 204, r.StatusCode == 200, "DELETE as %s: %d", name, r.StatusCode)
	}
	for _, name := range []string{"devbox", ":8080"} {
		assert.Equal(t, http.StatusForbidden, show(t, Options{}).send("GET", "/", "", "Host", name).StatusCode, name)
	}
}

func TestOtherPagesInTheBrowserCanDoNothing(t *testing.T) {
	s := show(t, Options{})
	const script = `{"rules":[{"status":503}]}`
	for _, from := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://evil.example"}, {"Origin", "http://127.0.0.1:9999"}, {"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site", "Origin", host},
	} {
		assert.Equal(t, http.StatusForbidden, s.send("PUT", "/_ui/faults", script, from...).StatusCode, from)
		assert.Equal(t, http.StatusForbidden, s.send("DELETE", "/_ui/faults", "", from...).StatusCode, from)
	}
	assert.Empty(t, get[stateReply](s, "/_ui/state").Faults.Script)
	for _, site := range []string{"cross-site", "same-site"} {
		for _, path := range []string{"/_ui/session", "/_ui/state", "/_ui/documents?index=hotels", "/_ui/page/main.js"} {
			assert.Equal(t, http.StatusForbidden, s.send("GET", path, "", "Sec-Fetch-Site", site).StatusCode, "%s from %s", path, site)
		}
		assert.Equal(t, http.StatusOK, s.send("GET", "/", "", "Sec-Fetch-Site", site).StatusCode, "a link to the page")
	}
	for _, from := range [][]string{{"Sec-Fetch-Site", "same-origin", "Origin", host}, {"Origin", host}, {}} {
		assert.Equal(t, http.StatusOK, s.send("PUT", "/_ui/faults", script, from...).StatusCode, from)
		assert.Equal(t, http.StatusOK, s.send("GET", "/_ui/state", "", from...).StatusCode, from)
	}
}
