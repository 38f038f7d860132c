package pool

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Member is a participant in a pool, for example a sender. Its methods are safe for concurrent use.
type Member struct {
	pool *Pool
	name string

	// Guarded by Pool.mu.
	places  [classes]place // by lane
	left    bool
	room    *Room // the newest one, or nil
	granted *Seat // first of the seats with a granted slot that is not taken yet

	out      [classes]int // slots of requests that are not late, by lane
	late     int          // requests whose slots went to others
	doubted  bool         // requests took too long, and no trial has yet shown that it is answered
	ramp     int          // most actions of the next trial
	trial    bool         // a trial is out or granted
	answered answers
}

// Join returns a new member. Its name must be unique in the pool.
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

// FellBack counts an unknown class that is served as Expedited, for a member that detects it before asking.
func (m *Member) FellBack() {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	m.pool.fellBack++
}

// Leave refuses the member's waiting seats with ErrLeft, and those with a granted slot that is not taken; such slots go
// to the next. Slots in use stay with their requests. Room stays granted for what the member holds; the rest goes to
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
			p.lines[i].pace.remove(m)
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

// Seat is a member's place to wait for one slot at a time. It is for one goroutine.
type Seat struct {
	member  *Member
	wake    func()
	bounded int // 1: it is of Do, and counts for maxWaiting

	// Guarded by Pool.mu.
	state       seatState
	class, lane models.Class
	bytes       int64
	paid        paid
	trial       bool // the granted request needs no slot
	since       time.Time
	waited      time.Duration // time until the grant
	err         error
	prev, next  *Seat // in its place, or in Member.granted
}

// paid is the cost of a slot in addition to its bytes.
type paid struct {
	raised uint   // of its place at that time
	turn   uint64 // Pool.given at that time, 0 for none
	extra  int64  // additional bytes, because the request may be slow
}

type seatState uint8

const (
	seatIdle seatState = iota
	seatWaiting
	seatGranted // by dispatch, not taken yet
	seatRefused
)

// Seat returns a seat. wake is called, on any goroutine, when a waiting request was granted or refused: then call Ask
// again. wake must not block.
func (m *Member) Seat(wake func()) *Seat { return &Seat{member: m, wake: wake} }

// Ask asks for a slot for a request of the given size in bytes. If it returns false, wake is called when a slot is
// granted to this seat, which is kept until Ask or Cancel is called. Asking with another class while waiting moves the
// seat to the end of that class's line. The error is ErrShutdown or ErrLeft. Ask does not block. bytes is limited to
// the range from 1 to 4 GiB.
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
	p.giveLater()
	return Slot{}, false, nil
}

// granted records that a slot is kept for the seat. Pool.mu must be held.
func (s *Seat) granted() {
	s.state = seatGranted
	if s.next = s.member.granted; s.next != nil {
		s.next.prev = s
	}
	s.member.granted = s
}

// taken records that no slot is kept any more. Pool.mu must be held.
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

// slot returns the seat's slot, which is out from now on. Pool.mu must be held.
func (s *Seat) slot() Slot {
	u := use{member: s.member, class: s.class, lane: s.lane, bytes: s.bytes, paid: s.paid, began: time.Now(), seat: s, work: s.bounded > 0}
	if s.trial {
		s.trial, u.trial, u.actions = false, s.member.trialFor(), s.member.ramp
	}
	return Slot{s.member.pool.uses.add(u)}
}

// Cancel gives up the request: a waiting seat leaves the line, and a slot kept for it goes to the next. Otherwise it
// does nothing.
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

// Decline passes a granted slot that was not taken to the next seat, without counting a turn. Then Ask starts again, in
// the order of least service. A waiting request is not affected. Any goroutine may call it, also within wake.
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

// Slot is the permission for one request. The zero value has none.
type Slot struct{ use *use }

// Trial returns how long the request may take and how many actions it may have, or 0 and 0 without such limits. It is
// set while the member is in doubt, see Member.Doubted: this request tests whether the member is answered again. The
// sender must enforce both limits. A trial cut off at its time limit proves nothing.
func (s *Slot) Trial() (within time.Duration, actions int) {
	if s.use == nil {
		return 0, 0
	}
	return s.use.trial, s.use.actions
}

// Elsewhere records that the request starts, or stops, waiting for something other than the service. After 50 ms of
// that its slot goes to a waiting request. That time does not count for the service's latency. It must be called by the
// goroutine that has the slot. It does not block.
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

// Release ends the request. The slot goes to the next, unless the request was late and has lost it already. answered is
// true if the service answered, with whatever status, and false after a time-out. Further calls, and calls on the zero
// value, do nothing. It must be called by the goroutine that has the slot.
func (s *Slot) Release(answered bool) { s.end(true, answered) }

// GiveBack is Release for an unused slot: it counts neither as a turn nor in the statistics of work.
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
