package publisher

import (
	"context"
	"time"
)

// Item is one action on its way. Of Value the publisher knows nothing.
type Item[V any] struct {
	Key   string // at most one item with this key is in flight
	Body  []byte // what counts towards the limits; not to be changed any more
	Value V
	// Attempt is set by the publisher: 1 when the item travels for the first
	// time.
	Attempt int
	// Waited is set by the publisher: the time from acceptance to this request.
	Waited time.Duration
	// Parts is set by the publisher: the items that were folded into this one,
	// oldest first, itself among them. It is nil if none was.
	Parts []Part[V]
	// Class is the class of service, 0 the most urgent one; others are slower by what
	// Slots decide, and leave a part of the buffer to it.
	Class uint8
	// Own says that Body has memory of its own. If not, the publisher copies it
	// when it accepts the item, and only then.
	Own bool
	// Unknown says that it may have been applied by a request that the publisher does not know of.
	Unknown bool
	// Again is set by the publisher: a request has carried it before. Outdated says
	// that an earlier item of its key holds more.
	Again, Outdated bool
	slab            *slab  // that Body lies in, if it is not nil
	hash            uint32 // of Key, for its lane; 0: not known yet
}

// Part is an item that was folded into another.
type Part[V any] struct {
	Value    V
	seq      uint64
	accepted instant
}

// Batch is one request.
type Batch[V any] struct {
	ID    string
	Items []Item[V]
	Bytes int // envelope and commas included
}

// Transport sends a batch and says what became of each item. It may be called
// from MaxInFlight goroutines at once, and should return soon after ctx ends.
// A panic counts as a lost connection.
type Transport[V, R any] interface {
	Send(ctx context.Context, batch *Batch[V]) Reply[R]
}

// Step is what is to happen to an item next.
type Step uint8

// The steps. Requeue is the zero value: where nobody has an answer, ask again.
const (
	Requeue Step = iota
	Complete
	Fail
)

// Result is the answer about one item.
type Result[R any] struct {
	Next    Step
	Value   R
	Err     error // why it is not Complete
	Unknown bool  // it may have been applied although Next is not Complete
	// Cut says that the service may still be at work on the request: no answer
	// came from the service itself.
	Cut bool
	// Throttled says that it was refused only because the service is busy.
	Throttled bool
	// Own says that the answer is about this item and not about the index, so
	// that a retry uses an attempt whatever becomes of the others.
	Own bool
	// Reason is what the service says is wrong with an item whose Next is
	// Fail, without what is special about the item: items that are refused for one
	// cause have the same Reason. It is empty if the cause cannot be the index.
	Reason string
	// Ignored says that the item counts as Complete although it has changed nothing. Bare
	// says that it was applied whatever is in it: it proves nothing about
	// the index.
	Ignored, Bare bool
	// Free says that an item whose Next is Requeue uses no attempt, see Tap.
	Free bool
	// Body replaces the body of an item whose Next is Requeue: it is sent again
	// at once, and no attempt is used. It has the length of the old one.
	Body []byte
}

// Service is what a reply says about the service as a whole.
type Service uint8

// The states of health of a service.
const (
	ServiceUnclear   Service = iota // the reply says nothing
	ServiceSound                    // it works, whatever it thinks of these items
	ServiceThrottles                // it works, and wants less
	ServiceFails                    // it does not work
	ServiceRefuses                  // it will not work until somebody changes something
)

// Gate can hold all requests back while the service is thought not to work. The
// loop calls it, and looks again when Wake is called.
type Gate interface {
	// Enter asks for a permit for one request that is ready to go.
	Enter() (Permit, bool)
	// State returns what the gate does.
	State() GateState
	// Early says whether there is an item that has nothing to do with why the gate is shut, and
	// that it is to let through at once, as a probe.
	Early(there bool)
}

// GateState is what a Gate does.
type GateState struct {
	Shut    error // why requests are held back, or nil
	Blocked bool  // not even a probe may leave
	// Ready says that the gate waits for somebody to send a probe.
	Ready bool
	// Served counts the requests that the service was sound enough to serve, of
	// all publishers that share the gate, and Others those of the others.
	Served, Others uint64
}

// Permit allows one request. Done may be called more than once, and by
// any goroutine; only the first call counts.
type Permit interface {
	// Probe reports whether this is the one request that may find out whether
	// the service works again. It is then kept small.
	Probe() bool
	// Answered says that the service works, whatever becomes of the request: Done may come
	// later, because it is not clear yet whose fault the answer is.
	Answered()
	// Done says what became of it. retryAfter is negative if nothing was said.
	Done(health Service, retryAfter time.Duration, err error)
}

// Room bounds what several publishers keep, together. It is called with a lock of the
// publisher held, so it must neither block nor call a publisher, but for Wake: that it
// calls when there may be room again for somebody whom it has refused.
type Room interface {
	// Take takes room for one item, if there is some. It always does for one that must be
	// accepted.
	Take(want Want) bool
	// Return gives back the room of items, or of bytes alone.
	Return(items int, bytes int64)
	// Quit says that nobody waits here any more for the room that was refused.
	Quit()
	// Pressed reports whether others, who have nothing, wait until there is nothing here: then what is here is sent
	// without waiting for more.
	Pressed() bool
	// Floor is the room that the publisher has for certain, whatever others keep.
	Floor() (items int, bytes int64)
}

// Want is what room is asked for.
type Want struct {
	Class uint8
	Bytes int64
	// Lend says that what is kept here goes away by itself, so that more than the floor
	// may be lent.
	Lend bool
	Must bool
}

// Slots bounds the requests of several publishers together. The loop alone calls it. Whoever
// is refused has asked, and is woken (Wake) when there may be a slot.
type Slots interface {
	// Free reports whether there is a slot for a request of the class, and of about so many
	// bytes, that is about to be made. If it is for a trial, see Slot, that may have so many
	// items at the most; 0: it is for none.
	Free(class uint8, bytes int) (free bool, trial int)
	// Doubted says that there are trials only, and that one may be a request more than the
	// limit of those under way.
	Doubted() bool
	// Take takes a slot for a request that leaves now, if there is one. It does not wait.
	Take(class uint8, bytes int) (Slot, bool)
	// Quit gives up what was asked for in the class: nothing of it is to be sent now.
	Quit(class uint8)
	// Away says whether a hook runs, and whether it is Sent: what is granted meanwhile goes
	// to others, and is asked for again.
	Away(away, sent bool)
	// Err says why there will be no more slots, or nil.
	Err() error
}

// Slot is the place of one request. Release ends the request, and says whether the service
// has answered before the time was up; GiveBack says that there was no request. Only the
// first call counts, of any goroutine.
type Slot interface {
	Release(answered bool)
	GiveBack()
	// Trial is how long the request may take, or 0 for as long as all: earlier ones are not
	// answered, and this one finds out whether the service answers again. If it does not, that
	// says nothing.
	Trial() time.Duration
	// Elsewhere says that the request waits for somebody who is not the service, or that it does not any more.
	// The slot may go to others meanwhile, and how long it takes says nothing.
	Elsewhere(waits bool)
}

// Sample is a request that has ended, for a Tuner. Times are distances from the
// start of the publisher.
type Sample struct {
	Now, Started    time.Duration
	Items, Bytes    int // what it carried
	Done, Throttled int // items
	Service         Service
	Refused         bool // as a whole, because the service is busy
	InFlight        int  // requests under way, this one included
	Backlog         int  // items that could be sent and were not
}

// Tuned is how much a Tuner wants to be sent. It narrows the limits and cannot
// widen them; 0 leaves a limit as it is.
type Tuned struct {
	BatchItems, BatchBytes, InFlight int
	Interval                         time.Duration // between the starts of two requests
}

// Tuner finds out how much the service takes. The loop alone calls it.
type Tuner func(Sample) Tuned

// Reply is the answer to a batch.
type Reply[R any] struct {
	// Results[i] is about batch.Items[i]. If the lengths differ, every item is
	// retried with ErrNoResult.
	Results []Result[R]
	// Split says that the batch was refused as a whole for what is in it. Its
	// parts are sent again and no attempt is used. If it held one item only,
	// the item fails with Err. Results are ignored.
	Split bool
	// Named are the positions, in order, of the items that are blamed for the
	// refusal. It says only how to divide: it may be wrong.
	Named []int
	// Reason is why a batch was refused, see Result. Trait tells which items have
	// what the service has refused, for example a property that the index lacks;
	// nil if the service names nothing that can be looked for.
	Reason string
	Trait  *Trait
	// Whole says that the request failed and no item was judged by itself.
	// TimedOut says that its time was up.
	Whole, TimedOut bool
	// TooLarge says that the size of the batch was the reason.
	TooLarge bool
	// Pause holds all sending for RetryAfter, or if that is negative for a time
	// that grows with each pause.
	Pause      bool
	RetryAfter time.Duration
	// Unconfirmed says that the Tap has not let the request go, or has not confirmed it.
	Unconfirmed bool
	// Service is what the reply says about the service, and Throttled how many
	// items were refused only because it is busy.
	Service   Service
	Throttled int
	// Refused says that the batch as a whole was refused because it is busy.
	Refused bool
	// Err is why the batch as a whole failed, or nil.
	Err error
	// Status and RequestID are for the hooks; the publisher does not read them.
	Status    int
	RequestID string
}

// Trait is something that items of a batch have in common.
type Trait struct {
	Name string
	Has  func(body []byte) bool
}

// Outcome is how an item ended.
type Outcome uint8

// The outcomes. Only Close makes items Unsent, when it gives up. What is Returned has
// no outcome here: it goes back to where it came from, see Config.Return.
const (
	Completed Outcome = iota
	Failed
	Unsent
	Returned
)

// Settlement is the end of an item.
type Settlement[V, R any] struct {
	Item    *Item[V]
	Outcome Outcome
	// Result is the last answer, or nil if the item was given up without one.
	Result *Result[R]
	// Exhausted is true if the item failed because its attempts are used up.
	Exhausted bool
	// Unknown is true if some request that carried the item was cut off, so
	// that it may have been applied.
	Unknown bool
	// Cut is true if a request that carried the item, or an earlier one of its key,
	// was cut off less than UnknownWait ago: the service may still be at work on it,
	// also if the item was completed since. It is known when Settled is called.
	Cut bool
	// Purged is true if the item was given up to make room, Withdrawn if it was
	// taken back, and Index if it failed because of what the index is like.
	Purged, Withdrawn, Index bool
	// Kept is true if the Ending hook has kept the item that failed.
	Kept bool
	// Reported is set by the Settled hook, also one that then ends its goroutine: the call that
	// waits for this item was given its error, so Flush and Close need not report it.
	Reported bool
	// Held is why sending was held when Close gave the item up, or nil.
	Held error
	// Carrier is the item as it travelled, or was to travel. Of those that were
	// folded into one only the first has it, and an item that a newer one of its
	// key outdates does not have it if both are given up.
	Carrier *Item[V]
	// Folded is true if the item travelled, or was to travel, together with
	// others of its key; Superseded if nothing of it travelled.
	Folded, Superseded bool
	// Waited is the time from acceptance until now.
	Waited time.Duration
}

// Hooks are called by the loop, one at a time, with no lock held. They must not
// keep what they are given. Panics are the hook's own to recover; a hook may end
// its goroutine (runtime.Goexit), but for Explain.
type Hooks[V, R any] struct {
	// Accepted runs when the loop has taken over n accepted items.
	Accepted func(n int)
	// Sent runs before a batch travels.
	Sent func(batch *Batch[V])
	// Replied runs after the batch was judged, before its items are settled.
	Replied func(batch *Batch[V], reply *Reply[R], took time.Duration, n Counts)
	// Ending runs before the ends of items are explained and reported one by one, and
	// reports whether it has kept those that failed: all but the withdrawn.
	Ending func(all []Settlement[V, R]) (kept bool)
	// Explain returns the error of an item that was not completed, to be
	// reported by Flush or Close.
	Explain func(s *Settlement[V, R]) error
	// Settled runs once for each accepted item. err is what Explain returned,
	// or nil. It may set Settlement.Reported.
	Settled func(s *Settlement[V, R], err error)
	// Delivered runs after the last Settled of a batch.
	Delivered func()
	// Suspect runs when the index is held to be the cause of a refusal, and with nil when it is
	// not any more. It must not block.
	Suspect func(why *IndexError)
	// Paused runs when all sending is held for a time.
	Paused func(wait time.Duration)
	// Changed runs when the condition of the publisher has changed: its state, or
	// whether it is held while it is Closing.
	Changed func(from, to Condition)
	// Name returns the name of the code of others that runs in a hook now. Any goroutine calls it.
	Name func() string
	// Closed runs last of all. Close waits for it, and returns its error in a
	// CloseError. ctx ends a second after Close has given up.
	Closed func(ctx context.Context) error
}

// Overload says what to do when items wait for room that will not come, because
// the gate is shut.
type Overload uint8

// The policies.
const (
	Block    Overload = iota // let them wait
	Refuse                   // reject them
	PurgeOne                 // give up the oldest that waits, as many as need be
	PurgeAll                 // give up all that wait
)

// Policy is an Overload, and what runs like a hook after items with these keys were purged
// by it, one key an item.
type Policy struct {
	Overload Overload
	Purged   func(keys []string)
}

// Control is what can be changed while a publisher runs.
type Control struct {
	Limits   Limits
	Interval time.Duration // see Config
	Overload Policy
}

// Folding is what may be done with a newer item when an older one of its key
// has not ended.
type Folding uint8

// The kinds of folding.
const (
	Apart    Folding = iota // send both, one after the other
	Folded                  // send one that does what both do
	Outdated                // what the newer one holds is older: send it only if the other fails
)

// Limits are the limits that can be changed while a publisher runs.
type Limits struct {
	BatchItems int
	// Enough is from how many items on a batch is sent without waiting for more; 0 or
	// more than BatchItems: for a full one.
	Enough     int
	BatchBytes int // envelope and commas included
	InFlight   int
	Items      int   // accepted and unsettled, high-water mark
	Bytes      int64 // of their bodies
}

// Counts is what became of the items of a batch.
type Counts struct{ Done, Failed, Retried int }

// Config is what a publisher needs. All fields must be set; the sender checks
// them.
//
//archtest:long what a publisher is given, each by itself
type Config[V, R any] struct {
	Transport Transport[V, R]
	Hooks     Hooks[V, R]
	NewID     func() string // of a batch

	Limits   Limits
	Envelope int // bytes around the bodies of a batch
	Comma    int // bytes between two bodies

	// Recycle takes back the results of a reply that nobody needs any more; nil:
	// they are garbage.
	Recycle  func([]Result[R])
	Gate     Gate  // or nil
	Slots    Slots // or nil
	Room     Room  // beside Limits, or nil
	Tap      Tap   // or nil
	Tuner    Tuner // or nil
	Tuned    Tuned // what the Tuner begins with
	Overload Policy
	// Fold decides about newer, and returns what to send instead of older if the
	// answer is Folded: its body is not longer than both together. sent says that
	// older was or is in a request: then the answer must not be Folded. Fold
	// may be nil.
	//
	// Outdated says that newer holds less than older, and is dropped when older is
	// completed. It is sent all the same if older is not.
	//
	// KeepsDocuments says that the values of items hold on to memory of about the
	// size of their bodies, so that folding does not give back any room.
	KeepsDocuments bool
	Fold           func(older, newer *Item[V], sent bool) (Folding, Item[V])

	AutoFlush bool          // send full batches without being asked
	Interval  time.Duration // and what waits longer than this; not positive: never

	MaxAttempts    int
	Backoff        func(attempt int) time.Duration
	Delay          time.Duration // the longest that Backoff returns for the first attempt
	RequestTimeout time.Duration
	// UnknownWait is how long an item waits after a request was cut that carried
	// an earlier one of its key: the service may still be at work on it.
	UnknownWait time.Duration

	// Ping asks the service for something that has nothing to do with any item. It
	// tells an item that fails from a service that fails when there is nothing
	// else to send. It runs on the goroutine of a request. It may be nil.
	Ping func(ctx context.Context) error
	// Leave is asked before an item travels; false says that it was taken back and
	// must not. Back is called when it has come back to be sent again, because of err
	// if that is known. Both may be nil.
	Leave func(it *Item[V]) bool
	Back  func(it *Item[V], unknown bool, err error) (again bool)
	// Return is asked about an item that is taken back, or that Close gives up: true says
	// that it goes back to where it came from. Then it is Returned, which is neither a
	// failure nor unsent. It may be nil.
	Return func(v *V) bool
}
