package filequeue

import (
	"testing"
	"testing/synctest"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/queuehistory"
	"github.com/go-azsearch/azsearch/internal/queuelab"
)

// backend declares the properties of filequeue. The segments have minimum size, so the log rolls and is compacted all
// the time.
func backend() queuetest.Backend {
	return queuetest.Backend{
		Run: queuetest.Bubble(func(t *testing.T, c queuetest.Config) *queuetest.Harness {
			d := disktest.New()
			opts := &Options{MaxKeys: c.MaxKeys, MaxBytes: c.MaxBytes, SegmentBytes: minSegment}
			h := &queuetest.Harness{Queue: mustOpen(t, d, opts)}
			h.Reopen = func(t *testing.T) queue.Queue {
				synctest.Wait()
				d.Crash(everything) // the process dies, the machine does not
				h.Queue = mustOpen(t, d, opts)
				return h.Queue
			}
			return h
		}),
		Durable: true, Limited: true, LeasesEnd: true, CountsEnd: true,
	}
}

// everything keeps all writes.
func everything(_ string, n int) int { return n - 1 }

// nothing keeps only synced data.
func nothing(string, int) int { return 0 }

func TestSuite(t *testing.T) { queuetest.Run(t, backend()) }

func TestRandomSchedulesAgreeWithTheModel(t *testing.T) {
	few, many := 300, 30
	if testing.Short() {
		few, many = 30, 3
	}
	t.Run("few keys", func(t *testing.T) {
		queuelab.Check(t, backend(), queuelab.Program{Seed: 1, Schedules: few}).AtLeast(t, 0.1)
	})
	t.Run("many keys", func(t *testing.T) {
		queuelab.Check(t, backend(), queuelab.Program{Seed: 1, Schedules: many, Keys: 40, Steps: 300})
	})
}

func TestConcurrentCallsAreLinearizable(t *testing.T) {
	queuehistory.Check(t, backend(), queuehistory.Program{Seed: 1, Histories: 50})
}
