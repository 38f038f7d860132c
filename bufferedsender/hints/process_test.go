package hints

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
// adds keys until it is killed.
const otherProcessDir = "HINTS_TEST_DIR"

// otherProcess prints the last key up to which everything is synced.
func otherProcess(dir string) int {
	s, err := Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for n := 0; ; n++ {
		err := s.Add("hotels", fmt.Sprintf("k%d", n))
		if err == nil {
			err = s.Sync(context.Background())
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		s.Take("hotels", 1)
		fmt.Println(n)
	}
}

func TestAKilledProcessKeepsWhatWasSyncedAndFreesTheFolder(t *testing.T) {
	testkit.Long(t)
	self, err := os.Executable()
	require.NoError(t, err)
	for kills := range 5 {
		dir := t.TempDir()
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), otherProcessDir+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		last := -1
		next := func() bool {
			if !lines.Scan() {
				return false
			}
			_, err := fmt.Sscan(lines.Text(), &last)
			require.NoError(t, err, "the other process says %q", lines.Text())
			return true
		}
		for range 1 + 40*kills { // kills at different positions
			require.True(t, next(), "the other process has ended")
		}
		_, err = Open(dir, nil)
		require.ErrorIs(t, err, errLocked, "the other process still runs")
		require.ErrorContains(t, err, dir)
		require.ErrorContains(t, err, fmt.Sprint(cmd.Process.Pid), "the error names the process")
		require.NoError(t, cmd.Process.Kill())
		for next() {
		}
		_, err = cmd.Process.Wait()
		require.NoError(t, err)

		s := openDir(t, dir, nil)
		keys := s.Stats().Keys["hotels"]
		assert.GreaterOrEqual(t, keys, last+1)
		assert.LessOrEqual(t, keys, last+2, "one call of Sync may not have returned")
		require.Equal(t, keysOf(0, keys), drain(s, "hotels"), "taken keys are present again")
	}
}

func TestOneFolderHasOneSet(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir, nil)
	_, err := Open(dir, nil)
	require.ErrorIs(t, err, errLocked)
	require.NoError(t, s.Close(t.Context()))
	openDir(t, dir, nil)
}
