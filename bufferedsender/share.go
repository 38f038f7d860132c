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

// classesOfPool is how many classes of service there are.
const classesOfPool = int(models.ClassBestEffort) + 1

// classFor returns the class of what an adding call with this context adds. One that
// there is none of is served as Expedited.
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

// share is a pool as the publisher sees it. All but the slots that it gives belongs to the
// publisher goroutine.
type share struct {
	member *pool.Member
	wake   func()
	// A handler runs between Free and Take, and must not hold a slot: Away gives back what Free
	// has, and it counts as no turn.
	handlers bool

	seats [classesOfPool]seat
	err   error // why there will be no more slots

	// Of any goroutine. What is granted while user code runs is declined: either told sees
	// that the loop is away, or Away sees that something was granted.
	away    atomic.Bool
	granted atomic.Uint32 // classes, as bits, of seats that may have been granted a slot that is not taken
	room    *pool.Room
	pressed atomic.Bool // while others wait for its room; see pool.Member.Room
}

// seat is where requests of one class wait.
type seat struct {
	*pool.Seat // nil until it is used
	slot       pool.Slot
	has        bool // slot is one
	asked      bool // it waits, or has been granted one
}

// giveBack gives back the slot in hand, if there is one.
func (at *seat) giveBack() {
	if at.has {
		at.has = false
		at.slot.GiveBack()
	}
}

// newShare returns nil, not a nil *share, for no member.
func newShare(member *pool.Member, handlers bool) *share {
	if member == nil {
		return nil
	}
	return &share{member: member, handlers: handlers}
}

// forPublisher returns nil, not a nil *share, for none.
func (s *share) forPublisher() publisher.Slots {
	if s == nil {
		return nil
	}
	return s
}

// start begins to share; wake has the publisher look again. It does not block.
func (s *share) start(wake func()) {
	s.wake = wake
	s.room = s.member.Room(wake, &s.pressed)
}

// sharedRoom is the room of a pool as the publisher sees it.
type sharedRoom struct{ *share }

// roomForPublisher returns nil for no share.
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

// ask asks for a slot, unless there is one in hand.
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

// told is the wake-up of a seat.
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
		return // nobody's code runs, and the slot in hand is about to be used
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

// decline gives up what was granted and not taken. It is asked for again in the next round.
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
	trial, _ := at.slot.Trial()
	return &sharedSlot{given: at.slot, trial: trial}, true
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

// sharedSlot is a slot that is given back once, by whoever comes first: the request, or a
// Close that leaves it behind.
type sharedSlot struct {
	trial time.Duration

	mu    sync.Mutex
	given pool.Slot // guarded by mu; does nothing when it was given back
}

// Trial implements publisher.Slot.
func (s *sharedSlot) Trial() time.Duration { return s.trial }

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
