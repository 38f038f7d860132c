package publisher

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func itemsOf(class uint8, prefix string, n int) []Item[int] {
	items := make([]Item[int], n)
	for i := range items {
		items[i] = Item[int]{Key: fmt.Sprint(prefix, i), Body: []byte("{}"), Class: class}
	}
	return items
}

func TestABatchHoldsOneClassAndTheUrgentOneGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var batches [][]uint8
		s := &service{answer: applied}
		p, e := start(t, s, func(c *Config[int, int]) {
			c.Limits.InFlight = 1
			c.Hooks.Sent = func(b *Batch[int]) {
				var classes []uint8
				for _, it := range b.Items {
					classes = append(classes, it.Class)
				}
				batches = append(batches, classes)
			}
		})
		p.Pause()
		for i := range 3 {
			_, err := p.Add(t.Context(), append(itemsOf(2, fmt.Sprint("slow", i), 1), itemsOf(0, fmt.Sprint("urgent", i), 1)...), true, false)
			require.NoError(t, err)
		}
		p.Resume()
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, [][]uint8{{0, 0, 0}, {2, 2, 2}}, batches)
		assert.Equal(t, 6, e.completed)
	})
}

func TestAClassWithoutASlotDoesNotHoldTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool := &service{answer: applied}, &slots{left: 4}
		only := &onlySlots{slots: pool}
		only.set(2)
		p, e := start(t, s, func(c *Config[int, int]) { c.Slots = only })
		pool.wake = p.Wake
		_, err := p.Add(t.Context(), append(itemsOf(0, "urgent", 1), itemsOf(2, "slow", 1)...), true, false)
		require.NoError(t, err)
		p.FlushAfter(0)
		time.Sleep(time.Minute)
		assert.Equal(t, []uint8{2}, pool.classes())
		assert.Equal(t, Slotless, p.Condition().State)
		only.set(0)
		p.Wake()
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, []uint8{2, 0}, pool.classes())
		assert.Equal(t, 2, e.completed)
	})
}

// onlySlots has slots for one class.
type onlySlots struct {
	*slots
	class atomic.Uint32
}

func (s *onlySlots) set(class uint8) { s.class.Store(uint32(class)) }

func (s *onlySlots) Free(class uint8, bytes int) (free bool, trial int) {
	if uint32(class) != s.class.Load() {
		return false, 0
	}
	return s.slots.Free(class, bytes)
}

// A live update waits behind a backfill action of its key, which therefore takes the class of the update.
func TestTheFirstActionOfAKeyTakesTheMostUrgentClassBehindIt(t *testing.T) {
	for name, prepare := range map[string]func(p *pending[int]){
		"never sent": func(*pending[int]) {},
		"was freed": func(p *pending[int]) {
			p.remove(take(p, batchLimits{actions: 1, bytes: 100, newest: 9, class: 3})[0], 0)
		},
		"the retry of the item is due": func(p *pending[int]) {
			p.retry(take(p, batchLimits{actions: 1, bytes: 100, newest: 9, class: 3})[0], 0)
			p.promote(0)
		},
		"is in a part": func(p *pending[int]) {
			p.parts = append(p.parts, part{refs: take(p, batchLimits{actions: 1, bytes: 100, newest: 9, class: 3})})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPending[int]()
			for i, key := range []string{"k", "k", "other"} {
				p.add(Item[int]{Key: key, Body: []byte("x"), Value: i, Class: 3}, uint64(i+1), 0)
			}
			prepare(p)
			p.add(Item[int]{Key: "k", Body: []byte("x"), Value: 3, Class: 1}, 4, 0)
			urgent := noLimits
			urgent.class = 1
			var order []string
			for batch := take(p, urgent); len(batch) > 0; batch = take(p, urgent) {
				order = append(order, keysOf(p, batch)...)
				p.remove(batch[0], 0)
			}
			assert.Equal(t, []string{"k0", "k1", "k3"}[3-len(order):], order)
			rest := noLimits
			rest.class = 3
			assert.Equal(t, []string{"other2"}, keysOf(p, take(p, rest)))
		})
	}
}

func TestTheUrgentClassDoesNotWaitForRoomBehindTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: applied}
		p, e := start(t, s, func(c *Config[int, int]) { c.Limits.Items = 16 })
		p.Pause()
		n, err := p.Add(t.Context(), itemsOf(5, "slow", 16), false, false)
		assert.Equal(t, 14, n, "two are left to the urgent class")
		require.ErrorIs(t, err, ErrFull)
		n, err = p.Add(t.Context(), itemsOf(0, "urgent", 2), false, false)
		assert.Equal(t, 2, n)
		require.NoError(t, err)

		var order []string
		for _, c := range []struct {
			class uint8
			key   string
		}{{5, "slow"}, {0, "urgent"}, {5, "slower"}} {
			go func() {
				_, err := p.Add(t.Context(), itemsOf(c.class, c.key+"-later", 1), true, false)
				assert.NoError(t, err)
			}()
			synctest.Wait()
		}
		p.admission.mu.Lock()
		for _, w := range p.admission.waiters {
			order = append(order, w.items[0].Key)
		}
		p.admission.mu.Unlock()
		assert.Equal(t, []string{"urgent-later0", "slow-later0", "slower-later0"}, order)
		p.Resume()
		require.NoError(t, p.Flush(t.Context()))
		synctest.Wait()
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, 19, e.completed)
	})
}

// An item of a class without queued items goes to a group at once.
func TestAGroupOfAnotherClassIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lackingFirst()
		p, _ := start(t, s, func(c *Config[int, int]) { c.Gate = openGate{} })
		write(t, p, "ap")
		require.Error(t, p.Flush(t.Context()))
		_, err := p.Add(t.Context(), []Item[int]{{Key: "b", Body: []byte("p"), Class: 3}}, true, false)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		assert.NoError(t, p.Flush(ctx))
		ended, cancel := withEnded(t) // otherwise the bubble does not end
		defer cancel()
		_ = p.Close(ended)
	})
}

// While the urgent class has no slot, neither the timer nor a full batch of another class sends it.
func TestAClassWithoutASlotDoesNotHoldTheTimerOfTheOthers(t *testing.T) {
	for name, n := range map[string]int{"timer": 1, "full batch": 5} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, pool := &service{answer: applied}, &slots{left: 4}
				only := &onlySlots{slots: pool}
				only.set(2)
				p, e := start(t, s, func(c *Config[int, int]) {
					c.Slots, c.Limits.BatchItems, c.Interval = only, 5, time.Second
					if n > 1 {
						c.Interval = -1
					}
				})
				pool.wake = p.Wake
				_, err := p.Add(t.Context(), itemsOf(0, "urgent", 5), true, false)
				require.NoError(t, err)
				time.Sleep(time.Minute)
				_, err = p.Add(t.Context(), itemsOf(2, "slow", n), true, false)
				require.NoError(t, err)
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.Equal(t, n, e.completed)
				ended, cancel := withEnded(t) // otherwise the bubble does not end
				defer cancel()
				_ = p.Close(ended)
			})
		})
	}
}

// The first urgent action wakes the loop, also if too few actions of other classes wait.
func TestAnUrgentActionIsNotSeenLaterBecauseOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, pool := &service{answer: applied}, &slots{left: 4}
		p, _ := start(t, s, func(c *Config[int, int]) { c.Slots, c.Interval = pool, time.Minute })
		pool.wake = p.Wake
		_, err := p.Add(t.Context(), itemsOf(2, "slow", 2), true, false)
		require.NoError(t, err)
		time.Sleep(59 * time.Second)
		_, err = p.Add(t.Context(), itemsOf(0, "urgent", 1), true, false)
		require.NoError(t, err)
		p.admission.mu.Lock()
		assert.True(t, p.admission.urgent)
		p.admission.mu.Unlock()
		synctest.Wait()
		p.admission.mu.Lock()
		assert.False(t, p.admission.urgent)
		assert.Empty(t, p.admission.inbox)
		p.admission.mu.Unlock()
	})
}

// The sender may have one request in flight, and a slow class uses it for long.
func TestAnUrgentRequestDoesNotWaitForASlowOneOfItsOwnSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := make(chan struct{})
		s, pool := &service{answer: applied}, &slots{left: 4}
		p, e := start(t, s, func(c *Config[int, int]) {
			c.Slots, c.Limits.InFlight, c.Interval, c.Transport = pool, 1, time.Second, &slowFor{s, 2, first}
		})
		pool.wake = p.Wake
		_, err := p.Add(t.Context(), itemsOf(2, "slow", 250), true, false)
		require.NoError(t, err)
		synctest.Wait()
		_, err = p.Add(t.Context(), itemsOf(0, "urgent", 1), true, false)
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, 1, e.completed)
		close(first)
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, 251, e.completed)
	})
}

// slowFor is a service that delays replies to requests of one class until it is released.
type slowFor struct {
	*service
	class uint8
	may   chan struct{}
}

func (s *slowFor) Send(ctx context.Context, b *Batch[int]) Reply[int] {
	if b.Items[0].Class == s.class {
		<-s.may
	}
	return s.service.Send(ctx, b)
}

func TestEveryFourthTurnIsOneOfTheOthersAndProbesGoRound(t *testing.T) {
	const urgent, middle, least = 1 << 0, 1 << 1, 1 << 5
	for name, c := range map[string]struct {
		classes uint64
		probe   bool
		want    []uint8
	}{
		"one class":             {urgent, false, []uint8{0, 0, 0, 0, 0}},
		"two classes":           {urgent | least, false, []uint8{0, 0, 0, 5, 0, 0, 0, 5}},
		"three classes":         {urgent | middle | least, false, []uint8{0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1}},
		"no item is Expedited":  {middle | least, false, []uint8{1, 1, 1, 5, 1}},
		"probes":                {urgent | middle | least, true, []uint8{1, 5, 0, 1, 5, 0}},
		"probes, the last left": {1 << 63, true, []uint8{63, 63}},
	} {
		t.Run(name, func(t *testing.T) {
			var ts turns
			var got []uint8
			for range c.want {
				for class := range ts.order(c.classes, c.probe) {
					got = append(got, class)
					ts.had(class, c.classes, c.probe)
					break
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// A call of the most urgent class does not wait for others that wait for room.
func TestAnUrgentCallEncodesWhileOthersWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{answer: applied}, func(c *Config[int, int]) { c.Limits.Items, c.Limits.Bytes = 16, 1000 })
		p.Pause()
		_, err := p.Add(t.Context(), itemsOf(5, "slow", 14), false, false)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 4 {
			large := Item[int]{Key: fmt.Sprint("large", i), Body: make([]byte, 200), Class: 5}
			go func() { _, _ = p.Add(ctx, []Item[int]{large}, true, false) }()
		}
		synctest.Wait()
		turn := func(class uint8) (waits bool) {
			short, done := context.WithTimeout(t.Context(), time.Second)
			defer done()
			if p.Turn(short, class) != nil {
				return true
			}
			p.EndTurn()
			return false
		}
		assert.True(t, turn(5), "calls that wait for room hold a quarter of the buffer")
		assert.False(t, turn(0))
		cancel()
		p.Resume()
		require.NoError(t, p.Close(t.Context()))
	})
}
