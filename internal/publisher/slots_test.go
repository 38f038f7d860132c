package publisher

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slots are so many slots, and who has asked for them.
type slots struct {
	mu    sync.Mutex
	wake  func()
	left  int
	late  bool    // Take refuses what Free has promised, once
	asked []uint8 // classes of Take
}

func (s *slots) Free(uint8) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left > 0
}

func (s *slots) Take(class uint8) (Slot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 || s.late {
		s.late = false
		return nil, false
	}
	s.left--
	s.asked = append(s.asked, class)
	return &slot{s, sync.Once{}}, true
}

func (s *slots) free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

func (s *slots) classes() []uint8 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

type slot struct {
	slots *slots
	once  sync.Once
}

func (s *slot) Release() {
	s.once.Do(func() {
		s.slots.mu.Lock()
		s.slots.left++
		s.slots.mu.Unlock()
		s.slots.wake()
	})
}

func applied(b *Batch[int]) Reply[int] { return all(b, Result[int]{Next: Complete}) }

func TestRequestsOfSeveralPublishersShareTheirSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool := &service{answer: applied}, &slots{left: 2}
		var both []*Publisher[int, int]
		var ended []*ends
		pool.wake = func() {
			for _, p := range both {
				p.Wake()
			}
		}
		for range 2 {
			p, e := start(t, s, func(c *Config[int, int]) { c.Slots, c.Limits.BatchItems = pool, 1 })
			both, ended = append(both, p), append(ended, e)
		}
		for _, p := range both {
			add(t, p, 20)
		}
		for i, p := range both {
			require.NoError(t, p.Close(t.Context()))
			assert.Equal(t, 20, ended[i].completed)
		}
		assert.Equal(t, 2, s.most, "with four in flight each")
		assert.Equal(t, 2, pool.free())
	})
}

func TestAPublisherThatWaitsForASlotSaysSoAndUsesNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool := &service{answer: applied}, &slots{left: 0}
		p, e := start(t, s, func(c *Config[int, int]) { c.Slots = pool })
		pool.wake = p.Wake
		add(t, p, 1)
		flushed := make(chan error, 1)
		go func() { flushed <- p.Flush(t.Context()) }()
		synctest.Wait()
		assert.Equal(t, Slotless, p.Condition().State)
		assert.NoError(t, p.Condition().Err)
		time.Sleep(time.Hour)
		assert.Empty(t, s.times)

		(&slot{slots: pool}).Release()
		require.NoError(t, <-flushed)
		assert.Equal(t, 1, e.attempts)
		assert.Equal(t, Sending, p.Condition().State)
	})
}

// Nobody else's work waits while a hook runs, a request that failed waits to be sent
// again, or the gate is shut.
func TestNoSlotIsHeldWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		s := &service{answer: func(b *Batch[int]) Reply[int] {
			if fails {
				fails = false
				return Reply[int]{Whole: true, Err: ErrNoResult, Pause: true, RetryAfter: time.Minute}
			}
			return applied(b)
		}}
		pool := &slots{left: 1}
		var sent []int
		p, e := start(t, s, func(c *Config[int, int]) {
			c.Slots = pool
			c.Hooks.Sent = func(*Batch[int]) { sent = append(sent, pool.free()) }
		})
		pool.wake = p.Wake
		add(t, p, 1)
		go func() { _ = p.Flush(t.Context()) }()
		time.Sleep(30 * time.Second)
		assert.Equal(t, 1, pool.free(), "while it waits for its next attempt")
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, []int{1, 1}, sent)
		assert.Equal(t, 1, e.completed)
	})
}

func TestASlotThatIsLostAtTheLastMomentCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool := &service{answer: applied}, &slots{left: 1, late: true}
		p, e := start(t, s, func(c *Config[int, int]) { c.Slots = pool })
		pool.wake = p.Wake
		add(t, p, 3)
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, 3, e.completed)
		assert.Equal(t, 1, e.attempts)
	})
}

func TestASlotOutlivesAClientThatPanicsOrEndsItsGoroutineOrHangs(t *testing.T) {
	for name, misbehave := range map[string]func(ctx context.Context){
		"panics":             func(context.Context) { panic("client") },
		"ends its goroutine": func(context.Context) { runtime.Goexit() },
		"hangs":              func(context.Context) { time.Sleep(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, pool := &service{answer: func(b *Batch[int]) Reply[int] { misbehave(nil); return applied(b) }}, &slots{left: 1}
				p, _ := start(t, s, func(c *Config[int, int]) { c.Slots = pool })
				pool.wake = p.Wake
				add(t, p, 1)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_ = p.Close(ctx)
				assert.Equal(t, 1, pool.free())
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				assert.Equal(t, 1, pool.free(), "given back once")
			})
		})
	}
}

// A gate that lets nothing through is asked last, with the slot in hand.
type refusingGate struct {
	leavingGate
	slots   *slots
	refused []int // free slots at each refusal
}

func (g *refusingGate) Enter() (Permit, bool) {
	if len(g.refused) < 3 {
		g.refused = append(g.refused, g.slots.free())
		return nil, false
	}
	return g.leavingGate.Enter()
}

func TestASlotGoesBackWhenTheGateRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool := &service{answer: applied}, &slots{left: 1}
		gate := &refusingGate{slots: pool}
		p, e := start(t, s, func(c *Config[int, int]) { c.Slots, c.Gate = pool, gate })
		pool.wake = p.Wake
		add(t, p, 1)
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, 1, e.completed)
		assert.Equal(t, []int{0, 0, 0}, gate.refused)
		assert.Equal(t, 1, pool.free())
	})
}
