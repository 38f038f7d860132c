package disktest

import (
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// folders are a real folder and the fake, which must behave alike in each test.
func folders(t *testing.T) map[string]disk.Folder {
	real, err := disk.Open(t.TempDir())
	require.NoError(t, err)
	return map[string]disk.Folder{"real": real, "fake": New()}
}

func TestAClosedFileRefusesEverything(t *testing.T) {
	for name, d := range folders(t) {
		t.Run(name, func(t *testing.T) {
			created, err := d.Create("created")
			require.NoError(t, err)
			appended, err := d.Append("created")
			require.NoError(t, err)
			allocated, err := d.Allocate("allocated", 100)
			require.NoError(t, err)
			reopened, err := d.Reopen("allocated", 200)
			require.NoError(t, err)
			opened, err := d.Open("allocated")
			require.NoError(t, err)
			for _, f := range []io.Closer{created, appended, allocated, reopened, opened} {
				require.NoError(t, f.Close())
			}
			_, created1 := created.Write([]byte("a"))
			_, appended1 := appended.Write([]byte("a"))
			_, allocated1 := allocated.WriteAt([]byte("a"), 0)
			_, allocated2 := allocated.ReadAt(make([]byte, 1), 0)
			_, reopened1 := reopened.WriteAt([]byte("a"), 0)
			_, reopened2 := reopened.ReadAt(make([]byte, 1), 0)
			_, opened1 := opened.Read(make([]byte, 1))
			_, opened2 := opened.(io.ReaderAt).ReadAt(make([]byte, 1), 0)
			_, opened3 := opened.Stat()
			for what, err := range map[string]error{
				"write created": created1, "sync created": created.Sync(), "close created": created.Close(),
				"write appended": appended1, "sync appended": appended.Sync(), "close appended": appended.Close(),
				"write allocated": allocated1, "read allocated": allocated2, "sync allocated": allocated.Sync(), "close allocated": allocated.Close(),
				"write reopened": reopened1, "read reopened": reopened2, "sync reopened": reopened.Sync(), "close reopened": reopened.Close(),
				"read opened": opened1, "read opened at": opened2, "stat opened": opened3, "close opened": opened.Close(),
			} {
				assert.ErrorIs(t, err, fs.ErrClosed, what)
			}
			content, err := fs.ReadFile(d, "allocated")
			require.NoError(t, err)
			assert.Equal(t, make([]byte, 200), content, "nothing was written")
		})
	}
}

func TestNamesThatDoNotExistAreRefused(t *testing.T) {
	for name, d := range folders(t) {
		t.Run(name, func(t *testing.T) {
			_, opened := d.Open("none")
			_, reopened := d.Reopen("none", 10)
			for what, err := range map[string]error{
				"open": opened, "reopen": reopened, "cut": d.Cut("none", 0), "rename": d.Rename("none", "other"), "remove": d.Remove("none"),
			} {
				assert.ErrorIs(t, err, fs.ErrNotExist, what)
			}
			_, err := d.Allocate("one", 10)
			require.NoError(t, err)
			_, allocated := d.Allocate("one", 10)
			_, created := d.Create("one")
			assert.ErrorIs(t, allocated, fs.ErrExist)
			assert.ErrorIs(t, created, fs.ErrExist)
		})
	}
}

func TestCutCanMakeAFileLonger(t *testing.T) {
	for name, d := range folders(t) {
		t.Run(name, func(t *testing.T) {
			f, err := d.Create("a")
			require.NoError(t, err)
			_, err = f.Write([]byte("abc"))
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.NoError(t, d.Cut("a", 5))
			require.NoError(t, d.Cut("a", 4))
			content, err := fs.ReadFile(d, "a")
			require.NoError(t, err)
			assert.Equal(t, "abc\x00", string(content))
		})
	}
}

func TestWhatWasOpenBeforeACrashIsClosed(t *testing.T) {
	d := New()
	f, err := d.Allocate("a", 10)
	require.NoError(t, err)
	d.Crash(func(string, int) int { return 1 })
	_, err = f.WriteAt([]byte("x"), 0)
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, f.Sync(), fs.ErrClosed)
}
