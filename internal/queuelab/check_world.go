package queuelab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
)

// world is one schedule: a queue, its model, and the adders and holders that use both.
type world struct {
	t      *testing.T
	h      *queuetest.Harness
	b      queuetest.Backend
	p      Program
	rand   *rand.Rand
	ctx    context.Context
	keys   []string
	ledger *ledger
	model  *Model // nil with Program.Spread

	adders    []*adder
	holders   []*holder
	zombies   []queue.Lease // of holders that have died
	piles     []pile        // waiting to be folded
	positions []positions
	reopened  bool
	value     int // the last appended value
	people    int
	trace     []string
}

// adder is a process that appends.
type adder struct {
	id      queue.ID
	number  uint64
	last    *twice // its last call
	before  *twice // the call before
	receipt queue.Receipt
}

// twice is a call as made on the queue and on the model, which number records differently.
type twice struct{ real, model queue.Call }

// pile is a pile from a receipt, to be folded.
type pile struct{ real, model queue.Pile }

// positions are the Positions of one moment, from the queue and from the model.
type positions struct{ real, model queue.Position }

// holder is a process that reserves.
type holder struct {
	id     queue.ID
	name   string
	leases []queue.Lease
	want   queue.Want // the last one
}

func newWorld(t *testing.T, h *queuetest.Harness, b queuetest.Backend, p Program, seed uint64) *world {
	w := &world{
		t: t, h: h, b: b, p: p, rand: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // it has to be found again
		ctx: context.Background(), ledger: newLedger(),
	}
	if !p.Spread {
		w.model = NewModel()
	}
	if h.Together != nil && !p.Spread {
		w.keys = h.Together(p.Keys)
	} else {
		for i := range p.Keys {
			w.keys = append(w.keys, fmt.Sprint("key ", i))
		}
	}
	for range 3 {
		w.adders = append(w.adders, &adder{id: queue.NewID()})
		w.holders = append(w.holders, w.newHolder())
	}
	return w
}

func (w *world) newHolder() *holder {
	w.people++
	return &holder{id: queue.NewID(), name: fmt.Sprint("process ", w.people)}
}

// run makes the schedule, and drains the queue.
func (w *world) run() error {
	steps := []struct {
		weight int
		do     func() error
	}{
		{26, w.append}, {6, w.repeat}, {2, w.burst}, {4, w.fold},
		{22, w.reserve}, {3, w.reserveAgain}, {3, w.reserveNamed},
		{24, w.settle}, {6, w.exchange}, {5, w.extend},
		{5, w.die}, {7, w.zombie}, {16, w.sleep},
		{3, w.meddle}, {2, w.pause}, {3, w.askSettled}, {6, w.look}, {2, w.reopen},
	}
	var second queue.Queue
	if w.b.Shared {
		second = w.h.Second(w.t)
		defer second.Close()
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	for range w.p.Steps {
		n := w.rand.IntN(total)
		for _, s := range steps {
			if n -= s.weight; n < 0 {
				if err := w.step(s.do, second); err != nil {
					return err
				}
				break
			}
		}
	}
	return w.drain()
}

// step makes a step; if there is a second object, every other time through that.
func (w *world) step(do func() error, second queue.Queue) error {
	if second == nil || w.chance(50) {
		return do()
	}
	before := w.h.Queue
	w.h.Queue = second
	err := do()
	if w.h.Queue == second { // unless the step has reopened the queue
		w.h.Queue = before
	}
	return err
}

func (w *world) log(format string, args ...any) {
	w.trace = append(w.trace, w.h.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (w *world) key() string { return w.keys[w.rand.IntN(len(w.keys))] }

// chance returns true in n of 100 cases.
func (w *world) chance(n int) bool { return w.rand.IntN(100) < n }

func pick[T any](w *world, from []T) T { return from[w.rand.IntN(len(from))] }

func (w *world) sleep() error {
	d := pick(w, []time.Duration{time.Millisecond, time.Second, 5 * time.Second, 5 * time.Second, 20 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute})
	w.h.Sleep(d)
	return nil
}
