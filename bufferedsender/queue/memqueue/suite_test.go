package memqueue_test

import (
	"testing"

	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
	"github.com/go-azsearch/azsearch/internal/queuehistory"
	"github.com/go-azsearch/azsearch/internal/queuelab"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// backend declares the properties of memqueue: nothing survives, and no other process can open it.
func backend() queuetest.Backend {
	return queuetest.Backend{
		Run: queuetest.Bubble(func(t *testing.T, c queuetest.Config) *queuetest.Harness {
			q, err := memqueue.New(&memqueue.Options{MaxKeys: c.MaxKeys, MaxBytes: c.MaxBytes})
			if err != nil {
				t.Fatal(err)
			}
			return &queuetest.Harness{Queue: q}
		}),
		Limited: true,
	}
}

func TestSuite(t *testing.T) { queuetest.Run(t, backend()) }

func TestCheck(t *testing.T) {
	t.Run("few keys", func(t *testing.T) {
		queuelab.Check(t, backend(), queuelab.Program{Seed: 1, Schedules: testkit.Cases(300, 1000, 3000)}).AtLeast(t, 0.1)
	})
	t.Run("many keys", func(t *testing.T) {
		queuelab.Check(t, backend(), queuelab.Program{Seed: 1, Schedules: testkit.Cases(30, 100, 100), Keys: 40, Steps: 300}).AtLeast(t, 0.1)
	})
}

func TestLinearizable(t *testing.T) {
	histories := 200
	if testing.Short() { // as under the race detector
		histories = 40
	}
	queuehistory.Check(t, backend(), queuehistory.Program{Seed: 1, Histories: histories})
}
