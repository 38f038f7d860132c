package pool

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// worker is a member whose seats ask, keep the slot for a time, release it and ask again.
type worker struct {
	m    *Member
	done atomic.Int64 // requests
	stop atomic.Bool
}

func newWorker(t *testing.T, p *Pool, name string) *worker {
	m, err := p.Join(name)
	require.NoError(t, err)
	return &worker{m: m}
}

func (w *worker) work(class models.Class, seats int, bytes int64, takes time.Duration) {
	for range seats {
		go func() {
			woken := make(chan struct{}, 1)
			s := w.m.Seat(func() { woken <- struct{}{} })
			for !w.stop.Load() {
				slot, ok, err := s.Ask(class, bytes)
				if err != nil {
					return
				}
				if !ok {
					<-woken
					continue
				}
				within, _ := slot.Trial()
				if within == 0 {
					within = takes
				}
				time.Sleep(min(takes, within))
				slot.Release(takes <= within)
				w.done.Add(1)
			}
		}()
	}
}

// in returns the requests of the next seconds.
func (w *worker) in(d time.Duration) int64 {
	before := w.done.Load()
	time.Sleep(d)
	return w.done.Load() - before
}

func leave(all ...*worker) {
	for _, w := range all {
		w.stop.Store(true)
		w.m.Leave()
	}
	time.Sleep(time.Hour) // the last requests end
}

// However long its requests take, a slow member has 2.25 times the slots' time of the other one.
func TestASlowMemberPaysWithItsTurns(t *testing.T) {
	for _, alone := range []time.Duration{5 * time.Second, 10 * time.Minute} { // free slots cost nothing
		for _, takes := range []time.Duration{200 * time.Millisecond, 900 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				p := inTime(t, 1, 8)
				live, slow := newWorker(t, p, "live"), newWorker(t, p, "slow")
				live.work(models.ClassAssured1, 1, 1000, 20*time.Millisecond)
				slow.work(models.ClassAssured1, 6, 1000, takes)
				time.Sleep(alone)
				live.work(models.ClassAssured1, 16, 1000, 20*time.Millisecond)
				for range 3 {
					share := float64(slow.in(20*time.Second)) * takes.Seconds() / (8 * 20)
					assert.InDelta(t, 2.25/3.25, share, 0.06, "takes %v", takes)
				}
				leave(live, slow)
			})
		}
	}
}

// A large batch may take longer than a small one, and a class is not urgent by its speed.
func TestALargeRequestIsNotSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 4, 4)
		updates, urgent, bulk := newWorker(t, p, "updates"), newWorker(t, p, "urgent"), newWorker(t, p, "bulk")
		updates.work(models.ClassExpedited, 4, 1000, 10*time.Millisecond)
		urgent.work(models.ClassAssured1, 8, 1_000_000, 300*time.Millisecond)
		bulk.work(models.ClassBestEffort, 8, 100_000, 40*time.Millisecond)
		time.Sleep(5 * time.Second)
		assert.InDelta(t, 3*20/0.3, urgent.in(20*time.Second), 12, "urgent requests get three of four slots")
		leave(updates, urgent, bulk)
	})
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 2)
		small, large := newWorker(t, p, "small"), newWorker(t, p, "large")
		small.work(models.ClassAssured1, 4, 1000, 5*time.Millisecond)
		large.work(models.ClassAssured1, 4, 100_000, 200*time.Millisecond)
		time.Sleep(5 * time.Second)
		n := small.in(20 * time.Second)
		assert.InDelta(t, 100, float64(n)/float64(large.in(20*time.Second)), 25, "both get the same bytes")
		leave(small, large)
	})
}

// One member's backlog in a lower class does not delay its urgent requests.
func TestSlowRequestsOfAnotherClassCostNothing(t *testing.T) {
	rate := func(bulk bool) (n int64) {
		synctest.Test(t, func(t *testing.T) {
			p := inTime(t, 2, 2)
			a, b, c := newWorker(t, p, "a"), newWorker(t, p, "b"), newWorker(t, p, "c")
			a.work(models.ClassExpedited, 1, 1000, 10*time.Millisecond)
			if bulk {
				extra := &worker{m: a.m}
				extra.work(models.ClassBestEffort, 1, 1000, 900*time.Millisecond)
				defer extra.stop.Store(true)
			}
			b.work(models.ClassExpedited, 4, 1000, 900*time.Millisecond)
			c.work(models.ClassExpedited, 8, 1000, 10*time.Millisecond)
			time.Sleep(5 * time.Second)
			n = a.in(time.Minute)
			leave(a, b, c)
		})
		return n
	}
	assert.InEpsilon(t, rate(false), rate(true), 0.1)
}

// Requests of members that have left are not compared with those of others.
func TestMembersThatHaveLeftMakeNoOtherSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inTime(t, 1, 2)
		for range 3 {
			fast := newWorker(t, p, "fast")
			fast.work(models.ClassAssured1, 2, 1000, 5*time.Millisecond)
			time.Sleep(time.Second)
			leave(fast)
		}
		one, other := newWorker(t, p, "one"), newWorker(t, p, "other")
		one.work(models.ClassAssured1, 4, 1000, 200*time.Millisecond)
		other.work(models.ClassAssured1, 4, 1000, 300*time.Millisecond)
		time.Sleep(5 * time.Second)
		n := one.in(20 * time.Second)
		assert.InDelta(t, 1, float64(n)/float64(other.in(20*time.Second)), 0.05, "turns count bytes")
		leave(one, other)
	})
	var all pace
	one, other := &Member{}, &Member{}
	all.add(one, time.Millisecond)
	all.add(other, time.Second)
	require.Equal(t, time.Millisecond, all.usual())
	all.remove(one)
	require.Zero(t, all.usual(), "no duration to compare with")
	var none Slot
	within, actions := none.Trial()
	assert.Zero(t, within)
	assert.Zero(t, actions)
}
