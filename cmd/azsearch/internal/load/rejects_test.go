package load

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
)

// A record before the checkpoint is in the index or in the file of rejects. A bad copy of that file would break this
// without a word.
func TestResumeRefusesAFileOfRejectsThatHasLostItsEnd(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("a.jsonl", "{}\n{}\n"+lines(0, 10)+"{}\n")
	open := func() (err error) {
		r.Checkpoint, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), []string{file}, "", Destination{ETag: "1"})
		require.NoError(t, err)
		_, err = OpenRejects(filepath.Join(r.dir, "rejects.jsonl"), r.Checkpoint)
		return err
	}
	require.NoError(t, open())
	report, err := r.load(file)
	require.Error(t, err)
	require.Equal(t, int64(3), report.Rejected)
	content, err := os.ReadFile(filepath.Join(r.dir, "rejects.jsonl"))
	require.NoError(t, err)
	state, err := os.ReadFile(filepath.Join(r.dir, "state.json"))
	require.NoError(t, err)
	for cut := range len(content) - 1 { // without its line feed a line is whole
		r.file("rejects.jsonl", string(content[:cut]))
		require.ErrorContains(t, open(), "of 3 rejects are missing", "cut at %d", cut)
		left, err := os.ReadFile(filepath.Join(r.dir, "rejects.jsonl"))
		require.NoError(t, err)
		require.Equal(t, content[:cut], left, "nothing was rewritten")
	}
	for _, end := range []string{string(content[:len(content)-1]), string(content) + "{"} { // torn behind what was synced
		r.file("rejects.jsonl", end)
		require.NoError(t, open())
		again, err := os.ReadFile(filepath.Join(r.dir, "rejects.jsonl"))
		require.NoError(t, err)
		assert.Equal(t, string(content), string(again))
	}
	after, err := os.ReadFile(filepath.Join(r.dir, "state.json"))
	require.NoError(t, err)
	assert.Equal(t, string(state), string(after))
}

// Rejects behind the checkpoint are dropped on resume, since their records are read again. A crash behind that finds
// as many as the checkpoint says.
func TestResumeCountsTheRejectsThatItDrops(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("a.jsonl", lines(0, 10)+"{}\n{}\n")
	open := func() {
		var err error
		r.Checkpoint, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), []string{file}, "", Destination{ETag: "1"})
		require.NoError(t, err)
		_, err = OpenRejects(filepath.Join(r.dir, "rejects.jsonl"), r.Checkpoint)
		require.NoError(t, err)
	}
	open()
	_, err := r.load(file)
	require.Error(t, err)
	require.NoError(t, r.Checkpoint.write(place{}, false, 2), "two rejects were synced before their block was settled")
	for range 2 {
		open()
		require.Zero(t, r.Checkpoint.state.Rejected)
		require.Empty(t, r.rejects())
	}
}
