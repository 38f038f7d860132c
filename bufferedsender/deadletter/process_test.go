package deadletter

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// otherProcessDir is the environment variable with the directory in which the test binary, run as another process,
// writes dead letters until it is killed.
const otherProcessDir = "DEADLETTER_TEST_DIR"

// otherProcess prints the result of each Write.
func otherProcess(dir string) int {
	f, err := Open(dir, &FileOptions{maxFileBytes: 2000})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for v := 1; ; v++ {
		if err := f.Write(context.Background(), []Letter{letterOf("k", v)}); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(v)
	}
}

// writer is another process that writes.
type writer struct {
	cmd  *exec.Cmd
	out  *bufio.Scanner
	last int // last version that it reported as kept
}

func startWriter(t *testing.T, dir string) *writer {
	t.Helper()
	testkit.Long(t)
	self, err := os.Executable()
	require.NoError(t, err)
	w := &writer{cmd: exec.Command(self)}
	w.cmd.Env = append(os.Environ(), otherProcessDir+"="+dir)
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	require.NoError(t, err)
	w.out = bufio.NewScanner(out)
	require.NoError(t, w.cmd.Start())
	return w
}

// next waits until another dead letter is kept.
func (w *writer) next(t *testing.T) bool {
	t.Helper()
	if !w.out.Scan() {
		return false
	}
	_, err := fmt.Sscan(w.out.Text(), &w.last)
	require.NoError(t, err, "the other process says %q", w.out.Text())
	return true
}

// kill kills the process and returns the last version that was reported as kept.
func (w *writer) kill(t *testing.T) int {
	t.Helper()
	require.NoError(t, w.cmd.Process.Kill())
	for w.next(t) {
	}
	_, err := w.cmd.Process.Wait()
	require.NoError(t, err)
	return w.last
}

func TestAKilledProcessLosesNoLetterAndFreesTheLock(t *testing.T) {
	for kills := range 5 {
		dir := t.TempDir()
		w := startWriter(t, dir)
		for range 1 + 40*kills { // kills at different positions
			require.True(t, w.next(t), "the other process has ended")
		}
		_, err := Open(dir, nil)
		require.ErrorIs(t, err, ErrLocked, "while the other process lives")
		last := w.kill(t)
		f := openDir(t, dir, nil)
		versions := versionsOf(readAll(t, os.DirFS(dir)))
		assert.GreaterOrEqual(t, len(versions), last)
		assert.LessOrEqual(t, len(versions), last+1, "one Write may not have returned")
		for i, v := range versions {
			require.Equal(t, i+1, v)
		}
		require.NoError(t, f.Write(t.Context(), []Letter{letterOf("k", 1_000_000)}))
		assert.Len(t, readAll(t, os.DirFS(dir)), len(versions)+1)
	}
}

func TestOneDirectoryHasOneFile(t *testing.T) {
	dir := t.TempDir()
	f := openDir(t, dir, nil)
	_, err := Open(dir, nil)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, dir, "which directory")
	require.NoError(t, f.Close())
	openDir(t, dir, nil)
}
