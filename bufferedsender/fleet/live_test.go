package fleet

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// A backfill with a constant backlog may at most double the latency of live updates of its index, also if other
// indexes have a backlog in a more urgent class. The backfill keeps its floor.
func TestLiveUpdatesDoNotNoticeABackfillWhichKeepsItsFloor(t *testing.T) {
	alone, _ := liveUpdates(t, false, false)
	require.NotZero(t, alone)
	for name, others := range map[string]bool{"a backfill alone": false, "a backfill and Assured1 updates in another index": true} {
		t.Run(name, func(t *testing.T) {
			p99, backfilled := liveUpdates(t, true, others)
			assert.LessOrEqual(t, p99, 2*alone)
			floor := 20.0 * batchOfBackfill // per second in one slot, at 50 ms
			if !others {
				floor *= 4 // all shared slots
			}
			assert.GreaterOrEqual(t, backfilled, 0.95*floor, "documents a second")
		})
	}
}

const batchOfBackfill = 10

// liveUpdates returns the p99 from adding to the outcome, and the documents of the backfill that settled per second.
func liveUpdates(t *testing.T, backfill, others bool) (p99 time.Duration, backfilled float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		const lasts = 30 * time.Second
		s := newService()
		s.takes = 50 * time.Millisecond
		f := newFleet(t, s, &Options{Pool: &pool.Options{Expedited: 4, Shared: 4}})
		opts := &bufferedsender.Options[hotel]{
			Limits: bufferedsender.Limits{MaxBatchActions: batchOfBackfill, MaxInFlight: 4, MaxBufferedActions: 400}, AutoFlushInterval: 5 * time.Millisecond,
		}
		hotels, motels := senderOf(t, f, "hotels", opts), senderOf(t, f, "motels", opts)
		var wait sync.WaitGroup
		ended := time.Now().Add(lasts)
		fill := func(to *bufferedsender.BufferedSender[hotel], class models.Class) {
			wait.Go(func() {
				ctx := models.WithClass(t.Context(), class)
				for n := 0; time.Now().Before(ended); n++ {
					assert.NoError(t, to.UploadDocuments(ctx, sendertest.Hotels(fmt.Sprint("old-", n, "-"), 10)...))
				}
			})
		}
		if backfill {
			fill(hotels, models.ClassBestEffort)
		}
		if others {
			fill(motels, models.ClassAssured1)
		}
		time.Sleep(time.Second) // buffers are full

		var mu sync.Mutex
		var took []time.Duration
		live, before, began := 0, hotels.Stats().Completed, time.Now()
		for ; time.Since(began) < lasts-2*time.Second; live++ {
			added := time.Now()
			update := models.UploadAction(hotel{ID: fmt.Sprint("live-", live)})
			update.OnOutcome = func(o models.Outcome) {
				mu.Lock()
				defer mu.Unlock()
				assert.NoError(t, o.Err)
				took = append(took, time.Since(added))
			}
			require.NoError(t, hotels.IndexDocuments(models.WithClass(t.Context(), models.ClassExpedited), update))
			time.Sleep(7 * time.Millisecond)
		}
		backfilled = (float64(hotels.Stats().Completed-before) - float64(live)) / time.Since(began).Seconds()
		wait.Wait()
		require.NoError(t, f.Flush(t.Context()))
		require.Len(t, took, live)
		slices.Sort(took)
		p99 = took[live*99/100]
		t.Logf("p99 %v, %.0f documents a second of the backfill", p99, backfilled)
	})
	return p99, backfilled
}
