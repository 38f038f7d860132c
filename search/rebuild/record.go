package rebuild

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Phase is a behavior of the writers.
type Phase string

// The phases of a record.
const (
	// PhaseIdle: writers mark nothing. It is the phase of a new record.
	PhaseIdle Phase = "idle"
	// PhaseMarking: writers mark the keys that they write.
	PhaseMarking Phase = "marking"
	// PhaseSwapped: writers mark keys, and confirm a write only when the new index has it, because readers may use the new
	// index already.
	PhaseSwapped Phase = "swapped"
	// PhaseClosed: writers wait.
	PhaseClosed Phase = "closed"
)

// marks reports whether writers mark keys in the phase.
func (p Phase) marks() bool { return p == PhaseMarking || p == PhaseSwapped }

// Step is the progress of a rebuild.
type Step string

// The steps of a rebuild, in order, for a program that waits for a step or displays it; most are only text to display.
// DESIGN.md has the state that a crash leaves in each.
const (
	StepNone       Step = ""            // no rebuild, or none since the last Abort
	stepCreating   Step = "creating"    // the new index is being created
	stepMarking    Step = "marking"     // waiting until all writers mark
	StepFilling    Step = "filling"     // all documents are written to the new index
	stepCatchingUp Step = "catching up" // documents written meanwhile are copied
	stepClosing    Step = "closing"     // the writers wait for the last of them
	stepSwapping   Step = "swapping"    // the alias is being moved
	stepSettling   Step = "settling"    // readers switch to the new index
	stepMoving     Step = "moving"      // the writers wait to switch too
	StepMoved      Step = "moved"       // done
	stepAborting   Step = "aborting"    // Abort must be called again
)

// Record is the state that the writers and the rebuild of an index share. A store keeps it unchanged; only this package
// interprets it.
type Record struct {
	// Version grows by one with each change. 0: there is no record yet. A store keeps it next to the other fields or in
	// them. The store chooses the first version of a new record. If the store can lose a record, that must be a version
	// that no earlier record had.
	Version int64 `json:"-"`

	Phase Phase  `json:"phase"`
	Route string `json:"route"` // the index that writers write to
	// Endpoint is the service of the indexes, "" if no client has named it. A client of another service is refused.
	Endpoint string `json:"endpoint,omitempty"`
	Epoch    int64  `json:"epoch"`   // grows when marking begins, when PhaseSwapped begins, and when marking ends
	Round    int64  `json:"round"`   // under which keys are marked
	Drained  int64  `json:"drained"` // the keys of rounds up to this one are in the new index

	Step   Step   `json:"step,omitempty"`
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
	Made   string `json:"made,omitempty"` // the ETag of the new index that is filled, "" if it is not known
	Alias  string `json:"alias,omitempty"`
	Owner  string `json:"owner,omitempty"`  // the runner
	Beat   int64  `json:"beat,omitempty"`   // grows while the owner is alive
	Cursor string `json:"cursor,omitempty"` // the last key of Fill.All up to which everything is in the new index
	// IdleValid is how long a read of the record is valid while there is no rebuild, 0 for a minute. It never changes,
	// because a Run waits until all earlier reads have expired.
	IdleValid time.Duration `json:"idleValid,omitempty"`
	// Settle is Options.Settle of the Run that began the rebuild, for Abort; 0 for a minute.
	Settle time.Duration `json:"settle,omitempty"`
	// KeepUntil is when the old index may be deleted, by the clock of the runner.
	KeepUntil time.Time `json:"keepUntil,omitzero"`
	// Dropped are the names of indexes deleted in the last minutes, with the time by the clock of the deleting process.
	Dropped map[string]time.Time `json:"dropped,omitempty"`
}

// drop records that an index was deleted, and removes old entries. Copies of a record share the map, so drop replaces
// it.
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

// of returns an error if the record belongs to another service than a client's.
func (r Record) of(client any) error {
	here := endpointOf(client)
	if known := (&models.SenderInfo{Endpoint: r.Endpoint}); known.At(here) {
		return nil
	}
	return fmt.Errorf("rebuild: the record is of the indexes at %s, got a client of %s; use that service, or a store of another name", r.Endpoint, here)
}

// endpointOf returns the service of a client, "" if the client does not name it.
func endpointOf(client any) string {
	if at, ok := client.(models.EndpointNamer); ok {
		return at.Endpoint()
	}
	return ""
}

// Writer is a registered writer.
type Writer struct {
	// Name is TapOptions.Writer.
	Name string
	// Seen is when a process made the last Tap of this name, by its clock.
	Seen time.Time
}

// Store holds the state that the writers of an index and its rebuild share: one Record, and marks. A mark is a key with
// the number of a round. Implementations are Memory, SQL and redisstore. All methods are safe for concurrent use by any
// number of processes, and return soon after ctx ends. A call that returned an error may have taken effect.
//
// Each read sees all changes made before it began, so a lagging replica cannot be a store.
type Store interface {
	// Load returns the record, a zero one if there is none.
	Load(ctx context.Context) (Record, error)
	// Swap replaces the record with version next.Version, 0 for none, by next, and returns it with its new Version. If the
	// record has another version Swap changes nothing and returns ErrChanged.
	Swap(ctx context.Context, next Record) (Record, error)
	// Mark adds keys under the round of the record, and returns that round. If the record is of another epoch, or in a
	// phase without marks, Mark adds nothing and returns ErrStale. It is atomic: no Swap comes between its read of the
	// record and its marks. A key that is marked already is not an error.
	Mark(ctx context.Context, epoch int64, keys []string) (round int64, err error)
	// Marked returns up to limit distinct keys that are marked in rounds up to last.
	Marked(ctx context.Context, last int64, limit int) ([]string, error)
	// Unmark removes the marks of keys of rounds up to last.
	Unmark(ctx context.Context, last int64, keys []string) error
	// Register records the name of a writer and the time.
	Register(ctx context.Context, writer string, seen time.Time) error
	// Writers returns the registered writers, sorted by name.
	Writers(ctx context.Context) ([]Writer, error)
}

// Errors of stores and rebuilds.
var (
	// ErrChanged means that another process has changed the record.
	ErrChanged = errors.New("rebuild: another process changed the record")
	// ErrStale means that keys are no longer marked, or not in this epoch.
	ErrStale = errors.New("rebuild: mark is for an earlier record")
	// ErrRunning means that another Run is at work on the same rebuild.
	ErrRunning = errors.New("rebuild: another Run is at work")
	// ErrTakenOver means that another Run or Abort has taken over the rebuild. This one has stopped.
	ErrTakenOver = errors.New("rebuild: another Run or Abort has taken over")
	// ErrAliasMoved means that the alias points at neither of the two indexes, because another program moved it. Nothing
	// was changed. Move it back and call Run again, or call Abort.
	ErrAliasMoved = errors.New("rebuild: another program moved the alias")
	// ErrTooSlow means that marked documents could not be copied within the second for which writers wait, in several
	// attempts. Writers continue as before, unless the alias was moved already: then ErrClosed is in the chain too. Call
	// Run again when there is less load, or with a faster Fill.Keys.
	ErrTooSlow = errors.New("rebuild: marked documents not copied within a second")
	// ErrTooFew means that the new index has far fewer documents than the old one, see Options.MinShare. Neither alias nor
	// writers were moved.
	ErrTooFew = errors.New("rebuild: new index has too few documents")
	// ErrClosed means that a rebuild keeps the writers waiting for longer than it should, usually because Run was killed.
	// Call Run again, or Abort.
	ErrClosed = errors.New("rebuild: writers are kept waiting")
	// ErrNothing means that there is nothing to abort, or to drop.
	ErrNothing = errors.New("rebuild: no rebuild in progress")
)
