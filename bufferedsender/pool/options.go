package pool

import (
	"errors"
	"fmt"
	"time"
)

// Strategy says which classes share slots by their urgency.
type Strategy uint8

const (
	// Classes gives each class a floor and a size, and lends by urgency.
	Classes Strategy = iota
	// Single has one queue for all but Expedited: by turns of the members, whatever their classes.
	Single
	// None has everything use the slots of Expedited.
	None
)

// Order is that of the questions of one member in a class.
type Order uint8

const (
	// FIFO serves the oldest first: the extremes of the waiting are low.
	FIFO Order = iota
	// LIFO serves the newest first: the median of the waiting is low while there is too much work.
	LIFO
)

// The defaults of Options.
const (
	DefaultExpedited      = 4
	DefaultShared         = 4
	DefaultMaxWaiting     = 10_000
	DefaultMaxSnapshotAge = 5 * time.Minute
	DefaultFloorActions   = 1000
	DefaultFloorBytes     = 1 << 20
)

// MaxSlots is how many slots each side of a pool has at the most.
const MaxSlots = 10_000

// DoBytes is what a piece of work of Do counts in the turns between members, whose requests count by
// their bytes.
const DoBytes = 1 << 20

// Options configures a Pool. nil and the zero value are ready to use. Settings can be changed at run time.
type Options struct {
	Settings

	// Strategy defaults to Classes.
	Strategy Strategy
	// Order defaults to FIFO.
	Order Order
}

// Settings are what can be changed at run time, see Pool.Set.
type Settings struct {
	// Expedited is how many slots the class Expedited has, which nobody else uses. Defaults to 4, at most MaxSlots.
	Expedited int
	// Shared is how many slots the other classes share. Defaults to 4, at most MaxSlots.
	Shared int
	// Floors is how many of the shared slots a class has for certain while it has work, at least 1, which is the
	// default; together they may be more than Shared, and then they become turns. That of Expedited is not used.
	Floors [classes]int
	// Sizes is how many of the shared slots a class has at the most; 0, the default, is all of them, also when Shared
	// changes. That of Expedited is not used.
	Sizes [classes]int
	// MaxWaiting is how many may wait in a class, beside the one request that each sender can
	// ask for. Defaults to 10 000.
	MaxWaiting int
	// MaxSnapshotAge is how old a snapshot may be when the work that it was taken for begins, see
	// Prepared. Defaults to 5 min.
	MaxSnapshotAge time.Duration

	// BufferedActions and BufferedBytes are the budget: how many actions, and bytes of them, all members buffer
	// together, beside the limits of each. It is exceeded by what must be accepted, and by one action of a member
	// while no other has any. 0, the default, is no bound; they are bounds each by itself. A smaller budget takes
	// nothing away.
	BufferedActions int
	BufferedBytes   int64
	// FloorActions and FloorBytes are the room that an active member has for certain, and as much as it borrows at a
	// time: a batch. Default to 1000 and 1 MiB; of more than the budget, the budget counts. So many floors as the
	// budget has, so many members buffer something at a time; others wait until one of them has nothing.
	FloorActions int
	FloorBytes   int64
}

// checked fills defaults in. The error names every problem.
func (s Settings) checked() (Settings, error) {
	var errs []error
	number := func(name string, n *int, standard int) {
		if *n < 0 {
			errs = append(errs, fmt.Errorf("%s is %d: use a positive number, or 0 for the default of %d", name, *n, standard))
		}
		if *n <= 0 {
			*n = standard
		}
	}
	number("Expedited", &s.Expedited, DefaultExpedited)
	number("Shared", &s.Shared, DefaultShared)
	if s.Expedited > MaxSlots || s.Shared > MaxSlots {
		errs = append(errs, fmt.Errorf("there are %d and %d slots in Expedited and Shared: use at most %d in each", s.Expedited, s.Shared, MaxSlots))
	}
	number("MaxWaiting", &s.MaxWaiting, DefaultMaxWaiting)
	for c := Assured1; c <= BestEffort; c++ {
		number(fmt.Sprintf("the floor of %v", c), &s.Floors[c], 1)
		if s.Sizes[c] < 0 {
			errs = append(errs, fmt.Errorf("the size of %v is %d: use a positive number, or 0 for all of the shared slots", c, s.Sizes[c]))
		}
		if s.Sizes[c] > 0 && s.Floors[c] > s.Sizes[c] {
			errs = append(errs, fmt.Errorf("the floor of %v is %d, and its size %d", c, s.Floors[c], s.Sizes[c]))
		}
	}
	number("FloorActions", &s.FloorActions, DefaultFloorActions)
	if s.FloorBytes < 0 {
		errs = append(errs, fmt.Errorf("FloorBytes is %d: use a positive number, or 0 for the default of %d", s.FloorBytes, DefaultFloorBytes))
	}
	if s.FloorBytes == 0 {
		s.FloorBytes = DefaultFloorBytes
	}
	if s.BufferedActions < 0 || s.BufferedBytes < 0 {
		errs = append(errs, fmt.Errorf("BufferedActions is %d and BufferedBytes %d: use positive numbers, or 0 for no bound", s.BufferedActions, s.BufferedBytes))
	}
	if s.MaxSnapshotAge < 0 {
		errs = append(errs, fmt.Errorf("MaxSnapshotAge is %v: use a positive duration, or 0 for the default of %v", s.MaxSnapshotAge, DefaultMaxSnapshotAge))
	}
	if s.MaxSnapshotAge == 0 {
		s.MaxSnapshotAge = DefaultMaxSnapshotAge
	}
	if err := errors.Join(errs...); err != nil {
		return s, fmt.Errorf("pool: %w", err)
	}
	return s, nil
}
