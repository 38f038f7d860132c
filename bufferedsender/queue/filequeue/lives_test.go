package filequeue

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// TestManyLivesOnOneDisk repeatedly kills a queue or crashes its machine at any disk operation, also while opening.
func TestManyLivesOnOneDisk(t *testing.T) {
	testkit.Long(t)
	for seed := range testkit.Cases(20, 100, 300) {
		synctest.Test(t, func(t *testing.T) {
			r := seeded(uint64(seed) + 1000)
			d := disktest.New()
			s := newStory(nil, uint64(seed))
			o, _ := (&Options{}).withDefaults()
			o.SegmentBytes = 3000 + r.IntN(16000)
			what := ""
			for life := range 12 {
				var left atomic.Int64
				left.Store(int64(1 + r.IntN(1+r.IntN(400))))
				var fails atomic.Bool
				fails.Store(r.IntN(4) > 0)
				d.Fail = func(string, string) error {
					if fails.Load() && left.Add(-1) <= 0 {
						return disktest.ErrDisk
					}
					return nil
				}
				q, err := open(d, o)
				if err == nil {
					s.verify(t, q, contents(t, q))
					s.q, s.a = q, &adder{q: q, id: queue.NewID()}
					_ = s.live(t.Context(), 1+r.IntN(120)) // until the disk fails
					fails.Store(true)
					left.Store(0) // dead
					synctest.Wait()
					_ = q.Close()
				} else {
					require.ErrorIs(t, err, disktest.ErrDisk, "seed %d life %d after %s", seed, life, what)
				}
				synctest.Wait()
				d.Fail = nil
				if r.IntN(2) == 0 {
					what = "a crash"
					d.Crash(func(_ string, n int) int { return r.IntN(n) })
				} else {
					what = "a kill"
				}
			}
			q, err := open(d, o)
			require.NoError(t, err, "seed %d", seed)
			s.verify(t, q, contents(t, q))
			require.NoError(t, q.Close())
		})
		if t.Failed() {
			t.Fatal("seed ", seed)
		}
	}
}
