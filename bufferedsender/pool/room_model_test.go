package pool

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

// sender is a member in the model of room, with its own accounting.
type sender struct {
	m     *Member
	r     *Room
	name  string
	held  []int64 // bytes of its actions
	wants int64   // bytes of the waiting action, 0 for none
	class models.Class
	lend  bool
	woken bool
}

func (s *sender) size() (n size) {
	for _, bytes := range s.held {
		n = n.plus(size{1, bytes})
	}
	return n
}

// rooms records what one goroutine does with the room of a pool, and checks the invariants.
type rooms struct {
	*rapid.T
	p        *Pool
	senders  []*sender
	gone     []*sender // left, and still holds room
	forced   bool      // something was accepted by force since the pool was empty
	lowered  bool      // the settings have changed
	large    bool      // an action was larger than a floor
	granted  size      // before the step
	lines    [classes][]*Room
	newcomer [classes][]*Room
}

// before records the state before a step.
func (m *rooms) before() {
	b := &m.p.budget
	m.granted = b.floors.plus(b.loans)
	for i := range m.lines {
		m.lines[i], m.newcomer[i] = members(&b.lending.lines[i]), members(&b.entering.lines[i])
	}
}

func members(l *roomLine) (all []*Room) {
	for r := l.first; r != nil; r = r.next {
		all = append(all, r)
	}
	return all
}

// take takes room for an action, and checks that a sender gets its guaranteed minimum.
func (m *rooms) take(s *sender, class models.Class, bytes int64, lend, must bool) bool {
	b := &m.p.budget
	m.before()
	held := s.size()
	need := held.plus(size{1, bytes})
	own := s.r.active && need.within(s.r.floor)
	kept := s.r.state == roomGranted && bytes == s.wants && (lend || len(s.held) == 0)
	loan, waited := s.r.loan, s.r.state != roomQuiet
	m.forced = m.forced || must
	m.large = m.large || !size{1, bytes}.within(b.floor)
	ok := s.r.Take(class, bytes, lend, must)
	if (own || kept || must) && !ok {
		m.Fatalf("%s does not get its guaranteed room", s.name)
	}
	if ok {
		s.held = append(s.held, bytes)
		if !lend && !must && len(s.held) > 1 && !b.bounded(need).within(s.r.floor) && held.within(s.r.floor) {
			m.Fatalf("%s has borrowed, and must not", s.name)
		}
		if lane, _ := m.p.lane(class); !must && !waited && len(s.held) > 1 && !s.r.loan.within(loan) {
			for _, r := range m.lines[lane] {
				if r.state == roomWaiting && r.line == &b.lending.lines[lane] && b.bounded(b.lack(s.r)) != (size{}) {
					m.Fatalf("%s overtakes %s", s.name, r.member.name)
				}
			}
		}
	}
	m.check(s.r, must)
	return ok
}

// settle lets woken senders take their reserved room, or give up.
func (m *rooms) settle(t *rapid.T) {
	for again := true; again; {
		again = false
		for _, s := range m.senders {
			if !s.woken {
				continue
			}
			s.woken, again = false, true
			switch {
			case s.wants == 0:
				m.before()
				s.r.Quit()
				m.check(s.r, false)
			case t != nil && rapid.IntRange(0, 9).Draw(t, "gives up") == 0:
				s.wants = 0
				m.before()
				s.r.Quit()
				m.check(s.r, false)
			case m.take(s, s.class, s.wants, s.lend, false):
				s.wants = 0
			}
		}
	}
}

// check checks the invariants after every step.
func (m *rooms) check(self *Room, must bool) {
	b := &m.p.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	var floors, loans, shared, idle size
	active, busy, waiting, holders := 0, 0, 0, 0
	for _, s := range slices.Concat(m.senders, m.gone) {
		r := s.r
		held := s.size()
		if r.held != held || r.holds != (len(s.held) > 0) {
			m.Fatalf("%s holds %v, but the pool counts %v", s.name, held, r.held)
		}
		if !held.within(r.floor.plus(r.loan)) || !r.loan.max(size{}).within(r.loan) || !r.shared.within(r.loan) {
			m.Fatalf("%s holds %v, has a floor of %v and a loan of %v, %v of it shared", s.name, held, r.floor, r.loan, r.shared)
		}
		if r.state == roomQuiet && r.loan != r.loan.min(held.minus(r.floor).max(size{}).up(b.floor)) && !m.lowered {
			m.Fatalf("%s holds %v, and keeps a loan of %v in addition to %v", s.name, held, r.loan, r.floor)
		}
		floors, loans, shared = floors.plus(r.floor), loans.plus(r.loan), shared.plus(r.shared)
		if r.active {
			active++
		}
		if r.idle {
			idle = idle.plus(r.floor)
		}
		if len(s.held) > 0 {
			holders++
		}
		if len(s.held) > 0 || r.state == roomGranted {
			busy++
		} else if r.active != r.idle {
			m.Fatalf("%s has nothing; a floor: %v, idle: %v", s.name, r.active, r.idle)
		}
		if r.state == roomWaiting {
			waiting++
		}
	}
	if floors != b.floors || loans != b.loans || shared != b.shared || idle != b.idleFloors || active != b.active || busy != b.busy || waiting != b.waiting {
		m.Fatalf("floors %v, loans %v, shared %v, idle %v, %d active, %d busy, %d wait; counted %v, %v, %v, %v, %d, %d, %d",
			floors, loans, shared, idle, active, busy, waiting, b.floors, b.loans, b.shared, b.idleFloors, b.active, b.busy, b.waiting)
	}
	granted := floors.plus(loans)
	if over := b.bounded(granted); !over.within(b.limit.max(m.granted)) && !must {
		if busy > 1 || holders == 1 && self.held.actions > 1 {
			m.Fatalf("%v are granted of %v, and %d have something", granted, b.limit, busy)
		}
	}
	if busy == 0 {
		m.forced, m.lowered, m.large = false, false, false
	}
	m.order(self)
	m.waiters(floors.minus(idle), loans)
}

// order checks that within a class the first to wait is granted first.
func (m *rooms) order(self *Room) {
	for i := range classes {
		for _, l := range [][]*Room{m.lines[i], m.newcomer[i]} {
			waits := ""
			for _, r := range l {
				switch {
				case r == self || r.left || !r.holds && r.state == roomQuiet:
				case r.state == roomWaiting:
					waits = r.member.name
				case r.state == roomGranted && waits != "" && !m.lowered:
					m.Fatalf("%s was granted before %s in %v", r.member.name, waits, models.Class(i))
				}
			}
		}
	}
}

// waiters checks that there is no room for the waiting senders.
func (m *rooms) waiters(busy, loans size) {
	b := &m.p.budget
	for i := range classes {
		for _, r := range members(&b.entering.lines[i]) {
			own := r.loan
			if !r.idle {
				own = own.plus(r.floor)
			}
			want := r.need.max(b.floor).max(own).minus(own)
			if want.fits(b.limit.minus(busy).minus(loans)) && own == (size{}) { // a sender with its minimum waits like the others
				m.Fatalf("%s waits, and there is a floor", r.member.name)
			}
			if !m.forced && !m.lowered && !m.large {
				quarter := size{b.limit.actions / neverLent, b.limit.bytes / neverLent}
				if busy.plus(b.floor).within(quarter) {
					m.Fatalf("%s waits for a floor, and a quarter of the budget is not used for floors", r.member.name)
				}
				if b.bounded(b.floor.times(int64(len(m.senders)))).within(b.limit.minus(b.limit.part(alwaysLent))) {
					m.Fatalf("%s waits for a floor, and there are floors for all", r.member.name)
				}
			}
		}
	}
	if r := b.next(); r != nil {
		m.Fatalf("%s waits for nothing", r.member.name)
	}
}

func TestRandomMembersShareTheirRoomAsPromised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(t *rapid.T) Options {
			s := Options{FloorActions: rapid.IntRange(1, 6).Draw(t, "floor"), FloorBytes: rapid.Int64Range(10, 60).Draw(t, "floor's bytes")}
			if rapid.IntRange(0, 4).Draw(t, "bounded") > 0 {
				s.BufferedActions = rapid.IntRange(s.FloorActions, 50).Draw(t, "actions")
			}
			if rapid.IntRange(0, 4).Draw(t, "bounded") > 0 {
				s.BufferedBytes = rapid.Int64Range(s.FloorBytes, 500).Draw(t, "bytes")
			}
			return s
		}
		p, err := New(new(draw(t)))
		require.NoError(t, err)
		m := &rooms{T: t, p: p}
		known := rapid.Bool().Draw(t, "known") // counts as a member that returns
		joined := 0
		joins := func() *sender {
			joined++
			s := &sender{name: fmt.Sprint("m", joined)}
			s.m, err = p.Join(s.name)
			require.NoError(t, err)
			s.r = s.m.Room(func() { s.woken = true }, nil)
			if known {
				s.r.returned = trusted
			}
			return s
		}
		for range rapid.IntRange(1, 8).Draw(t, "members") {
			m.senders = append(m.senders, joins())
		}
		small := rapid.Bool().Draw(t, "small")
		one := func(t *rapid.T) *sender { return rapid.SampledFrom(m.senders).Draw(t, "member") }
		take := func(t *rapid.T) {
			s := one(t)
			class := models.Class(rapid.IntRange(0, classes-1).Draw(t, "class"))
			bytes := rapid.Int64Range(1, 12).Draw(t, "bytes")
			if !small && rapid.IntRange(0, 9).Draw(t, "large") == 0 {
				bytes = rapid.Int64Range(20, 700).Draw(t, "bytes")
			}
			lend, must := rapid.IntRange(0, 4).Draw(t, "lend") > 0, !small && rapid.IntRange(0, 19).Draw(t, "must") == 0
			for range rapid.IntRange(1, 8).Draw(t, "times") {
				if !m.take(s, class, bytes, lend, must) {
					s.wants, s.class, s.lend = bytes, class, lend
					break
				}
			}
			m.settle(t)
		}
		returns := func(t *rapid.T) {
			s := rapid.SampledFrom(slices.Concat(m.senders, m.gone)).Draw(t, "member")
			if len(s.held) == 0 {
				t.Skip("the sender has no action")
			}
			n := rapid.IntRange(0, len(s.held)).Draw(t, "actions")
			if rapid.Bool().Draw(t, "all") {
				n = len(s.held)
			}
			m.before()
			var bytes int64
			for _, size := range s.held[:n] {
				bytes += size
			}
			if s.held = s.held[n:]; n == 0 { // bytes only
				bytes = s.held[0] - 1
				s.held[0] = 1
			}
			s.r.Return(n, bytes)
			m.check(s.r, false)
			m.settle(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": take, "take more": take, "take still more": take, "return": returns, "return more": returns,
			"quit": func(t *rapid.T) {
				s := one(t)
				s.wants = 0
				m.before()
				s.r.Quit()
				m.check(s.r, false)
				m.settle(t)
			},
			"set": func(t *rapid.T) {
				if small {
					t.Skip("only pools with enough room change their settings")
				}
				m.before()
				m.lowered = true
				require.NoError(t, p.SetOptions(draw(t)))
				m.check(nil, true)
				m.settle(t)
			},
			"leave": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
					t.Skip("seldom")
				}
				i := rapid.IntRange(0, len(m.senders)-1).Draw(t, "member")
				m.before()
				s := m.senders[i]
				s.m.Leave()
				m.gone = append(m.gone, s)
				m.lowered = true // a reserved loan returns with the room that it holds
				m.senders[i] = joins()
				m.check(nil, false)
				m.settle(t)
			},
		})
		for round := 0; ; round++ { // until all have had a turn
			left := 0
			for _, s := range slices.Concat(m.senders, m.gone) {
				if len(s.held) > 0 {
					left++
					n, held := len(s.held), s.size()
					m.before()
					s.held = nil
					s.r.Return(n, held.bytes)
					m.check(s.r, false)
					m.settle(nil)
				}
			}
			if left == 0 {
				break
			}
			require.Less(t, round, 100)
		}
		for _, s := range m.senders {
			require.Zero(t, s.wants, "%s waits forever", s.name)
		}
		require.Zero(t, p.budget.waiting)
		require.Zero(t, p.budget.loans)
		require.Equal(t, p.budget.idleFloors, p.budget.floors)
		for _, s := range m.senders {
			s.m.Leave()
		}
		require.Equal(t, size{}, p.budget.floors)
		require.Zero(t, p.budget.active)
	})
}
