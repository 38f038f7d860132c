package queue

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Limits of the contract, the same for all back ends.
const (
	// MaxCall is how many records one Append takes at the most, and how many ends one
	// Settle and how many keys one Reserve.
	MaxCall = 32_768
	// PileLimit is how many records of a key may wait side by side, because none of them
	// replaces the others, before Append answers them to be folded.
	PileLimit = 64
	// MaxSkew is how far back Record.Since can put a key.
	MaxSkew = 24 * time.Hour
	// Memory is how long a back end that others share remembers the last call of an adder.
	Memory = 24 * time.Hour
	// MaxDeaths is with how many dead holders a key is parked, see Lease.Requested.
	MaxDeaths = 3
)

// ID is a random number that nobody else draws.
type ID [16]byte

// NewID draws one.
func NewID() (id ID) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// Queue is a durable, folding queue. All methods are safe for concurrent use, and bounded by ctx unless they say
// otherwise. An error of ctx leaves open what was done; Append then says ErrUnknown if it may have been applied. A
// Queue of this module also implements Admin, Membership and Exchanger.
type Queue interface {
	// Append keeps the records of a call, all or none, and returns when they are as durable as the back end promises.
	// It is idempotent: a call is applied once however often it is repeated, if the calls of one adder come one after
	// the other with rising numbers. ErrUnknown: it may have been applied, and the adder repeats this very call before
	// its next one. ErrTooOld: a repeat of a call that is not the last one, or comes after Memory. ErrFull: nothing was
	// kept; with ErrUnknown too, a part was kept, by a back end of several servers, and the repeat keeps the rest.
	Append(ctx context.Context, call Call) (Receipt, error)
	// Reserve leases keys that are due, those with the oldest place first, or those of want.Only; none that is leased.
	// No key and no error: there is nothing to do now. It does not wait. Repeated with the token of a call whose answer
	// was lost it returns what that call has leased and is not settled, and nothing else.
	Reserve(ctx context.Context, want Want) ([]Lease, error)
	// Settle ends leases. stale are those that had ended before: their ends have changed nothing. failed are those of
	// which the end is not known, with err; ends may be repeated.
	Settle(ctx context.Context, ends ...End) (stale, failed []Lease, err error)
	// Extend makes leases last for another d from now, and notes Lease.Requested. lost are those that had ended.
	Extend(ctx context.Context, d time.Duration, leases ...Lease) (lost []Lease, err error)
	// Settled reports whether everything that was appended until a Receipt with this Position, by any adder, is settled
	// or parked. Later changes are not waited for, except for those of about the same moment. ErrLost: the server has
	// lost what it had acknowledged.
	Settled(ctx context.Context, at Position) (bool, error)
	// Watch has wake called whenever there may be something to reserve: after an Append, a Release, an end of a delay
	// or of a lease, here or elsewhere, sometimes for nothing. Calls may come at once and on any goroutine, also that
	// of Append; wake must not block, nor call the queue. After stop has returned wake is not called any more.
	Watch(wake func()) (stop func())
	// Stats counts what is in the queue, for all of its users. It is cheap enough for once a second.
	Stats(ctx context.Context) (Stats, error)
	// Close frees what this object has: files, locks, watchers. What is in the queue stays; leases run out. Calls under
	// way end first, later ones return ErrClosed. It may be called more than once.
	Close() error
}

// Record is one change of a key.
type Record struct {
	// Key is what it is about; not empty, at most 1024 bytes.
	Key string
	// Op says what to do. "" means that only the key is known to have changed: the holder asks its Loader for the
	// truth.
	Op models.ActionType
	// Body is the encoded action, empty for Op "". A back end copies it, and what it returns is the caller's.
	Body []byte
	// Since is the time of the change, for the place of its key. Zero means now, by the clock of the back end; it is
	// never taken as later than that, nor as more than MaxSkew earlier.
	Since time.Time
	// Class is the class of service, 0 the most urgent, at most 7. A key has the most urgent one of what waits for it.
	Class uint8
	// From ties the record to the call that brought it. Append sets it.
	From Origin
	// Seq is the number of the record, set by Append: it rises with each record of a key.
	Seq uint64
}

// Replaces reports whether the record makes what waits for its key superfluous.
func (r *Record) Replaces() bool {
	return r.Op == models.ActionTypeUpload || r.Op == models.ActionTypeDelete || r.Op == ""
}

// Origin is where a record comes from.
type Origin struct {
	Adder  ID
	Number uint64 // of the call
	Index  int    // in the call
}

// Call is one Append.
type Call struct {
	// Adder is the random name of one process: one that is used again after a restart loses what makes repeats
	// harmless.
	Adder ID
	// Number rises with each call of the adder, from 1.
	Number uint64
	// Records are appended in order. A key may come more than once.
	Records []Record
	// Folds replace what waits, before Records are appended.
	Folds []Fold
}

// Fold replaces the oldest records that wait for a key, behind what is leased or parked,
// by what they make together. Records have no From of their own: they keep that of the last
// one replaced. If what waits does not begin with Count records of which the last one has
// the number Last, it changes nothing.
type Fold struct {
	Key     string
	Count   int
	Last    uint64
	Records []Record
}

// Receipt is the answer to Append.
type Receipt struct {
	// Position is for Settled: it covers this call and all earlier ones of the adder.
	Position Position
	// Replaced is how many records had to give way to those of the call.
	Replaced int
	// Folded is how many records the folds of the call have saved.
	Folded int
	// Piles are keys of the call for which PileLimit records or more wait that do not replace each other; some of them,
	// if all are too much for one answer. The adder folds them, with Call.Folds of its next call.
	Piles []Pile
}

// Pile is what waits for a key.
type Pile struct {
	Key     string
	Records []Record // oldest first; the first PileLimit of them
}

// Position is a moment in the life of a queue, as its back end writes it. "" is before
// everything.
type Position string

// Want says what Reserve is to lease.
type Want struct {
	// Token names the reservation. The caller draws it (NewID) for each call that does not repeat another.
	Token ID
	// Holder names the process, and Name says it in words, for Inspect.
	Holder ID
	Name   string
	// Keys is how many keys at most, up to MaxCall; Bytes how many bytes of keys and bodies, but at least one record of
	// one key is leased.
	Keys  int
	Bytes int
	// For is how long the leases last, by the clock of the back end.
	For time.Duration
	// Uncertain is how long no holder gets the key after the end of a lease that ran out: the last request of its
	// holder may still be under way.
	Uncertain time.Duration
	// Only leases these keys instead of the oldest, if they are not leased, whether they are due or not.
	Only []string
}

// Lease is a key that is reserved.
type Lease struct {
	Key string
	// Token is that of the reservation. What comes with another one changes nothing.
	Token ID
	// Records are the changes, oldest first, at least one. What waits behind them follows when they are settled.
	Records []Record
	// Expired is how many leases of this key have run out since one was settled, not counting Releases. With any the
	// key is a suspect: a holder may have died of it.
	Expired int
	// Requested says in Extend that the key is about to be in a request, and stays noted until the lease ends. The
	// holder of a suspect says so before it sends it, or passes it to other code that may not return: only that is
	// suspected further if the holder dies.
	Requested bool
	// Tries is how often the key was released with End.Again since it was committed: a document may have been
	// applied then, or the Loader did not know the key.
	Tries int
}

// Fate is what becomes of a lease.
type Fate uint8

const (
	// Commit removes the records: they are in the index, or reported for good.
	Commit Fate = iota + 1
	// Release gives them back, for anybody to reserve after End.After.
	Release
	// Park sets them aside, for people, with End.Reason. What is appended to the key waits
	// behind, but for a record that replaces them.
	Park
)

// End is the end of a lease.
type End struct {
	// Lease needs Key and Token.
	Lease Lease
	Fate  Fate
	// Done is, for Release and Park, how many of the records, from the oldest, are committed anyway.
	Done int
	// After is how long a released key is not due.
	After time.Duration
	// Again counts the release in Lease.Tries.
	Again bool
	// Uncertain is how long no holder gets the key, whatever is appended: a request of its holder had no answer.
	Uncertain time.Duration
	// Reason is why the key is parked.
	Reason string
}

// Stats is what is in a queue.
type Stats struct {
	// Waiting is how many keys have something that waits and is not leased, due or not;
	// Leased how many are leased; Parked how many are parked. A key can be waiting and leased.
	Waiting, Leased, Parked int64
	// Bytes is the size of the bodies and keys of all of them, or what the back end needs
	// for them.
	Bytes int64
	// Oldest is the time of the place that comes first, zero if there is none.
	Oldest time.Time
	// Appended counts records; Replaced those that gave way to later ones, and Folded those that
	// folds have saved; Stale the ends and extensions that came too late; Expired leases
	// that ran out. They count from the making of the queue, or from its opening.
	Appended, Replaced, Folded, Stale, Expired int64
	// Paused is set while Reserve returns nothing because of Admin.Pause, with its reason.
	Paused      bool
	PauseReason string
	// LastReserved is when somebody last asked for keys, zero if nobody has since the opening.
	LastReserved time.Time
	// Estimated says that the numbers may be a little off.
	Estimated bool
}
