package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first that finds the directory removed locks the new one. The others use it, and do not wait for that lock.
func TestCreatorsAtOnceFollowADirectoryThatWasMadeAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system does not remove an open directory")
	}
	const creators = 4
	path := filepath.Join(t.TempDir(), "dir")
	var d Folder
	release, err := OpenLocked(path, "lock", os.ErrExist, func(f Folder) error {
		d = f
		return nil
	})
	require.NoError(t, err)
	for round := range 100 {
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, os.Mkdir(path, 0o700))
		var all sync.WaitGroup
		for i := range creators {
			all.Go(func() {
				name := fmt.Sprint(i)
				f, err := d.Create(name)
				if !assert.NoError(t, err, "round %d", round) {
					return
				}
				assert.NoError(t, f.Close())
				assert.NoError(t, d.Rename(name, name+".done"))
			})
		}
		all.Go(func() { // it does not follow, and sees the removed directory or the new one
			for range 50 {
				_, err := d.ReadDir(".")
				assert.NotErrorIs(t, err, os.ErrClosed, "round %d", round)
				assert.ErrorIs(t, d.Remove("none"), os.ErrNotExist, "round %d", round)
			}
		})
		all.Wait()
		made, err := filepath.Glob(filepath.Join(path, "*.done"))
		require.NoError(t, err)
		require.Len(t, made, creators)
	}
	require.NoError(t, release())
}
