package fleet

import (
	"cmp"
	"math"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// tuner is one controller for all senders, because they share the limits of the service. It observes every request. Its
// number of requests in flight and its interval between requests become those of the pool, so the next request is that
// of the most urgent sender. Its batch sizes apply to every sender.
type tuner struct {
	pool  *pool.Pool
	began time.Time

	mu         sync.Mutex
	controller tuning.Controller
	slots      int         // of the pool, as last passed to the controller
	most       tuning.Pace // the largest batch of any sender so far; 0 before the first
}

func newTuner(p tuning.Policy, shared *pool.Pool, began time.Time) *tuner {
	t := &tuner{pool: shared, began: began}
	t.slots = slotsOf(shared)
	t.controller = p.New(t.bounds())
	t.apply(t.controller.Pace())
	return t
}

// slotsOf returns the number of slots in the settings of a pool.
func slotsOf(p *pool.Pool) int {
	s := p.Options()
	return s.Expedited + s.Shared
}

func (t *tuner) bounds() tuning.Bounds {
	return tuning.Bounds{Max: tuning.Pace{
		BatchActions: cmp.Or(t.most.BatchActions, math.MaxInt32), BatchBytes: cmp.Or(t.most.BatchBytes, math.MaxInt32), InFlight: t.slots,
	}}
}

// widen includes the limits of a sender in the bounds: the controller must know what a full batch is. mu must be held.
func (t *tuner) widen(sender tuning.Pace) {
	most := tuning.Pace{BatchActions: max(t.most.BatchActions, sender.BatchActions), BatchBytes: max(t.most.BatchBytes, sender.BatchBytes)}
	if r, ok := t.controller.(tuning.Resizer); ok && most != t.most {
		t.most = most
		t.apply(r.Resize(t.bounds()))
	}
}

func (t *tuner) apply(p tuning.Pace) { t.pool.SetLimit(max(p.InFlight, 1), p.Interval) }

// policy returns the tuning policy for a sender.
func (t *tuner) policy() tuning.Policy { return tunerPolicy{t} }

type tunerPolicy struct{ tuner *tuner }

// New implements tuning.Policy.
func (p tunerPolicy) New(b tuning.Bounds) tuning.Controller {
	p.tuner.mu.Lock()
	defer p.tuner.mu.Unlock()
	p.tuner.widen(b.Max)
	return &tuned{tuner: p.tuner, most: b.Max}
}

// tuned is the controller of one sender.
type tuned struct {
	tuner *tuner
	most  tuning.Pace
}

// Pace implements tuning.Controller.
func (c *tuned) Pace() tuning.Pace {
	c.tuner.mu.Lock()
	defer c.tuner.mu.Unlock()
	return c.narrowed(c.tuner.controller.Pace())
}

// Resize implements tuning.Resizer.
func (c *tuned) Resize(b tuning.Bounds) tuning.Pace {
	c.most = b.Max
	c.tuner.mu.Lock()
	c.tuner.widen(b.Max)
	c.tuner.mu.Unlock()
	return c.Pace()
}

// Observe implements tuning.Controller.
func (c *tuned) Observe(o tuning.Observation) tuning.Pace {
	t := c.tuner
	stats := t.pool.Stats()
	now := time.Since(t.began)
	o.Started, o.Now = now-(o.Now-o.Started), now // relative to the fleet's start, not the sender's
	o.InFlight = 1
	for class := range stats.Classes {
		o.InFlight += stats.Classes[class].InUse
		o.Backlog += stats.Classes[class].Waiting // requests of other senders, of at least one action each
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := slotsOf(t.pool); n != t.slots { // the settings have changed
		t.slots = n
		if r, ok := t.controller.(tuning.Resizer); ok {
			r.Resize(t.bounds())
		}
	}
	pace := t.controller.Observe(o)
	t.apply(pace)
	return c.narrowed(pace)
}

// narrowed adapts the pace of the service to one of several senders.
func (c *tuned) narrowed(p tuning.Pace) tuning.Pace {
	p.BatchActions, p.BatchBytes = min(p.BatchActions, c.most.BatchActions), min(p.BatchBytes, c.most.BatchBytes)
	p.InFlight, p.Interval = c.most.InFlight, 0 // the pool has those of all together
	return p
}
