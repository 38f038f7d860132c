package pool

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// classes is the number of service classes.
const classes = int(models.ClassBestEffort) + 1

// The defaults of Options.
const (
	defaultExpedited    = 4
	defaultShared       = 4
	defaultMaxWaiting   = 10_000
	defaultFloorActions = 1000
	defaultFloorBytes   = 1 << 20
)

// maxSlots is the most slots of each side of a pool.
const maxSlots = 10_000

// doBytes is the most that a piece of work of Do counts in the turns between members. Usually it counts as much as a
// request of its class.
const doBytes = 1 << 20

// Options configures a Pool. nil and the zero value are valid. Pool.SetOptions changes all of them at run time.
type Options struct {
	// Expedited is the number of slots for the class Expedited alone. Defaults to 4, at most 10 000.
	Expedited int
	// Shared is the number of slots that the other classes share. Each class with work gets at least one, or one turn in
	// each round if there are fewer slots than classes. Defaults to 4, at most 10 000.
	Shared int

	// BufferedActions and BufferedBytes are the budget: how many actions and bytes all members buffer together, in addition
	// to the limits of each. Only actions that must be accepted exceed it, and one action of a member while no other has
	// any. Each bounds independently; 0, the default, means no bound. A smaller budget takes nothing away.
	BufferedActions int
	BufferedBytes   int64
	// FloorActions and FloorBytes are the guaranteed room of an active member, and the size of a loan. Default to 1000 and
	// 1 MiB, but not more than the budget. Only as many members as the budget has floors can buffer something at a time.
	// Others wait until the buffer of one of them is empty. Meanwhile these send without waiting for full batches.
	FloorActions int
	FloorBytes   int64

	// maxWaiting is the most calls of Do that wait in a class. Tests lower it.
	maxWaiting int
	// late is the least age of a late request. Tests in real time raise it.
	late time.Duration
}

// checked sets the defaults. Its error names every problem.
func (o Options) checked() (Options, error) {
	var errs []error
	number := func(name string, n *int, standard int) {
		if *n < 0 {
			errs = append(errs, fmt.Errorf("%s is %d: use a positive number, or 0 for the default of %d", name, *n, standard))
		}
		if *n <= 0 {
			*n = standard
		}
	}
	number("Expedited", &o.Expedited, defaultExpedited)
	number("Shared", &o.Shared, defaultShared)
	if o.Expedited > maxSlots || o.Shared > maxSlots {
		errs = append(errs, fmt.Errorf("there are %d and %d slots in Expedited and Shared: use at most %d in each", o.Expedited, o.Shared, maxSlots))
	}
	if o.maxWaiting == 0 {
		o.maxWaiting = defaultMaxWaiting
	}
	if o.late == 0 {
		o.late = lateAtLeast
	}
	number("FloorActions", &o.FloorActions, defaultFloorActions)
	if o.FloorBytes < 0 {
		errs = append(errs, fmt.Errorf("FloorBytes is %d: use a positive number, or 0 for the default of %d", o.FloorBytes, defaultFloorBytes))
	}
	if o.FloorBytes == 0 {
		o.FloorBytes = defaultFloorBytes
	}
	if o.BufferedActions < 0 || o.BufferedBytes < 0 {
		errs = append(errs, fmt.Errorf("BufferedActions is %d and BufferedBytes %d: use positive numbers, or 0 for no bound", o.BufferedActions, o.BufferedBytes))
	}
	if err := errors.Join(errs...); err != nil {
		return o, fmt.Errorf("pool: %w", err)
	}
	return o, nil
}
