package searchtest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSnapshotFileThatCannotBeWrittenStaysAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o600))
	full := errors.New("disk full")
	err := replaceFile(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half of i")
		content, _ := os.ReadFile(path)
		assert.Equal(t, "before", string(content), "the old content stays during the write")
		return full
	})
	require.ErrorIs(t, err, full)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "before", string(content))
	assert.Equal(t, []string{"state.json"}, namesIn(t, filepath.Dir(path)), "nothing is left behind")
}

func TestSnapshotFileIsReplacedAsAWhole(t *testing.T) {
	p := newProbe(t, nil)
	path := filepath.Join(t.TempDir(), "state.json")
	link := filepath.Join(t.TempDir(), "link.json")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o600))
	require.NoError(t, os.Symlink(path, link))
	reader, err := os.Open(path)
	require.NoError(t, err)
	defer reader.Close()

	require.NoError(t, p.SnapshotFile(link))
	old, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Equal(t, "before", string(old), "a reader of the old file can continue")
	target, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, path, target, "the link is still one")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	assert.Equal(t, []string{"state.json"}, namesIn(t, filepath.Dir(path)))
	require.NoError(t, NewServer(nil).RestoreFile(path))
}

func TestSnapshotFileIsWrittenToWhatIsNoRegularFile(t *testing.T) {
	p := newProbe(t, nil)
	require.NoError(t, p.SnapshotFile(os.DevNull))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.False(t, info.Mode().IsRegular(), "the device was replaced by a file")
}

func TestSnapshotFileThatCannotBeMadeIsNamed(t *testing.T) {
	p := newProbe(t, nil)
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "folder.json")} {
		require.ErrorContains(t, p.SnapshotFile(path), path)
	}
	assert.Empty(t, namesIn(t, dir))
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
