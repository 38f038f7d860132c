package publisher

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// takeBack returns the permit, and a subscriber of the breaker ends the goroutine.
type exitingGate struct {
	step int
	exit bool
}

func (*exitingGate) Early(bool) {}

func (g *exitingGate) State() GateState {
	if g.step == 1 { // half-open since the Sent hook
		return GateState{Shut: ErrShut, Ready: true}
	}
	return GateState{}
}

func (g *exitingGate) Enter() (Permit, bool) { return &exitingPermit{g}, true }

type exitingPermit struct{ g *exitingGate }

func (p *exitingPermit) Probe() bool { return p.g.step == 1 }

func (*exitingPermit) Answered() {}

func (p *exitingPermit) Done(Service, time.Duration, error) {
	if p.g.step == 1 && !p.g.exit {
		p.g.exit = true
		p.g.step = 2
		runtime.Goexit()
	}
}

func TestASubscriberThatEndsTheGoroutineWhileARequestIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &exitingGate{}
		p, e := start(t, &service{answer: applied}, func(c *Config[int, int]) {
			c.Gate = g
			c.Hooks.Sent = func(*Batch[int]) {
				if g.step == 0 {
					g.step = 1
				}
			}
		})
		add(t, p, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		assert.NoError(t, p.Flush(ctx))
		assert.Equal(t, 3, e.completed)
		ended, cancel := withEnded(t) // otherwise the bubble does not end
		defer cancel()
		_ = p.Close(ended)
	})
}

// slotsButOne has slots for all classes but one.
type slotsButOne struct {
	*slots
	class atomic.Uint32
}

func (s *slotsButOne) Free(class uint8, bytes int) (free bool, trial int) {
	if uint32(class) == s.class.Load() {
		return false, 0
	}
	return s.slots.Free(class, bytes)
}

func (s *slotsButOne) Take(class uint8, bytes int) (Slot, bool) {
	if uint32(class) == s.class.Load() {
		return nil, false
	}
	return s.slots.Take(class, bytes)
}

// A request waits for its slot. A younger one of another class is answered while a third one's handler runs and ends
// the goroutine. What the next goroutine resumes must not include the one that is over.
func TestARequestThatEndsWhileOthersAreResumedIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool, sizes := &service{answer: applied}, &slotsButOne{slots: &slots{left: 9}}, []int{}
		pool.class.Store(noClass)
		p, e := start(t, s, func(c *Config[int, int]) {
			c.Slots = pool
			c.Hooks.Sent = func(b *Batch[int]) {
				sizes = append(sizes, len(b.Items))
				switch len(sizes) {
				case 1:
					pool.class.Store(2)
				case 3:
					time.Sleep(time.Second)
					runtime.Goexit()
				}
			}
		})
		pool.wake = p.Wake
		for i, key := range []string{"waits", "is answered", "ends the goroutine"} {
			_, err := p.Add(t.Context(), itemsOf([]uint8{2, 0, 1}[i], key, 1), true, false)
			assert.NoError(t, err)
			p.FlushAfter(0)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		pool.class.Store(noClass)
		assert.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, 3, e.completed)
		assert.Equal(t, []int{1, 1, 1}, sizes)
		assert.Equal(t, []int{1, 1, 1}, s.sizes)
	})
}

const noClass = 63
