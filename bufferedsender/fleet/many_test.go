package fleet

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// There are more indexes than floors, each with an occasional document. An index that gathers a batch must send it
// when others wait for their floor, before its timer.
func TestMoreIndexesThanFloorsDoNotWaitForTheTimersOfEachOther(t *testing.T) {
	for name, early := range map[string]bool{"all indexes add at once": true, "some indexes add while others gather a batch": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, newService(), &Options{Pool: &pool.Options{BufferedActions: 100, FloorActions: 10}})
				var adding sync.WaitGroup
				longest := make([]time.Duration, 100)
				for i := range longest {
					s := senderOf(t, f, fmt.Sprint("index-", i), &bufferedsender.Options[hotel]{AutoFlushInterval: time.Minute})
					if !early && i >= 10 {
						time.Sleep(100 * time.Millisecond)
					}
					adding.Go(func() {
						began := time.Now()
						assert.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotels("h", 3)...))
						longest[i] = time.Since(began)
					})
				}
				adding.Wait()
				for _, took := range longest {
					require.Less(t, took, time.Second)
				}
			})
		})
	}
}

// With a floor for each index, batches have their usual size.
func TestIndexesThatFindAFloorLeaveTheOthersTheirBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := newService()
		f := newFleet(t, service, &Options{Pool: &pool.Options{BufferedActions: 100, FloorActions: 10}})
		for i := range 10 {
			s := senderOf(t, f, fmt.Sprint("index-", i), &bufferedsender.Options[hotel]{AutoFlushInterval: time.Minute})
			for n := range 5 {
				require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotels(fmt.Sprint("h", n), 1)...))
				time.Sleep(time.Second)
			}
		}
		time.Sleep(time.Minute)
		assert.EqualValues(t, 10, f.Stats().All.Requests)
	})
}
