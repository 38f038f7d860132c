package digesttree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

func TestAReadThatFailsDuringOpenIsAnErrorAndLosesNothing(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	tell(tree, versions(20))
	require.NoError(t, tree.fold())
	tell(tree, map[string]int64{"k3": 33, "new": 1})
	before := content(t, tree)
	end(t, tree)
	options, err := few.withDefaults()
	require.NoError(t, err)
	disktest.FailEachRead(t, d, func(t *testing.T, d *disktest.Disk) error {
		tree := &Tree{options: options, most: maxDifferences}
		err := tree.open(d)
		if err == nil {
			d.FailRead = nil
			require.Equal(t, before, content(t, tree))
			require.False(t, tree.Stats().Unclean)
			end(t, tree)
		}
		return err
	})
}
