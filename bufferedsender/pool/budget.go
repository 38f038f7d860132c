package pool

import (
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Fractions of the budget: 4 means a fourth.
const (
	// neverLent is the fraction reserved for floors, even with few members, because more may join.
	neverLent = 4
	// alwaysLent is the fraction that is lent even if floors for all members would need it: of many members most are idle.
	alwaysLent = 4
	// onTrust is the fraction of the lendable room that a member may borrow before it has returned anything.
	onTrust = 8
	// expeditedRoom is the fraction of the lendable room that is lent only to Expedited.
	expeditedRoom = 8
	// idleFloor is how long an idle member keeps its floor while others wait for a loan.
	idleFloor = time.Minute
	// boundless is the limit of an unbounded dimension.
	boundless = 1 << 61
)

// budget is the room of all members together.
type budget struct {
	mu     sync.Mutex // guards all fields, and the guarded ones of Room; if both are needed, lock Pool.mu first. No callback runs under it.
	limit  size
	floor  size // of each active room, also the size of a loan
	floors size // of all active rooms, including idle ones
	loans  size // granted to rooms in addition to their floors
	shared size // loans to classes other than Expedited

	members    int      // rooms that have not left
	active     int      // rooms with a floor
	busy       int      // rooms that hold something, or were granted something
	waiting    int      // rooms in a line
	idle       roomList // active rooms that are not busy, longest idle first
	holding    roomList // busy rooms
	pressing   bool     // some busy rooms are pressed, see press.go
	idleFloors size     // floors of the idle rooms

	entering roomLines // rooms that wait for a floor
	large    roomLine  // empty rooms that wait for more than a floor
	lending  roomLines // rooms that wait for a loan
}

// set applies new settings. Pool.mu must be held; wake the result after unlocking.
func (b *budget) set(s Options) told {
	b.mu.Lock()
	defer b.mu.Unlock()
	bound := func(n int64) int64 {
		if n == 0 {
			return boundless
		}
		return min(n, boundless)
	}
	b.limit = size{bound(int64(s.BufferedActions)), bound(s.BufferedBytes)}
	b.floor = size{int64(s.FloorActions), s.FloorBytes}.min(b.limit)
	var news told
	for i := range classes {
		for r := b.entering.lines[i].first; r != nil; {
			next := r.next
			if b.larger(r.need) {
				b.unqueue(r)
				b.queue(r, &b.large)
			}
			r = next
		}
		for r := b.lending.lines[i].first; r != nil; {
			next := r.next
			if b.larger(r.want) { // now it waits until its own room is free
				b.unqueue(r)
				news.add(r)
			}
			r = next
		}
	}
	news.append(b.dispatch(nil))
	if b.presses() {
		news.append(b.pressAll())
	}
	return news
}

// joins counts a new room.
func (b *budget) joins(r *Room) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !r.left {
		b.members++
	}
}

// larger reports whether s exceeds a floor in a bounded dimension.
func (b *budget) larger(s size) bool { return !b.bounded(s).within(b.floor) }

// bounded returns s with zeros for unbounded dimensions.
func (b *budget) bounded(s size) size {
	if b.limit.actions == boundless {
		s.actions = 0
	}
	if b.limit.bytes == boundless {
		s.bytes = 0
	}
	return s
}

// ceiling returns how much a room may hold while it may not borrow.
func (b *budget) ceiling(r *Room) size {
	return r.floor.plus(r.loan.minus(b.bounded(r.loan)))
}

// take implements Room.Take for want. mu must be held.
func (b *budget) take(r *Room, lane models.Class, want size, lend, must bool) (ok bool, news told) {
	need, waited := r.held.plus(want), r.line
	if must {
		b.force(r, need)
		b.hold(r, need)
		if news = b.dispatch(nil); b.presses() {
			b.press(r, &news)
		}
		return true, news
	}
	if r.state == roomGranted {
		r.state = roomQuiet
	}
	r.fresh = false
	switch limited := !lend && !b.bounded(need).within(b.ceiling(r)); {
	case need.within(r.floor.plus(r.loan)) && (!limited || !r.holds):
		ok = true
	case r.left:
	case !r.holds || !r.active && !b.larger(need):
		line := &b.large
		if !b.larger(need) {
			line = &b.entering.lines[b.urgent(r, lane)]
		}
		b.ask(r, lane, line, want)
	case limited:
		b.unqueue(r)
		b.trim(r, true)
		r.returned = size{}
	case !b.trusts(r, need): // it waits until its own room is free
		b.unqueue(r)
	case b.larger(want) || b.bounded(need.minus(r.floor.plus(r.loan)).max(size{})) == size{}:
		// A large action waits until the member holds nothing else. Unbounded dimensions have no lines.
		b.unqueue(r)
		r.want, r.need, r.lane = want, need, lane
		if ok = b.lending.count == 0 && !b.held() || !b.larger(want); ok {
			if ok = b.loan(r) == fits; ok {
				b.lend(r)
			}
		}
	default:
		b.ask(r, lane, &b.lending.lines[b.urgent(r, lane)], want)
	}
	if ok {
		b.hold(r, need)
	}
	b.place(r)
	news = b.dispatch(r)
	if r.state == roomGranted {
		r.state, r.fresh, ok = roomQuiet, false, true
		b.hold(r, need)
	}
	if b.trim(r, false) {
		news.append(b.dispatch(nil))
	}
	switch {
	case ok && b.presses():
		b.press(r, &news)
	case r.line != waited && r.state == roomWaiting && !b.lends(r.line):
		news.append(b.pressAll())
	}
	return ok, news
}

// trusts reports whether r may borrow another batch: within an eighth of what can be lent now, or within what it has
// already returned. So members that never return anything, because their indexes failed from the start, leave most of
// the room to the others, however many they are. A working member may double its loan with each batch.
func (b *budget) trusts(r *Room, need size) bool {
	most := b.lendable().minus(b.loans).part(onTrust).max(r.returned)
	lack := b.bounded(need.minus(r.floor.plus(r.loan)).max(size{}))
	return (lack.actions == 0 || r.loan.actions+b.floor.actions <= most.actions) && (lack.bytes == 0 || r.loan.bytes+b.floor.bytes <= most.bytes)
}

// urgent returns the more urgent class of lane and the line in which r waits.
func (b *budget) urgent(r *Room, lane models.Class) models.Class {
	if r.state == roomWaiting {
		return min(r.lane, lane)
	}
	return lane
}

// ask queues r in a line. If it is already there, it keeps its place.
func (b *budget) ask(r *Room, lane models.Class, line *roomLine, want size) {
	lane = b.urgent(r, lane)
	if r.line != line {
		b.unqueue(r)
		r.lane = lane
		b.queue(r, line)
	}
	r.lane, r.want, r.need = lane, want, r.held.plus(want)
}

// queue appends r to a line.
func (b *budget) queue(r *Room, line *roomLine) {
	r.state = roomWaiting
	b.waiting++
	line.push(r)
	b.count(line, 1)
}

// unqueue removes r from its line, if it waits.
func (b *budget) unqueue(r *Room) {
	if r.line == nil {
		return
	}
	b.count(r.line, -1)
	r.line.remove(r)
	b.waiting--
	r.state = roomQuiet
	b.relieve()
}

func (b *budget) count(line *roomLine, n int) {
	switch {
	case line == &b.large:
	case b.lends(line):
		b.lending.count += n
	default:
		b.entering.count += n
	}
}

// lends reports whether line is one for loans.
func (b *budget) lends(line *roomLine) bool {
	for i := range b.lending.lines {
		if line == &b.lending.lines[i] {
			return true
		}
	}
	return false
}

// force grants r the required room, even beyond the limit.
func (b *budget) force(r *Room, need size) {
	if r.state == roomGranted {
		need = need.plus(r.want) // that remains granted
	}
	target := need.max(b.floor).max(r.floor.plus(r.loan))
	if !r.active && !r.left && b.entering.count == 0 && b.large.first == nil && target.minus(r.loan).fits(b.free()) {
		b.activate(r, target)
		return
	}
	lack := need.minus(r.floor.plus(r.loan)).max(size{})
	r.loan, b.loans = r.loan.plus(lack), b.loans.plus(lack)
}

// hold sets the room that r holds.
func (b *budget) hold(r *Room, held size) {
	if r.idle && r.floor != b.floor && held.within(b.floor) && b.entering.count == 0 && b.large.first == nil && b.floor.minus(r.floor).max(size{}).fits(b.free()) {
		b.unidle(r)
		b.activate(r, b.floor)
	}
	if r.held, r.holds = held, true; r.state == roomWaiting {
		r.need = held.plus(r.want)
	}
	b.place(r)
}

// free returns the room that is not granted. It is negative after the budget was reduced.
func (b *budget) free() size { return b.limit.minus(b.floors).minus(b.loans) }

// judgeFloor reports whether r can get a floor, or as much more as it wants.
func (b *budget) judgeFloor(r *Room) verdict {
	lack := r.need.max(b.floor).minus(r.floor.plus(r.loan)).max(size{})
	most := b.free().plus(b.idleFloors)
	if r.idle {
		most = most.minus(r.floor)
	}
	switch {
	case b.busy == 0 || lack.fits(most): // also an action larger than the budget, if no room is busy
		return fits
	case lack.fits(most.plus(b.loans)):
		return blocked
	default:
		return never
	}
}

// enter gives r a floor, or more if it needs more. Idle rooms lose their floors for it.
func (b *budget) enter(r *Room) {
	target := r.need.max(b.floor).max(r.floor.plus(r.loan))
	lack := target.minus(r.floor.plus(r.loan))
	b.unidle(r)
	for !lack.fits(b.free()) && b.idle.first != nil {
		b.deactivate(b.idle.first)
	}
	r.fresh = !r.active
	b.activate(r, target)
}

// activate grants r target, including a floor. r must not be in the idle list.
func (b *budget) activate(r *Room, target size) {
	if !r.active {
		r.active = true
		b.active++
	}
	b.floors = b.floors.minus(r.floor).plus(b.floor)
	r.floor = b.floor
	b.relend(r, target.minus(b.floor))
}

// deactivate takes the floor from r.
func (b *budget) deactivate(r *Room) {
	b.unidle(r)
	b.floors = b.floors.minus(r.floor)
	b.active--
	r.floor, r.active, r.fresh, r.returned = size{}, false, false, size{}
}

// lendable returns how much may be lent in total. It leaves out the reserved fraction, all floors and one more, and a
// floor for each member unless there are very many.
func (b *budget) lendable() size {
	all := b.floor.times(int64(b.members)).min(b.limit.minus(b.limit.part(alwaysLent)))
	return b.limit.minus(b.limit.part(neverLent).max(b.floors.plus(b.floor)).max(all))
}

// lack returns how much of its need r has not been granted.
func (b *budget) lack(r *Room) size { return r.need.minus(r.floor.plus(r.loan)).max(size{}) }

// toLend returns what can be lent now: to any class, and to this lane.
func (b *budget) toLend(lane models.Class) (all, mine size) {
	lendable := b.lendable()
	all = lendable.minus(b.loans)
	if lane == models.ClassExpedited {
		return all, all
	}
	return all, all.min(lendable.minus(lendable.part(expeditedRoom)).minus(b.shared))
}

// judgeLoan reports whether r can get a loan. For it, rooms idle for long lose their floors.
func (b *budget) judgeLoan(r *Room) verdict {
	v := b.loan(r)
	if v != fits && b.idle.first != nil {
		for now := time.Now(); v != fits && b.idle.first != nil && now.Sub(b.idle.first.since) >= idleFloor; v = b.loan(r) {
			b.deactivate(b.idle.first)
		}
	}
	return v
}

func (b *budget) loan(r *Room) verdict {
	all, mine := b.toLend(r.lane)
	switch lack := b.lack(r); {
	case lack.fits(mine):
		return fits
	case lack.fits(all):
		return kept
	default:
		return blocked
	}
}

// lend grants r its missing room, in whole batches or as much of one as is left.
func (b *budget) lend(r *Room) {
	_, mine := b.toLend(r.lane)
	lack := b.lack(r)
	batch := lack.max(b.floor.min(mine))
	if lack.actions == 0 {
		batch.actions = 0
	}
	if lack.bytes == 0 {
		batch.bytes = 0
	}
	r.loan, b.loans = r.loan.plus(batch), b.loans.plus(batch)
	if r.lane != models.ClassExpedited {
		r.shared, b.shared = r.shared.plus(batch), b.shared.plus(batch)
	}
}

// trim takes back the part of r's loan that it does not need, in whole batches, or exactly if all is true. It reports
// whether that was anything. Only the caller of r may call it.
func (b *budget) trim(r *Room, all bool) bool {
	need := r.held
	if r.state == roomGranted {
		need = need.plus(r.want)
	}
	need = need.minus(r.floor).max(size{})
	if !all {
		need = need.up(b.floor)
	}
	before := r.loan
	b.relend(r, r.loan.min(need))
	return r.loan != before
}

// relend sets the loan of r. A reduction takes the part lent to Expedited first, because that lets no other class
// borrow more.
func (b *budget) relend(r *Room, loan size) {
	b.loans = b.loans.minus(r.loan).plus(loan)
	shared := r.shared.min(loan)
	b.shared = b.shared.minus(r.shared).plus(shared)
	r.loan, r.shared = loan, shared
}

// place updates whether r is busy or idle.
func (b *budget) place(r *Room) {
	busy := r.holds || r.state == roomGranted
	if busy || !r.active {
		b.unidle(r)
	}
	if busy != r.busy {
		b.busyNow(r, busy)
	}
	switch {
	case busy || !r.active:
	case r.left:
		b.deactivate(r)
	case !r.idle:
		r.idle, r.since = true, time.Now()
		b.idle.push(r)
		b.idleFloors = b.idleFloors.plus(r.floor)
	}
	if r.left && !busy {
		b.relend(r, size{})
	}
}

// unidle removes r from the idle list, if it is there.
func (b *budget) unidle(r *Room) {
	if r.idle {
		r.idle = false
		b.idle.remove(r)
		b.idleFloors = b.idleFloors.minus(r.floor)
	}
}
