package pool

import (
	"container/heap"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// While other members wait, slow requests use at most a fifth of the slots' time. DESIGN.md has the argument.
const (
	// A request is slow after slowOfPool medians of the pool, and not before slowAtLeast. A fourth of that time is free.
	slowOfPool, slowAtLeast = 4, 50 * time.Millisecond
	// slowShare is the divisor of the slots' time for slow requests.
	slowShare = 5
	// slowSaved limits the unused time that accumulates per slot.
	slowSaved = 250 * time.Millisecond
	// A member stays slow for slowFor times the duration of its slow request.
	slowFor = 4
)

// overtime is the time that slow requests may still use of one side's slots.
type overtime struct {
	left time.Duration // negative: they have used too much
	at   time.Time     // of the last change
}

// side is 0 for the slots of Expedited, 1 for the shared ones.
func side(lane models.Class) int { return min(int(lane), 1) }

// earn adds the time earned since the last call and returns the overtime of a side. mu must be held.
func (p *Pool) earn(side int, now time.Time) *overtime {
	o, slots := &p.overtime[side], time.Duration(p.own)
	if side > 0 {
		slots = time.Duration(p.shared)
	}
	if o.at.IsZero() {
		o.left = slots * slowSaved
	} else {
		o.left = min(o.left+now.Sub(o.at)*slots/slowShare, slots*slowSaved)
	}
	o.at = now
	return o
}

// over returns how long a slow request has kept its slot beyond the free time, 0 if it is not slow. mu must be held.
func (p *Pool) over(u *use, now time.Time) time.Duration {
	median := p.answered.median()
	slow, held := max(slowOfPool*median, slowAtLeast), now.Sub(u.began)
	if u.late || u.work || u.elsewhere || u.trial > 0 || median == 0 || held < slow {
		return 0
	}
	return held - slow/4
}

// pay subtracts a request that ends, or gives up its slot, from the overtime. mu must be held.
func (p *Pool) pay(u *use) {
	now := time.Now()
	if over := p.over(u, now); over > 0 {
		p.earn(side(u.lane), now).left -= over
		u.member.slowUntil = now.Add(slowFor * now.Sub(u.began))
	}
}

// exhausted reports whether no overtime is left, counting the requests in flight. mu must be held.
func (p *Pool) exhausted(of int, now time.Time) bool {
	left := p.earn(of, now).left
	for _, u := range p.uses {
		if side(u.lane) == of {
			left -= p.over(u, now)
		}
	}
	return left < 0
}

// slows reports whether a request of the member is slow, or was recently. mu must be held.
func (p *Pool) slows(m *Member, now time.Time) bool {
	if now.Before(m.slowUntil) {
		return true
	}
	for _, u := range p.uses {
		if u.member == m && p.over(u, now) > 0 {
			return true
		}
	}
	return false
}

// lineUp puts slow members behind the others of a line while no overtime is left, and moves them forward otherwise. It
// reports whether only slow members are left to serve. mu must be held.
func (p *Pool) lineUp(l *line) bool {
	now := time.Now()
	if l.behind > 0 && !p.exhausted(side(l.lane), now) {
		l.forward(func(*place) bool { return true })
	} else if l.behind > 0 {
		l.forward(func(at *place) bool { return now.After(at.first.member.slowUntil) })
	}
	for !l.places[0].behind && p.slows(l.places[0].first.member, now) && p.exhausted(side(l.lane), now) {
		l.places[0].behind = true
		l.behind++
		heap.Fix(&l.places, 0)
	}
	return l.places[0].behind
}

// forward moves places back among the others. The turns that they have missed are lost.
func (l *line) forward(which func(*place) bool) {
	for _, at := range l.places {
		if at.behind && which(at) {
			at.behind = false
			l.behind--
			l.raise(at)
		}
	}
	heap.Init(&l.places)
}
