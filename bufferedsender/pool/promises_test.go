package pool

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// The first of three callbacks panics or ends its goroutine: the others still run and get their slots.
func TestAWakeUpThatPanicsLosesNoOther(t *testing.T) {
	for name, fault := range map[string]func(){"panic": func() { panic("odd") }, "Goexit": runtime.Goexit} {
		for what, end := range map[string]func(*Pool, *Member){
			"Set":   func(p *Pool, _ *Member) { _ = p.SetOptions(Options{Expedited: 4}) },
			"Leave": func(_ *Pool, m *Member) { m.Leave() },
			"Shutdown": func(p *Pool, _ *Member) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_ = p.Shutdown(ctx)
			},
		} {
			t.Run(what+" "+name, func(t *testing.T) {
				p := newPool(t, slots(1, 1))
				m := join(t, p, "m")
				slot := m.takes(t, models.ClassExpedited)
				woken := 0
				for range 3 {
					_, ok, err := m.Seat(func() { woken++; fault() }).Ask(models.ClassExpedited, 1)
					require.NoError(t, err)
					require.False(t, ok)
				}
				done := make(chan any)
				go func() {
					defer close(done)
					defer func() { done <- recover() }()
					end(p, m)
				}()
				if v := <-done; name == "panic" {
					require.Equal(t, "odd", v, "the panic reaches its own caller")
				}
				<-done
				require.Equal(t, 3, woken)
				slot.Release(true)
			})
		}
	}
}

// A member with huge declared requests passes no other member twice.
func TestHugeRequestsPassNobodyTwice(t *testing.T) {
	for _, bytes := range []int64{math.MaxInt64, math.MaxInt64 / 2, math.MinInt64, -1} {
		p := newPool(t, slots(1, 1))
		huge, small := join(t, p, "huge"), join(t, p, "small")
		ask := func() Slot {
			slot, ok, err := huge.Seat(func() {}).Ask(models.ClassAssured1, bytes)
			require.NoError(t, err)
			require.True(t, ok)
			return slot
		}
		for range 3 {
			slot := ask()
			slot.Release(true)
		}
		first := ask()
		q := &queue{t: t}
		for range 10 {
			q.asks(huge, models.ClassAssured1, bytes)
		}
		q.asks(small, models.ClassAssured1, 1)
		require.Contains(t, q.drain(&first)[:2], "small assured1", "%d bytes", bytes)
	}
}

// Slots that were taken long ago and released now do not let their member pass another one twice.
func TestWhatIsGivenBackLatePassesNobodyTwice(t *testing.T) {
	p := newPool(t, slots(1, 6))
	late, other, fresh := join(t, p, "late"), join(t, p, "other"), join(t, p, "fresh")
	q := &queue{t: t}
	var held []*Slot
	ask := func(m *Member, bytes int64) *Slot {
		slot, ok, err := m.Seat(func() {}).Ask(models.ClassAssured1, bytes)
		require.NoError(t, err)
		require.True(t, ok)
		return &slot
	}
	for range 5 {
		held = append(held, ask(late, 1000))
	}
	for range 100 {
		ask(other, 1000).Release(true)
	}
	ask(other, 1000)
	q.asks(fresh, models.ClassAssured1, 1)
	for range 5 {
		q.asks(late, models.ClassAssured1, 1)
	}
	for _, s := range held {
		s.GiveBack()
	}
	require.Contains(t, q.granted[:2], "fresh assured1", "%v", q.granted)
}

// A member that has already regained bytes by waiting does not get them a second time.
func TestWhatIsGivenBackLateEarnsNoBytes(t *testing.T) {
	p := newPool(t, slots(1, 6))
	late, other, fresh := join(t, p, "late"), join(t, p, "other"), join(t, p, "fresh")
	ask := func(m *Member, bytes int64) *Slot {
		slot, ok, err := m.Seat(func() {}).Ask(models.ClassAssured1, bytes)
		require.NoError(t, err)
		require.True(t, ok)
		return &slot
	}
	var held []*Slot
	for range 5 {
		held = append(held, ask(late, 1000))
	}
	for range 100 {
		ask(other, 1000).Release(true)
	}
	ask(other, 1000)
	q := &queue{t: t}
	for range 50 {
		q.asks(late, models.ClassAssured1, 1000)
		q.asks(fresh, models.ClassAssured1, 100)
	}
	for _, s := range held {
		s.GiveBack()
	}
	got := map[string]int64{}
	for i := range q.slots {
		got[q.granted[i]] += q.slots[i].use.bytes
	}
	require.Len(t, q.granted, 5)
	require.LessOrEqual(t, got["late assured1"]-got["fresh assured1"], int64(1000), "%v", q.granted)
}

// A member that releases slots it had while alone stays behind the members that waited before it.
func TestWhatIsGivenBackPutsNobodyInFrontOfTheLine(t *testing.T) {
	p := newPool(t, slots(1, 3))
	m, other := join(t, p, "m"), join(t, p, "other")
	seat := m.Seat(func() {})
	large, _, _ := seat.Ask(models.ClassAssured1, 5000)
	small, ok, _ := seat.Ask(models.ClassAssured1, 1)
	require.True(t, ok)
	last := m.takes(t, models.ClassAssured1)
	require.NoError(t, p.SetOptions(Options{Expedited: 1, Shared: 1}))
	q := &queue{t: t}
	q.asks(other, models.ClassAssured1, 1)
	q.asks(m, models.ClassAssured1, 1)
	large.GiveBack()
	small.GiveBack()
	require.Equal(t, []string{"other assured1", "m assured1"}, q.drain(last))
}

// A turn that a member gives up goes to the next member of its class, as if it had not asked.
func TestATurnThatIsGivenUpIsNoneOfItsClass(t *testing.T) {
	for _, class := range []models.Class{models.ClassExpedited, models.ClassBestEffort} {
		for _, limit := range []int{1, 0} {
			if limit == 0 && class == models.ClassExpedited {
				continue // it waits for its own kind only
			}
			t.Run(fmt.Sprint(class, " ", limit), func(t *testing.T) {
				p := newPool(t, slots(1, 1))
				p.SetLimit(limit, 0)
				m := join(t, p, "m")
				before := models.ClassAssured4
				first := m.takes(t, before)
				q := &queue{t: t}
				var gone [3]bool
				for i := range gone {
					var seat *Seat
					seat = m.Seat(func() { gone[i] = true; seat.Cancel() })
					_, ok, err := seat.Ask(class, 1)
					require.NoError(t, err)
					require.False(t, ok)
				}
				q.asks(m, class, 1)
				for c := models.ClassExpedited; c <= models.ClassBestEffort; c++ {
					if c != class && (c != models.ClassExpedited || limit == 1 && class != models.ClassBestEffort) {
						q.asks(m, c, 1)
					}
				}
				first.Release(true)
				require.Equal(t, [3]bool{true, true, true}, gone)
				require.Equal(t, "m "+class.String(), q.granted[0])
			})
		}
	}
}

// Releasing an old slot does not undo later turns of its class; neither does Expedited by releasing its own slots.
func TestOnlyTheTurnThatIsGivenUpIsUndone(t *testing.T) {
	p := newPool(t, Options{Expedited: 1, Shared: 2})
	m := join(t, p, "m")
	old := m.takes(t, models.ClassBestEffort)
	other := m.takes(t, models.ClassAssured4)
	q := &queue{t: t}
	for _, c := range []models.Class{models.ClassAssured1, models.ClassAssured2, models.ClassBestEffort} {
		q.asks(m, c, 1)
	}
	other.Release(true)
	require.Equal(t, []string{"m assured1"}, q.granted)
	old.GiveBack()
	require.Equal(t, []string{"m assured1", "m assured2"}, q.granted, "the turn of Assured1 counts")

	p = newPool(t, slots(1, 1))
	m = join(t, p, "m")
	last := m.takes(t, models.ClassAssured4)
	q = &queue{t: t}
	var seat *Seat
	seat = m.Seat(func() { m.takes(t, models.ClassExpedited).GiveBack(); seat.Cancel() })
	_, ok, err := seat.Ask(models.ClassBestEffort, 1)
	require.NoError(t, err)
	require.False(t, ok)
	q.asks(m, models.ClassBestEffort, 1)
	q.asks(m, models.ClassAssured1, 1)
	last.Release(true)
	require.Equal(t, []string{"m best effort"}, q.granted)
}

func TestASeatThatIsGivenUpIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, slots(1, 1))
		m := join(t, p, "m")
		slot := m.takes(t, models.ClassAssured1)
		seat := m.Seat(func() {})
		_, ok, err := seat.Ask(models.ClassAssured1, 1)
		require.NoError(t, err)
		require.False(t, ok)
		time.Sleep(time.Hour)
		slot.Release(true)
		seat.Cancel()
		c := p.Stats().Classes[models.ClassAssured1]
		require.Equal(t, []int64{1, 1}, []int64{c.Granted, c.Ended}, "the slot of the other member")
		require.Zero(t, c.QueueTime)
		require.Zero(t, c.LongestQueueTime)
	})
}

// An overflow of the sum of both sides must not remove the limit.
func TestALimitHoldsHoweverManySlotsThereAre(t *testing.T) {
	for _, s := range []Options{{Expedited: math.MaxInt}, {Shared: math.MaxInt}, {Expedited: maxSlots + 1}} {
		_, err := New(&s)
		require.ErrorContains(t, err, "use at most 10000")
	}
	p := newPool(t, slots(maxSlots, maxSlots))
	for _, limit := range []int{1, 2, maxSlots, 2 * maxSlots} {
		p.SetLimit(limit, 0)
		require.Equal(t, limit, p.Stats().Slots)
	}
}
