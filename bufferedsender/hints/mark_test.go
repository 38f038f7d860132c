package hints

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A bad copy, or a disk that lies about syncs, has lost what Sync has promised.
func TestASyncedEndThatIsGoneIsDamage(t *testing.T) {
	dir := t.TempDir()
	file, mark := filepath.Join(dir, fileName), filepath.Join(dir, markName)
	open := func() *Set {
		s, err := Open(dir, nil)
		require.NoError(t, err)
		return s
	}
	s := open()
	sizes := make([]int64, 0, 4)
	for _, key := range []string{"a", "b", "c", "d"} {
		require.NoError(t, s.Add("hotels", key))
		require.NoError(t, s.Sync(t.Context()))
		info, err := os.Stat(file)
		require.NoError(t, err)
		sizes = append(sizes, info.Size())
	}
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	noted, err := os.ReadFile(mark)
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))

	put := func(content, noted []byte) {
		require.NoError(t, os.WriteFile(file, content, 0o600))
		require.NoError(t, os.WriteFile(mark, noted, 0o600))
	}
	zeroed := append([]byte(nil), whole...)
	clear(zeroed[sizes[2]:])
	for name, content := range map[string][]byte{"cut": whole[:sizes[1]], "torn": whole[:len(whole)-1], "zeroed": zeroed} {
		put(content, noted)
		_, err := Open(dir, nil)
		require.ErrorIs(t, err, ErrDamaged, name)
		require.ErrorContains(t, err, "frames are missing", name)
	}
	require.NoError(t, os.Remove(file)) // as ErrDamaged says
	s = open()
	require.Empty(t, s.Stats().Keys)
	require.NoError(t, s.AddEverything("hotels"))
	require.NoError(t, s.Close(t.Context()))

	// Without a lie of the disk a mark is older, absent, or that of another file.
	other, err := os.ReadFile(mark)
	require.NoError(t, err)
	for name, noted := range map[string][]byte{"another": other, "absent": nil, "zeros": make([]byte, 512)} {
		put(whole[:sizes[2]], noted)
		s := open()
		require.Equal(t, map[string]int{"hotels": 3}, s.Stats().Keys, name)
		require.NoError(t, s.Close(t.Context()))
	}
}
