package queue

import (
	"context"
	"time"
)

// Admin is for tools and tests. Its methods may cost time in proportion to what is in the queue.
type Admin interface {
	// Inspect returns entries in the order of their places, parked ones by the time at which they were parked.
	Inspect(ctx context.Context, what Inspection) ([]Entry, error)
	// Park sets keys aside that are not leased, and returns how many.
	Park(ctx context.Context, reason string, keys ...string) (int, error)
	// Unpark makes parked keys wait again, at their old places, without their deaths and tries, and returns how many.
	Unpark(ctx context.Context, keys ...string) (int, error)
	// Drop removes the parked records of keys for good, and returns how many keys were parked. What was appended behind
	// them waits from then on.
	Drop(ctx context.Context, keys ...string) (int, error)
	// Pause makes Reserve return nothing, in all processes, until Resume, also after a restart.
	Pause(ctx context.Context, reason string) error
	Resume(ctx context.Context) error
	// Destroy removes the queue with everything in it, and closes it.
	Destroy(ctx context.Context) error
}

// State is where the records of an entry are.
type State uint8

// The states of an entry, one or more.
const (
	Waiting State = 1 << iota
	Leased
	Parked
)

// Inspection selects entries.
type Inspection struct {
	// States selects by state, 0 means all.
	States State
	// Keys selects by key; nil means all.
	Keys []string
	// Limit is how many entries at the most; 0 means 100.
	Limit int
	// Bodies wants Record.Body filled in.
	Bodies bool
}

// Entry is a key that has something in the queue.
type Entry struct {
	Key   string
	State State
	// Since is the time of its place; of a parked key the time that it had.
	Since time.Time
	Class uint8
	// Leased, Parked and Waiting are its records by state, oldest first.
	Leased, Parked, Waiting []Record
	// Holder is who has leased it, until Until if nobody extends that.
	Holder string
	Until  time.Time
	// Due is when it may be reserved, zero if it may be now.
	Due time.Time
	// Reason is why it is parked, since ParkedAt.
	Reason   string
	ParkedAt time.Time
	// Replaced is the newest parked record that gave way to a newer one, until the key is settled; nil if none.
	Replaced       *Record
	ReplacedReason string
	// Expired, Deaths and Tries count leases that ran out, those of them for which the key is suspected, and releases
	// with End.Again.
	Expired, Deaths, Tries int
}

// Membership answers which keys have something in the queue.
type Membership interface {
	// Contains says of each key whether anything of it waits, is leased or is parked.
	Contains(ctx context.Context, keys ...string) ([]bool, error)
}

// Faulty is implemented by a Queue that can say what is wrong with it.
type Faulty interface {
	// Fault returns what is wrong with the queue and needs an operator, nil if nothing does: ErrFailed is in its chain
	// if the queue takes no more calls, ErrFull once the parked keys have used up their share of a bound, or while a disk
	// or a server has no room, ErrLost if what was acknowledged is gone. It does not block, so it may be as old as the
	// last call.
	Fault() error
}

// Survivor is implemented by a Queue whose durability depends on settings that it does not make.
type Survivor interface {
	// Survives says in words what of the queue survives what.
	Survives() string
}

// Exchanger settles and reserves in one go.
type Exchanger interface {
	// Exchange is Settle, then Reserve, in one round trip or write.
	Exchange(ctx context.Context, want Want, ends ...End) (leases, stale, failed []Lease, err error)
}
