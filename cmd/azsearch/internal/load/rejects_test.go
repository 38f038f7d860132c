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
	users := []string{r.file("state.json.tmp", "of the user"), r.file("rejects.jsonl.tmp", "of the user")}
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
	for _, name := range users {
		assert.FileExists(t, name)
	}
	left, err := filepath.Glob(filepath.Join(r.dir, "*"))
	require.NoError(t, err)
	assert.Len(t, left, 5, "no other file is left")
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

// A run that resumes under another spelling of a name writes it to its rejects, which are those of the file.
func TestResumeUnderOtherNamesOfAFileKnowsItsRejects(t *testing.T) {
	r := newRig(t, convert.Options{})
	file, twin := r.file("a.jsonl", lines(0, 10)+"{}\n"), r.file("b.jsonl", lines(0, 10)+"{}\n")
	other := r.dir + "/./a.jsonl"
	resume := func(files ...string) error {
		r.t.Helper()
		var err error
		if r.Checkpoint, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), files, "", Destination{ETag: "1"}); err != nil {
			return err
		}
		_, err = r.load(files...)
		return err
	}
	require.ErrorContains(t, resume(file, twin), "2 of 22 records")
	for _, name := range []string{other, file, other} {
		require.NoError(t, r.Checkpoint.write(place{}, false, 0), "the next run reads everything")
		require.ErrorContains(t, resume(name, twin), "2 of 22 records")
		require.Len(t, r.rejects(), 2)
		require.Equal(t, name, r.rejects()[0].File)
		require.ErrorContains(t, resume(name, twin), "2 of 2 records")
	}
	assert.Equal(t, []string{other}, r.Checkpoint.state.Files[0].Also)
	require.ErrorContains(t, resume(twin, file), "the checkpoint is of a file "+file+", not "+twin)
}

// A run that is killed before its first checkpoint has written rejects already.
func TestResumeWritesTheNameOfAFileBeforeItsRejects(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("a.jsonl", "{}\n"+lines(0, 10))
	other := r.dir + "/./a.jsonl"
	open := func(name string) (*run, error) {
		var err error
		r.Checkpoint, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), []string{name}, "", Destination{ETag: "1"})
		require.NoError(t, err)
		r.Rejects, err = OpenRejects(filepath.Join(r.dir, "rejects.jsonl"), r.Checkpoint)
		require.NoError(t, err)
		x := &run{Options: r.Options}
		return x, x.resume(r.Checkpoint)
	}
	_, err := open(file)
	require.NoError(t, err)
	x, err := open(other)
	require.NoError(t, err)
	require.NoError(t, x.Rejects.Write(&Reject{Azsearch: "reject", File: other}))
	require.NoError(t, x.Rejects.Close())
	_, err = open(file)
	require.NoError(t, err)
	assert.Empty(t, r.rejects(), "the record is read again, so its reject is dropped")
}
