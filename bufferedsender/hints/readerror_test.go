package hints

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/stretchr/testify/require"
)

func TestAReadThatFailsDuringOpenIsAnErrorAndLosesNothing(t *testing.T) {
	d := disktest.New()
	s := openDisk(t, d, nil)
	add(t, s, "hotels", "a", "b", "c")
	add(t, s, "cities", "d")
	write(t, s)
	s.Done(s.Take("hotels", 1))
	write(t, s)
	before := content(s)
	options, err := (*Options)(nil).withDefaults()
	require.NoError(t, err)
	disktest.FailEachRead(t, d, func(t *testing.T, d *disktest.Disk) error {
		s, err := open(d, options)
		if err == nil {
			require.Equal(t, before, content(s))
			err = s.writer.file.Close()
		}
		return err
	})
}
