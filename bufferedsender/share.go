package bufferedsender

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// classesOfPool is the number of service classes.
const classesOfPool = int(models.ClassBestEffort) + 1

// classFor returns the class for an adding call with this context. An unknown class is served as Expedited.
func (o *settings) classFor(ctx context.Context) uint8 {
	c, ok := models.ClassOf(ctx)
	if !ok {
		c = o.Class
	}
	if int(c) < classesOfPool {
		return uint8(c)
	}
	if o.Share != nil {
		o.Share.FellBack()
	}
	return uint8(models.ClassExpedited)
}

// share adapts a pool to the publisher. Except for the slots that it hands out, it belongs to the publisher goroutine.
type share struct {
	member *pool.Member
	wake   func()
	// A handler runs between Free and Take and must not occupy a slot: Away returns the slot from Free, and it does not
	// count as a turn.
	handlers bool

	seats [classesOfPool]seat
	err   error // why there are no more slots

	// Shared by all goroutines. A slot granted while user code runs is declined: either the wake-up detects that the loop
	// is away, or Away detects the grant.
	away    atomic.Bool
	granted atomic.Uint32 // bit set of classes whose seats may have been granted a slot that is not taken
	room    *pool.Room
	pressed atomic.Bool // other members wait for this one's room, see pool.Member.Room
}

// seat is the place in line of the requests of one class.
type seat struct {
	*pool.Seat // nil until first used
	slot       pool.Slot
	has        bool // slot is valid
	asked      bool // it waits or has been granted a slot
}

// giveBack returns the slot, if there is one.
func (at *seat) giveBack() {
	if at.has {
		at.has = false
		at.slot.GiveBack()
	}
}

// newShare returns nil, not a nil *share, without a member.
func newShare(member *pool.Member, handlers bool) *share {
	if member == nil {
		return nil
	}
	return &share{member: member, handlers: handlers}
}

// forPublisher returns a nil interface, not a nil *share, without a share.
func (s *share) forPublisher() publisher.Slots {
	if s == nil {
		return nil
	}
	return s
}

// start begins sharing; wake is called when the publisher should look again. It does not block.
func (s *share) start(wake func()) {
	s.wake = wake
	s.room = s.member.Room(wake, &s.pressed)
}

// sharedRoom adapts the room of a pool to the publisher.
type sharedRoom struct{ *share }

// roomForPublisher returns nil without a share.
func (s *share) roomForPublisher() publisher.Room {
	if s == nil {
		return nil
	}
	return sharedRoom{s}
}

// Take implements publisher.Room.
func (r sharedRoom) Take(w publisher.Want) bool {
	return r.room.Take(models.Class(w.Class), w.Bytes, w.Lend, w.Must)
}

// Return implements publisher.Room.
func (r sharedRoom) Return(items int, bytes int64) { r.room.Return(items, bytes) }

// Quit implements publisher.Room.
func (r sharedRoom) Quit() { r.room.Quit() }

// Pressed implements publisher.Room.
func (r sharedRoom) Pressed() bool { return r.pressed.Load() }

// Floor implements publisher.Room.
func (r sharedRoom) Floor() (items int, bytes int64) { return r.room.Floor() }

// Free implements publisher.Slots.
func (s *share) Free(class uint8, bytes int) (free bool, trial int) {
	at := &s.seats[class]
	if !s.ask(at, class, bytes) {
		return false, 0
	}
	_, trial = at.slot.Trial()
	return true, trial
}

// Doubted implements publisher.Slots.
func (s *share) Doubted() bool { return s.member.Doubted() }

// ask asks for a slot, unless the seat has one.
func (s *share) ask(at *seat, class uint8, bytes int) bool {
	if at.has {
		return true
	}
	if at.Seat == nil {
		at.Seat = s.member.Seat(func() { s.told(class) })
	}
	var err error
	s.granted.And(^(uint32(1) << class))
	at.slot, at.has, err = at.Ask(models.Class(class), int64(bytes))
	at.asked = !at.has && err == nil
	s.err = err
	return at.has
}

// Handles the wake-up of a seat.
func (s *share) told(class uint8) {
	s.granted.Or(1 << class)
	if s.away.Load() {
		s.decline()
	}
	s.wake()
}

// Away implements publisher.Slots.
func (s *share) Away(away, sent bool) {
	if sent && !s.handlers {
		return // no handler runs, and the slot is about to be used
	}
	s.away.Store(away)
	if !away {
		return
	}
	for i := range s.seats {
		s.seats[i].giveBack()
	}
	if s.granted.Load() != 0 {
		s.decline()
		s.wake()
	}
}

// decline gives up slots that were granted but not taken. The next round asks for them again.
func (s *share) decline() {
	for granted := s.granted.Swap(0); granted != 0; granted &= granted - 1 {
		s.seats[bits.TrailingZeros32(granted)].Decline()
	}
}

// Take implements publisher.Slots.
func (s *share) Take(class uint8, bytes int) (publisher.Slot, bool) {
	at := &s.seats[class]
	if !s.ask(at, class, bytes) {
		return nil, false
	}
	at.has = false
	taken := &sharedSlot{given: at.slot}
	taken.within, taken.most = at.slot.Trial()
	return taken, true
}

// Quit implements publisher.Slots.
func (s *share) Quit(class uint8) {
	at := &s.seats[class]
	at.giveBack()
	if at.asked {
		at.asked = false
		at.Cancel()
	}
}

// Err implements publisher.Slots.
func (s *share) Err() error { return s.err }

// sharedSlot is a slot that is returned once: by the request, or by a Close that leaves the request behind.
type sharedSlot struct {
	within time.Duration // see Trial
	most   int

	mu    sync.Mutex
	given pool.Slot // guarded by mu; its methods have no effect after it was returned
}

// Trial implements publisher.Slot.
func (s *sharedSlot) Trial() (within time.Duration, items int) { return s.within, s.most }

// Elsewhere implements publisher.Slot.
func (s *sharedSlot) Elsewhere(waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given.Elsewhere(waits)
}

// Release implements publisher.Slot.
func (s *sharedSlot) Release(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given.Release(answered)
}

// GiveBack implements publisher.Slot.
func (s *sharedSlot) GiveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given.GiveBack()
}
