package pool

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Room is what a member may buffer of what all members buffer together: of Options.BufferedActions and
// BufferedBytes. Its methods do not block, and are for one goroutine at a time: the caller has a lock of its own. But
// for wake they call nothing.
//
// A member is active from its first Take until it has given everything back and its floor went to another. While it
// is active it has a floor of room for certain, Options.FloorActions and FloorBytes. What it wants beside that it
// borrows, as much as it has shown that it gives back.
//
//archtest:long owed: lending and waiting are two parts
type Room struct {
	budget *budget
	member *Member
	wake   func()

	// Of the caller alone. own, most and low are copies of what is guarded, as they were when the caller last had the
	// lock: others only add to a loan, and take a floor from nobody who holds something.
	held    size
	own     size // what it takes without lend
	most    size // what it takes with lend
	low     size // at this and below, a part of the loan goes back
	fast    bool // it holds something, and is in no line, so that nobody reckons with what it holds
	asked   bool // its state was not quiet
	refused bool // since the last Return
	// returned is what it has given back since it was last without a floor, or must not borrow.
	returned size

	// Guarded by budget.mu.
	state roomState
	lane  models.Class // where it waits
	want  size         // what it waits for: one action
	need  size         // and that with what it held when it was asked last
	floor size         // 0 unless it is active
	loan  size         // what it was granted beside its floor
	// shared is what of the loan was lent in other classes than Expedited.
	shared size
	active bool // it has a floor
	fresh  bool // and has not used it yet
	holds  bool // held is not 0
	busy   bool // counted by budget.busy
	left   bool

	line       *roomLine  // that it waits in, or nil
	prev, next *Room      // there
	idle       bool       // it is active, and in budget.idle
	since      time.Time  // it is
	around     neighbours // in budget.idle, or in budget.holding if it is busy

	pressed *atomic.Bool // see press.go; written with budget.mu held
}

type roomState uint8

const (
	roomQuiet roomState = iota
	roomWaiting
	roomGranted // while it waited, and not taken yet
)

// Room returns the room of the member. wake is called, on some goroutine, when there may be room for what was
// refused: then Take again, or Quit. It must not block, and may be called in the middle of a Take, a Return or a Quit
// of any member, this one included. A member has one Room at a time: what the one before it has left is given back as
// it returns, as if the member had left.
//
// pressed, which may be nil, is true while others, which have nothing, wait until a member has nothing: send what is
// there without waiting for more. wake is called when it becomes true.
//
// Shutdown changes nothing about room: what senders have accepted they send, or give up, and then return. After Leave
// nothing is granted any more but what must be.
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

// Take takes room for one action of so many bytes, if there is some, and must not wait behind others for it. If not,
// wake is called when some is kept for it, until Take is called again, or Quit; or when the member itself has
// returned some.
//
// must has it take the room in any case, also if there is none.
//
// lend says that the member may borrow. Without it, it has its floor, and waits for what it has itself. It is for who
// does not give back soon: who is held by a breaker, or paused, or does not flush by itself.
//
// The room that a member waits for is for any of its actions, in the most urgent class that it has asked in since.
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

// take is Take where the pool has to be asked.
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

// Return gives back the room of so many actions that had so many bytes together, or of bytes alone. What is not
// needed any more of what the member has borrowed goes to others, in whole batches, and at once.
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

// giveBack is Return where the pool gets something.
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

// Quit says that nobody waits for room of this member any more, and gives back what it has borrowed and does not use,
// in whole batches. The rest of one is for what comes next: who adds a few actions at a time would otherwise wait for
// its turn for each few. It goes back with what is returned, or when the member must not borrow. It costs next to
// nothing if nothing is asked for.
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

// Floor returns what the member has for certain while it is active. What has no bound is as large as it can be.
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

// leave has a room end. It may be nil, and its caller may be in the middle of something: it gives back what it holds
// later.
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

// lowest is where a batch of a loan is not needed any more, or less than nothing.
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

// within reports whether it is not more than o.
func (s size) within(o size) bool { return s.actions <= o.actions && s.bytes <= o.bytes }

// fits is within for what is lacking: of what nothing is lacking there may be less than none.
func (s size) fits(free size) bool {
	return (s.actions == 0 || s.actions <= free.actions) && (s.bytes == 0 || s.bytes <= free.bytes)
}

// up rounds up to whole batches.
func (s size) up(batch size) size {
	return size{(s.actions + batch.actions - 1) / batch.actions * batch.actions, (s.bytes + batch.bytes - 1) / batch.bytes * batch.bytes}
}
