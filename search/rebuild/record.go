package rebuild

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Phase says what writers do.
type Phase string

// The phases of a record.
const (
	// PhaseIdle: nothing is marked. It is the phase of a new record.
	PhaseIdle Phase = "idle"
	// PhaseMarking: writers mark the keys that they write.
	PhaseMarking Phase = "marking"
	// PhaseSwapped: they mark keys, and what they write is confirmed when the new index has
	// it, because readers may find the new index already.
	PhaseSwapped Phase = "swapped"
	// PhaseClosed: writers wait.
	PhaseClosed Phase = "closed"
)

// marks reports whether keys are marked in the phase.
func (p Phase) marks() bool { return p == PhaseMarking || p == PhaseSwapped }

// Step is how far a rebuild is.
type Step string

// The steps of a rebuild, in their order, for a program that waits for one or shows it: most are only a text to show.
// DESIGN.md says what a crash leaves in each.
const (
	StepNone       Step = ""            // there is none, or none since the last Abort
	stepCreating   Step = "creating"    // the new index is being created
	stepMarking    Step = "marking"     // all writers are to know before the fill begins
	StepFilling    Step = "filling"     // everything is written to the new index
	stepCatchingUp Step = "catching up" // what was written meanwhile follows
	stepClosing    Step = "closing"     // the writers wait for the last of it
	stepSwapping   Step = "swapping"    // the alias is being moved
	stepSettling   Step = "settling"    // readers come over to the new index
	stepMoving     Step = "moving"      // the writers wait, to come over too
	StepMoved      Step = "moved"       // done
	stepAborting   Step = "aborting"    // Abort is to be called again
)

// Record is what the writers and the rebuild of one index share. Stores keep it as it is;
// only this package makes sense of it.
type Record struct {
	// Version grows by one with each change. 0: there is no record yet. A store keeps it
	// beside the other fields, or in them. With which number the first record begins is the store's
	// choice: if a record can be lost there, with one that no record of before had.
	Version int64 `json:"-"`

	Phase Phase  `json:"phase"`
	Route string `json:"route"` // the index that writers write to
	// Endpoint is the service of the indexes, "" if no client has named it. Another service is refused.
	Endpoint string `json:"endpoint,omitempty"`
	Epoch    int64  `json:"epoch"`   // grows when marking begins, with each beginning of PhaseSwapped, and when marking ends
	Round    int64  `json:"round"`   // under which keys are marked
	Drained  int64  `json:"drained"` // the keys of rounds up to this one are in the new index

	Step   Step   `json:"step,omitempty"`
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
	Alias  string `json:"alias,omitempty"`
	Owner  string `json:"owner,omitempty"`  // who runs
	Beat   int64  `json:"beat,omitempty"`   // grows while the owner is there
	Cursor string `json:"cursor,omitempty"` // the last key of Fill.All up to which everything is in the new index
	// IdleValid is how long a read of the record is valid while there is no rebuild, 0 for a minute. It
	// is as it was when the record was made: a Run waits for all reads of before.
	IdleValid time.Duration `json:"idleValid,omitempty"`
	// Settle is Options.Settle of the Run that began the rebuild, for Abort; 0 for a minute.
	Settle time.Duration `json:"settle,omitempty"`
	// KeepUntil is when the old index may be deleted, by the clock of who ran.
	KeepUntil time.Time `json:"keepUntil,omitzero"`
	// Dropped are the names of indexes that were deleted some minutes ago, and when, by the clock of who did it.
	Dropped map[string]time.Time `json:"dropped,omitempty"`
}

// drop notes that the index of that name was deleted, and forgets names of long ago. Copies of a record share the
// map, so it is not changed.
func (r *Record) drop(name string) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	dropped := map[string]time.Time{name: now}
	for other, at := range r.Dropped {
		if other != name && now.Sub(at) < dropsKnown {
			dropped[other] = at
		}
	}
	r.Dropped = dropped
}

// idleValid returns how long a read of the record is valid while there is no rebuild.
func (r Record) idleValid() time.Duration {
	if r.IdleValid > 0 {
		return r.IdleValid
	}
	return defaultIdleValid
}

// active reports whether a rebuild is under way.
func (r Record) active() bool { return r.Step != StepNone && r.Step != StepMoved }

// of returns an error if the record is of another service than that of a client.
func (r Record) of(client any) error {
	here := endpointOf(client)
	if known := (&models.SenderInfo{Endpoint: r.Endpoint}); known.At(here) {
		return nil
	}
	return fmt.Errorf("rebuild: the record is of the indexes at %s, got a client of %s; use that service, or a store of another name", r.Endpoint, here)
}

// endpointOf returns the service of a client, "" if it does not name it.
func endpointOf(client any) string {
	if at, ok := client.(models.EndpointNamer); ok {
		return at.Endpoint()
	}
	return ""
}

// Writer is a Tap that was made.
type Writer struct {
	// Name is TapOptions.Writer.
	Name string
	// Seen is when such a Tap was made last, by its clock.
	Seen time.Time
}

// Store is what the writers of an index and its rebuild share: one Record, and a set of marks,
// each a key with the number of a round. Memory and SQL are two, and redisstore has a third. All methods are safe for
// concurrent use, from any number of processes, and return soon after ctx ends; what ended with
// an error may have been done.
//
// Changes are seen by every read that begins after them: no replicas that lag.
type Store interface {
	// Load returns the record, a zero one if there is none.
	Load(ctx context.Context) (Record, error)
	// Swap stores next in the place of the record that has next.Version, which is 0 for none,
	// and returns it with the Version that it has now. If the record has another version
	// nothing is changed, and the error is ErrChanged.
	Swap(ctx context.Context, next Record) (Record, error)
	// Mark adds keys under the round of the record, and returns that round. If the record is of
	// another epoch, or in a phase without marks, nothing is added and the error is ErrStale.
	// It is atomic: no Swap comes between what it reads of the record and the marks. A key that
	// is there is no error.
	Mark(ctx context.Context, epoch int64, keys []string) (round int64, err error)
	// Marked returns up to limit keys, each once, of marks of rounds up to last.
	Marked(ctx context.Context, last int64, limit int) ([]string, error)
	// Unmark removes the marks of keys of rounds up to last.
	Unmark(ctx context.Context, last int64, keys []string) error
	// Register notes that a writer of that name exists, and when.
	Register(ctx context.Context, writer string, seen time.Time) error
	// Writers returns those that were registered, in the order of their names.
	Writers(ctx context.Context) ([]Writer, error)
}

// What can be wrong.
var (
	// ErrChanged means that somebody else has changed the record.
	ErrChanged = errors.New("rebuild: another process changed the record")
	// ErrStale means that keys are not marked any more, or not in this epoch.
	ErrStale = errors.New("rebuild: the record is not the one that the mark is for")
	// ErrRunning means that another Run is at work on the same rebuild.
	ErrRunning = errors.New("rebuild: another Run is at work")
	// ErrTakenOver means that another Run, or Abort, has taken the rebuild over. This one has
	// stopped.
	ErrTakenOver = errors.New("rebuild: another Run or Abort has taken over")
	// ErrAliasMoved means that the alias is at neither of the two indexes: somebody else has
	// moved it. Nothing was changed. Put it back and call Run again, or call Abort.
	ErrAliasMoved = errors.New("rebuild: another program moved the alias")
	// ErrTooSlow means that what was written could not be brought to the new index within the second that the writers
	// are kept waiting, again and again. They go on as before, unless the alias was moved already: then ErrClosed is
	// in the chain too. Call Run again when there is less to do, or with a faster Fill.Keys.
	ErrTooSlow = errors.New("rebuild: marked documents not copied within a second")
	// ErrTooFew means that the new index has far fewer documents than the old one, see Options.MinShare. Nothing was
	// moved.
	ErrTooFew = errors.New("rebuild: the new index has too few documents")
	// ErrClosed means that a rebuild keeps the writers waiting for longer than it should: it
	// was probably killed. Call Run again, or Abort.
	ErrClosed = errors.New("rebuild: the writers are kept waiting")
	// ErrNothing means that there is nothing to abort, or to drop.
	ErrNothing = errors.New("rebuild: no rebuild in progress")
)
