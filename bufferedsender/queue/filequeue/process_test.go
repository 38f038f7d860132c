package filequeue

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/queuecontrol"
	"github.com/go-azsearch/azsearch/internal/queuekill"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// otherProcessDir is the environment variable with the directory whose queue the test binary, run as another process,
// uses until it is killed.
const otherProcessDir = "AZSEARCH_TEST_FILEQUEUE_DIR"

func otherProcess(dir string) error {
	q, err := Open(dir, &Options{SegmentBytes: 64 << 10})
	if err != nil {
		return err
	}
	return queuekill.Work(q, os.Stdout)
}

func TestAProcessThatIsKilledLosesNothingThatItAcknowledged(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // waits for the disk
	dir := filepath.Join(t.TempDir(), "queue")
	var told queuekill.Ledger
	kills := queuekill.Kills(8)
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), otherProcessDir+"="+dir)
		told.Kill(t, cmd)
		q, err := Open(dir, nil)
		require.NoError(t, err)
		_, err = (&queuecontrol.Client{Dir: dir}).Stats(t.Context())
		require.NoError(t, err, "the socket of the process that was killed is replaced")
		told.Check(t, q)
		require.NoError(t, q.Close())
	}
	t.Logf("%d kills, %d reports", kills, told.Reports)
}

// remove removes a directory in which a queue may be creating files.
func remove(t *testing.T, dir string) {
	testkit.Eventually(t, func() bool { return os.RemoveAll(dir) == nil })
}

// Data written to a removed file cannot be opened again, so it is not acknowledged.
func TestARemovedDirectoryIsFoundWithTheNextAppend(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system does not remove an open file")
	}
	dir := filepath.Join(t.TempDir(), "queue")
	q, err := Open(dir, nil)
	require.NoError(t, err)
	adder := queue.NewID()
	record := []queue.Record{{Key: "a", Op: models.ActionTypeDelete, Body: []byte(`{"id":"a"}`)}}
	_, err = q.Append(t.Context(), queue.Call{Adder: adder, Number: 1, Records: record})
	require.NoError(t, err)
	remove(t, dir)
	_, err = q.Append(t.Context(), queue.Call{Adder: adder, Number: 2, Records: record})
	require.ErrorIs(t, err, queue.ErrFailed)
	require.ErrorIs(t, q.Fault(), queue.ErrFailed)
	_ = q.Close()
}

// The path may be that of another owner by then.
func TestTheOwnerOfADirectoryThatIsRenamedContinuesInIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system does not rename an open directory")
	}
	root := t.TempDir()
	dir, moved := filepath.Join(root, "queue"), filepath.Join(root, "moved")
	opts := &Options{SegmentBytes: minSegment}
	q, err := Open(dir, opts)
	require.NoError(t, err)
	a, keys := newAdder(q), 0
	add := func(n int) {
		for range n {
			keys++
			r := upload(fmt.Sprint("key", keys), 1)
			r.Body = append(r.Body, strings.Repeat("x", 3000)...)
			require.NoError(t, a.append(t.Context(), r))
		}
	}
	add(3)
	require.NoError(t, os.Rename(dir, moved))
	add(10) // some segments
	other, err := Open(dir, opts)
	require.NoError(t, err)
	require.NoError(t, newAdder(other).append(t.Context(), upload("other", 1)))
	add(10)
	_, err = Open(moved, opts)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, q.Close())
	require.Len(t, contents(t, other), 1)
	if runtime.GOOS == "linux" {
		require.FileExists(t, filepath.Join(dir, "control"), "the socket belongs to the other owner")
	}
	require.NoError(t, other.Close())
	q, err = Open(moved, opts)
	require.NoError(t, err)
	require.Len(t, contents(t, q), keys)
	require.NoError(t, q.Close())
}

func TestTheOwnerOfADirectoryThatIsRemovedWritesNothingIntoTheNextOne(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system does not remove an open file")
	}
	dir := filepath.Join(t.TempDir(), "queue")
	q, err := Open(dir, nil)
	require.NoError(t, err)
	remove(t, dir)
	next, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, newAdder(next).append(t.Context(), upload("a", 1)))
	require.ErrorIs(t, newAdder(q).append(t.Context(), upload("b", 1)), queue.ErrFailed)
	require.Error(t, q.Close())
	require.NoError(t, next.Close())
	next, err = Open(dir, nil)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"a": {`upload{"version":1}`}}, contents(t, next))
	require.NoError(t, next.Close())
}

func TestASecondProcessIsRefusedAlsoWithoutTheFileOfTheLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system does not remove an open file")
	}
	dir := t.TempDir()
	q, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, lockName)))
	_, err = Open(dir, nil)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, q.Close())
}
