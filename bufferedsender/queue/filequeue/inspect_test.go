package filequeue

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// Other calls proceed while a large queue is inspected. Keys that they change are shown once, in their current state.
func TestALargeQueueIsInspectedWhileOthersWriteToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := mustOpen(t, disktest.New(), nil)
		a := newAdder(q)
		var records []queue.Record
		for i := range inspectedAtOnce + 1 {
			records = append(records, upload(fmt.Sprintf("key%06d", i), 1))
			if len(records) == 10_000 || i == inspectedAtOnce {
				require.NoError(t, a.append(t.Context(), records...))
				records = nil
			}
		}
		what := queue.Inspection{Limit: 3, Bodies: true}
		all, err := q.Inspect(t.Context(), queue.Inspection{Limit: 1 << 20})
		require.NoError(t, err)
		require.Len(t, all, inspectedAtOnce+1)
		require.Equal(t, "key000000", all[0].Key)
		leases, err := q.Reserve(t.Context(), want(2))
		require.NoError(t, err)
		done := make(chan struct{})
		go func() { // takes the lock between two parts
			defer close(done)
			_, _, err := q.Settle(t.Context(), commits(leases)...)
			assert.NoError(t, err)
		}()
		first, err := q.Inspect(t.Context(), what)
		require.NoError(t, err)
		<-done
		for i, e := range first[1:] {
			require.Less(t, first[i].Key, e.Key)
		}
		last, err := q.Inspect(t.Context(), what)
		require.NoError(t, err)
		require.Equal(t, "key000002", last[0].Key)
		require.NoError(t, q.Close())
	})
}
