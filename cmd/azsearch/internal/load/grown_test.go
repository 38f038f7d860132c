package load

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
)

// resumed runs a load with the checkpoint of the folder.
func (r *rig) resumed(files ...string) (Report, error) {
	r.t.Helper()
	var err error
	if r.Checkpoint, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), files, "", Destination{ETag: "1"}); err != nil {
		return Report{}, err
	}
	return r.load(files...)
}

func (r *rig) append(name, text string) {
	f, err := os.OpenFile(filepath.Join(r.dir, name), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(r.t, err)
	_, err = f.WriteString(text)
	require.NoError(r.t, err)
	require.NoError(r.t, f.Close())
}

func TestWhatWasAppendedSinceIsLoaded(t *testing.T) {
	r := newRig(t, convert.Options{})
	a, b, empty := r.file("a.jsonl", lines(0, 10)), r.file("b.csv", "id,name\nb1,\"x\ny\"\n"), r.file("empty.jsonl", "")
	load := func(records int64) {
		t.Helper()
		report, err := r.resumed(a, b, empty)
		require.NoError(t, err)
		assert.Equal(t, records, report.Records)
		assert.Equal(t, records == 0, report.Done)
	}
	load(11)
	load(0)
	r.append("a.jsonl", lines(10, 13))
	load(3)
	r.append("b.csv", "b2,z\n")
	load(1)
	r.append("empty.jsonl", lines(20, 21))
	r.append("a.jsonl", lines(13, 14))
	r.append("b.csv", "b3,z\n")
	load(3)
	load(0)
	r.append("empty.jsonl", lines(21, 22))
	load(1)
	assert.Equal(t, 19, int(r.server.DocumentCount("hotels")))
}

// The files of a log are opened while its last line is being written.
func TestRecordThatGoesOnIsReadAgain(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"a line":                {lines(0, 2) + `{"id":"a","na`, "me\":\"whole\"}\n"},
		"a line that was whole": {lines(0, 2) + `{"id":"a","name":"whole"}`, "\n"},
		"an open quote":         {"id,name\nx,y\na,\"who\n", "le\"\n"},
		"a cell":                {"id,name\nx,y\na,who", "le\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, convert.Options{})
			file := r.file("a", c.before)
			_, _ = r.resumed(file)
			r.append("a", c.after)
			report, err := r.resumed(file)
			require.NoError(t, err)
			assert.Equal(t, int64(1), report.Records)
			document, _ := r.server.Document("hotels", "a")
			assert.Regexp(t, `"who(\\n)?le"`, string(document))
			assert.Zero(t, report.Rejected, "the reject of its beginning is dropped")
		})
	}
}

func TestFileWhoseBeginningHasChangedIsRefused(t *testing.T) {
	r := newRig(t, convert.Options{})
	before := lines(0, 10)
	file := r.file("a.jsonl", before)
	_, err := r.resumed(file)
	require.NoError(t, err)
	for _, content := range []string{before[:len(before)-2] + "\n\n", before[1:] + "x" + lines(10, 20), before[:len(before)-1], ""} {
		r.file("a.jsonl", content)
		_, err := r.resumed(file)
		assert.ErrorContains(t, err, "the checkpoint is of a file "+file)
	}
	r.file("a.jsonl", before)
	report, err := r.resumed(file)
	require.NoError(t, err)
	assert.True(t, report.Done)
}

// The end that a run has reached counts, and not the size that the file had when the run began.
func TestFileThatGrowsWhileItIsReadIsKnownAfterwards(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("a.jsonl", lines(0, 10))
	open := func() (err error) {
		r.Checkpoint, err = OpenCheckpoint(filepath.Join(r.dir, "state.json"), []string{file}, "", Destination{ETag: "1"})
		return err
	}
	require.NoError(t, open())
	r.append("a.jsonl", lines(10, 20))
	report, err := r.load(file)
	require.NoError(t, err)
	require.Equal(t, int64(20), report.Records)
	require.NoError(t, open())
	assert.True(t, r.Checkpoint.Done())
	r.file("a.jsonl", lines(0, 10)+lines(20, 40))
	assert.ErrorContains(t, open(), "the checkpoint is of a file")
}

// A checkpoint that was written before the end of the file can be behind the size that it knows.
func TestFileThatIsShorterThanItsCheckpointIsRefused(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("a.jsonl", lines(0, 10))
	_, err := r.resumed(file)
	require.NoError(t, err)
	require.NoError(t, r.Checkpoint.write(place{Position: source.Position{Offset: 1 << 20}}, false, 0), "as after a crash")
	_, err = r.resumed(file)
	assert.ErrorContains(t, err, "the file is shorter than the position to resume from")
}

func TestWhatWasAppendedToACompressedFileIsLoaded(t *testing.T) {
	r := newRig(t, convert.Options{})
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(text))
		require.NoError(t, errors.Join(err, w.Close()))
		return b.String()
	}
	file := r.file("a.jsonl.gz", packed(lines(0, 1000)))
	_, err := r.resumed(file)
	require.NoError(t, err)
	r.append("a.jsonl.gz", packed(lines(1000, 1003)))
	report, err := r.resumed(file)
	require.NoError(t, err)
	assert.Equal(t, int64(3), report.Records)
}

func TestRecordThatIsTooLongAndGoesOnIsReadAgain(t *testing.T) {
	r := newRig(t, convert.Options{})
	file := r.file("a.jsonl", lines(0, 2)+`{"id":"a","name":"`+strings.Repeat("x", source.MaxRecord))
	_, err := r.resumed(file)
	require.Error(t, err)
	r.append("a.jsonl", "\", \"b\": {}}\n"+lines(2, 3))
	report, err := r.resumed(file)
	require.Error(t, err)
	assert.Equal(t, []int64{2, 1}, []int64{report.Records, report.Rejected}, "not a record of its end alone")
}

func TestDeviceIsNoCheckpoint(t *testing.T) {
	_, err := OpenCheckpoint(os.DevNull, nil, "", Destination{})
	assert.ErrorContains(t, err, "not a regular file")
}
