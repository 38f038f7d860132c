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
		t.Skip("files on this system have other rights")
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

// Otherwise a crash could remove a new directory with its durable content, or one of its parents.
func TestTheNamesOfNewDirectoriesAreSynced(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(root)
	var synced []string
	sync := func(dir string) error {
		synced = append(synced, dir)
		return nil
	}
	require.NoError(t, makeFolder(filepath.Join("a", "b", "c"), sync))
	assert.Equal(t, []string{filepath.Join(root, "a", "b"), filepath.Join(root, "a"), root}, synced)
	synced = nil
	require.NoError(t, makeFolder(filepath.Join(root, "a", "b", "c"), sync))
	assert.Equal(t, []string{filepath.Join(root, "a", "b")}, synced, "the process that made it may have died before")

	failed := errors.New("the disk")
	require.ErrorIs(t, makeFolder("a", func(string) error { return failed }), failed)
	require.ErrorIs(t, makeFolder("d", func(string) error { return failed }), failed)
	require.NoError(t, makeFolder("a", func(string) error { return fs.ErrPermission }))
	require.NoError(t, os.WriteFile("file", nil, 0o600))
	require.Error(t, makeFolder("file", sync))
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
	assert.Equal(t, "\x00\x00xy\x00\x00\x00\x00\x00\x00", string(got), "truncated data does not come back")
	require.NoError(t, a.Close())
	_, err = d.Reopen("none", 10)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, d.SyncNames())
}

// The next directory of the same path may be that of another owner.
func TestTheOwnerOfADirectoryStaysInIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system does not remove an open directory")
	}
	for name, take := range map[string]func(path, other string) error{
		"renamed": os.Rename,
		"removed": func(path, _ string) error { return os.RemoveAll(path) },
	} {
		t.Run(name, func(t *testing.T) {
			path, other := filepath.Join(t.TempDir(), "folder"), filepath.Join(t.TempDir(), "other")
			require.NoError(t, os.Mkdir(path, 0o700))
			d, release, err := LockFolder(path, "lock")
			require.NoError(t, err)
			require.NoError(t, take(path, other))
			require.NoError(t, os.Mkdir(path, 0o700))
			next, release2, err := LockFolder(path, "lock")
			require.NoError(t, err)
			require.NoError(t, Append(next, "a", []byte("next")))
			err = errors.Join(Append(d, "a", []byte("first")), Append(d, "b", nil), d.SyncNames())
			if name == "removed" {
				require.ErrorIs(t, err, errNoFolder)
			} else {
				require.NoError(t, err)
				require.NoError(t, d.Rename("a", "c"))
				got, err := fs.ReadFile(d, "c")
				require.NoError(t, err)
				assert.Equal(t, "first", string(got))
				_, _, err = LockFolder(other, "lock")
				require.ErrorAs(t, err, new(*LockedError))
				require.NoError(t, d.Remove("c"))
			}
			got, err := fs.ReadFile(next, "a")
			require.NoError(t, err)
			assert.Equal(t, "next", string(got))
			entries, err := os.ReadDir(path)
			require.NoError(t, err)
			require.Len(t, entries, 2)
			require.NoError(t, errors.Join(release(), release2()))
			require.ErrorIs(t, d.Remove("lock"), fs.ErrClosed)
		})
	}
}

func TestAnOwnerFollowsToANewDirectoryOnlyIfNobodyElseHasIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system does not remove an open directory")
	}
	path := filepath.Join(t.TempDir(), "folder")
	taken := errors.New("taken")
	var d Folder
	release, err := OpenLocked(path, "lock", taken, func(f Folder) error { d = f; return nil })
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(path))
	require.ErrorIs(t, Append(d, "a", nil), errNoFolder)
	require.NoError(t, os.Mkdir(path, 0o700))
	_, other, err := LockFolder(path, "lock")
	require.NoError(t, err)
	require.ErrorAs(t, Append(d, "a", nil), new(*LockedError))
	require.NoFileExists(t, filepath.Join(path, "a"))
	require.NoError(t, other())
	require.NoError(t, Append(d, "a", nil))
	require.FileExists(t, filepath.Join(path, "a"))
	_, _, err = LockFolder(path, "lock")
	require.ErrorAs(t, err, new(*LockedError), "the folder is locked again")
	require.NoError(t, release())
	_, other, err = LockFolder(path, "lock")
	require.NoError(t, err)
	require.NoError(t, other())
}

// Somebody, or a cleaner of temporary files, removes it while it is open.
func TestWhatIsWrittenIntoARemovedFileIsNotDurable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system does not remove an open file")
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
