package ledger

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestPartOfALineIsAPartThatIsDoneAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.WriteFile(path+".tmp", []byte("of the user"), 0o600))
	l, err := Open(path, "job")
	require.NoError(t, err)
	assert.NoFileExists(t, path, "no ledger was begun")
	require.NoError(t, l.Begin())
	done, end := l.Noting()
	done <- "a"
	done <- "b"
	require.NoError(t, end())
	require.NoError(t, l.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "job\na\nb\n", string(content))

	require.NoError(t, os.WriteFile(path, append(content, "c"...), 0o600))
	_, err = Open(path, "other")
	require.ErrorContains(t, err, "to another job: job;")
	l, err = Open(path, "job")
	require.NoError(t, err)
	assert.True(t, l.Resumed)
	assert.Equal(t, map[string]bool{"a": true, "b": true}, l.Done)
	require.NoError(t, l.Begin())
	require.NoError(t, l.Note("d"))
	require.NoError(t, l.Close())
	content, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "job\na\nb\nd\n", string(content))
	require.NoError(t, l.Remove())
	assert.NoFileExists(t, path)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "the file of the user")
}

func TestDeviceIsNoLedger(t *testing.T) {
	_, err := Open(os.DevNull, "job")
	assert.ErrorContains(t, err, "not a regular file")
}
