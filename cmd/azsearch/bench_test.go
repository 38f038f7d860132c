package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The session answers the question with no, then with yes, sends documents of a file, and checks that the index is
// gone.
func TestBenchSession(t *testing.T) {
	_, s := withRooms(t, roomFields, map[string]string{"some.jsonl": `{"id":"x","name":"One","stars":3}`, "bad.jsonl": `{"id":"x","stars":"many"}`})
	got := s.run("bench", "-index", "rooms", "-for", "1s")
	assert.Equal(t, 2, got.code)
	assert.Empty(t, got.stdout)
	assert.Regexp(t, `^create the index azsearch-bench-\w+ \(5 fields\) at http://\S+, fill it for up to 1s, and delete it\? \[y/N\] azsearch: nothing was done`, got.stderr)

	s.input = "y\n"
	got = s.run("bench", "-for", "1s")
	assert.Zero(t, got.code, got.stderr)
	assert.Regexp(t, `(?s)^ +documents per request .*\n→  .*\n\n&bufferedsender.Options\[Document\]\{\n\tLimits: bufferedsender.Limits\{MaxBatchActions: \d+, .*\n\}\n$`, got.stdout)
	got = s.run("bench", "-index", "rooms", "-docs", "some.jsonl", "-for", "1s", "-yes", "-json")
	assert.Zero(t, got.code, got.stderr)
	var report struct {
		Runs         []json.RawMessage
		DocumentSize int
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	assert.GreaterOrEqual(t, len(report.Runs), 6)
	assert.InDelta(t, 35, report.DocumentSize, 10)

	got = s.run("bench", "-index", "rooms", "-docs", "bad.jsonl", "-yes")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "1 of 1 record cannot be in the index")
	assert.Equal(t, 3, s.run("bench", "-index", "none", "-yes").code)
	got = s.run("stats")
	assert.Regexp(t, `(?m)^indexes +1$`, got.stdout)
	assert.Regexp(t, `(?m)^rooms +3 `, got.stdout)
}
