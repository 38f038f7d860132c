package publisher

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slots is a number of slots with the record of requests for them.
type slots struct {
	mu    sync.Mutex
	wake  func()
	left  int
	late  bool    // Take refuses once after Free has reported a slot
	asked []uint8 // classes of the calls of Take
	wants uint64  // classes that ask for slots, as bits
	given int     // slots that were returned unused
	trial time.Duration
	err   error
}

func (s *slots) Free(class uint8, _ int) (free bool, trial int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.left == 0:
		s.wants |= 1 << class
		return false, 0
	case s.trial > 0:
		return true, 1
	}
	return true, 0
}

func (s *slots) Doubted() bool { return s.trial > 0 }

func (s *slots) Away(bool, bool) {}

func (s *slots) Quit(class uint8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wants &^= 1 << class
}

func (s *slots) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *slots) Take(class uint8, _ int) (Slot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 || s.late {
		if s.late {
			s.late = false
			defer s.wake()
		}
		s.wants |= 1 << class
		return nil, false
	}
	s.left--
	s.wants &^= 1 << class
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

func (s *slot) GiveBack() {
	s.once.Do(func() {
		s.slots.mu.Lock()
		s.slots.left++
		s.slots.given++
		s.slots.mu.Unlock()
		s.slots.wake()
	})
}

func (s *slot) Elsewhere(bool) {}

func (s *slot) Trial() (within time.Duration, items int) {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	if s.slots.trial > 0 {
		items = 1
	}
	return s.slots.trial, items
}

func (s *slot) Release(bool) {
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
		assert.Equal(t, 2, s.most, "two slots limit senders with four requests in flight each")
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

		(&slot{slots: pool}).Release(true)
		require.NoError(t, <-flushed)
		assert.Equal(t, 1, e.attempts)
		assert.Equal(t, Sending, p.Condition().State)
	})
}

// A sender holds no slot while a hook runs, a failed request waits for its retry, or the gate is shut: others could
// use it.
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
		assert.Equal(t, 1, pool.free(), "the slot is free while the item waits for its next attempt")
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

// refusingGate refuses the first three calls. A publisher asks its gate last, when it has a slot.
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

// standing starts a publisher that has announced an item of class 2 and has lost its slot.
func standing(t *testing.T, change func(*Config[int, int])) (*Publisher[int, int], *slots, *ends, *service) {
	t.Helper()
	s, pool, stolen := &service{answer: applied}, &slots{left: 1}, false
	p, e := start(t, s, func(c *Config[int, int]) {
		c.Slots = pool
		c.Hooks.Sent = func(*Batch[int]) {
			pool.mu.Lock()
			defer pool.mu.Unlock()
			if !stolen {
				stolen, pool.left = true, 0
			}
		}
		if change != nil {
			change(c)
		}
	})
	pool.wake = p.Wake
	_, err := p.Add(t.Context(), itemsOf(2, "k", 1), true, false)
	require.NoError(t, err)
	p.FlushAfter(0)
	synctest.Wait()
	require.Equal(t, Slotless, p.Condition().State)
	require.EqualValues(t, 1<<2, pool.wants)
	return p, pool, e, s
}

// An announced request keeps its place until it has a slot, and is not announced again.
func TestAnAnnouncedRequestWaitsForItsSlotAndIsAnnouncedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		announced := 0
		p, pool, e, _ := standing(t, func(c *Config[int, int]) {
			sent := c.Hooks.Sent
			c.Hooks.Sent = func(b *Batch[int]) { announced++; sent(b) }
		})
		time.Sleep(time.Hour)
		for range 3 {
			p.Wake()
			synctest.Wait()
		}
		(&slot{slots: pool}).Release(true)
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, 1, e.completed)
		assert.Equal(t, 1, announced)
		assert.Equal(t, 1, e.attempts)
	})
}

func TestARequestThatWaitsForItsSlotIsTakenBack(t *testing.T) {
	for name, by := range map[string]func(t *testing.T, p *Publisher[int, int]){
		"by a pause": func(_ *testing.T, p *Publisher[int, int]) { p.Pause() },
		"by a withdrawal": func(t *testing.T, p *Publisher[int, int]) {
			t.Helper()
			p.Withdraw(func(string, *int) bool { return true })
		},
		"when Close gives up": func(t *testing.T, p *Publisher[int, int]) {
			t.Helper()
			ended, cancel := withEnded(t)
			defer cancel()
			require.Error(t, p.Close(ended))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, pool, e, s := standing(t, nil)
				by(t, p)
				synctest.Wait()
				assert.Zero(t, pool.wants, "the publisher no longer asks for a slot")
				(&slot{slots: pool}).Release(true)
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.Empty(t, s.times)
				assert.Zero(t, e.completed)
				assert.Equal(t, 1, pool.free())
				p.Resume()
			})
		})
	}
}

// An urgent action of the same key makes the waiting request urgent.
func TestARequestThatWaitsForItsSlotTakesTheClassOfWhatIsBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, pool, _, _ := standing(t, nil)
		_, err := p.Add(t.Context(), itemsOf(0, "k", 1), true, false)
		require.NoError(t, err)
		p.FlushAfter(0)
		synctest.Wait()
		assert.EqualValues(t, 1<<0, pool.wants)
		(&slot{slots: pool}).Release(true)
		synctest.Wait()
		assert.Equal(t, []uint8{0}, pool.classes())
		pool.mu.Lock()
		pool.left = 9
		pool.mu.Unlock()
		require.NoError(t, p.Close(t.Context()))
	})
}

// A paused publisher has nothing to send, so it must not wait in line for a slot.
func TestAPausedPublisherAsksForNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := &slots{}
		p, _ := start(t, &service{answer: applied}, func(c *Config[int, int]) { c.Slots = pool })
		pool.wake = p.Wake
		add(t, p, 100)
		synctest.Wait()
		assert.EqualValues(t, 1, pool.wants)
		p.Pause()
		synctest.Wait()
		assert.Zero(t, pool.wants)
		p.Resume()
		synctest.Wait()
		assert.EqualValues(t, 1, pool.wants)
		(&slot{slots: pool}).Release(true)
		require.NoError(t, p.Flush(t.Context()))
	})
}

func TestWithoutAnyMoreSlotsThePublisherSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := &slots{err: assert.AnError}
		p, _ := start(t, &service{answer: applied}, func(c *Config[int, int]) { c.Slots = pool })
		pool.wake = p.Wake
		add(t, p, 100)
		synctest.Wait()
		assert.Equal(t, Held, p.Condition().State)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, p.Flush(ctx), assert.AnError)
		closed := (*CloseError)(nil)
		require.ErrorAs(t, p.Close(ctx), &closed)
		require.ErrorIs(t, closed.Held, assert.AnError)
	})
}

// A batch that was announced in good times must not be what a doubtful service is tried with.
func TestABatchThatWaitsForItsSlotIsNoTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool, stolen := &service{answer: applied}, &slots{left: 1}, false
		p, e := start(t, s, func(c *Config[int, int]) {
			c.Slots, c.Limits.InFlight = pool, 1
			c.Hooks.Sent = func(*Batch[int]) {
				pool.mu.Lock()
				defer pool.mu.Unlock()
				if !stolen {
					stolen, pool.left = true, 0
				}
			}
		})
		pool.wake = p.Wake
		add(t, p, 100)
		synctest.Wait()
		require.Equal(t, Slotless, p.Condition().State)
		pool.mu.Lock()
		pool.trial = 2 * time.Second
		pool.mu.Unlock()
		(&slot{slots: pool}).Release(true)
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, slices.Repeat([]int{1}, 100), s.sizes)
		assert.Equal(t, 100, e.completed)
		assert.Equal(t, 1, e.attempts)
		assert.Equal(t, 1, pool.free())
	})
}

// hanging is a service that replies only from the sixth request on.
type hanging struct{ *service }

func (h hanging) Send(ctx context.Context, b *Batch[int]) Reply[int] {
	h.mu.Lock()
	h.times, h.sizes = append(h.times, time.Since(h.began)), append(h.sizes, len(b.Items))
	n := len(h.times)
	h.mu.Unlock()
	if n > 5 {
		return h.answer(b)
	}
	<-ctx.Done()
	return Reply[int]{Whole: true, TimedOut: true, Service: ServiceFails, Pause: true, RetryAfter: -1, Err: ctx.Err()}
}

func TestATrialWhoseTimeIsUpSaysNothingAndUsesNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool, gate := &service{answer: applied}, &slots{left: 1, trial: 2 * time.Second}, &counting{}
		p, e := start(t, s, func(c *Config[int, int]) {
			c.Slots, c.Gate, c.Transport, c.MaxAttempts, c.RequestTimeout = pool, gate, hanging{s}, 1, time.Minute
		})
		pool.wake = p.Wake
		add(t, p, 20)
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, []time.Duration{0, 2 * time.Second, 4 * time.Second, 6 * time.Second, 8 * time.Second}, s.times[:5], "the gate's probes are sent one at a time without a pause")
		assert.Equal(t, []int{1, 1, 1, 1, 1}, s.sizes[:5])
		assert.Equal(t, 20, e.completed)
		assert.Equal(t, 1, e.attempts)
		assert.Zero(t, gate.failed.Load())
	})
}

// counting is an open gate that counts the reported failures.
type counting struct{ failed atomic.Int64 }

func (g *counting) Early(bool)            {}
func (g *counting) State() GateState      { return GateState{} }
func (g *counting) Enter() (Permit, bool) { return countingPermit{g}, true }

type countingPermit struct{ gate *counting }

func (p countingPermit) Probe() bool { return false }
func (p countingPermit) Answered()   {}
func (p countingPermit) Done(s Service, _ time.Duration, _ error) {
	if s != ServiceSound && s != ServiceUnclear {
		p.gate.failed.Add(1)
	}
}

func TestATapThatTakesLongToConfirmHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool := &service{answer: applied}, &slots{left: 1}
		p, _ := start(t, s, func(c *Config[int, int]) {
			c.Slots = pool
			c.Tap = &tap{
				before:  func([]string) error { return nil },
				confirm: func([]string) (bool, error) { time.Sleep(time.Minute); return false, nil },
			}
		})
		pool.wake = p.Wake
		add(t, p, 1)
		go func() { _ = p.Flush(t.Context()) }()
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, s.times, 1)
		assert.Equal(t, 1, pool.free())
		time.Sleep(time.Hour)
	})
}
