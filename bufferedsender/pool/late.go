package pool

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// A slot is late when its request waits for a service that does not answer while others wait for the slot. For the
// reasons of these numbers see DESIGN.md.
const (
	lateAtLeast = time.Second
	lateOfPool  = 8 // times the median of the pool
	lateOfOwn   = 4 // times the median of the member
	// A trial may take trialAtLeast, or trialOfOwn times the median of the member if that is longer.
	trialAtLeast = 2 * time.Second
	trialOfOwn   = 2
	// A trial allowed trialProves actions ends the doubt when it is answered. The first one is allowed one action; each
	// answer doubles that.
	trialProves, mostRamp = 64, 1 << 20
	// lookAgain is the delay before the next look at slots that could not become late because too many already are.
	lookAgain = time.Second
	// lateElsewhere is how long a request may wait for something other than the service before it is late.
	lateElsewhere = 50 * time.Millisecond
)

// use is a slot that is out.
type use struct {
	member      *Member
	class, lane models.Class
	bytes       int64
	paid        paid
	began       time.Time
	trial       time.Duration // for a trial, which takes no slot, its time limit; otherwise 0
	actions     int           // for a trial, the most actions
	seat        *Seat
	work        bool          // of Do; never late
	late        bool          // its slot went to others
	elsewhere   bool          // it waits for something other than the service
	waited      time.Duration // for how long, before began
	at          int           // index in uses
}

// uses are the slots that are out. Unused elements stay beyond the end of the slice and are reused, so that a slot
// costs no allocation.
type uses []*use

// add adds a copy of u.
func (l *uses) add(u use) *use {
	at := len(*l)
	if at < cap(*l) && (*l)[:at+1][at] != nil {
		*l = (*l)[:at+1]
	} else {
		*l = append(*l, new(use))
	}
	u.at = at
	*(*l)[at] = u
	return (*l)[at]
}

func (l *uses) remove(u *use) {
	all, at, last := *l, u.at, len(*l)-1
	all[at], all[last] = all[last], all[at]
	all[at].at = at
	*u = use{}
	*l = all[:last]
}

// answers records the last answered requests: when they ended, and how long they took.
type answers struct {
	at     [31]time.Time
	took   [31]time.Duration
	n      int           // total number
	middle time.Duration // the median of took
	of     int           // value of n for middle
}

func (a *answers) add(now time.Time, took time.Duration) {
	i := a.n % len(a.at)
	a.at[i], a.took[i] = now, took
	a.n++
}

// median returns the median duration, or 0 without answers.
func (a *answers) median() time.Duration {
	if a.of != a.n {
		sorted := a.took
		known := sorted[:min(a.n, len(sorted))]
		slices.Sort(known)
		a.middle, a.of = known[len(known)/2], a.n
	}
	return a.middle
}

// since returns how many answers came after then. If many is true there may have been more.
func (a *answers) since(then time.Time) (n int, many bool) {
	if a.n >= len(a.at) && a.at[a.n%len(a.at)].After(then) {
		return len(a.at), true
	}
	for _, at := range a.at[:min(a.n, len(a.at))] {
		if at.After(then) {
			n++
		}
	}
	return n, false
}

// lateAfter returns how long a request may take before its slot is late.
func (p *Pool) lateAfter() time.Duration {
	return max(p.settings.late, lateOfPool*p.answered.median())
}

// doubtAfter returns how long a request of m may take before m is in doubt.
func (p *Pool) doubtAfter(m *Member) time.Duration {
	return max(p.lateAfter(), lateOfOwn*m.answered.median())
}

// Doubted reports whether the member is in doubt: one of its requests took far longer than usual, and none was answered
// meanwhile. It then sends only trials, one at a time, until these are answered. A trial may be one request more than
// the member would otherwise have in flight.
func (m *Member) Doubted() bool {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	return m.doubted
}

// admits reports whether a seat may get a free slot. In each lane a member may have one more request out than were
// answered lately. So an index that stops answering takes one slot at a time from the others, and one that answers fast
// gets all slots it can use. mu must be held.
func (p *Pool) admits(s *Seat) bool {
	m := s.member
	switch {
	case s.bounded > 0:
		return true // work of Do
	case m.doubted || m.late > 0 && p.moreLate+p.risky() >= p.slots():
		return false
	case m.out[s.lane] == 0:
		return true // guaranteed to each member
	}
	now := time.Now()
	if n, many := m.answered.since(now.Add(-lateAtLeast)); many || m.out[s.lane] <= n {
		return true
	}
	n, many := m.answered.since(now.Add(-lateOfOwn * m.answered.median()))
	return many || m.out[s.lane] <= n
}

// risky returns how many on-time slots belong to members with late requests; these may become late as well. mu must be
// held.
func (p *Pool) risky() (n int) {
	for _, u := range p.uses {
		if !u.late && !u.work && u.trial == 0 && u.member.late > 0 {
			n++
		}
	}
	return n
}

// order updates which places of a member may be served. mu must be held.
func (p *Pool) order(m *Member) {
	for lane := range m.places {
		p.orderIn(m, models.Class(lane))
	}
}

func (p *Pool) orderIn(m *Member, lane models.Class) {
	place := &m.places[lane]
	p.lines[lane].put(place, place.first != nil && p.admits(place.first))
}

// offerTrial lets a waiting request of a member in doubt be sent without a slot, unless another trial is out. Without
// trials nothing would detect that the member is answered again. mu must be held.
func (p *Pool) offerTrial(m *Member) (news told) {
	if !m.doubted || m.trial {
		return news
	}
	for lane := range m.places {
		for s := m.places[lane].first; s != nil; s = s.next {
			if s.bounded == 0 {
				p.lines[lane].remove(s)
				p.orderIn(m, models.Class(lane))
				m.trial, s.trial, s.waited = true, true, time.Since(s.since)
				s.granted()
				news.add(s)
				return news
			}
		}
	}
	return news
}

// trialFor returns the time limit of a trial of the member.
func (m *Member) trialFor() time.Duration {
	return max(trialAtLeast, trialOfOwn*m.answered.median())
}

// awaited reports whether a seat waits that could use a slot. mu must be held.
func (p *Pool) awaited() bool {
	for lane := range p.lines {
		if p.awaits(models.Class(lane)) {
			return true
		}
	}
	return false
}

// waits reports whether a request of the member waits. Pool.mu must be held.
func (m *Member) waits() bool {
	return slices.ContainsFunc(m.places[:], func(p place) bool { return p.first != nil })
}

// look takes the slots of late requests while others, or more requests of the same member, wait. It schedules its next
// call. mu must be held.
func (p *Pool) look() (news told) {
	if !slices.ContainsFunc(p.lines[:], func(l line) bool { return l.waiting > 0 }) {
		return news
	}
	awaited := p.awaited()
	now, next := time.Now(), time.Duration(-1)
	for _, u := range p.uses {
		if u.late && (u.member.doubted || u.elsewhere) || u.trial > 0 || u.work || !awaited && !u.member.waits() {
			continue
		}
		left := u.began.Add(p.doubtAfter(u.member)).Sub(now)
		if left <= 0 && !u.elsewhere && !u.member.doubted && !u.member.answeredSince(u.began) {
			news.append(p.doubt(u))
		}
		if !u.late {
			left = u.began.Add(p.lateOf(u)).Sub(now)
			if left <= 0 {
				if p.mayBeLate(u.member) {
					news.append(p.giveUp(u))
				}
				left = lookAgain
			}
		} else if left <= 0 {
			continue
		}
		if next < 0 || left < next {
			next = left
		}
	}
	if next >= 0 && p.watch == nil {
		p.watch = time.AfterFunc(min(next, p.lateAfter()), p.lookLater) // one that starts now may be late by then
	}
	return news
}

// lateOf returns how long after its start a request is late.
func (p *Pool) lateOf(u *use) time.Duration {
	if u.elsewhere {
		return lateElsewhere
	}
	return p.lateAfter()
}

// goElsewhere records that a request starts or stops waiting for something other than the service. Its time starts
// again. mu must be held.
func (p *Pool) goElsewhere(u *use, waits bool) (news told) {
	now := time.Now()
	if u.elsewhere = waits; waits {
		u.began = now
		if p.watch != nil && p.watch.Stop() { // it would look too late
			p.watch = nil
		}
		return p.look()
	}
	u.waited += now.Sub(u.began)
	u.began = now
	return news
}

func (p *Pool) lookLater() {
	p.mu.Lock()
	p.watch = nil
	news := p.look()
	p.mu.Unlock()
	news.wake()
}

// mayBeLate reports whether one more slot of m may be late: one for each member, and further ones up to the number of
// slots in all. This bounds the requests in flight. mu must be held.
func (p *Pool) mayBeLate(m *Member) bool { return m.late == 0 || p.moreLate < p.slots() }

// giveUp takes the slot of a late request. mu must be held.
func (p *Pool) giveUp(u *use) (news told) {
	m := u.member
	if m.late++; m.late > 1 {
		p.moreLate++
	}
	p.pay(u, time.Since(u.began))
	p.late++
	u.late = true
	m.out[u.lane]--
	p.order(m)
	return p.unuse(u.lane)
}

// doubt puts a member in doubt after a request took far longer than its others. mu must be held.
func (p *Pool) doubt(u *use) (news told) {
	m := u.member
	m.doubted, m.ramp = true, 1
	p.order(m)
	if news = p.offerTrial(m); !m.trial && u.seat.state == seatIdle {
		news.add(u.seat) // it may ask for a trial
	}
	return news
}

// answeredSince reports whether a request of the member was answered after then.
func (m *Member) answeredSince(then time.Time) bool {
	n, _ := m.answered.since(then)
	return n > 0
}

// learn records the result of a member's request. mu must be held.
func (p *Pool) learn(u *use, answered bool, took time.Duration) {
	m, now := u.member, time.Now()
	switch {
	case u.work:
	case u.trial > 0 && !answered:
		m.ramp = 1
	case u.trial > 0:
		m.doubted = m.doubted && m.ramp < trialProves
		m.ramp = min(2*m.ramp, mostRamp)
	case answered:
		m.doubted = false
		m.answered.add(now, took)
		p.answered.add(now, took)
		if !m.left {
			p.lines[u.lane].pace.add(m, took)
		}
	}
}

// end records that a slot is no longer out. used is false if there was no request, answered if it got no answer. mu
// must be held.
func (p *Pool) end(u *use, used, answered bool) (news told) {
	m, took := u.member, time.Since(u.began)
	if used {
		p.counts[u.class].worked(took + u.waited)
		p.pay(u, took)
		p.learn(u, answered, took)
	}
	gone := *u
	p.uses.remove(u)
	switch {
	case gone.trial > 0:
		m.trial = false
	case gone.late:
		if m.late--; m.late > 0 {
			p.moreLate--
		}
		p.late--
	default:
		if !gone.work {
			m.out[gone.lane]--
		}
		if !used {
			p.repay(m, gone.lane, gone.bytes, gone.paid)
		}
	}
	for _, other := range p.uses { // late requests kept these members from having slots
		if p.late > 0 && other.late {
			p.order(other.member)
		}
	}
	p.order(m)
	news = p.offerTrial(m)
	if gone.trial > 0 || gone.late {
		p.noteIdle()
		news.append(p.dispatch())
		return news
	}
	news.append(p.unuse(gone.lane))
	return news
}
