package queue

import (
	"context"
	"time"
)

// Admin has the methods for tools and tests. They may take time in proportion to the content of the queue.
type Admin interface {
	// Inspect returns entries in the order of their places; parked ones are ordered by the time of parking.
	Inspect(ctx context.Context, what Inspection) ([]Entry, error)
	// Park parks those of the keys that have records and are not leased, and returns how many it parked.
	Park(ctx context.Context, reason string, keys ...string) (int, error)
	// Unpark makes parked keys wait again, at their old places and with deaths and tries reset, and returns how many it
	// unparked.
	Unpark(ctx context.Context, keys ...string) (int, error)
	// Drop removes the parked records of keys for good, and returns how many keys were parked. Records appended behind
	// them wait from then on.
	Drop(ctx context.Context, keys ...string) (int, error)
	// Pause makes Reserve return nothing, in all processes, until Resume. It survives restarts.
	Pause(ctx context.Context, reason string) error
	Resume(ctx context.Context) error
	// Destroy removes the queue with all its content, and closes it.
	Destroy(ctx context.Context) error
}

// State is the state of an entry: a set of Waiting, Leased and Parked.
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
	// Limit is the maximum number of entries; 100 if it is not positive.
	Limit int
	// Bodies requests that Record.Body is filled in.
	Bodies bool
}

// Entry describes a key with records in the queue.
type Entry struct {
	Key   string
	State State
	// Since is the time of its place; for a parked key, the time of its former place.
	Since time.Time
	Class uint8
	// Leased, Parked and Waiting are the records in each state, oldest first.
	Leased, Parked, Waiting []Record
	// Holder is the name of the process that leases the key, and Until the end of the lease unless extended.
	Holder string
	Until  time.Time
	// Due is the time from which the key may be reserved, zero if now.
	Due time.Time
	// Reason states why the key is parked, and ParkedAt since when.
	Reason   string
	ParkedAt time.Time
	// Replaced is the newest parked record that a newer record replaced, until the key is settled; nil if none.
	Replaced       *Record
	ReplacedReason string
	// Expired counts leases that ran out, Deaths those of them that make the key more suspect, Tries releases with
	// End.Again.
	Expired, Deaths, Tries int
}

// Membership reports which keys have records in the queue.
type Membership interface {
	// Contains reports for each key whether a record of it waits, is leased or is parked.
	Contains(ctx context.Context, keys ...string) ([]bool, error)
}

// Faulty is implemented by a Queue that can report problems that need an operator.
type Faulty interface {
	// Fault returns the current problem that needs an operator, nil if there is none. Its chain has ErrFailed if the
	// queue accepts no more calls, ErrFull if parked keys have used up their share of a bound or a disk or server has
	// no room, ErrLost if acknowledged records are gone. It does not block; its answer may be as old as the last call.
	Fault() error
}

// Survivor is implemented by a Queue whose durability depends on server settings that it cannot change.
type Survivor interface {
	// Survives describes which failures the content of the queue survives.
	Survives() string
}

// Exchanger settles and reserves in one operation.
type Exchanger interface {
	// Exchange is Settle followed by Reserve, in one round trip or write. If only some ends failed it may also return
	// leases.
	Exchange(ctx context.Context, want Want, ends ...End) (leases, stale, failed []Lease, err error)
}
