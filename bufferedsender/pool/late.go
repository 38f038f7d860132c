package pool

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// When a slot is late: it is not used to wait for a service that does not answer, while others wait for the slot.
// DESIGN.md says why these numbers.
const (
	lateAtLeast = time.Second
	lateOfPool  = 8 // times the median of all
	lateOfOwn   = 4 // times that of the member
	// trialAtLeast, or trialOfOwn times the median of the member, is how long a trial may take.
	trialAtLeast = 2 * time.Second
	trialOfOwn   = 2
	// trialProves is how many actions a trial may have whose answer ends the doubt. The first may have one, and each
	// that is answered doubles it.
	trialProves, mostRamp = 64, 1 << 20
	// lookAgain is when to look after late slots that too many are late beside.
	lookAgain = time.Second
	// lateElsewhere is how long a request may wait for somebody else before it is late.
	lateElsewhere = 50 * time.Millisecond
)

// use is a slot that is out.
type use struct {
	member      *Member
	class, lane models.Class
	bytes       int64
	paid        paid
	began       time.Time
	trial       time.Duration // of a trial, which takes no slot: how long it may take; 0 otherwise
	actions     int           // and how many actions it may have
	seat        *Seat
	work        bool          // of Do, which takes as long as it takes
	late        bool          // its slot went to others
	elsewhere   bool          // it waits for somebody who is not the service
	waited      time.Duration // how long it has done so, before it began
	at          int           // in uses
}

// uses are the slots that are out. Those that are not out any more stay behind its end, and are used again: a slot
// costs no allocation.
type uses []*use

// add returns a copy of u among them.
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

// answers are the last requests that were answered: when, and how long they took.
type answers struct {
	at     [31]time.Time
	took   [31]time.Duration
	n      int           // all that there were
	middle time.Duration // the median of took
	of     int           // n when it was
}

func (a *answers) add(now time.Time, took time.Duration) {
	i := a.n % len(a.at)
	a.at[i], a.took[i] = now, took
	a.n++
}

// median of how long they took, 0 if there were none.
func (a *answers) median() time.Duration {
	if a.of != a.n {
		sorted := a.took
		known := sorted[:min(a.n, len(sorted))]
		slices.Sort(known)
		a.middle, a.of = known[len(known)/2], a.n
	}
	return a.middle
}

// since is how many there were after then; many says that there may have been more.
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

// lateAfter is how long a request may take until its slot goes to others.
func (p *Pool) lateAfter() time.Duration {
	return max(p.settings.late, lateOfPool*p.answered.median())
}

// doubtAfter is how long one of the member may take until the member is in doubt.
func (p *Pool) doubtAfter(m *Member) time.Duration {
	return max(p.lateAfter(), lateOfOwn*m.answered.median())
}

// Doubted reports whether the member is in doubt: it has requests that are late, and sends trials only, one at a time,
// until they have shown that it is answered. A trial may be one request more than it would have under way otherwise.
func (m *Member) Doubted() bool {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	return m.doubted
}

// admits reports whether a seat may have a slot when one is free. A member may have out, in each lane, one request
// more than were answered lately: so an index that has stopped answering takes one slot at a time from the
// others, and one that answers soon has as many as it can use. mu must be held.
func (p *Pool) admits(s *Seat) bool {
	m := s.member
	switch {
	case s.bounded > 0:
		return true // work
	case m.doubted || m.late > 0 && p.moreLate+p.risky() >= p.slots():
		return false
	case m.out[s.lane] == 0:
		return true // what a member has for certain
	}
	now := time.Now()
	if n, many := m.answered.since(now.Add(-lateAtLeast)); many || m.out[s.lane] <= n {
		return true
	}
	n, many := m.answered.since(now.Add(-lateOfOwn * m.answered.median()))
	return many || m.out[s.lane] <= n
}

// risky is how many slots members have that have late requests, too: those might become late as well. mu must be held.
func (p *Pool) risky() (n int) {
	for _, u := range p.uses {
		if !u.late && !u.work && u.trial == 0 && u.member.late > 0 {
			n++
		}
	}
	return n
}

// order puts the places of a member among those that may be served, or takes them out. mu must be held.
func (p *Pool) order(m *Member) {
	for lane := range m.places {
		p.orderIn(m, models.Class(lane))
	}
}

func (p *Pool) orderIn(m *Member, lane models.Class) {
	place := &m.places[lane]
	p.lines[lane].put(place, place.first != nil && p.admits(place.first))
}

// offerTrial has a request of a member in doubt go without a slot, if one waits and no other trial is out: nobody else
// could find out whether it answers again. mu must be held.
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

// trialFor is how long a trial of a member may take.
func (m *Member) trialFor() time.Duration {
	return max(trialAtLeast, trialOfOwn*m.answered.median())
}

// awaited reports whether somebody waits whom a slot would help. mu must be held.
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

// look takes their slots from requests that are late, while others wait or more of the same member, and sees to it
// that it is called again. mu must be held.
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
		p.watch = time.AfterFunc(min(next, p.lateAfter()), p.lookLater) // one that comes now may be late by then
	}
	return news
}

// lateOf is when a request is late, after it began.
func (p *Pool) lateOf(u *use) time.Duration {
	if u.elsewhere {
		return lateElsewhere
	}
	return p.lateAfter()
}

// goElsewhere notes that a request waits for somebody who is not the service, or does not any more: it begins then.
// mu must be held.
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

// mayBeLate reports whether one more slot of a member may be late: one of each, and of all together as many more as
// there are slots. So requests under way are bounded. mu must be held.
func (p *Pool) mayBeLate(m *Member) bool { return m.late == 0 || p.moreLate < p.slots() }

// giveUp takes its slot from a request that is late. mu must be held.
func (p *Pool) giveUp(u *use) (news told) {
	m := u.member
	if m.late++; m.late > 1 {
		p.moreLate++
	}
	p.late++
	u.late = true
	m.out[u.lane]--
	p.order(m)
	return p.unuse(u.lane)
}

// doubt begins when a request takes far longer than those of its member do. mu must be held.
func (p *Pool) doubt(u *use) (news told) {
	m := u.member
	m.doubted, m.ramp = true, 1
	p.order(m)
	if news = p.offerTrial(m); !m.trial && u.seat.state == seatIdle {
		news.add(u.seat) // it may ask for one
	}
	return news
}

// answeredSince reports whether a request of the member has been answered since then.
func (m *Member) answeredSince(then time.Time) bool {
	n, _ := m.answered.since(then)
	return n > 0
}

// learn takes in how a request of a member has ended. mu must be held.
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
	}
}

// end notes that a slot is not out any more: used says whether there was a request, and answered whether it had an
// answer. mu must be held.
func (p *Pool) end(u *use, used, answered bool) (news told) {
	m, took := u.member, time.Since(u.began)
	if used {
		p.counts[u.class].worked(took + u.waited)
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
	for _, other := range p.uses { // whom late requests kept from having slots
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
