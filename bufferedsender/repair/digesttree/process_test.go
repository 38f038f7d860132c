package digesttree

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// otherProcessDir is the environment variable with the directory in which the test binary, run as another process,
// reports keys to a tree until it is killed.
const otherProcessDir = "DIGESTTREE_TEST_DIR"

// otherProcess prints the last key up to which everything is synced.
func otherProcess(dir string) int {
	tree, err := Open(dir, &Options{SegmentBits: 4, Empty: true})
	for n := 0; err == nil; n++ {
		tree.Confirmed(fmt.Sprintf("k%d", n), int64(n))
		if n%100 == 99 {
			tree.mu.Lock()
			tree.refold = n%300 == 299
			tree.mu.Unlock()
			if err = tree.Sync(context.Background()); err == nil {
				fmt.Println(n)
			}
		}
	}
	fmt.Println(err)
	return 1
}

func TestAKilledProcessLeavesWhatWasSyncedAndFreesTheFolder(t *testing.T) {
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
		for range 5 + 7*kills {
			require.True(t, next())
		}
		_, err = Open(dir, nil)
		require.ErrorIs(t, err, errLocked)
		require.NoError(t, cmd.Process.Kill())
		for next() { // the output before the kill
		}
		_ = cmd.Wait()

		tree, err := Open(dir, nil)
		require.NoError(t, err)
		stats, found := tree.Stats(), content(t, tree)
		require.True(t, stats.Unclean)
		require.Equal(t, 16, stats.Due)
		require.Zero(t, stats.Unknown+int(stats.Damaged))
		require.GreaterOrEqual(t, len(found), last+1)
		require.Equal(t, versions(len(found)), found, "all keys up to some key")
		require.NoError(t, tree.Close(context.Background()))
	}
}
