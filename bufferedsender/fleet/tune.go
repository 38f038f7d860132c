package fleet

import (
	"math"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// tuner is one controller for all senders, because they share the limits of the service. It observes every request. Its
// number of requests in flight becomes the limit of the pool, its batch sizes apply to every sender, and its interval
// between requests is multiplied by the number of busy senders.
type tuner struct {
	pool  *pool.Pool
	began time.Time

	mu         sync.Mutex
	controller tuning.Controller
	slots      int // of the pool, as last passed to the controller
	last       map[*tuned]time.Duration
}

// busyFor is how long a sender counts as busy after its last request.
const busyFor = time.Second

func newTuner(p tuning.Policy, shared *pool.Pool, began time.Time) *tuner {
	t := &tuner{pool: shared, began: began, last: make(map[*tuned]time.Duration)}
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
	return tuning.Bounds{Max: tuning.Pace{BatchActions: math.MaxInt32, BatchBytes: math.MaxInt32, InFlight: t.slots}}
}

func (t *tuner) apply(p tuning.Pace) { t.pool.SetLimit(max(p.InFlight, 1)) }

// policy returns the tuning policy for a sender.
func (t *tuner) policy() tuning.Policy { return tunerPolicy{t} }

type tunerPolicy struct{ tuner *tuner }

// New implements tuning.Policy.
func (p tunerPolicy) New(b tuning.Bounds) tuning.Controller {
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
	return c.narrowed(c.tuner.controller.Pace(), 1)
}

// Resize implements tuning.Resizer.
func (c *tuned) Resize(b tuning.Bounds) tuning.Pace {
	c.most = b.Max
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
	t.last[c] = now
	for other, at := range t.last {
		if now-at > busyFor {
			delete(t.last, other)
		}
	}
	return c.narrowed(pace, len(t.last))
}

// narrowed adapts the pace of the service to one of several senders.
func (c *tuned) narrowed(p tuning.Pace, senders int) tuning.Pace {
	p.BatchActions, p.BatchBytes = min(p.BatchActions, c.most.BatchActions), min(p.BatchBytes, c.most.BatchBytes)
	p.InFlight = c.most.InFlight // the pool bounds them together
	p.Interval *= time.Duration(senders)
	return p
}
