package pool

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// classes is how many classes of service there are.
const classes = int(models.ClassBestEffort) + 1

// The defaults of Options.
const (
	defaultExpedited    = 4
	defaultShared       = 4
	defaultMaxWaiting   = 10_000
	defaultFloorActions = 1000
	defaultFloorBytes   = 1 << 20
)

// maxSlots is how many slots each side of a pool has at the most.
const maxSlots = 10_000

// doBytes is what a piece of work of Do counts at the most in the turns between members, whose requests count by
// their bytes: otherwise as much as those usually do.
const doBytes = 1 << 20

// Options configures a Pool. nil and the zero value are ready to use. All of them can be changed at run time, see
// Pool.SetOptions.
type Options struct {
	// Expedited is how many slots the class Expedited has, which nobody else uses. Defaults to 4, at most 10 000.
	Expedited int
	// Shared is how many slots the other classes share. Each class that has work gets at least one, or one turn in
	// each round where there are fewer slots than classes. Defaults to 4, at most 10 000.
	Shared int

	// BufferedActions and BufferedBytes are the budget: how many actions, and bytes of them, all members buffer
	// together, beside the limits of each. It is exceeded by what must be accepted, and by one action of a member
	// while no other has any. 0, the default, is no bound; they are bounds each by itself. A smaller budget takes
	// nothing away.
	BufferedActions int
	BufferedBytes   int64
	// FloorActions and FloorBytes are the room that an active member has for certain, and as much as it borrows at a
	// time: a batch. Default to 1000 and 1 MiB; of more than the budget, the budget counts. So many floors as the
	// budget has, so many members buffer something at a time; others wait until one of them has nothing, and have
	// them send what they have without waiting for more.
	FloorActions int
	FloorBytes   int64

	// maxWaiting is how many may wait in a class, beside the one request that each sender can ask for. Tests lower it.
	maxWaiting int
	// late is how old a request must be at least that is late. Tests in real time raise it.
	late time.Duration
}

// checked fills defaults in. The error names every problem.
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
