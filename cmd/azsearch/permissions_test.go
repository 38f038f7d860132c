package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const guardedFields = `"permissionFilterOption":"enabled","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
	{"name":"c","type":"Edm.String","filterable":true},{"name":"users","type":"Collection(Edm.String)","filterable":true,"permissionFilter":"userIds"}]}`

// privileged is an emulator whose proxy replaces the session's key with a token that has every permission.
func privileged(t *testing.T) (*emulator, *session) {
	t.Helper()
	testkit.Long(t)
	e := startEmulator(t, "-quiet", "-any-token")
	to, err := url.Parse(e.url)
	require.NoError(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Del("Api-Key")
		r.Out.Header.Set("Authorization", "Bearer t")
	}})
	t.Cleanup(proxy.Close)
	return e, newSession(t, proxy.URL, nil)
}

func guardedLines(open, hidden int) string {
	var b strings.Builder
	for i := range open + hidden {
		users := "all"
		if i >= open {
			users = "alice"
		}
		fmt.Fprintf(&b, `{"id":"%d","c":"XX","users":[%q]}`+"\n", i, users)
	}
	return b.String()
}

// No document of these indexes shows that reads are elevated.
func TestPrivilegedCommandsAreNotRefused(t *testing.T) {
	_, s := privileged(t)
	for name, documents := range map[string]string{"none": "", "open": guardedLines(3, 0), "some": guardedLines(3, 2)} {
		s.write(name+".json", `{"name":"`+name+`",`+guardedFields)
		s.write(name+".jsonl", documents)
		got := s.run("load", "-create", name+".json", "-quiet", name+".jsonl")
		require.Zero(t, got.code, got.stderr)
		n := strings.Count(documents, "\n")
		got = s.run("copy", name, name+"2")
		assert.Zero(t, got.code, got.stderr)
		assert.Contains(t, got.stderr, fmt.Sprintf(": %d of %d documents", n, n))
		got = s.run("export", "-quiet", name)
		assert.Zero(t, got.code, got.stderr)
		assert.Equal(t, n, strings.Count(got.stdout, "\n"), got.stdout)
	}
}

func TestCopyThatIsRefusedLeavesNoIndex(t *testing.T) {
	testkit.Long(t)
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{"guarded.json": `{"name":"any",` + guardedFields, "plain.json": strings.Replace(`{"name":"plain",`+guardedFields, "enabled", "disabled", 1), "a.jsonl": guardedLines(3, 0)})
	require.Zero(t, s.run("load", "-create", "plain.json", "-quiet", "a.jsonl").code)
	got := s.run("copy", "-create", "guarded.json", "plain", "new")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stderr, "elevated read was refused")
	status, _, body := e.call(t, http.DefaultClient, http.MethodGet, "/indexes('new')", searchtest.AdminKey, "")
	assert.Equal(t, http.StatusNotFound, status, body)
}

// The key is not filterable, so the command uses search.DeleteMatching.
func TestExpectCountsHiddenDocuments(t *testing.T) {
	_, s := privileged(t)
	s.write("permk.json", `{"name":"permk",`+strings.Replace(guardedFields, `"filterable":true,"sortable":true`, `"filterable":false,"sortable":false`, 1))
	s.write("permk.jsonl", guardedLines(5, 2))
	got := s.run("load", "-create", "permk.json", "-quiet", "permk.jsonl")
	require.Zero(t, got.code, got.stderr)
	got = s.run("delete", "permk", "-filter", "c eq 'XX'", "-yes", "-expect", "5", "-json")
	assert.Equal(t, 1, got.code, got.stdout)
	assert.Contains(t, got.stderr, "-expect is 5, and the filter matches 7 documents: nothing was deleted")
	assert.Contains(t, got.stdout, `"matched": 7`)
	got = s.run("delete", "permk", "-filter", "c eq 'XX'", "-yes", "-expect", "7", "-json")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, `"deleted": 7`)
}

// The last document is one that permissions hide.
func TestLoadUntilVisibleSeesHiddenDocuments(t *testing.T) {
	e, s := privileged(t)
	s.write("perm.json", `{"name":"perm",`+guardedFields)
	s.write("a.jsonl", guardedLines(1, 1))
	got := s.run("load", "-create", "perm.json", "-quiet", "-until-visible", "-patience", "3s", "a.jsonl")
	assert.Zero(t, got.code, got.stderr)
	got = newSession(t, e.url, map[string]string{"a.jsonl": guardedLines(1, 1)}).run("load", "-index", "perm", "-quiet", "-until-visible", "-patience", "3s", "a.jsonl")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stderr, "everything is loaded, but -until-visible cannot wait: ")
	assert.Contains(t, got.stderr, "elevated read was refused")
}
