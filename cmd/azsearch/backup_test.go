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

// TestVerifySession compares whatever can be compared.
func TestVerifySession(t *testing.T) {
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{"hotels.json": hotelFields, "a.jsonl": hotelLines(2500), "bom.jsonl": "\ufeff" + hotelLines(2500), "bad.jsonl": hotelLines(1) + "{\"id\":\n", "b.jsonl": strings.Replace(hotelLines(2500), "Hotel 77\"", "Inn 77\"", 1)})
	require.Zero(t, s.run("load", "-create", "hotels.json", "-quiet", "a.jsonl").code)
	require.Zero(t, s.run("load", "-create", "hotels.json", "-index", "inns", "-quiet", "b.jsonl").code)
	require.Zero(t, s.run("backup", "-index", "hotels", "dir").code)
	require.NoError(t, os.CopyFS(filepath.Join(s.dir, "cut"), os.DirFS(filepath.Join(s.dir, "dir"))))
	parts, err := filepath.Glob(filepath.Join(s.dir, "cut/documents/hotels/*"))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(parts[0], 100))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"a.jsonl", "hotels"}, 0, ""},
		{[]string{"dir", "a.jsonl"}, 0, ""},
		{[]string{"hotels", "hotels"}, 0, ""},
		{[]string{"-key", "id", "a.jsonl", "b.jsonl"}, 1, "\"77\": differs"},
		{[]string{"hotels", "inns"}, 1, "\"77\": differs"},
		{[]string{"-to-endpoint", "ftp://x", "hotels", "hotels"}, 2, "http"},
		{[]string{"a.jsonl", "b.jsonl"}, 2, "-key FIELD"},
		{[]string{"-index", "inns", "dir", "a.jsonl"}, 2, "-index NAME"},
		{[]string{"hotels", "none"}, 3, "the index \"none\" does not exist"},
		{[]string{"bom.jsonl", "hotels"}, 0, ""},
		{[]string{"hotels", "bad.jsonl"}, 1, "bad.jsonl:2: not JSON"},
		{[]string{"cut", "hotels"}, 1, "cut/documents/hotels/"},
		{[]string{"hotels"}, 2, "arguments are missing"},
	} {
		got := s.run(append([]string{"verify"}, c.args...)...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stdout+got.stderr, c.says, "%v", c.args)
		if strings.HasSuffix(got.stderr, " differ\n") || c.code == 0 {
			assert.Equal(t, 2, strings.Count(got.stdout, "\t2500 documents\t"), "both digests: %s", got.stdout)
		}
	}
}

// TestRestoreSession restores a backup through an expression.
func TestRestoreSession(t *testing.T) {
	e, other := startEmulator(t, "-quiet"), startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{"hotels.json": hotelFields, "a.jsonl": hotelLines(100)})
	require.Zero(t, s.run("load", "-create", "hotels.json", "-quiet", "a.jsonl").code)
	require.Zero(t, s.run("backup", "dir").code)
	s.url = other.url
	status, _, body := other.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, strings.Replace(hotelFields, `"name":"name"`, `"name":"title"`, 1))
	require.Equal(t, http.StatusCreated, status, body)
	got := s.run("restore", "dir")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "exists and differs")
	got = s.run("restore", "-jq", "{id, title: .name} | select(.id != \"17\")", "dir")
	require.Zero(t, got.code, got.stderr)
	_, _, body = other.call(t, http.DefaultClient, http.MethodGet, "/indexes('hotels')/docs('16')", searchtest.AdminKey, "")
	assert.Contains(t, body, `"title":"Hotel 16"`)
	_, _, body = other.call(t, http.DefaultClient, http.MethodGet, "/indexes('hotels')/docs/$count", searchtest.AdminKey, "")
	assert.Equal(t, "99", strings.TrimPrefix(body, "\ufeff"))
	got = s.run("restore", "-index", "hotels", "-as", "inns", "dir")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "index inns: 100 documents, digest ")
	assert.Zero(t, s.run("verify", "-index", "hotels", "dir", "inns").code)
	got = s.run("restore", "-index", "hotels", "-as", "inns", "dir")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, `index "inns" has 100 documents; nothing was changed`)
	got = s.run("restore", "-jq", ".[", "dir")
	assert.Equal(t, 2, got.code)
}

func TestBackupRefusesWhatCannotWorkInOneLine(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, nil)
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "full"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "full", "notes.txt"), nil, 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"backup"}, 2, "use azsearch backup DIR"},
		{[]string{"backup", "a", "b"}, 2, "unknown argument \"b\""},
		{[]string{"backup", "-in-flight", "0", "a"}, 2, "1 to 1000"},
		{[]string{"backup", "-passes", "3", "a"}, 2, "1 to 2"},
		{[]string{"backup", "-index", "rooms*", "a"}, 2, "no index matches"},
	} {
		got := s.run(c.args...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
		assert.Empty(t, got.stdout)
	}
	got := s.run("backup", "full")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "notes.txt")
}
