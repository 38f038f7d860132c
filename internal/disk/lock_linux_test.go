package disk

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A child started by another goroutine shares all open files between fork and exec, so closing a locked file need not
// end its lock.
func TestALockIsReleasedWhileAChildSharesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Lock(path)
	require.NoError(t, err)
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	shared := -1
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && to == path {
			fd, err := strconv.Atoi(e.Name())
			require.NoError(t, err)
			shared, err = syscall.Dup(fd)
			require.NoError(t, err)
		}
	}
	require.NotEqual(t, -1, shared)
	t.Cleanup(func() { require.NoError(t, syscall.Close(shared)) })
	require.NoError(t, release())
	release, err = Lock(path)
	require.NoError(t, err)
	require.NoError(t, release())
}

// A cleaner of temporary files removes files that are not written for long, such as locks.
func TestAFolderIsLockedAlsoWithoutTheFileOfItsLock(t *testing.T) {
	path := t.TempDir()
	_, release, err := LockFolder(path, "lock")
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(path, "lock")))
	_, _, err = LockFolder(path, "lock")
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.NoError(t, release())
	_, release, err = LockFolder(path, "lock")
	require.NoError(t, err)
	require.NoError(t, release())
}
