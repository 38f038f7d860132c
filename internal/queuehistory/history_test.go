package queuehistory

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
	"github.com/go-azsearch/azsearch/internal/queuelab"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// of is the model's queue with a fault added by a wrapper.
func of(wrap func(*queuelab.ModelQueue) queue.Queue) queuetest.Backend {
	return queuetest.Backend{Run: queuetest.Bubble(func(_ *testing.T, c queuetest.Config) *queuetest.Harness {
		return &queuetest.Harness{Queue: wrap(queuelab.NewModelQueue(time.Now, c))}
	})}
}

func TestTheModelIsLinearizable(t *testing.T) {
	Check(t, of(func(q *queuelab.ModelQueue) queue.Queue { return q }), Program{Seed: 1})
}

// chooses chooses keys in one step and leases them in another.
type chooses struct{ *queuelab.ModelQueue }

func (q chooses) Reserve(ctx context.Context, want queue.Want) ([]queue.Lease, error) {
	entries, err := q.Inspect(ctx, queue.Inspection{States: queue.Waiting, Limit: want.Keys})
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	for _, e := range entries {
		want.Only = append(want.Only, e.Key)
	}
	runtime.Gosched()
	return q.ModelQueue.Reserve(ctx, want)
}

// tears splits a call in two, so that other callers can see only the first part.
type tears struct{ *queuelab.ModelQueue }

func (q tears) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	if stale, failed, err = q.Settle(ctx, ends...); err != nil {
		return nil, stale, failed, err
	}
	runtime.Gosched()
	leases, err = q.Reserve(ctx, want)
	return leases, stale, failed, err
}

// acknowledges acknowledges an Append before the record is kept.
type acknowledges struct{ *queuelab.ModelQueue }

func (q acknowledges) Append(ctx context.Context, c queue.Call) (queue.Receipt, error) {
	go func() {
		runtime.Gosched()
		_, _ = q.ModelQueue.Append(ctx, c)
	}()
	return queue.Receipt{}, nil
}

// In sequential calls the fault has no effect; only a concurrent history shows it.
func TestAnExchangeInTwoStepsPassesSchedules(t *testing.T) {
	queuelab.Check(t, of(func(q *queuelab.ModelQueue) queue.Queue { return tears{q} }), queuelab.Program{Seed: 1, Schedules: 100})
}

func TestWhatIsNotAtomicIsFound(t *testing.T) {
	for name, wrap := range map[string]func(*queuelab.ModelQueue) queue.Queue{
		"a Reserve that chooses first and leases then": func(q *queuelab.ModelQueue) queue.Queue { return chooses{q} },
		"an Exchange in two steps":                     func(q *queuelab.ModelQueue) queue.Queue { return tears{q} },
		"an Append that is kept later":                 func(q *queuelab.ModelQueue) queue.Queue { return acknowledges{q} },
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Program{Seed: 1, Histories: 500}.find(t, of(wrap))
			if err == nil {
				t.Fatal("not found in 500 histories")
			}
			what, _, _ := strings.Cut(err.Error(), "\n")
			t.Log(what)
		})
	}
}
