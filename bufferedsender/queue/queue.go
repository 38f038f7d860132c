package queue

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Limits of the contract, the same for all back ends.
const (
	// MaxCall is the maximum number of records and folds in one Append, of ends in one Settle, and of keys in one
	// Reserve.
	MaxCall = 32_768
	// PileLimit is the number of waiting records of one key from which Append returns them in Receipt.Piles, so that
	// the adder folds them.
	PileLimit = 64
	// MaxSkew is how far back Record.Since can put a key.
	MaxSkew = 24 * time.Hour
	// Memory is how long a shared back end remembers the last call of an adder.
	Memory = 24 * time.Hour
	// MaxDeaths is the number of dead holders after which a key is parked, see Lease.Requested.
	MaxDeaths = 3
)

// ID is a random 128-bit number, unique in practice.
type ID [16]byte

// NewID returns a new random ID.
func NewID() (id ID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// Queue is a durable, folding queue. All methods are safe for concurrent use. They return when ctx ends, unless they
// say otherwise; the call may then have been applied or not. Append returns ErrUnknown if it may have been applied.
// Each Queue of this module also implements Admin, Membership and Exchanger.
type Queue interface {
	// Append keeps all records of a call, or none. It returns when they are as durable as the back end promises. It is
	// idempotent if the calls of one adder are made one after the other, with rising numbers. ErrUnknown: the call may
	// have been applied; the adder must repeat this same call before its next one. ErrTooOld: the repeated call is not
	// the last one of its adder, or was made more than Memory ago. ErrFull: nothing was kept. ErrFull with ErrUnknown:
	// a back end with several servers kept a part, and a repeat keeps the rest.
	Append(ctx context.Context, call Call) (Receipt, error)
	// Reserve leases due keys, those with the oldest place first, or the keys of want.Only. It never leases a key that
	// is already leased. If nothing is due it returns no lease and no error; it does not wait. If the answer of a call
	// was lost, a call with the same token returns the leases of that call that are not settled, and leases nothing
	// else.
	Reserve(ctx context.Context, want Want) ([]Lease, error)
	// Settle ends leases. stale are the leases that had ended before the call; their ends had no effect. failed are the
	// leases for which the result is unknown, because of err; Settle may be repeated for them.
	Settle(ctx context.Context, ends ...End) (stale, failed []Lease, err error)
	// Extend makes leases end d after now, and records Lease.Requested. lost are the leases that had already ended.
	Extend(ctx context.Context, d time.Duration, leases ...Lease) (lost []Lease, err error)
	// Settled reports whether all records appended up to a Receipt with this Position, by any adder, are settled, parked,
	// or behind parked ones. Once true it stays true: what waits again after Unpark or Drop counts for later Positions. It
	// does not wait for later records, except for those appended at about the same time. ErrLost: the server lost
	// acknowledged records.
	Settled(ctx context.Context, at Position) (bool, error)
	// Watch registers wake, which is called whenever there may be something to reserve: after an Append, a Release, or
	// the end of a delay or lease, in this process or another. It may be called for nothing, concurrently, and on any
	// goroutine, including that of Append. wake must not block and must not call the queue. After stop has returned,
	// wake is not called any more.
	Watch(wake func()) (stop func())
	// Stats returns counts of the whole queue, for all processes that use it. It is cheap enough to be called once a
	// second.
	Stats(ctx context.Context) (Stats, error)
	// Close frees the files, locks and watchers of this object. The content of the queue stays, and leases run out.
	// Calls in progress end first; later calls return ErrClosed. Close may be called more than once.
	Close() error
}

// Record is one change of a key.
type Record struct {
	// Key is the key of the document; not empty, at most 1024 bytes.
	Key string
	// Op is the operation. "" means that only the key is known to have changed: the holder asks its Loader for the
	// document.
	Op models.ActionType
	// Body is the encoded action, empty if Op is "". The back end copies it on Append. The caller owns a returned Body.
	Body []byte
	// Since is the time of the change, for the place of its key. Zero means now, by the clock of the back end. A time
	// in the future counts as now, and a time more than MaxSkew in the past as now − MaxSkew.
	Since time.Time
	// Class is the class of service: 0 (most urgent) to 7. A key has the most urgent class of its waiting records.
	Class uint8
	// From identifies the call that appended the record. Append sets it.
	From Origin
	// Seq is the number of the record, set by Append. It rises with each record of a key.
	Seq uint64
}

// Replaces reports whether the record replaces all waiting records of its key.
func (r *Record) Replaces() bool {
	return r.Op == models.ActionTypeUpload || r.Op == models.ActionTypeDelete || r.Op == ""
}

// Origin identifies the call that appended a record, and the record in it.
type Origin struct {
	Adder  ID
	Number uint64 // of the call
	Index  int    // in the call
}

// Call holds the arguments of Append.
type Call struct {
	// Adder is the random ID of one process run. It must not be reused after a restart: repeats would no longer be
	// detected.
	Adder ID
	// Number rises with each call of the adder, starting at 1.
	Number uint64
	// Records are appended in order. A key may come more than once.
	Records []Record
	// Folds are applied before Records are appended.
	Folds []Fold
}

// Fold replaces the Count oldest waiting records of a key, not counting leased or parked ones, by fewer equivalent
// Records. These get the From of the last record replaced. A Fold has no effect unless at least Count records wait and
// the last of these Count has the number Last.
type Fold struct {
	Key     string
	Count   int
	Last    uint64
	Records []Record
}

// Receipt is the result of Append.
type Receipt struct {
	// Position is the argument for Settled. It covers this call and all earlier ones of the adder.
	Position Position
	// Replaced is the number of records replaced by those of the call.
	Replaced int
	// Folded is the number of records saved by the folds of the call.
	Folded int
	// Piles lists keys of the call that have PileLimit or more waiting records, which do not replace each other. If
	// there are too many for one answer, it lists some of them. The adder folds them with Call.Folds of its next call.
	Piles []Pile
}

// Pile holds the waiting records of a key.
type Pile struct {
	Key     string
	Records []Record // oldest first; the first PileLimit of them
}

// Position is a moment in the life of a queue, in a format of its back end. "" is before everything.
type Position string

// Want holds the arguments of Reserve.
type Want struct {
	// Token identifies the reservation. The caller makes a new one (NewID) for each call that is not a repeat.
	Token ID
	// Holder identifies the process; Name is its readable name, for Inspect.
	Holder ID
	Name   string
	// Keys is the maximum number of keys, up to MaxCall. Bytes is the maximum size of keys and bodies; at least one
	// record is leased even if it is larger.
	Keys  int
	Bytes int
	// For is the duration of the leases, by the clock of the back end.
	For time.Duration
	// Uncertain is how long after the expiry of a lease its key is withheld, because the last request of the holder may
	// still be in flight.
	Uncertain time.Duration
	// Only names the keys to lease, due or not, instead of the oldest ones. Leased keys are skipped.
	Only []string
}

// Lease is the right of one holder to send one key for a limited time.
type Lease struct {
	Key string
	// Token is that of the reservation. Calls with another token have no effect.
	Token ID
	// Records are the changes, oldest first, at least one. Records that wait behind them can be reserved once these are
	// settled.
	Records []Record
	// Expired is how many leases of this key have run out since the key was last settled (Release does not count as
	// settling). If it is not 0 the key is a suspect: sending it may have killed a holder.
	Expired int
	// Requested declares, in Extend, that a request with the key is about to be sent; it stays set until the lease
	// ends. The holder of a suspect sets it before it sends the key, or passes it to other code that may not return. If
	// the holder dies, only a key with Requested becomes more suspect.
	Requested bool
	// Tries is how often the key was released with End.Again since its last commit: a document may have been applied
	// then, or the Loader did not know the key.
	Tries int
}

// Fate is the way to end a lease.
type Fate uint8

const (
	// Commit removes the records: they are in the index, or reported as failed.
	Commit Fate = iota + 1
	// Release returns the records to the queue. Any holder may reserve them after End.After.
	Release
	// Park excludes the records from sending until an operator decides, with End.Reason. Later records of the key wait
	// behind them, unless they replace them.
	Park
)

// End is the end of a lease.
type End struct {
	// Lease needs Key and Token.
	Lease Lease
	Fate  Fate
	// Done is the number of records, from the oldest, that are committed in spite of a Release or Park.
	Done int
	// After is how long the released key is not due.
	After time.Duration
	// Again adds one to Lease.Tries.
	Again bool
	// Uncertain is how long the key is withheld from all holders, whatever is appended: a request of this holder got no
	// answer.
	Uncertain time.Duration
	// Reason is the reason for parking.
	Reason string
}

// Stats holds counts of a queue.
type Stats struct {
	// Waiting is the number of keys with waiting records that are not leased, due or not; Leased and Parked are the
	// numbers of leased and parked keys. A key can be both waiting and leased.
	Waiting, Leased, Parked int64
	// Bytes is the size of their keys and bodies, or the storage that the back end needs for them.
	Bytes int64
	// Oldest is the time of the first place in the order, zero if no key waits or is leased.
	Oldest time.Time
	// Appended counts records, Replaced those replaced by later ones, Folded those saved by folds, Stale ends and
	// extensions that came after their lease ended, Expired leases that ran out. They count from the creation of the
	// queue, or from its opening.
	Appended, Replaced, Folded, Stale, Expired int64
	// Paused is set after Admin.Pause, while Reserve returns nothing; PauseReason is its reason.
	Paused      bool
	PauseReason string
	// LastReserved is the time of the last Reserve of any process, zero if there was none since the opening.
	LastReserved time.Time
	// Estimated is set if the counts may be slightly off.
	Estimated bool
}
