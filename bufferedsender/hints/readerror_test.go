package hints

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

func TestAReadThatFailsDuringOpenIsAnErrorAndLosesNothing(t *testing.T) {
	d := disktest.New()
	s := openDisk(t, d, 0)
	add(t, s, "hotels", "a", "b", "c")
	add(t, s, "cities", "d")
	write(t, s)
	s.Done(s.Take("hotels", 1))
	write(t, s)
	before := content(s)
	disktest.FailEachRead(t, d, func(t *testing.T, d *disktest.Disk) error {
		s := new(Set)
		err := s.open(d)
		if err == nil {
			require.Equal(t, before, content(s))
			err = s.writer.file.Close()
		}
		return err
	})
}
