package pool

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Room is a member's share of the common buffer space, Options.BufferedActions and BufferedBytes. Its methods do not
// block, and call nothing except wake. They must not be called concurrently: the caller uses its own lock.
//
// A member is active from its first Take until it has returned everything and its floor went to another member. While
// active it has a guaranteed floor, Options.FloorActions and FloorBytes. More room is borrowed; how much depends on
// what the member has returned before.
//
//archtest:long owed: lending and waiting are two parts
type Room struct {
	budget *budget
	member *Member
	wake   func()

	// Owned by the caller. own, most and low are copies of guarded fields from the caller's last call under the lock. They
	// stay safe: other calls only increase a loan, and take a floor only from a room that holds nothing.
	held    size
	own     size // limit without lend
	most    size // limit with lend
	low     size // at or below this, part of the loan is returned
	fast    bool // it holds something and is in no line, so held needs no lock
	asked   bool // its state was not roomQuiet
	refused bool // a Take was refused since the last Return
	// returned is the room that it has returned since it last lost its floor, or last was not allowed to borrow.
	returned size

	// Guarded by budget.mu.
	state roomState
	lane  models.Class // in which it waits
	want  size         // what it waits for: one action
	need  size         // want plus what it held at the last Take
	floor size         // 0 unless it is active
	loan  size         // granted in addition to its floor
	// shared is the part of the loan lent to classes other than Expedited.
	shared size
	active bool // it has a floor
	fresh  bool // and has not used it yet
	holds  bool // held is not 0
	busy   bool // counted in budget.busy
	left   bool

	line       *roomLine  // the line in which it waits, or nil
	prev, next *Room      // in that line
	idle       bool       // active, and in budget.idle
	since      time.Time  // start of being idle
	around     neighbours // in budget.idle, or in budget.holding while busy

	pressed *atomic.Bool // see press.go; written with budget.mu held
}

type roomState uint8

const (
	roomQuiet roomState = iota
	roomWaiting
	roomGranted // while waiting, not taken yet
)

// Room returns a new Room of the member. wake is called, on any goroutine, when there may be room for a refused Take:
// then call Take again, or Quit. wake must not block. It may be called during a Take, Return or Quit of any member,
// also of this one. A member has one Room at a time: the previous one is treated as if its member had left.
//
// pressed, which may be nil, is true while a member with an empty buffer waits for another member to empty its own:
// then send without waiting for full batches. wake is called when it becomes true.
//
// Shutdown does not affect room: senders send or give up what they have accepted, and then return the room. After Leave
// only required room is granted.
func (m *Member) Room(wake func(), pressed *atomic.Bool) *Room {
	p := m.pool
	if pressed == nil {
		pressed = new(atomic.Bool)
	}
	r := &Room{budget: &p.budget, member: m, wake: wake, pressed: pressed, low: size{-1, -1}}
	p.mu.Lock()
	r.left = m.left
	before := m.room
	m.room = r
	p.mu.Unlock()
	p.budget.joins(r)
	before.leave().wake()
	return r
}

// Take takes room for one action of the given size in bytes. It returns false if there is none, or if others wait for
// it. Then wake is called when room is kept for this member, until Take or Quit is called, or when the member itself
// has returned some.
//
// must takes the room in any case, even if there is none.
//
// lend allows the member to borrow. Without it the member has only its floor, and waits for its own room. Pass false if
// the room will not be returned soon: while suspended by a breaker or paused, or without automatic flushes.
//
// Room that is kept may be taken for any action of the member. A waiting member is served as the most urgent class of
// its calls since then.
func (r *Room) Take(class models.Class, bytes int64, lend, must bool) bool {
	most := &r.most
	if !lend {
		most = &r.own
	}
	if a, b := r.held.actions+1, r.held.bytes+bytes; r.fast && a <= most.actions && b <= most.bytes {
		r.held = size{a, b}
		return true
	}
	return r.take(class, bytes, lend, must)
}

// take is Take with the lock.
func (r *Room) take(class models.Class, bytes int64, lend, must bool) bool {
	lane, _ := r.member.pool.lane(class)
	b := r.budget
	b.mu.Lock()
	ok, news := b.take(r, lane, size{1, bytes}, lend, must)
	r.sync()
	b.mu.Unlock()
	r.refused = r.refused || !ok
	news.wake()
	return ok
}

// Return returns the room of the given number of actions and their total bytes, or of bytes alone. Borrowed room that
// is no longer needed goes to others at once, in whole batches.
func (r *Room) Return(actions int, bytes int64) {
	back := size{int64(actions), bytes}
	r.held, r.returned = r.held.minus(back), r.returned.plus(back)
	if r.held.actions <= r.low.actions || r.held.bytes <= r.low.bytes || r.held == (size{}) {
		r.giveBack()
	}
	if r.refused {
		r.refused = false
		r.wake()
	}
}

// giveBack is Return with the lock.
func (r *Room) giveBack() {
	b := r.budget
	b.mu.Lock()
	r.held = r.held.max(size{})
	r.holds = r.held != size{}
	if r.state == roomWaiting {
		r.need = r.held.plus(r.want)
		if !r.holds && b.lends(r.line) { // its floor is enough
			b.unqueue(r)
		}
	}
	b.trim(r, false)
	b.place(r)
	news := b.dispatch(nil)
	r.sync()
	b.mu.Unlock()
	news.wake()
}

// Quit ends the member's waiting for room and returns borrowed room that it does not use, in whole batches. It keeps
// the rest of a batch for the next actions: otherwise a member that adds a few actions at a time would queue for each
// few. That rest goes back with Return, or when the member may not borrow. Quit is cheap if nothing is asked for.
func (r *Room) Quit() {
	r.refused = false
	if !r.asked && r.most == r.own {
		return
	}
	b := r.budget
	b.mu.Lock()
	b.unqueue(r)
	r.state = roomQuiet
	if r.fresh && !r.holds {
		b.deactivate(r)
	}
	b.trim(r, false)
	b.place(r)
	news := b.dispatch(nil)
	r.sync()
	b.mu.Unlock()
	news.wake()
}

// Floor returns the guaranteed room of an active member. An unbounded dimension has the largest value.
func (r *Room) Floor() (actions int, bytes int64) {
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	actions, bytes = math.MaxInt, math.MaxInt64
	if b.limit.actions != boundless {
		actions = int(b.floor.actions)
	}
	if b.limit.bytes != boundless {
		bytes = b.floor.bytes
	}
	return actions, bytes
}

// leave ends a room. r may be nil. Its caller may be in another call, and returns what it holds later.
func (r *Room) leave() told {
	if r == nil {
		return told{}
	}
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unqueue(r)
	if !r.left {
		b.members--
	}
	r.state, r.left = roomQuiet, true
	b.place(r)
	return b.dispatch(nil)
}

func (r *Room) tell() { r.wake() }

// sync copies what the caller may use without the lock, which must be held.
func (r *Room) sync() {
	b := r.budget
	r.own, r.most = b.ceiling(r), r.floor.plus(r.loan)
	r.fast = r.holds && r.state == roomQuiet
	r.asked = r.state != roomQuiet
	r.low = size{lowest(r.floor.actions, r.loan.actions, b.floor.actions), lowest(r.floor.bytes, r.loan.bytes, b.floor.bytes)}
}

// lowest returns the amount at or below which a batch of a loan is not needed, or -1 without a loan.
func lowest(floor, loan, batch int64) int64 {
	if loan == 0 {
		return -1
	}
	return floor + (loan-1)/batch*batch
}

// size is an amount of room.
type size struct{ actions, bytes int64 }

func (s size) plus(o size) size   { return size{s.actions + o.actions, s.bytes + o.bytes} }
func (s size) minus(o size) size  { return size{s.actions - o.actions, s.bytes - o.bytes} }
func (s size) max(o size) size    { return size{max(s.actions, o.actions), max(s.bytes, o.bytes)} }
func (s size) min(o size) size    { return size{min(s.actions, o.actions), min(s.bytes, o.bytes)} }
func (s size) times(n int64) size { return size{s.actions * n, s.bytes * n} }
func (s size) part(n int64) size  { return size{s.actions / n, s.bytes / n} }

// within reports whether s is at most o in both dimensions.
func (s size) within(o size) bool { return s.actions <= o.actions && s.bytes <= o.bytes }

// fits is within, but ignores dimensions in which s is zero: free may be negative there.
func (s size) fits(free size) bool {
	return (s.actions == 0 || s.actions <= free.actions) && (s.bytes == 0 || s.bytes <= free.bytes)
}

// up rounds up to whole batches.
func (s size) up(batch size) size {
	return size{(s.actions + batch.actions - 1) / batch.actions * batch.actions, (s.bytes + batch.bytes - 1) / batch.bytes * batch.bytes}
}
