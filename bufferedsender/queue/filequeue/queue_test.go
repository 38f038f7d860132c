package filequeue

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

func TestWhatWasAppendedIsThereAfterAReopening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, nil)
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), upload("a", 1), merge("b", 1), merge("b", 2), upload("c", 1)))
		w := want(1)
		leases, err := q.Reserve(t.Context(), w)
		require.NoError(t, err)
		require.Len(t, leases, 1)
		require.Equal(t, "a", leases[0].Key)
		_, _, err = q.Settle(t.Context(), commits(leases)...)
		require.NoError(t, err)
		before := contents(t, q)
		require.NoError(t, q.Close())
		d.Crash(func(string, int) int { return 0 })
		q = mustOpen(t, d, nil)
		require.Equal(t, before, contents(t, q))
		require.Equal(t, map[string][]string{"b": {`merge{"version":1}`, `merge{"version":2}`}, "c": {`upload{"version":1}`}}, before)
		require.NoError(t, q.Close())
	})
}
