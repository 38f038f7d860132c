package pool

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Member is one of those who share a pool: a sender, for example. Its methods are safe for concurrent use.
type Member struct {
	pool *Pool
	name string

	// Guarded by Pool.mu.
	places  [classes]place // by lane
	left    bool
	room    *Room // the newest, or nil
	granted *Seat // the first of the seats that were granted a slot, which is not taken yet

	out      [classes]int // slots of requests that are not late, by lane
	late     int          // requests whose slots went to others
	doubted  bool         // requests took too long, and trials have not shown yet that it is answered
	ramp     int          // how many actions the next trial may have
	trial    bool         // one is out, or granted
	answered answers
}

// Join returns a member with a name that nobody else has.
func (p *Pool) Join(name string) (*Member, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("pool: %q cannot join: %w", name, ErrShutdown)
	}
	if p.members[name] != nil {
		return nil, fmt.Errorf("pool: member %q has joined already", name)
	}
	m := &Member{pool: p, name: name}
	p.members[name] = m
	return m, nil
}

// FellBack counts a class that there is none of, and that is served as Expedited, for a member that finds it out
// by itself.
func (m *Member) FellBack() {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	m.pool.fellBack++
}

// Leave ends what waits, with ErrLeft, also what was granted a slot and has not taken it: that goes to the next.
// Slots that are in use stay with their requests, and room stays with what it is held for; what is not held goes to
// others.
func (m *Member) Leave() {
	p := m.pool
	p.mu.Lock()
	var news told
	if !m.left {
		m.left = true
		delete(p.members, m.name)
		for i := range m.places {
			for m.places[i].first != nil {
				s := m.places[i].first
				p.lines[i].remove(s)
				news.refuse(s, ErrLeft)
			}
		}
		p.order(m)
		for m.granted != nil {
			s := m.granted
			news.append(p.untake(s))
			news.refuse(s, ErrLeft)
		}
	}
	room := m.room
	p.mu.Unlock()
	news.append(room.leave())
	news.wake()
}

// Seat is where a member waits for one slot at a time. It is for one goroutine.
type Seat struct {
	member  *Member
	wake    func()
	bounded int // 1: it is of Do, and counts for maxWaiting

	// Guarded by Pool.mu.
	state       seatState
	class, lane models.Class
	bytes       int64
	paid        paid
	trial       bool // what was granted needs no slot
	since       time.Time
	waited      time.Duration // until it was granted
	err         error
	prev, next  *Seat // in its place, or in Member.granted
}

// paid is what a slot has cost beside its bytes.
type paid struct {
	raised uint   // that of its place
	turn   uint64 // Pool.given, 0 for none
}

type seatState uint8

const (
	seatIdle seatState = iota
	seatWaiting
	seatGranted // by dispatch, and not taken yet
	seatRefused
)

// Seat returns a seat. wake is called, on some goroutine, when something has become of a question that had to wait:
// then Ask again. It must not block.
func (m *Member) Seat(wake func()) *Seat { return &Seat{member: m, wake: wake} }

// Ask asks for a slot for a request of so many bytes. It returns a slot, or false: then wake is called when there is
// one for this seat, and kept for it until Ask is called again, or Cancel. Asked again with another class
// while it waits, it waits in that one, behind who is there. The error is ErrShutdown or ErrLeft. It does
// not block. Less than a byte counts as one, more than 4 GiB as these.
func (s *Seat) Ask(class models.Class, bytes int64) (slot Slot, ok bool, err error) {
	p := s.member.pool
	lane, known := p.lane(class)
	if !known {
		class = models.ClassExpedited
	}
	var news told
	defer func() { news.wake() }()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() {
		if p.watch == nil {
			news = p.look() // one more waits, or has a slot that others wait for
		}
	}()
	if usual := p.lines[lane].usual; s.bounded > 0 && usual > 0 {
		bytes = min(bytes, usual)
	}
	switch s.state {
	case seatGranted:
		s.taken()
		p.waited(s, s.waited)
		return s.slot(), true, nil
	case seatRefused:
		err, s.state, s.err = s.err, seatIdle, nil
		return Slot{}, false, err
	case seatWaiting:
		if s.lane == lane {
			s.class, s.bytes = class, bytes
			return Slot{}, false, nil
		}
		p.lines[s.lane].remove(s)
		p.orderIn(s.member, s.lane)
		s.state = seatIdle
	}
	switch {
	case p.closed:
		return Slot{}, false, ErrShutdown
	case s.member.left:
		return Slot{}, false, ErrLeft
	}
	if !known {
		p.fellBack++
	}
	s.class, s.lane, s.bytes, s.since = class, lane, bytes, time.Now()
	l, m := &p.lines[lane], s.member
	switch {
	case s.bounded == 0 && m.doubted && !m.trial:
		m.trial, s.trial = true, true
		p.waited(s, 0)
		return s.slot(), true, nil
	case m.places[lane].first == nil && !p.awaits(lane) && p.free(lane) && p.admits(s):
		l.charge(&m.places[lane], s)
		p.use(s)
		p.waited(s, 0)
		return s.slot(), true, nil
	case s.bounded > 0 && l.bounded >= p.settings.maxWaiting:
		p.counts[class].refused++
		return Slot{}, false, ErrFull
	}
	s.state = seatWaiting
	l.push(s)
	p.orderIn(m, lane)
	return Slot{}, false, nil
}

// granted notes that a slot is kept for the seat. Pool.mu must be held.
func (s *Seat) granted() {
	s.state = seatGranted
	if s.next = s.member.granted; s.next != nil {
		s.next.prev = s
	}
	s.member.granted = s
}

// taken notes that it is not kept any more. Pool.mu must be held.
func (s *Seat) taken() {
	s.state = seatIdle
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		s.member.granted = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
}

func (s *Seat) tell() { s.wake() }

// slot returns that of the seat, which is out from now on. Pool.mu must be held.
func (s *Seat) slot() Slot {
	u := use{member: s.member, class: s.class, lane: s.lane, bytes: s.bytes, paid: s.paid, began: time.Now(), seat: s, work: s.bounded > 0}
	if s.trial {
		s.trial, u.trial, u.actions = false, s.member.trialFor(), s.member.ramp
	}
	return Slot{s.member.pool.uses.add(u)}
}

// Cancel gives up what was asked for: who waits leaves the line, and a slot that is kept for the seat goes to the
// next. It does nothing otherwise.
func (s *Seat) Cancel() {
	p := s.member.pool
	p.mu.Lock()
	var news told
	switch s.state {
	case seatWaiting:
		p.lines[s.lane].remove(s)
		p.orderIn(s.member, s.lane)
	case seatGranted:
		news = p.untake(s)
	}
	s.state, s.err = seatIdle, nil
	p.mu.Unlock()
	news.wake()
}

// Decline gives a slot that was granted and not taken to the next, as no turn: then Ask begins anew, and whoever has
// been granted least is first. A question that waits stays. It may be called by any goroutine, also by wake.
func (s *Seat) Decline() {
	p := s.member.pool
	p.mu.Lock()
	var news told
	if s.state == seatGranted {
		news = p.untake(s)
	}
	p.mu.Unlock()
	news.wake()
}

// Slot is the right to one request. The zero value is none.
type Slot struct{ use *use }

// Trial is how long the request may take and how many actions it may have, or 0 and 0: then that is for who sends it.
// Requests of the member are late, and this one finds out whether it is answered again. That it is cut when its time is
// up says nothing.
func (s *Slot) Trial() (within time.Duration, actions int) {
	return s.use.trial, s.use.actions
}

// Elsewhere says that the request waits for somebody who is not the service, or that it does not any more. A slot
// whose request does so for 50 ms goes to others who wait for one, and how long it takes says nothing about the
// service. It is for the goroutine that has the slot. It does not block.
func (s *Slot) Elsewhere(waits bool) {
	u := s.use
	if u == nil || u.elsewhere == waits {
		return
	}
	p := u.member.pool
	p.mu.Lock()
	news := p.goElsewhere(u, waits)
	p.mu.Unlock()
	news.wake()
}

// Release ends the request: the slot goes to the next, unless it has gone already because the request was late.
// answered says that the service has answered, whatever it said; false, that nothing came until the time was up. Done
// again, or with the zero value, it does nothing. It is for the goroutine that has the slot.
func (s *Slot) Release(answered bool) { s.end(true, answered) }

// GiveBack is Release for a slot that there was no use for: it counts as no turn, and in no statistics of work.
func (s *Slot) GiveBack() { s.end(false, false) }

func (s *Slot) end(used, answered bool) {
	u := s.use
	if u == nil {
		return
	}
	s.use = nil
	p := u.member.pool
	p.mu.Lock()
	news := p.end(u, used, answered)
	p.mu.Unlock()
	news.wake()
}
