package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALockHasOneHolderAndNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Lock(path)
	require.NoError(t, err)
	_, err = Lock(path)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	host, _ := os.Hostname()
	assert.Equal(t, fmt.Sprintf("process %d on %s", os.Getpid(), host), locked.Holder)
	require.ErrorContains(t, err, locked.Holder)
	require.NoError(t, release())
	release, err = Lock(path)
	require.NoError(t, err)
	require.NoError(t, release())
}

// These tests do not run on systems without file locks, but their substitute can be tested here.
func TestALockByOwnerSaysWhoHasIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.owner")
	release, err := lockByOwner(path)
	require.NoError(t, err)
	_, err = lockByOwner(path)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.ErrorContains(t, err, fmt.Sprintf("process %d on", os.Getpid()))
	require.ErrorContains(t, err, path, "the error names the file to remove")
	require.NoError(t, release())
	release, err = lockByOwner(path)
	require.NoError(t, err)
	require.NoError(t, release())
}
