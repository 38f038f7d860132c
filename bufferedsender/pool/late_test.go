package pool

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// inTime returns a pool in which requests can become late.
func inTime(t *testing.T, own, shared int) *Pool {
	t.Helper()
	p, err := New(&Options{Expedited: own, Shared: shared})
	require.NoError(t, err)
	return p
}

// stranger joins a member that has had no reply yet.
func stranger(t *testing.T, p *Pool, name string) *Member {
	t.Helper()
	m, err := p.Join(name)
	require.NoError(t, err)
	return m
}

// asks asks for a slot in a new seat. granted receives when a slot is reserved for the seat or
// the question is refused.
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
		assert.False(t, ok, "an answer from a minute ago proves nothing")
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
		assert.Equal(t, trialAtLeast, within(trial))
		trial.Release(true)
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
		require.Zero(t, p.Stats().Late, "no other member waits for the slot")
		seat, _, ok, granted := asks(other)
		require.False(t, ok)
		<-granted
		slot, ok, err := seat.Ask(models.ClassAssured1, 1)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, 1, p.Stats().Late)
		slot.Release(true)

		_, trial, ok, _ := asks(m)
		require.True(t, ok, "a trial uses no slot")
		assert.Equal(t, 2*time.Second, within(trial))
		_, _, ok, granted = asks(m)
		assert.False(t, ok, "only one trial at a time")
		trial.Release(false)
		<-granted
		late.Release(true)
		assert.Zero(t, p.Stats().Late)
	})
}

func within(s Slot) time.Duration {
	d, _ := s.Trial()
	return d
}

func TestTrialsThatAreAnsweredGrowAndEndTheDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 1)
		m, other := stranger(t, p, "m"), stranger(t, p, "other")
		_, late, _, _ := asks(m)
		_, _, _, granted := asks(other)
		<-granted
		require.True(t, m.Doubted())
		try := func(answered bool) (actions int) {
			_, trial, ok, _ := asks(m)
			require.True(t, ok)
			_, actions = trial.Trial()
			trial.Release(answered)
			return actions
		}
		assert.Equal(t, 1, try(true))
		assert.Equal(t, 2, try(true))
		assert.Equal(t, 4, try(false))
		for actions := 1; actions <= trialProves; actions *= 2 {
			require.True(t, m.Doubted())
			assert.Equal(t, actions, try(true))
		}
		assert.False(t, m.Doubted())
		_, _, ok, granted := asks(m)
		require.False(t, ok, "the member waits for the other member's slot, like all members")
		other.Leave()
		<-granted
		late.Release(false)
	})
}

func TestARequestThatEndsWithoutAnAnswerLeavesTheDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 1)
		m, other := stranger(t, p, "m"), stranger(t, p, "other")
		_, late, _, _ := asks(m)
		seat, _, _, granted := asks(other)
		<-granted
		slot, _, _ := seat.Ask(models.ClassAssured1, 1)
		late.Release(false)
		slot.Release(true)
		require.True(t, m.Doubted())
		_, trial, ok, _ := asks(m)
		require.True(t, ok)
		assert.Positive(t, within(trial), "no slot of another member is used for a trial")
		trial.Release(true)
	})
}

func TestWhoTakesLongAndIsAnsweredLendsItsSlotWithoutADoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 1)
		slow, other := stranger(t, p, "slow"), stranger(t, p, "other")
		answers := func(m *Member, took time.Duration, many int) {
			for range many {
				_, slot, ok, _ := asks(m)
				require.True(t, ok)
				time.Sleep(took)
				slot.Release(true)
			}
		}
		answers(slow, 5*time.Second, 3)
		answers(other, 20*time.Millisecond, 40)
		_, slot, ok, _ := asks(slow)
		require.True(t, ok)
		began := time.Now()
		_, _, _, granted := asks(other)
		<-granted
		assert.Equal(t, time.Second, time.Since(began))
		assert.False(t, slow.Doubted())
		time.Sleep(4 * time.Second)
		slot.Release(true)
		assert.False(t, slow.Doubted())
	})
}

// The number of requests in flight is bounded, for any number and duration of hanging ones.
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
