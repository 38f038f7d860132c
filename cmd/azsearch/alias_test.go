package main

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestCommandsTakeAnAliasForItsIndex(t *testing.T) {
	testkit.Long(t)
	e, s := withRooms(t, roomFields, map[string]string{"new.jsonl": `{"id":"4","name":"New","place":[1,1]}`, "v.json": "[0, 1]", "all.jsonl": `{"id":"9","name":"Only","place":[1,1]}`})
	status, _, body := e.call(t, http.DefaultClient, http.MethodPost, "/aliases", searchtest.AdminKey, `{"name":"now","indexes":["rooms"]}`)
	require.Equal(t, http.StatusCreated, status, body)
	const note = "azsearch: now is an alias of the index rooms, which is used\n"
	for _, command := range [][]string{
		{"load", "-index", "now", "new.jsonl"},
		{"export", "now"},
		{"verify", "now", "rooms"},
		{"search", "now", "-vector", "v.json", "-top", "1"},
		{"stats", "now"},
		{"copy", "now", "other"},
		{"repair", "-index", "now", "all.jsonl"},
	} {
		got := s.run(command...)
		assert.Zero(t, got.code, "%v: %s%s", command, got.stdout, got.stderr)
		assert.Contains(t, got.stderr, note, "%v", command)
	}
	for _, command := range [][]string{
		{"get", "now", "1"},
		{"search", "now", "quiet"},
		{"doctor", "-index", "now"},
		{"delete", "now", "-filter", "id eq '4'", "-yes"},
		{"backup", "-index", "now", filepath.Join(t.TempDir(), "b")},
	} {
		got := s.run(command...)
		assert.Zero(t, got.code, "%v: %s%s", command, got.stdout, got.stderr)
	}
}
