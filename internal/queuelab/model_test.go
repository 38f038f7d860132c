package queuelab

import (
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// model is the model as a back end with one object, like memqueue.
func model() queuetest.Backend {
	return queuetest.Backend{
		Run: queuetest.Bubble(func(_ *testing.T, c queuetest.Config) *queuetest.Harness {
			return &queuetest.Harness{Queue: NewModelQueue(time.Now, c)}
		}),
		Limited: true,
	}
}

// stored is the model as a back end whose storage is shared by several objects and outlives them. On reopening,
// leases and counters end (as in a directory with one owner) or stay (as on a server).
func stored(leasesEnd bool) queuetest.Backend {
	return queuetest.Backend{
		Run: queuetest.Bubble(func(_ *testing.T, c queuetest.Config) *queuetest.Harness {
			q := NewModelQueue(time.Now, c)
			h := &queuetest.Harness{Queue: q, Second: func(*testing.T) queue.Queue { return q.Second() }}
			h.Reopen = func(*testing.T) queue.Queue {
				if leasesEnd {
					q.model.Restart(time.Now())
				}
				h.Queue = q.Second()
				return h.Queue
			}
			return h
		}),
		Limited: true, Durable: true, Shared: true, LeasesEnd: leasesEnd, CountsEnd: leasesEnd,
	}
}

// The suite is validated with the model, which implements the same rules.
func TestTheModelPassesTheSuite(t *testing.T) {
	t.Run("in memory", func(t *testing.T) { queuetest.Run(t, model()) })
	testkit.Long(t)
	t.Run("as a directory", func(t *testing.T) { queuetest.Run(t, stored(true)) })
	t.Run("as a server", func(t *testing.T) { queuetest.Run(t, stored(false)) })
}

// The model is compared with itself. This validates the schedules and the comparison, and that the schedules contain
// the difficult cases.
func TestTheModelPassesTheCheck(t *testing.T) {
	t.Run("in memory", func(t *testing.T) {
		Check(t, model(), Program{Seed: 1, Schedules: testkit.Cases(300, 1000, 3000)}).AtLeast(t, 0.1)
	})
	t.Run("many keys", func(t *testing.T) {
		Check(t, model(), Program{Seed: 1, Schedules: testkit.Cases(30, 100, 100), Keys: 40, Steps: 200}).AtLeast(t, 0.1)
	})
	testkit.Long(t)
	t.Run("as a directory", func(t *testing.T) { Check(t, stored(true), Program{Seed: 1}).AtLeast(t, 0.1) })
	t.Run("as a server", func(t *testing.T) { Check(t, stored(false), Program{Seed: 1}).AtLeast(t, 0.1) })
	t.Run("as shards", func(t *testing.T) { Check(t, model(), Program{Seed: 1, Spread: true}).AtLeast(t, 0.1) })
}
