package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// newPool returns a pool in which no request becomes late, for tests without time.
func newPool(t testing.TB, o Options) *Pool {
	t.Helper()
	o.late = time.Hour
	p, err := New(&o)
	require.NoError(t, err)
	return p
}

func join(t testing.TB, p *Pool, name string) *Member {
	t.Helper()
	m, err := p.Join(name)
	require.NoError(t, err)
	return wellKnown(m)
}

// wellKnown gives a member many recent replies.
func wellKnown(m *Member) *Member {
	m.answered.n = len(m.answered.at)
	for i := range m.answered.at {
		m.answered.at[i] = time.Now().Add(time.Hour)
	}
	return m
}

// slots returns options with the given numbers of slots.
func slots(own, shared int) Options {
	return Options{Expedited: own, Shared: shared}
}

// takes takes a free slot for a member.
func (m *Member) takes(t testing.TB, c models.Class) *Slot {
	t.Helper()
	slot, ok, err := m.Seat(func() {}).Ask(c, 1)
	require.NoError(t, err)
	require.True(t, ok, "there is no slot for %s in %v", m.name, c)
	return &slot
}

// queue records the waiting questions in the order of their grants.
type queue struct {
	t       testing.TB
	granted []string
	slots   []Slot
}

// asks makes a member wait.
func (q *queue) asks(m *Member, c models.Class, bytes int64) *Seat {
	q.t.Helper()
	name := fmt.Sprint(m.name, " ", c)
	var seat *Seat
	seat = m.Seat(func() {
		slot, ok, err := seat.Ask(c, bytes)
		require.NoError(q.t, err)
		require.True(q.t, ok)
		q.granted, q.slots = append(q.granted, name), append(q.slots, slot)
	})
	_, ok, err := seat.Ask(c, bytes)
	require.NoError(q.t, err)
	require.False(q.t, ok, "%s waits", name)
	return seat
}

// drain releases slots one by one until all are granted.
func (q *queue) drain(first *Slot) []string {
	first.Release(true)
	for len(q.slots) > 0 {
		slot := q.slots[0]
		q.slots = q.slots[1:]
		slot.Release(true)
	}
	return q.granted
}

func TestWhatIsFreeIsGivenAtOnceAndNeverMoreThanThereIs(t *testing.T) {
	p := newPool(t, slots(2, 3))
	m := join(t, p, "m")
	for range 2 {
		m.takes(t, models.ClassExpedited)
	}
	for range 3 {
		m.takes(t, models.ClassBestEffort)
	}
	for _, c := range []models.Class{models.ClassExpedited, models.ClassAssured1, models.ClassBestEffort} {
		_, ok, err := m.Seat(func() {}).Ask(c, 1)
		require.NoError(t, err)
		require.False(t, ok)
	}
	s := p.Stats()
	assert.Equal(t, 2, s.Classes[models.ClassExpedited].InUse)
	assert.Equal(t, 3, s.Classes[models.ClassBestEffort].InUse)
	assert.Equal(t, []int{1, 1, 1}, []int{s.Classes[models.ClassExpedited].Waiting, s.Classes[models.ClassAssured1].Waiting, s.Classes[models.ClassBestEffort].Waiting})
	assert.Zero(t, s.Classes[models.ClassExpedited].QueueTime)
}

func TestExpeditedWaitsForNobodyElse(t *testing.T) {
	p := newPool(t, slots(1, 2))
	m := join(t, p, "m")
	q := &queue{t: t}
	for range 2 {
		m.takes(t, models.ClassBestEffort)
	}
	for range 10 {
		q.asks(m, models.ClassBestEffort, 1)
	}
	q.asks(m, models.ClassAssured1, 1)
	m.takes(t, models.ClassExpedited).Release(true)
	first := m.takes(t, models.ClassExpedited)
	q.asks(m, models.ClassExpedited, 1)
	first.Release(true)
	assert.Equal(t, []string{"m expedited"}, q.granted, "the member is next, and no other slot is reserved for it")
}

func TestAClassWithoutASlotComesFirstAndTheRestGoesToTheMostUrgent(t *testing.T) {
	p := newPool(t, Options{Shared: 2})
	m := join(t, p, "m")
	q := &queue{t: t}
	first, second := m.takes(t, models.ClassAssured2), m.takes(t, models.ClassAssured2)
	for _, c := range []models.Class{models.ClassAssured2, models.ClassAssured1, models.ClassBestEffort, models.ClassBestEffort, models.ClassAssured1} {
		q.asks(m, c, 1)
	}
	second.Release(true)
	require.Equal(t, []string{"m best effort"}, q.granted, "behind Assured2, which was served last, and has a slot")
	first.Release(true)
	require.Equal(t, []string{"m best effort", "m assured1"}, q.granted, "Assured1 by rotation: Assured2 has no slot either")
	q.slots[1].Release(true) // of Assured1
	require.Equal(t, "m assured2", q.granted[2])
	q.slots[0].Release(true) // of BestEffort
	require.Equal(t, "m best effort", q.granted[3])
	q.slots[2].Release(true)
	require.Equal(t, "m assured1", q.granted[4])
}

// With one slot for all classes, Expedited has every second turn, and the others rotate.
func TestAtALimitOfOneThereAreTurns(t *testing.T) {
	p := newPool(t, slots(4, 4))
	m := join(t, p, "m")
	p.SetLimit(1, 0)
	require.Equal(t, 1, p.Stats().Slots)
	first := m.takes(t, models.ClassAssured4)
	q := &queue{t: t}
	for range 3 {
		for c := models.ClassExpedited; c <= models.ClassBestEffort; c++ {
			q.asks(m, c, 1)
		}
	}
	got := q.drain(first)
	require.Equal(t, []string{
		"m expedited", "m best effort", "m expedited", "m assured1", "m expedited", "m assured2", "m assured3", "m assured4",
		"m best effort", "m assured1", "m assured2", "m assured3", "m assured4",
		"m best effort", "m assured1", "m assured2", "m assured3", "m assured4",
	}, got)
}

func TestALimitIsSharedByBothSidesAndLetsGoOfNobody(t *testing.T) {
	p := newPool(t, slots(6, 2))
	m := join(t, p, "m")
	held := []*Slot{m.takes(t, models.ClassExpedited), m.takes(t, models.ClassExpedited), m.takes(t, models.ClassExpedited), m.takes(t, models.ClassExpedited)}
	p.SetLimit(4, 0)
	require.Equal(t, 4, p.Stats().Slots)
	q := &queue{t: t}
	q.asks(m, models.ClassExpedited, 1)
	held[0].Release(true)
	require.Empty(t, q.granted, "three of four slots are left, and the member holds its limit of three")
	held[1].Release(true)
	require.Len(t, q.granted, 1)
	m.takes(t, models.ClassBestEffort)
	p.SetLimit(0, 0)
	require.Equal(t, 8, p.Stats().Slots)
}

func TestMoreSlotsAreGivenToThoseWhoWait(t *testing.T) {
	p := newPool(t, slots(1, 1))
	m := join(t, p, "m")
	q := &queue{t: t}
	m.takes(t, models.ClassExpedited)
	q.asks(m, models.ClassExpedited, 1)
	q.asks(m, models.ClassExpedited, 1)
	require.NoError(t, p.SetOptions(Options{Expedited: 2, Shared: 1}))
	require.Len(t, q.granted, 1)
	require.ErrorContains(t, p.SetOptions(Options{Expedited: -1, Shared: -2}), "Shared is -2")
	require.Equal(t, 2, p.Options().Expedited, "no part of the refused change is in force")
	more := p.Options()
	more.Shared = 2
	require.NoError(t, p.SetOptions(more), "settings that were read can be set")
	m.takes(t, models.ClassBestEffort)
	m.takes(t, models.ClassBestEffort)
	p.SetLimit(10, 0)
	require.Len(t, q.granted, 1)
}

// One member has 100 waiting requests, ten have one each: no member waits for more than one turn of each other.
func TestNobodyIsPassedTwiceByTheSame(t *testing.T) {
	p := newPool(t, slots(1, 1))
	loud := join(t, p, "loud")
	first := loud.takes(t, models.ClassBestEffort)
	q := &queue{t: t}
	for range 100 {
		q.asks(loud, models.ClassBestEffort, 1)
	}
	for i := range 10 {
		q.asks(join(t, p, fmt.Sprint("quiet", i)), models.ClassBestEffort, 1)
	}
	got := q.drain(first)
	for i := range 10 {
		require.Less(t, slices.Index(got, fmt.Sprintf("quiet%d best effort", i)), 12)
	}
	require.Len(t, got, 110)
}

// Turns are by bytes, so small requests are served more often than large ones.
func TestMembersThatAlwaysWaitGetTheSameBytes(t *testing.T) {
	p := newPool(t, slots(1, 1))
	sizes := map[string]int64{"small": 1 << 10, "large": 64 << 10, "middle": 10 << 10}
	first := join(t, p, "first").takes(t, models.ClassAssured1)
	q := &queue{t: t}
	for name, bytes := range sizes {
		m := join(t, p, name)
		for range 2000 {
			q.asks(m, models.ClassAssured1, bytes)
		}
	}
	got := q.drain(first)[:1000]
	var bytes []int64
	for name, size := range sizes {
		n := int64(0)
		for _, g := range got {
			if g == name+" assured1" {
				n += size
			}
		}
		bytes = append(bytes, n)
	}
	require.LessOrEqual(t, slices.Max(bytes)-slices.Min(bytes), int64(64<<10), "%v", bytes)
}

// An idle member gets no advantage afterwards, and a member that was alone has no debt.
func TestIdlenessEarnsNothingAndSolitudeCostsNothing(t *testing.T) {
	p := newPool(t, slots(1, 1))
	early, late := join(t, p, "early"), join(t, p, "late")
	for range 1000 {
		early.takes(t, models.ClassAssured1).Release(true)
	}
	first := early.takes(t, models.ClassAssured1)
	q := &queue{t: t}
	for range 10 {
		q.asks(early, models.ClassAssured1, 1)
		q.asks(late, models.ClassAssured1, 1)
	}
	got := q.drain(first)
	for i := 0; i+1 < len(got); i += 2 {
		require.NotEqual(t, got[i], got[i+1], "members take turns: %v", got)
	}
}

func TestTheOrderWithinAMember(t *testing.T) {
	m := join(t, newPool(t, slots(1, 1)), "m")
	first := m.takes(t, models.ClassAssured1)
	q := &queue{t: t}
	for i := range 3 {
		q.asks(m, models.ClassAssured1, int64(i+1))
	}
	var got []int64
	first.Release(true)
	for i := range 3 {
		got = append(got, q.slots[i].use.bytes)
		q.slots[i].Release(true)
	}
	require.Equal(t, []int64{1, 2, 3}, got, "first come, first served")
}

func TestAClassThatThereIsNoneOfIsExpeditedAndCounted(t *testing.T) {
	p := newPool(t, slots(1, 1))
	slot := join(t, p, "m").takes(t, 17)
	require.Equal(t, models.ClassExpedited, slot.use.class)
	require.EqualValues(t, 1, p.Stats().Fallbacks)
	require.Equal(t, 1, p.Stats().Classes[models.ClassExpedited].InUse)
}

func TestASeatThatIsGivenUpCostsNothing(t *testing.T) {
	p := newPool(t, slots(1, 1))
	m, other := join(t, p, "m"), join(t, p, "other")
	first := m.takes(t, models.ClassAssured1)
	waits := m.Seat(func() { t.Error("the member has given up") })
	_, ok, _ := waits.Ask(models.ClassAssured1, 1)
	require.False(t, ok)
	granted := m.Seat(func() {})
	_, ok, _ = granted.Ask(models.ClassAssured1, 1000)
	require.False(t, ok)
	waits.Cancel()
	waits.Cancel()
	q := &queue{t: t}
	q.asks(other, models.ClassAssured1, 1)
	first.Release(true) // other is next: m has had one byte more
	require.Len(t, q.granted, 1)
	q.slots[0].Release(true)
	q.asks(other, models.ClassAssured1, 1)
	granted.Cancel() // the slot was reserved for it
	require.Len(t, q.granted, 2)
	q.slots[1].GiveBack()
	q.slots[1].GiveBack()
	q.slots[1].Release(true)
	require.Zero(t, p.Stats().Classes[models.ClassAssured1].InUse)
	require.EqualValues(t, 2, p.Stats().Classes[models.ClassAssured1].Ended, "returned slots do not count as work")
	for i := range m.places {
		require.LessOrEqual(t, m.places[i].tag, p.lines[i].tag+1, "nor a turn")
	}
}

func TestAskedAgainInAnotherClassASeatWaitsThere(t *testing.T) {
	p := newPool(t, slots(1, 1))
	m := join(t, p, "m")
	first := m.takes(t, models.ClassBestEffort)
	woken := 0
	seat := m.Seat(func() { woken++ })
	_, ok, _ := seat.Ask(models.ClassBestEffort, 1)
	require.False(t, ok)
	slot, ok, err := seat.Ask(models.ClassExpedited, 1)
	require.NoError(t, err)
	require.True(t, ok)
	require.Zero(t, p.Stats().Classes[models.ClassBestEffort].Waiting)
	first.Release(true)
	slot.Release(true)
	require.Zero(t, woken)
}

func TestWhoLeavesIsToldAndMayComeBack(t *testing.T) {
	p := newPool(t, slots(1, 1))
	m := join(t, p, "m")
	_, err := p.Join("m")
	require.ErrorContains(t, err, `"m" has joined already`)
	first := m.takes(t, models.ClassAssured1)
	woken := 0
	seat := m.Seat(func() { woken++ })
	_, ok, _ := seat.Ask(models.ClassAssured1, 1)
	require.False(t, ok)
	m.Leave()
	m.Leave()
	require.Equal(t, 1, woken)
	for range 2 {
		_, ok, err = seat.Ask(models.ClassAssured1, 1)
		require.False(t, ok)
		require.ErrorIs(t, err, ErrLeft)
	}
	require.ErrorIs(t, m.Do(t.Context(), models.ClassAssured1, func(context.Context) error { return nil }), ErrLeft)
	again := join(t, p, "m")
	q := &queue{t: t}
	q.asks(again, models.ClassAssured1, 1)
	require.Equal(t, []string{"m assured1"}, q.drain(first))
	require.Equal(t, 1, p.Stats().Members)
}

// Slots that were granted but not yet taken go to others when their member leaves.
func TestWhoLeavesKeepsNoSlotThatItHasNotTaken(t *testing.T) {
	p := newPool(t, slots(1, 2))
	m, other := join(t, p, "m"), join(t, p, "other")
	first, second := m.takes(t, models.ClassAssured1), m.takes(t, models.ClassAssured1)
	woken := 0
	var seats []*Seat
	for range 3 {
		seats = append(seats, m.Seat(func() { woken++ }))
		_, ok, _ := seats[len(seats)-1].Ask(models.ClassAssured1, 1)
		require.False(t, ok)
	}
	q := &queue{t: t}
	q.asks(other, models.ClassAssured1, 1)
	first.Release(true)
	second.Release(true) // to m and other, or both to m
	seats[0].Cancel()
	m.Leave()
	for _, seat := range seats[1:] {
		_, ok, err := seat.Ask(models.ClassAssured1, 1)
		require.False(t, ok)
		require.ErrorIs(t, err, ErrLeft)
	}
	require.Len(t, q.granted, 1)
	q.slots[0].Release(true)
	require.Zero(t, p.Stats().Classes[models.ClassAssured1].InUse)
	require.GreaterOrEqual(t, woken, 2)
}

func TestDoRunsWorkInItsTurnAndReturnsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, slots(1, 1))
		m := join(t, p, "m")
		want := errors.New("no")
		var order []int
		for i := range 5 {
			go func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				err := m.Do(t.Context(), models.ClassAssured2, func(context.Context) error {
					order = append(order, i)
					time.Sleep(time.Second)
					if i == 3 {
						return want
					}
					return nil
				})
				assert.Equal(t, i == 3, errors.Is(err, want))
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2, 3, 4}, order)
		c := p.Stats().Classes[models.ClassAssured2]
		require.EqualValues(t, 5, c.Granted)
		require.EqualValues(t, 5, c.Ended)
		require.Equal(t, 5*time.Second, c.WorkTime)
		require.Equal(t, time.Second, c.LongestWork)
		require.Equal(t, 10*time.Second-10*time.Millisecond, c.QueueTime)
		require.Equal(t, 4*time.Second-4*time.Millisecond, c.LongestQueueTime)
	})
}

// Ninety of a hundred callers give up while they wait: the other ten get all slots.
func TestCallersThatGiveUpCostNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, slots(1, 1))
		m := join(t, p, "m")
		slot := m.takes(t, models.ClassBestEffort)
		ctx, cancel := context.WithCancelCause(t.Context())
		bored := errors.New("bored")
		done := 0
		for i := range 100 {
			go func() {
				if i%10 == 0 {
					assert.NoError(t, m.Do(t.Context(), models.ClassBestEffort, func(context.Context) error {
						done++
						time.Sleep(time.Second)
						return nil
					}))
					return
				}
				assert.ErrorIs(t, m.Do(ctx, models.ClassBestEffort, func(context.Context) error { t.Error("the member has given up"); return nil }), bored)
			}()
		}
		synctest.Wait()
		require.Equal(t, 100, p.Stats().Classes[models.ClassBestEffort].Waiting)
		cancel(bored)
		synctest.Wait()
		require.Equal(t, 10, p.Stats().Classes[models.ClassBestEffort].Waiting, "callers that give up leave the queue at once")
		slot.Release(true)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, 10, done)
		require.Zero(t, p.Stats().Classes[models.ClassBestEffort].InUse)
	})
}

func TestWaitingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := slots(1, 1)
		o.maxWaiting = 2
		p := newPool(t, o)
		m := join(t, p, "m")
		slot := m.takes(t, models.ClassAssured1)
		for range 2 {
			go func() {
				assert.NoError(t, m.Do(t.Context(), models.ClassAssured1, func(context.Context) error { return nil }))
			}()
		}
		synctest.Wait()
		require.ErrorIs(t, m.Do(t.Context(), models.ClassAssured1, func(context.Context) error { return nil }), ErrFull)
		require.NoError(t, m.Do(t.Context(), models.ClassExpedited, func(context.Context) error { return nil }), "each class has its own limit")
		_, ok, err := m.Seat(func() {}).Ask(models.ClassAssured1, 1)
		require.NoError(t, err, "a sender has one question, which is not refused")
		require.False(t, ok)
		slot.Release(true)
		synctest.Wait()
		require.EqualValues(t, 1, p.Stats().Classes[models.ClassAssured1].Refused)
	})
}

// Half of the jobs panic, and the last one panics while others wait: nothing blocks.
func TestWorkThatPanicsCostsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, slots(1, 1))
		m := join(t, p, "m")
		fault := errors.New("odd")
		var fine, panicked atomic.Int64
		for i := range 30 {
			go func() {
				err := m.Do(t.Context(), models.ClassBestEffort, func(context.Context) error {
					time.Sleep(time.Millisecond)
					if i%2 == 1 {
						panic(fault)
					}
					return nil
				})
				var crash *PanicError
				switch {
				case err == nil:
					fine.Add(1)
				case errors.As(err, &crash):
					assert.ErrorIs(t, err, fault)
					assert.Contains(t, string(crash.Stack), "pool_test")
					panicked.Add(1)
				}
			}()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []int64{15, 15}, []int64{fine.Load(), panicked.Load()})
		require.Zero(t, p.Stats().Classes[models.ClassBestEffort].InUse)
	})
}

func TestAnEndedContextIsNotAskedFor(t *testing.T) {
	p := newPool(t, slots(1, 1))
	m := join(t, p, "m")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, m.Do(ctx, models.ClassExpedited, func(context.Context) error { return nil }), context.Canceled)
	require.Zero(t, p.Stats().Classes[models.ClassExpedited].Granted)
	require.ErrorContains(t, m.Do(t.Context(), models.ClassExpedited, nil), "work is nil")
}

// At Shutdown some jobs have not begun, some end in time, and some do not.
func TestShutdownHasThreeOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, slots(2, 1))
		m := join(t, p, "m")
		outcomes := map[string]chan error{}
		do := func(name string, c models.Class, takes time.Duration) {
			outcome := make(chan error, 1)
			outcomes[name] = outcome
			go func() {
				outcome <- m.Do(t.Context(), c, func(ctx context.Context) error {
					select {
					case <-time.After(takes):
						return nil
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				})
			}()
			synctest.Wait()
		}
		do("short", models.ClassExpedited, time.Second)
		do("long", models.ClassExpedited, time.Hour)
		do("waits", models.ClassExpedited, time.Second)
		do("waits too", models.ClassExpedited, time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		err := p.Shutdown(ctx)
		var left *ShutdownError
		require.ErrorAs(t, err, &left)
		require.Equal(t, []int{2, 1}, []int{left.Refused, left.Running})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 10*time.Second, time.Since(began))
		synctest.Wait()
		require.NoError(t, <-outcomes["short"])
		for _, name := range []string{"long", "waits", "waits too"} {
			require.ErrorIs(t, <-outcomes[name], ErrShutdown, name)
		}
		require.NoError(t, p.Shutdown(t.Context()), "all jobs have ended")
		_, err = p.Join("new")
		require.ErrorIs(t, err, ErrShutdown)
		require.ErrorIs(t, m.Do(t.Context(), models.ClassExpedited, func(context.Context) error { return nil }), ErrShutdown)
	})
}

// The last running job panics while Shutdown waits for it and others wait for a slot: Shutdown returns at once.
func TestShutdownDoesNotWaitForWhoHasCrashed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, slots(1, 1))
		m := join(t, p, "m")
		go func() {
			_ = m.Do(t.Context(), models.ClassExpedited, func(context.Context) error { time.Sleep(time.Second); panic("crash") })
		}()
		synctest.Wait()
		refused := make(chan error, 1)
		go func() {
			refused <- m.Do(t.Context(), models.ClassExpedited, func(context.Context) error { return nil })
		}()
		synctest.Wait()
		began := time.Now()
		err := p.Shutdown(t.Context())
		require.Equal(t, time.Second, time.Since(began))
		var left *ShutdownError
		require.ErrorAs(t, err, &left)
		require.Equal(t, ShutdownError{Refused: 1}, *left)
		require.ErrorIs(t, <-refused, ErrShutdown)
	})
}

func TestNewNamesEveryProblem(t *testing.T) {
	_, err := New(&Options{Expedited: -1, Shared: -2})
	for _, want := range []string{"Expedited is -1", "Shared is -2"} {
		require.ErrorContains(t, err, want)
	}
	p, err := New(nil)
	require.NoError(t, err)
	require.Equal(t, defaultExpedited+defaultShared, p.Stats().Slots)
}

func TestASlotCostsNoAllocation(t *testing.T) {
	p := newPool(t, slots(1, 1))
	m := join(t, p, "m")
	seat, other := m.Seat(func() {}), m.Seat(func() {})
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		slot, _, _ := seat.Ask(models.ClassAssured1, 1000)
		_, _, _ = other.Ask(models.ClassAssured1, 1000) // waits
		slot.Release(true)
		slot, _, _ = other.Ask(models.ClassAssured1, 1000)
		slot.Release(true)
	}))
}

func BenchmarkSlot(b *testing.B) {
	p := newPool(b, slots(1, 4))
	seat := join(b, p, "m").Seat(func() {})
	b.ReportAllocs()
	for b.Loop() {
		slot, _, _ := seat.Ask(models.ClassAssured1, 1000)
		slot.Release(true)
	}
}
