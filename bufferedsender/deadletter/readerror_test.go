package deadletter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

func TestAReadThatFailsDuringOpenIsAnErrorAndLosesNothing(t *testing.T) {
	d := disktest.New()
	f := openDisk(t, d, &FileOptions{maxFileBytes: 1 << 10})
	require.NoError(t, f.Write(t.Context(), lettersOf(0, 10)))
	require.NoError(t, f.Close())
	before := readAll(t, d)
	require.Len(t, before, 10)
	for name, content := range d.Files() { // truncated by a crash: Open repairs it
		d.Put(name, content[:len(content)-1])
	}
	options := (*FileOptions)(nil).withDefaults()
	disktest.FailEachRead(t, d, func(t *testing.T, d *disktest.Disk) error {
		f, err := open(d, options)
		if err == nil {
			d.FailRead = nil
			require.Equal(t, before, readAll(t, d))
			err = f.Close()
		}
		return err
	})
}
