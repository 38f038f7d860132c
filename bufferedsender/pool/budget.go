package pool

import (
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Parts of the budget.
const (
	// neverLent is the part, one of so many, that is for floors alone, also if there are few members: more may come.
	neverLent = 4
	// alwaysLent is the part, one of so many, that is lent also if floors for all members would need it: most of many
	// have nothing.
	alwaysLent = 4
	// onTrust is the part of what can be lent that who has returned nothing yet may borrow, one of so many.
	onTrust = 8
	// expeditedRoom is the part of what can be lent that is lent to nobody but Expedited.
	expeditedRoom = 8
	// idleFloor is how long a member keeps its floor, while it has nothing, from those who want to borrow.
	idleFloor = time.Minute
	// boundless is the budget where there is none.
	boundless = 1 << 61
)

// budget is the room of all members together.
type budget struct {
	mu     sync.Mutex // guards everything below, and what Room says; after Pool.mu if both are held. No callback runs under it.
	limit  size
	floor  size // of each active room, and the batch that is lent
	floors size // of all active rooms, idle ones too
	loans  size // what rooms were granted beside their floors
	shared size // of these, those of other classes than Expedited

	members    int      // rooms that have not left
	active     int      // those with a floor
	busy       int      // rooms that hold something, or for which something is kept
	waiting    int      // rooms
	idle       roomList // active rooms that are not busy, the one that has been so longest first
	holding    roomList // those that are busy
	pressing   bool     // some of these are pressed, see press.go
	idleFloors size     // theirs

	entering roomLines // those who want a floor
	large    roomLine  // those who want more than a floor, and have nothing
	lending  roomLines // those who want a loan
}

// set sets what is in the settings. Pool.mu must be held, and the answer be told when it is not any more.
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
			if b.larger(r.want) { // now it waits for what it has itself
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

// larger reports whether something is more than a floor, of what is bounded.
func (b *budget) larger(s size) bool { return !b.bounded(s).within(b.floor) }

// bounded returns s without what there is no bound for.
func (b *budget) bounded(s size) size {
	if b.limit.actions == boundless {
		s.actions = 0
	}
	if b.limit.bytes == boundless {
		s.bytes = 0
	}
	return s
}

// ceiling is what a room may hold that must not borrow.
func (b *budget) ceiling(r *Room) size {
	return r.floor.plus(r.loan.minus(b.bounded(r.loan)))
}

// take is Take. r was asked for want; mu must be held.
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
	case !b.trusts(r, need): // it waits for what it has itself
		b.unqueue(r)
	case b.larger(want) || b.bounded(need.minus(r.floor.plus(r.loan)).max(size{})) == size{}:
		// A large action waits until the member has nothing else; there are no lines for what is not bounded.
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

// trusts reports whether r may borrow once more: within an eighth of what can be lent now, or what it has shown that
// it returns. So those that never return anything, because their indexes have been sick from the beginning, leave
// most of it to the others, however many they are; and one that is well may have twice as much after each batch.
func (b *budget) trusts(r *Room, need size) bool {
	most := b.lendable().minus(b.loans).part(onTrust).max(r.returned)
	lack := b.bounded(need.minus(r.floor.plus(r.loan)).max(size{}))
	return (lack.actions == 0 || r.loan.actions+b.floor.actions <= most.actions) && (lack.bytes == 0 || r.loan.bytes+b.floor.bytes <= most.bytes)
}

// urgent is the more urgent of the lane and that in which r waits.
func (b *budget) urgent(r *Room, lane models.Class) models.Class {
	if r.state == roomWaiting {
		return min(r.lane, lane)
	}
	return lane
}

// ask has r wait in a line. If it does already, it keeps its place.
func (b *budget) ask(r *Room, lane models.Class, line *roomLine, want size) {
	lane = b.urgent(r, lane)
	if r.line != line {
		b.unqueue(r)
		r.lane = lane
		b.queue(r, line)
	}
	r.lane, r.want, r.need = lane, want, r.held.plus(want)
}

// queue puts r into a line.
func (b *budget) queue(r *Room, line *roomLine) {
	r.state = roomWaiting
	b.waiting++
	line.push(r)
	b.count(line, 1)
}

// unqueue takes r out of its line, if it waits.
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

// lends reports whether it is a line for loans.
func (b *budget) lends(line *roomLine) bool {
	for i := range b.lending.lines {
		if line == &b.lending.lines[i] {
			return true
		}
	}
	return false
}

// force grants r what it must have.
func (b *budget) force(r *Room, need size) {
	if r.state == roomGranted {
		need = need.plus(r.want) // which stays kept
	}
	target := need.max(b.floor).max(r.floor.plus(r.loan))
	if !r.active && !r.left && b.entering.count == 0 && b.large.first == nil && target.minus(r.loan).fits(b.free()) {
		b.activate(r, target)
		return
	}
	lack := need.minus(r.floor.plus(r.loan)).max(size{})
	r.loan, b.loans = r.loan.plus(lack), b.loans.plus(lack)
}

// hold has r hold so much.
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

// free is what nobody was granted. It is negative after a budget was made smaller.
func (b *budget) free() size { return b.limit.minus(b.floors).minus(b.loans) }

// judgeFloor reports whether there is a floor for r, or as much as it wants.
func (b *budget) judgeFloor(r *Room) verdict {
	lack := r.need.max(b.floor).minus(r.floor.plus(r.loan)).max(size{})
	most := b.free().plus(b.idleFloors)
	if r.idle {
		most = most.minus(r.floor)
	}
	switch {
	case b.busy == 0 || lack.fits(most): // for an action that is more than everything, when there is nothing else
		return fits
	case lack.fits(most.plus(b.loans)):
		return blocked
	default:
		return never
	}
}

// enter gives r a floor, and more if it wants more, for which others may lose theirs who have nothing.
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

// activate grants r so much, and a floor within that. It must not be among the idle.
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

// lendable is how much may be lent altogether: not the part that is never lent, not the floors and one more, and not
// a floor for each member, unless there are very many.
func (b *budget) lendable() size {
	all := b.floor.times(int64(b.members)).min(b.limit.minus(b.limit.part(alwaysLent)))
	return b.limit.minus(b.limit.part(neverLent).max(b.floors.plus(b.floor)).max(all))
}

// lack is what r lacks beside what it was granted.
func (b *budget) lack(r *Room) size { return r.need.minus(r.floor.plus(r.loan)).max(size{}) }

// toLend is what can be lent now: to everybody, and to a lane.
func (b *budget) toLend(lane models.Class) (all, mine size) {
	lendable := b.lendable()
	all = lendable.minus(b.loans)
	if lane == models.ClassExpedited {
		return all, all
	}
	return all, all.min(lendable.minus(lendable.part(expeditedRoom)).minus(b.shared))
}

// judgeLoan reports whether there is a loan for r.
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

// lend lends r a batch, or what is left of it, of what it lacks.
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

// trim takes from r what it does not need of its loan, in whole batches, or all. It reports whether that was anything.
// Only the caller of r may.
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

// relend changes the loan of r. What Expedited was lent goes back first, since that does not let others take more.
func (b *budget) relend(r *Room, loan size) {
	b.loans = b.loans.minus(r.loan).plus(loan)
	shared := r.shared.min(loan)
	b.shared = b.shared.minus(r.shared).plus(shared)
	r.loan, r.shared = loan, shared
}

// place counts r among those that are busy or idle, if it is.
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

// unidle takes r out of the idle, if it is there.
func (b *budget) unidle(r *Room) {
	if r.idle {
		r.idle = false
		b.idle.remove(r)
		b.idleFloors = b.idleFloors.minus(r.floor)
	}
}
