package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/repair"
)

// The session makes an index equal to two files of different order and format.
func TestRepairSession(t *testing.T) {
	_, s := withRooms(t, roomFields, map[string]string{
		"a.json":  `[{"id":"4","name":"New"}, {"id":"1","name":"Quiet & wide","tags":["pool","wifi"],"stars":9007199254740993,"place":[1,0]}]`,
		"b.csv":   "id,name,stars\n2,Louder,2\n",
		"all.csv": "id\n", "bad.jsonl": `{"id":"1","stars":"many"}`, "merge.jsonl": `{"@search.action":"merge","id":"1"}`,
	})
	got := s.run("repair", "-index", "rooms", "-pause", "1ms", "b.csv")
	assert.Zero(t, got.code, got.stderr)
	assert.Regexp(t, `^compared 1 document with 3 of the index
  2 surplus: 1, 3
  1 different: 2
nothing was written, and -yes would be refused: .* set -allow-deletes to 2, or -max-share to at least 0.67
$`, got.stdout)
	assert.Contains(t, got.stderr, "azsearch: not compared, because the service does not return them exactly: place;")
	got = s.run("repair", "-index", "rooms", "-pause", "1ms", "-yes", "b.csv")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "wrote 0, deleted 0\n")
	got = s.run("repair", "-index", "rooms", "-pause", "1ms", "a.json", "b.csv")
	assert.Equal(t, "compared 3 documents with 3 of the index\n  1 missing: 4\n  1 surplus: 3\n  1 different: 2\nnothing was written; add -yes to repair\n", got.stdout)
	got = s.run("repair", "-index", "rooms", "-pause", "1ms", "-yes", "a.json", "b.csv", "-json")
	assert.Zero(t, got.code, got.stderr)
	var report repair.Report
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	assert.Equal(t, []int64{2, 1, 0}, []int64{report.Repaired, report.Deleted, report.Rejected})
	assert.Equal(t, "{\"id\":\"1\",\"name\":\"Quiet & wide\"}\n{\"id\":\"2\",\"name\":\"Louder\"}\n{\"id\":\"4\",\"name\":\"New\"}\n",
		s.run("search", "rooms", "-o", "jsonl", "-select", "id,name", "-order", "id").stdout)
	got = s.run("repair", "-index", "rooms", "-pause", "1ms", "a.json", "b.csv")
	assert.Equal(t, 0, got.code)
	assert.Equal(t, "compared 3 documents with 3 of the index\n", got.stdout)
	got = s.run("repair", "-index", "rooms", "-pause", "1ms", "-version", "stars", "b.csv", "-allow-deletes", "-1", "-max-share", "1", "-yes")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, "2 surplus: 1, 4\nwrote 0, deleted 0\n")

	got = s.run("repair", "-index", "rooms", "-pause", "1ms", "-yes", "-max-share", "1", "all.csv")
	assert.Equal(t, 1, got.code, "no source deletes everything")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"a.json"}, 2, "-index NAME"},
		{[]string{"-index", "rooms"}, 2, "FILE..."},
		{[]string{"-index", "rooms", "none.json"}, 2, "none.json"},
		{[]string{"-index", "none", "a.json"}, 3, "none"},
		{[]string{"-index", "rooms", "bad.jsonl"}, 1, "cannot be in the index"},
		{[]string{"-index", "rooms", "merge.jsonl"}, 1, "repair needs whole documents"},
		{[]string{"-index", "rooms", "-max-share", "2", "a.json"}, 2, "-max-share 2"},
		{[]string{"-index", "rooms", "-version", "size", "b.csv"}, 3, "size"},
	} {
		got := s.run(append([]string{"repair"}, c.args...)...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
	}
	assert.Regexp(t, `(?m)^documents +3\b`, s.run("stats").stdout)
}
