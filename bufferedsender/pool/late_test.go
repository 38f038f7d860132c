package pool

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inTime returns a pool with so many slots in which requests become late.
func inTime(t *testing.T, own, shared int) *Pool {
	t.Helper()
	p, err := New(&Options{Expedited: own, Shared: shared})
	require.NoError(t, err)
	return p
}

// stranger joins a member of which nothing was answered yet.
func stranger(t *testing.T, p *Pool, name string) *Member {
	t.Helper()
	m, err := p.Join(name)
	require.NoError(t, err)
	return m
}

// asks asks for a slot in a seat of its own. granted is told when one is kept for it, or it is refused.
func asks(m *Member) (seat *Seat, slot Slot, ok bool, granted chan struct{}) {
	granted = make(chan struct{}, 2)
	seat = m.Seat(func() { granted <- struct{}{} })
	slot, ok, _ = seat.Ask(models.ClassAssured1, 1)
	return seat, slot, ok, granted
}

func TestAMemberMayHaveOutOneRequestMoreThanWereAnsweredLately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stranger(t, inTime(t, 1, 8), "m")
		var out []Slot
		for _, want := range []int{1, 2, 4, 8} {
			for {
				seat, slot, ok, _ := asks(m)
				if !ok {
					seat.Cancel()
					break
				}
				out = append(out, slot)
			}
			assert.Len(t, out, want)
			for i := range out {
				out[i].Release(true)
			}
			out = nil
		}
		time.Sleep(time.Minute)
		_, first, ok, _ := asks(m)
		require.True(t, ok)
		_, _, ok, _ = asks(m)
		assert.False(t, ok, "what was answered a minute ago says nothing")
		first.Release(true)
	})
}

func TestAMemberWhoseFirstRequestHangsIsTriedAlthoughNobodyElseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 4)
		m := stranger(t, p, "m")
		_, first, ok, _ := asks(m)
		require.True(t, ok)
		began := time.Now()
		second, _, ok, granted := asks(m)
		require.False(t, ok)
		<-granted
		assert.Equal(t, lateAtLeast, time.Since(began))
		trial, ok, err := second.Ask(models.ClassAssured1, 1)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, trialAtLeast, trial.Trial())
		trial.Release(true)
		_, third, ok, _ := asks(m)
		assert.True(t, ok, "it answers")
		third.Release(true)
		first.Release(false)
		assert.Zero(t, p.Stats().Late)
	})
}

func TestALateRequestGivesItsSlotToWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 1)
		m, other := stranger(t, p, "m"), stranger(t, p, "other")
		_, late, ok, _ := asks(m)
		require.True(t, ok)
		time.Sleep(time.Hour)
		require.Zero(t, p.Stats().Late, "nobody else wants the slot")
		seat, _, ok, granted := asks(other)
		require.False(t, ok)
		<-granted
		slot, ok, err := seat.Ask(models.ClassAssured1, 1)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, 1, p.Stats().Late)
		slot.Release(true)

		_, trial, ok, _ := asks(m)
		require.True(t, ok, "a trial takes no slot of others")
		assert.Equal(t, 2*time.Second, trial.Trial())
		_, _, ok, granted = asks(m)
		assert.False(t, ok, "one trial at a time")
		trial.Release(false)
		<-granted
		late.Release(true)
		assert.Zero(t, p.Stats().Late)
	})
}

func TestATrialThatIsAnsweredEndsTheSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 1)
		m, other := stranger(t, p, "m"), stranger(t, p, "other")
		_, late, _, _ := asks(m)
		_, _, _, granted := asks(other)
		<-granted
		assert.Equal(t, time.Second, lateAtLeast)
		_, trial, ok, _ := asks(m)
		require.True(t, ok)
		_, _, ok, granted = asks(m)
		require.False(t, ok)
		trial.Release(true)
		select {
		case <-granted:
			t.Error("it waits for the slot that other has, as everybody does")
		default:
		}
		other.Leave()
		<-granted
		late.Release(false)
	})
}

// However many hang, and however long.
func TestWhatIsUnderWayIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const members = 5
		p := inTime(t, 1, 2)
		var out atomic.Int64
		for i := range members {
			m := join(t, p, fmt.Sprint(i))
			for range 10 {
				var seat *Seat
				take := func() {
					if _, ok, _ := seat.Ask(models.ClassAssured1, 1); ok {
						out.Add(1)
					}
				}
				seat = m.Seat(take)
				take()
			}
		}
		time.Sleep(time.Hour)
		s := p.Stats()
		assert.LessOrEqual(t, s.Late, 3+members)
		assert.LessOrEqual(t, out.Load(), int64(2*(3+members)))
		assert.Greater(t, s.Late, members)
	})
}

func TestWorkIsNeverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 1)
		m, other := stranger(t, p, "m"), stranger(t, p, "other")
		go func() {
			_ = m.Do(t.Context(), models.ClassAssured1, func(context.Context) error { time.Sleep(time.Hour); return nil })
		}()
		synctest.Wait()
		began := time.Now()
		require.NoError(t, other.Do(t.Context(), models.ClassAssured1, func(context.Context) error { return nil }))
		assert.Equal(t, time.Hour, time.Since(began))
		assert.Zero(t, p.Stats().Late)
	})
}
