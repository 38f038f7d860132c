package disk

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestAFileIsReadAnywhereWithinItsSize(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("abcdef"), 0o600))
	r, err := OpenReading(View(dir), "file")
	require.NoError(t, err)
	require.Equal(t, int64(6), r.Size)
	b := make([]byte, 3)
	for offset, want := range map[int64]string{0: "abc", 3: "def"} {
		require.NoError(t, r.Read(b, offset))
		require.Equal(t, want, string(b))
	}
	require.ErrorIs(t, r.Read(b, 4), io.ErrUnexpectedEOF, "a part is not enough")
	require.ErrorIs(t, r.Read(b, 9), io.ErrUnexpectedEOF)
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Read(b, 0), fs.ErrClosed)

	_, err = OpenReading(View(dir), "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// onlyForward hides ReadAt of a file.
type onlyForward struct{ fs.FS }

func (o onlyForward) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	return struct{ fs.File }{f}, err
}

func TestAFolderWhoseFilesCannotBeReadAtAnOffsetIsRefused(t *testing.T) {
	_, err := OpenReading(onlyForward{fstest.MapFS{"file": {Data: []byte("a")}}}, "file")
	require.ErrorContains(t, err, "cannot be read at an offset")
}
