package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// TestResumeContinuesWithTheFileOfRejectsOfItsState has a file of another load in the folder, which a checkpointed load
// neither writes nor reads.
func TestResumeContinuesWithTheFileOfRejectsOfItsState(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, map[string]string{
		"rejects.jsonl": "of another load\n", "good.jsonl": hotelLines(2), "bad.jsonl": "{\"id\":\"8\",\"stars\":\"five\"}\n{\"id\":\"9\",\"stars\":5}\n",
	})
	load := func(state, file string) ended { return s.run("load", "-index", "hotels", "-resume", state, file) }

	got := load("good.state", "good.jsonl")
	assert.Zero(t, got.code, got.stderr)
	got = load("good.state", "good.jsonl")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "nothing to do: an earlier run with this -resume read all files to the end")
	assert.NotContains(t, got.stderr, "loaded 0")

	got = load("bad.state", "bad.jsonl")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "see rejects-2.jsonl")
	rejected := s.file("rejects-2.jsonl")
	require.NoError(t, os.Remove(filepath.Join(s.dir, "rejects.jsonl")), "the name is free now")
	got = load("bad.state", "bad.jsonl")
	assert.Equal(t, 1, got.code, "what was rejected is still not in the index")
	assert.Contains(t, got.stderr, "nothing to do")
	assert.Contains(t, got.stderr, "see rejects-2.jsonl")
	assert.Equal(t, rejected, s.file("rejects-2.jsonl"))
	assert.NoFileExists(t, filepath.Join(s.dir, "rejects.jsonl"))
}
