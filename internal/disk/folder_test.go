package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFilesAreNobodyElsesBusiness(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has other rights")
	}
	path := filepath.Join(t.TempDir(), "new", "queue")
	d, err := Open(path)
	require.NoError(t, err)
	a, err := d.Allocate("a", 10)
	require.NoError(t, err)
	require.NoError(t, a.Close())
	h, err := d.Create("b")
	require.NoError(t, err)
	require.NoError(t, h.Close())
	for name, mode := range map[string]fs.FileMode{".": fs.ModeDir | 0o700, "a": 0o600, "b": 0o600} {
		info, err := os.Stat(filepath.Join(path, name))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), name)
	}
}

func TestAnAreaIsZerosUntilItIsWritten(t *testing.T) {
	d, err := Open(t.TempDir())
	require.NoError(t, err)
	a, err := d.Allocate("a", 8)
	require.NoError(t, err)
	_, err = d.Allocate("a", 8)
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = a.WriteAt([]byte("xyz"), 2)
	require.NoError(t, err)
	require.NoError(t, a.Sync())
	require.NoError(t, a.Close())
	require.NoError(t, d.Cut("a", 4))
	a, err = d.Reopen("a", 10)
	require.NoError(t, err)
	got := make([]byte, 10)
	_, err = a.ReadAt(got, 0)
	require.NoError(t, err)
	assert.Equal(t, "\x00\x00xy\x00\x00\x00\x00\x00\x00", string(got), "what was cut off does not come back")
	require.NoError(t, a.Close())
	_, err = d.Reopen("none", 10)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, d.SyncNames())
}

// Somebody, or a cleaner of temporary files, removes it while it is open.
func TestWhatIsWrittenIntoARemovedFileIsNotDurable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it does not remove a file that is open")
	}
	path := filepath.Join(t.TempDir(), "folder")
	d, err := Open(path)
	require.NoError(t, err)
	a, err := d.Allocate("a", 8)
	require.NoError(t, err)
	b, err := d.Create("b")
	require.NoError(t, err)
	c, err := d.Append("c")
	require.NoError(t, err)
	require.NoError(t, errors.Join(a.Sync(), b.Sync(), c.Sync()))
	require.NoError(t, os.RemoveAll(path))
	for name, sync := range map[string]func() error{"a": a.Sync, "b": b.Sync, "c": c.Sync} {
		require.ErrorIs(t, sync(), errRemoved, name)
	}
	require.NoError(t, errors.Join(a.Close(), b.Close(), c.Close()))
}
