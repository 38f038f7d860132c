package publisher

import (
	"context"
	"time"
)

// Item is one action. The publisher does not interpret Value.
type Item[V any] struct {
	Key   string // at most one item with this key is in flight
	Body  []byte // counts toward the limits; must not change any more
	Value V
	// Attempt is set by the publisher, to 1 when the item is sent for the first time.
	Attempt int
	// Waited is set by the publisher: the time from acceptance to this request.
	Waited time.Duration
	// Parts is set by the publisher: the items folded into this one, oldest first, including itself. It is nil without
	// folding.
	Parts []Part[V]
	// Class is the service class, 0 the most urgent one. Slots decide how much slower the others are; a part of the buffer
	// is reserved for class 0.
	Class uint8
	// Own is true if Body has its own memory. Otherwise the publisher copies Body when, and only when, it accepts the item.
	Own bool
	// Unknown is true if a request outside this publisher may have applied the item.
	Unknown bool
	// Again and Outdated are set by the publisher. Again: an earlier request has carried the item. Outdated: an earlier
	// item of its key has a newer version.
	Again, Outdated bool
	slab            *slab  // that contains Body, or nil
	hash            uint32 // of Key, for its lane; 0: not computed yet
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
	Bytes int // including envelope and commas
}

// Transport sends a batch and returns the result of each item. Up to Limits.InFlight goroutines call it at once. It
// should return soon after ctx ends. A panic counts as a lost connection.
type Transport[V, R any] interface {
	Send(ctx context.Context, batch *Batch[V]) Reply[R]
}

// Step is the next step of an item.
type Step uint8

// The steps. Requeue is the zero value: an item without an answer is sent again.
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
	// Cut is true if the service may still process the request, because it has not answered itself.
	Cut bool
	// Throttled is true if the item was refused only because the service is busy.
	Throttled bool
	// Own is true if the answer is about this item, not the index, so that a retry always uses an attempt.
	Own bool
	// Reason is the service's explanation for an item whose Next is Fail, without details of the item: items refused for
	// one cause have the same Reason. It is empty if the index cannot be the cause.
	Reason string
	// Ignored is true for an item that counts as Complete although it changed nothing. Bare is true for an item that was
	// applied without regard to its content, so that it proves nothing about the index.
	Ignored, Bare bool
	// Free is true if an item whose Next is Requeue uses no attempt, see Tap.
	Free bool
	// Body replaces the body of an item whose Next is Requeue. The item is sent again at once and uses no attempt. The
	// length must be the same.
	Body []byte
}

// Service is the state of the whole service that a reply implies.
type Service uint8

// The possible implications.
const (
	ServiceUnclear   Service = iota // nothing
	ServiceSound                    // it works, whatever it answered about these items
	ServiceThrottles                // it works, but asks for less
	ServiceFails                    // it does not work
	ServiceRefuses                  // it will not work until something is changed
)

// Gate can stop all requests while the service is considered unavailable. The loop calls it, and again after each Wake.
type Gate interface {
	// Enter asks for a permit for one request that is ready.
	Enter() (Permit, bool)
	// State returns the current state.
	State() GateState
	// Early reports whether an item is waiting that cannot be the cause of the shut gate. It should be let through at once,
	// as a probe.
	Early(there bool)
}

// GateState is the state of a Gate.
type GateState struct {
	Shut    error // why requests are stopped, or nil
	Blocked bool  // not even a probe is allowed
	// Ready is true if the gate waits for a probe, Early if only because of Gate.Early.
	Ready, Early bool
	// Spared is true if only requests of others have failed often enough to stop this publisher.
	Spared bool
	// Served counts requests with a reply from a working service, of all publishers that share the gate. Others counts
	// those of the other publishers.
	Served, Others uint64
}

// Permit allows one request. Done may be called more than once, by any goroutine; only the first call counts.
type Permit interface {
	// Probe reports whether this request tests if the service works again. Such a request is kept small.
	Probe() bool
	// Answered reports that the service works, whatever the result of the request. Done may follow later, after it is known
	// what the answer is about.
	Answered()
	// Done reports the result. retryAfter is negative without a hint.
	Done(health Service, retryAfter time.Duration, err error)
}

// Room bounds what several publishers buffer together. It is called with a lock of the publisher held, so it must not
// block or call a publisher, except Wake: it calls Wake when there may be room for a publisher that it has refused.
type Room interface {
	// Take takes room for one item, if there is some. It always succeeds for an item with Must.
	Take(want Want) bool
	// Return returns the room of items, or of bytes alone.
	Return(items int, bytes int64)
	// Quit reports that no call of this publisher waits for refused room any more.
	Quit()
	// Pressed reports whether a publisher with an empty buffer waits until this one's buffer is empty. Then this one sends
	// without waiting for full batches.
	Pressed() bool
	// Floor returns the publisher's guaranteed room.
	Floor() (items int, bytes int64)
}

// Want describes the requested room.
type Want struct {
	Class uint8
	Bytes int64
	// Lend is true if buffered items leave without intervention, so that more than the floor may be lent.
	Lend bool
	Must bool
}

// Slots bounds the requests of several publishers together. Only the loop calls it. A refused publisher waits in line
// and is woken (Wake) when there may be a slot.
type Slots interface {
	// Free reports whether there is a slot for the next request of the class, of about that size in bytes. If it is for a
	// trial, see Slot, trial is the most items of that request; otherwise it is 0.
	Free(class uint8, bytes int) (free bool, trial int)
	// Doubted reports whether only trials are allowed. One trial may exceed the limit of requests in flight.
	Doubted() bool
	// Take takes a slot for a request that is sent now, if there is one. It does not block.
	Take(class uint8, bytes int) (Slot, bool)
	// Quit leaves the line for a class when no request of it is ready.
	Quit(class uint8)
	// Away reports whether a hook runs, and whether it is Sent. The publisher passes slots that are granted meanwhile to
	// others, and asks for them again.
	Away(away, sent bool)
	// Err returns why there are no more slots, or nil.
	Err() error
}

// Slot is the permission for one request. Release ends the request; answered is true if the service answered in time.
// GiveBack returns an unused slot. Both may be called by any goroutine; only the first call counts.
type Slot interface {
	Release(answered bool)
	GiveBack()
	// Trial returns the limits of a request that tests whether the service answers again after unanswered ones, in time and
	// in items, or 0 and 0 without limits. Reaching the time limit proves nothing.
	Trial() (within time.Duration, items int)
	// Elsewhere reports that the request starts or stops waiting for something other than the service. Meanwhile its slot
	// may go to others, and the time does not count.
	Elsewhere(waits bool)
}

// Sample describes a finished request, for a Tuner. Times are relative to the start of the publisher.
type Sample struct {
	Now, Started    time.Duration
	Items, Bytes    int // in the request
	Done, Throttled int // items
	Service         Service
	Refused         bool // as a whole, because the service is busy
	InFlight        int  // requests in flight, this one included
	Backlog         int  // items that could be sent but were not
}

// Tuned is the pace chosen by a Tuner. It can only reduce the limits; 0 leaves a limit unchanged.
type Tuned struct {
	BatchItems, BatchBytes, InFlight int
	Interval                         time.Duration // between the starts of two requests
}

// Tuner adapts the pace to the service. Only the loop calls it.
type Tuner func(Sample) Tuned

// Reply is the answer to a batch.
type Reply[R any] struct {
	// Results[i] is about batch.Items[i]. If the lengths differ, every item is retried with ErrNoResult.
	Results []Result[R]
	// Split is true if the batch was refused as a whole for its content. It is then divided and sent again, without using
	// an attempt. A single item fails with Err. Results are ignored.
	Split bool
	// Named holds the sorted positions of the items blamed for the refusal. It may be wrong, so it only affects the
	// division.
	Named []int
	// Reason explains why a batch was refused, see Result. Trait identifies the items that have what the service refuses,
	// for example a property that the index lacks; nil if the reply names nothing detectable.
	Reason string
	Trait  *Trait
	// Whole is true if the request failed and no item was judged. TimedOut is true if the request timed out.
	Whole, TimedOut bool
	// TooLarge is true if the size of the batch was the reason.
	TooLarge bool
	// Pause stops all sending for RetryAfter or, if that is negative, for a time that grows with each pause.
	Pause      bool
	RetryAfter time.Duration
	// Unconfirmed is true if the Tap held the request back or did not confirm it.
	Unconfirmed bool
	// Resend is true if the Tap did not confirm what was applied because of an error.
	Resend bool
	// Service is the state of the service that the reply implies. Throttled counts items refused only because it is busy.
	Service   Service
	Throttled int
	// Refused is true if the whole batch was refused because the service is busy.
	Refused bool
	// Err is the reason why the batch failed as a whole, or nil.
	Err error
	// Status and RequestID are for the hooks; the publisher does not read them.
	Status    int
	RequestID string
}

// Trait is a property that items of a batch share.
type Trait struct {
	Name string
	Has  func(body []byte) bool
}

// Outcome is the result of an item.
type Outcome uint8

// The outcomes. Only a Close that gives up makes items Unsent. A Returned item has no outcome here: it goes back to its
// origin, see Config.Return.
const (
	Completed Outcome = iota
	Failed
	Unsent
	Returned
)

// Settlement describes how one item was settled.
type Settlement[V, R any] struct {
	Item    *Item[V]
	Outcome Outcome
	// Result is the last answer, or nil without one.
	Result *Result[R]
	// Exhausted is true if the item failed because its attempts are used up.
	Exhausted bool
	// Unknown is true if a request that carried the item was cut off, so that it may have been applied.
	Unknown bool
	// Cut is true if a request with the item, or an earlier one of its key, was cut off less than UnknownWait ago. The
	// service may still process it, even if the item completed later. It is set when Settled is called.
	Cut bool
	// Purged is true if the item made room, Withdrawn if it was taken back, and Index if it failed because of the index.
	Purged, Withdrawn, Index bool
	// Kept is true if the Ending hook has kept the failed item.
	Kept bool
	// Reported is set by the Settled hook, also if that then ends its goroutine. It means that a waiting call has got the
	// error, so Flush and Close do not report it.
	Reported bool
	// Held is the reason why sending was suspended when Close gave the item up, or nil.
	Held error
	// Carrier is the item in the form in which it was sent, or would be. Only the first of several folded items has it.
	// An item with a newer version of its key does not have it if both are given up.
	Carrier *Item[V]
	// Folded is true if the item was sent, or would be, together with others of its key; Superseded if it was not sent at
	// all.
	Folded, Superseded bool
	// Waited is the time since acceptance.
	Waited time.Duration
}

// Hooks are called by the loop, one at a time, without a lock held. They must not retain their arguments. A hook must
// recover its own panics. Except in Explain it may end its goroutine (runtime.Goexit).
type Hooks[V, R any] struct {
	// Accepted runs when the loop has taken over n accepted items.
	Accepted func(n int)
	// Sent runs before a batch is sent.
	Sent func(batch *Batch[V])
	// Replied runs after the batch was judged, before its items are settled.
	Replied func(batch *Batch[V], reply *Reply[R], took time.Duration, n Counts)
	// Ending runs before settled items are explained and reported. It returns whether it has kept the failed ones, except
	// those withdrawn.
	Ending func(all []Settlement[V, R]) (kept bool)
	// Explain returns the error of an item that did not complete, for Flush or Close.
	Explain func(s *Settlement[V, R]) error
	// Settled runs once for each accepted item. err is the result of Explain, or nil. It may set Settlement.Reported.
	Settled func(s *Settlement[V, R], err error)
	// Delivered runs after the last Settled of a batch.
	Delivered func()
	// Suspect runs when the index is considered the cause of refusals, and with nil when it no longer is. It must not
	// block.
	Suspect func(why *IndexError)
	// Paused runs when all sending stops for a time.
	Paused func(wait time.Duration)
	// Changed runs when the condition has changed: its state, or whether there is a reason while it is Closing.
	Changed func(from, to Condition)
	// Name returns the name of the foreign code that runs in a hook now. Any goroutine may call it.
	Name func() string
	// Closed is the last hook. Close waits for it and returns its error in a CloseError. ctx ends a second after Close
	// gives up.
	Closed func(ctx context.Context) error
}

// Overload is the policy for items that wait for room while the gate is shut.
type Overload uint8

// The policies.
const (
	Block    Overload = iota // wait
	Refuse                   // reject them
	PurgeOne                 // give up the oldest waiting items, as many as necessary
	PurgeAll                 // give up all waiting items
)

// Policy is an Overload with a function that runs like a hook after items were purged, with their keys, one for each
// item.
type Policy struct {
	Overload Overload
	Purged   func(keys []string)
}

// Control holds the settings that can change while a publisher runs.
type Control struct {
	Limits   Limits
	Interval time.Duration // see Config
	Overload Policy
}

// Folding is the way to combine a newer item with an unsettled older one of its key.
type Folding uint8

// The kinds of folding.
const (
	Apart    Folding = iota // send both, one after the other
	Folded                  // send one item with the effect of both
	Outdated                // the newer item has an older version: send it only if the other fails
)

// Limits are the limits that can change while a publisher runs.
type Limits struct {
	BatchItems int
	// Enough is the number of items from which a batch is sent without waiting for more; 0, or more than BatchItems, means
	// a full batch.
	Enough     int
	BatchBytes int // including envelope and commas
	InFlight   int
	Items      int   // most accepted and unsettled items
	Bytes      int64 // most bytes of their bodies
}

// Counts are the results of a batch, in items.
type Counts struct{ Done, Failed, Retried int }

// Config configures a publisher. All fields must be set unless they may be nil; the sender validates them.
//
//archtest:long independent parts of a publisher
type Config[V, R any] struct {
	Transport Transport[V, R]
	Hooks     Hooks[V, R]
	NewID     func() string // for a batch

	Limits   Limits
	Envelope int // bytes around the bodies of a batch
	Comma    int // bytes between two bodies

	// Recycle takes unused results of a reply; nil leaves them to the garbage collector.
	Recycle  func([]Result[R])
	Gate     Gate  // or nil
	Slots    Slots // or nil
	Room     Room  // in addition to Limits, or nil
	Tap      Tap   // or nil
	Tuner    Tuner // or nil
	Tuned    Tuned // initial pace with a Tuner
	Overload Policy
	// Fold decides about newer. If it returns Folded, it also returns the item to send instead of older, whose body must
	// not be longer than both together. sent is true if older is or was in a request; then the answer must not be Folded.
	// Fold may be nil. older is nil if what was before newer has failed.
	//
	// Outdated means that newer has an older version and is dropped if older completes. Otherwise it is sent anyway.
	//
	// KeepsDocuments is true if the values of items retain about as much memory as their bodies, so that folding frees no
	// room.
	KeepsDocuments bool
	Fold           func(older, newer *Item[V], sent bool) (Folding, Item[V])

	AutoFlush bool          // send full batches without a Flush
	Interval  time.Duration // most time until a batch is sent; not positive: no limit

	MaxAttempts    int
	Backoff        func(attempt int) time.Duration
	Delay          time.Duration // the longest Backoff of a first attempt
	RequestTimeout time.Duration
	// UnknownWait is how long an item waits after a request with an earlier one of its key was cut off, because the service
	// may still process it.
	UnknownWait time.Duration

	// Ping sends the service a request without any item. It distinguishes a failing item from a failing service when there
	// is nothing else to send. It runs on the goroutine of a request. It may be nil.
	Ping func(ctx context.Context) error
	// Leave is called before an item is sent; false means that it must not be sent, because it was taken back. Back is
	// called when an item will be sent again, with the error if known; false means that it was taken back. Both may be nil.
	Leave func(it *Item[V]) bool
	Back  func(it *Item[V], unknown bool, err error) (again bool)
	// Return reports whether an item that is taken back, or that Close gives up, goes back to its origin. Then its outcome
	// is Returned, neither a failure nor unsent. It may be nil.
	Return func(v *V) bool
}
