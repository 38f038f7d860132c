package filequeue

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/queuecontrol"
	"github.com/go-azsearch/azsearch/internal/queuekill"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// otherProcessDir names the directory whose queue the test binary, run as another process, uses until it is killed.
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
	t.Parallel() // it waits for the disk
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

// Nobody can open again what is written into a file that was removed, so it is not acknowledged.
func TestARemovedDirectoryIsFoundWithTheNextAppend(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it does not remove a file that is open")
	}
	dir := filepath.Join(t.TempDir(), "queue")
	q, err := Open(dir, nil)
	require.NoError(t, err)
	adder := queue.NewID()
	record := []queue.Record{{Key: "a", Op: models.ActionTypeDelete, Body: []byte(`{"id":"a"}`)}}
	_, err = q.Append(t.Context(), queue.Call{Adder: adder, Number: 1, Records: record})
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	_, err = q.Append(t.Context(), queue.Call{Adder: adder, Number: 2, Records: record})
	require.ErrorIs(t, err, queue.ErrFailed)
	require.ErrorIs(t, q.Fault(), queue.ErrFailed)
	_ = q.Close()
}

func TestASecondProcessIsRefusedAlsoWithoutTheFileOfTheLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it does not remove a file that is open")
	}
	dir := t.TempDir()
	q, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, lockName)))
	_, err = Open(dir, nil)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, q.Close())
}
