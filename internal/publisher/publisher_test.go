package publisher

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// service is a Transport from a function; times records the time of each request, sizes its number of items.
type service struct {
	answer func(b *Batch[int]) Reply[int]

	mu       sync.Mutex
	began    time.Time
	times    []time.Duration
	sizes    []int
	inFlight int
	most     int // maximum in flight at once
}

func (s *service) Send(_ context.Context, b *Batch[int]) Reply[int] {
	s.mu.Lock()
	s.times, s.sizes = append(s.times, time.Since(s.began)), append(s.sizes, len(b.Items))
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	s.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	return s.answer(b)
}

// all returns a reply with the same result for each item.
func all(b *Batch[int], r Result[int]) Reply[int] {
	reply := Reply[int]{RetryAfter: -1, Service: ServiceSound}
	for range b.Items {
		reply.Results = append(reply.Results, r)
	}
	return reply
}

// ends records the outcomes of a publisher's items.
type ends struct {
	completed, failed int
	attempts          int // of the last one
}

func start(t *testing.T, s *service, change func(*Config[int, int])) (*Publisher[int, int], *ends) {
	t.Helper()
	s.began = time.Now()
	e := &ends{}
	config := Config[int, int]{
		Transport: s,
		Hooks: Hooks[int, int]{
			Accepted: func(int) {}, Sent: func(*Batch[int]) {}, Replied: func(*Batch[int], *Reply[int], time.Duration, Counts) {},
			Ending:  func([]Settlement[int, int]) bool { return false },
			Explain: func(s *Settlement[int, int]) error { return fmt.Errorf("item %d", s.Item.Value) },
			Settled: func(s *Settlement[int, int], err error) {
				if e.attempts = s.Item.Attempt; err == nil {
					e.completed++
				} else {
					e.failed++
				}
			},
			Delivered: func() {}, Suspect: func(*IndexError) {}, Paused: func(time.Duration) {}, Changed: func(Condition, Condition) {},
			Closed: func(context.Context) error { return nil },
		},
		NewID:       func() string { return "batch" },
		Limits:      Limits{BatchItems: 100, BatchBytes: 1 << 20, InFlight: 4, Items: 1000, Bytes: 1 << 20},
		AutoFlush:   true,
		MaxAttempts: 2,
		Backoff:     func(int) time.Duration { return time.Second },
	}
	if change != nil {
		change(&config)
	}
	p := New(config)
	p.Start()
	t.Cleanup(func() { _ = p.Close(context.Background()) })
	return p, e
}

func add(t *testing.T, p *Publisher[int, int], n int) {
	t.Helper()
	items := make([]Item[int], n)
	for i := range items {
		items[i] = Item[int]{Key: fmt.Sprint("k", i), Body: []byte("{}"), Value: i}
	}
	accepted, err := p.Add(t.Context(), items, true, false)
	require.NoError(t, err)
	require.Equal(t, n, accepted)
}

func TestATunerNarrowsTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(b *Batch[int]) Reply[int] { return all(b, Result[int]{Next: Complete}) }}
		narrow := Tuned{BatchItems: 10, InFlight: 2, Interval: 3 * time.Millisecond}
		var seen []Sample
		p, e := start(t, s, func(c *Config[int, int]) {
			c.Tuned = narrow
			c.Tuner = func(s Sample) Tuned {
				seen = append(seen, s)
				return narrow
			}
		})
		add(t, p, 100)
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, 100, e.completed)
		require.Len(t, s.sizes, 10)
		assert.Equal(t, 2, s.most, "requests in flight at once")
		for i := range s.sizes {
			assert.Equal(t, 10, s.sizes[i])
			if i > 0 {
				assert.GreaterOrEqual(t, s.times[i]-s.times[i-1], 3*time.Millisecond)
			}
		}
		require.Len(t, seen, 10)
		assert.Equal(t, Sample{
			Now: 10 * time.Millisecond, Items: 10, Bytes: 20, Done: 10, Service: ServiceSound, InFlight: 2, Backlog: 80,
		}, seen[0])
	})
}

// One random item of each batch passes. An item must not fail because it was unlucky more often than its number of
// attempts.
func TestBadLuckUsesNoAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(b *Batch[int]) Reply[int] {
			reply := all(b, Result[int]{Throttled: true})
			reply.Pause, reply.Throttled, reply.Service = true, len(b.Items)-1, ServiceThrottles
			reply.Results[len(b.Items)-1] = Result[int]{Next: Complete}
			return reply
		}}
		p, e := start(t, s, nil)
		add(t, p, 30)
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, ends{completed: 30, attempts: 30}, *e)
	})
}

// If no item passes, the attempts count.
func TestAnItemThatIsAlwaysThrottledFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(b *Batch[int]) Reply[int] {
			reply := all(b, Result[int]{Next: Complete})
			for i := range b.Items {
				if b.Items[i].Key == "k0" {
					reply.Results[i] = Result[int]{Throttled: true}
					reply.Pause, reply.Throttled, reply.Service = true, 1, ServiceThrottles
				}
			}
			return reply
		}}
		p, e := start(t, s, nil)
		add(t, p, 10)
		require.Error(t, p.Close(t.Context()))
		assert.Equal(t, 9, e.completed)
		assert.Equal(t, 1, e.failed)
		assert.Equal(t, 3, e.attempts, "other items passed when it failed first, then it failed twice alone")
	})
}

func TestAProbeInVainLetsOthersTry(t *testing.T) {
	p := newPending[int]()
	fill(p, "a", "b", "c")
	batch := take(p, noLimits)
	for _, r := range batch {
		p.retry(r, 0)
	}
	p.promote(0)
	probe := noLimits
	probe.actions, probe.probe = 1, true
	var order []string
	for range 4 {
		batch := take(p, probe)
		require.Len(t, batch, 1)
		order = append(order, keysOf(p, batch)...)
		p.at(batch[0]).probes++
		p.retry(batch[0], 0)
		p.promote(0)
	}
	assert.Equal(t, []string{"a0", "b1", "c2", "a0"}, order)
}

// A probe has one action, also if all waiting actions belong to a split batch. It is another action than earlier
// probes, also if all waiting ones were probes.
func TestAProbeIsOneAction(t *testing.T) {
	probe := noLimits
	probe.actions, probe.probe = 1, true

	p := newPending[int]()
	fill(p, "a", "b", "c", "d")
	p.split(take(p, noLimits), nil)
	var order []string
	for range 4 {
		order = append(order, keysOf(p, take(p, probe))...)
	}
	assert.Equal(t, []string{"a0", "b1", "c2", "d3"}, order)
	assert.Empty(t, p.parts)

	p = newPending[int]()
	fill(p, "a")
	first := take(p, probe)
	p.at(first[0]).probes = math.MaxUint8
	p.retry(first[0], 0)
	p.promote(0)
	fill(p, "b")
	assert.Equal(t, []string{"b0"}, keysOf(p, take(p, probe)))
	assert.Equal(t, []string{"a0"}, keysOf(p, take(p, probe)))
	assert.Zero(t, p.waiting())
	assert.Zero(t, p.classes[0].waitingBytes)
}

func TestReplaceCountsTheNewBody(t *testing.T) {
	p := newPending[int]()
	fill(p, "a", "b", "a")
	p.replace(0, []byte("three"))
	assert.Equal(t, len("three")+1, p.classes[0].waitingBytes)
	p.replace(2, []byte("behind")) // not counted before it is the first of its key
	assert.Equal(t, len("three")+1, p.classes[0].waitingBytes)
	for _, r := range take(p, noLimits) {
		p.remove(r, 0)
	}
	assert.Equal(t, len("behind"), p.classes[0].waitingBytes)
	take(p, noLimits)
	assert.Zero(t, p.classes[0].waitingBytes)
}

// The oldest action is found at every place, in the right order.
func TestTheOldestIsTakenWhereverItWaits(t *testing.T) {
	p := newPending[int]()
	fill(p, "part1", "part2", "delayed1", "delayed2", "due", "flight", "done", "ready", "flight", "done")
	batch := take(p, noLimits) // all but the second action of a key
	require.Len(t, batch, 8)
	p.split(batch[:2], nil)
	p.retry(batch[3], 200)
	p.retry(batch[2], 300)
	p.retry(batch[4], 1)
	p.promote(1)
	p.remove(batch[6], 0) // frees the second one
	p.retry(batch[7], 400)
	var order []string
	for r := p.takeOldest(0); r != none; r = p.takeOldest(0) {
		order = append(order, keysOf(p, []ref{r})...)
	}
	assert.Equal(t, []string{"part10", "part21", "delayed12", "delayed23", "due4", "ready7", "done9"}, order)
	assert.Zero(t, p.waiting())
	assert.Zero(t, p.classes[0].waitingBytes)
	assert.Empty(t, p.parts)
	assert.Zero(t, p.delayed.len()+p.classes[0].due.len()+p.classes[0].ready.len()+p.classes[0].freed.len())
}

// leavingGate is always open, and its n-th call ends the goroutine of the caller.
type leavingGate struct {
	asked, n int
	given    int          // permits
	out      atomic.Int64 // permits that have not ended
}

func (g *leavingGate) Enter() (Permit, bool) {
	g.given++
	g.out.Add(1)
	return &leavingPermit{gate: g}, true
}

func (*leavingGate) Early(bool) {}

func (g *leavingGate) State() GateState {
	if g.asked++; g.asked == g.n {
		runtime.Goexit()
	}
	return GateState{}
}

type leavingPermit struct {
	gate  *leavingGate
	ended atomic.Bool
}

func (p *leavingPermit) Probe() bool { return false }

func (*leavingPermit) Answered() {}

func (p *leavingPermit) Done(Service, time.Duration, error) {
	if p.ended.CompareAndSwap(false, true) {
		p.gate.out.Add(-1)
	}
}

// A subscriber of the breaker may end the goroutine wherever the loop reads the gate.
func TestAGateThatEndsTheGoroutineAnywhereLosesNothing(t *testing.T) {
	for n := range 30 {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answer: func(b *Batch[int]) Reply[int] { return all(b, Result[int]{Next: Complete}) }}
			gate := &leavingGate{n: n + 1}
			p, e := start(t, s, func(c *Config[int, int]) { c.Gate, c.Limits.BatchItems = gate, 3 })
			add(t, p, 10)
			require.NoError(t, p.Close(t.Context()))
			assert.Equal(t, 10, e.completed, "ended at look %d", n+1)
			assert.Zero(t, gate.out.Load(), "permits kept, ended at look %d", n+1)
			assert.GreaterOrEqual(t, gate.given, 4)
		})
	}
}

func TestNothingIsAcceptedAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(b *Batch[int]) Reply[int] { return all(b, Result[int]{Next: Complete}) }}
		p, e := start(t, s, nil)
		add(t, p, 3)
		require.NoError(t, p.Close(t.Context()))
		for _, wait := range []bool{false, true} {
			n, err := p.Add(t.Context(), []Item[int]{{Key: "late", Body: []byte("{}")}}, wait, false)
			assert.Zero(t, n)
			assert.ErrorIs(t, err, ErrClosed)
		}
		assert.Equal(t, 3, e.completed)
		assert.EqualValues(t, 3, p.Stats().Accepted)
	})
}
