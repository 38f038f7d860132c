package events

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Handlers are the callbacks of a sender. All fields are optional. ActionAdded
// gets the context of the adding call, the others one that has no deadline and
// is never cancelled. Both are marked so that the sender recognises calls from
// inside: pass them on. Handlers of a Multi share the event: only read it, but for Veto.
type Handlers[T any] struct {
	// ActionAdded runs in the adding call, on its goroutine, after the document
	// was checked and encoded and before it is accepted; many may run at once.
	// An error or a panic refuses the action, and the adding call returns it in
	// an AddError. If the sender cannot take the action after all (the adding
	// call's context ends while it waits for room, the sender is closed), no
	// further event follows and the adding call says so. It may run while Close
	// returns, if an adding call has come that far.
	ActionAdded func(context.Context, *ActionAdded[T]) error
	// ActionSent runs before each request that carries the action.
	ActionSent func(context.Context, *ActionSent[T])
	// ActionCompleted runs when the service has applied the action.
	ActionCompleted func(context.Context, *ActionCompleted[T])
	// ActionFailed runs when the action has failed for good.
	ActionFailed func(context.Context, *ActionFailed[T])
	// BatchCompleted runs after each request, before the events of its actions.
	BatchCompleted func(context.Context, *Batch)
	// HealthChanged runs when the condition of the sender has changed, on the
	// same goroutine as the others and in order with them. What lasts so short a
	// time that it is over when the sender comes to it is not reported.
	HealthChanged func(context.Context, *HealthChange)
	// Closed runs once, after the last event. Close waits for it and returns its
	// error in a CloseError. Its context ends a second after that of Close.
	Closed func(context.Context) error
}

// ActionAdded says that an action is about to be accepted.
type ActionAdded[T any] struct {
	Action models.IndexDocumentsAction[T]
	// Key is the key of the document.
	Key string
	// Bytes is the size of the encoded action.
	Bytes int
}

// ActionSent says that an action is about to travel.
type ActionSent[T any] struct {
	Action models.IndexDocumentsAction[T]
	Key    string
	// Attempt is 1 for the first request that carries the action. The halves of
	// a request that was split repeat the number of their whole.
	Attempt int
	// BatchID is the client request id of the request.
	BatchID string
}

// ActionCompleted says that an action was applied.
type ActionCompleted[T any] struct {
	Action models.IndexDocumentsAction[T]
	Key    string
	// Result is the service's answer.
	Result models.IndexingResult
	// Attempts is how many attempts it took, from 1. Tries while the circuit
	// breaker is not closed do not count.
	Attempts int
	// Folded is true if the action travelled together with others of its key, as
	// one that does what they all do.
	Folded bool
	// Superseded is true if nothing of it travelled, because a newer version of
	// the document was on its way. Folded is then true too.
	Superseded bool
	// Veto is for a handler that stands before Track and could not do what must be done
	// before the mark passes: with an error here the action holds the mark. So does a panic
	// of that handler.
	Veto error
}

// ActionFailed says that an action was given up.
type ActionFailed[T any] struct {
	Action models.IndexDocumentsAction[T]
	Key    string
	// Err is a *bufferedsender.ActionError that says why.
	Err error
	// Result is the service's last answer about this action, or nil if there
	// was none. It is nil, too, where the service rejects the request for the
	// sake of this document, as it does if a value has the wrong type: ask
	// Rejected rather than Result.StatusCode.
	Result *models.IndexingResult
	// Attempts is how many attempts were made; 0 if it was never sent.
	Attempts int
	// Unknown is true if a request that carried the action was cut off, so that
	// it may have been applied all the same.
	Unknown bool
	// Unsent is true if Close has given the action up: ErrClosed is in the chain
	// of Err. It says nothing about the document.
	Unsent bool
	// DeadLetter is true if the sender's DeadLetters have taken the action.
	DeadLetter bool
	// Folded and Superseded are as in ActionCompleted, and so is Veto.
	Folded, Superseded bool
	Veto               error
}

func (e *ActionCompleted[T]) veto(err error) { e.Veto = cmp.Or(e.Veto, err) }
func (e *ActionFailed[T]) veto(err error)    { e.Veto = cmp.Or(e.Veto, err) }

// Rejected reports whether the service rejected this document for its own sake: sent
// again as it is, it would be rejected again. Such a document belongs to the dead
// letters, or to somebody who mends it. It is false for failures that say nothing
// about the document (no answer, attempts used up, a quota, a wrong API key, Close),
// after which the same document may be sent again.
//
// The answer is that of the first error in the chain of Err that has a method
// Rejected() bool, and false if none has.
func (e *ActionFailed[T]) Rejected() bool {
	var err models.RejectedError
	return errors.As(e.Err, &err) && err.Rejected()
}

// HealthState is a condition of a sender.
type HealthState uint8

const (
	// HealthStateHealthy means that it sends what there is to send.
	HealthStateHealthy HealthState = iota
	// HealthStateWaitingForSlot means that a request is ready and the sender shares its
	// slots with others, which have them all.
	HealthStateWaitingForSlot
	// HealthStateThrottled means that a reply asked for less, or a request failed: nothing is
	// sent for a moment. It ends by itself.
	HealthStateThrottled
	// HealthStateHalfOpen means that the circuit breaker is not closed, and that it is time to
	// find out whether the service works again: the next action that is sent finds
	// out. A program that reads from upstream goes on reading.
	HealthStateHalfOpen
	// HealthStateCircuitOpen means that nothing is sent but a probe now and then: the circuit
	// breaker is not closed, because the service does not work, or the index refuses
	// all that there is to send.
	HealthStateCircuitOpen
	// HealthStatePaused means that nothing is sent until Resume.
	HealthStatePaused
	// HealthStateClosing means that Close was called and something is left to send.
	HealthStateClosing
	// HealthStateClosed means that everything is settled and reported.
	HealthStateClosed
)

// String returns the name of the state.
func (s HealthState) String() string {
	names := [...]string{"healthy", "waiting for a slot", "throttled", "half-open", "circuit open", "paused", "closing", "closed"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// WantsWork reports whether what is added now is sent soon: a program that stops
// reading from upstream while its sender cannot send stops until then. Not until
// HealthStateHealthy: a breaker closes only when something was sent.
func (s HealthState) WantsWork() bool { return s <= HealthStateHalfOpen }

// HealthChange says that the condition of a sender has changed.
type HealthChange struct {
	From, To HealthState
	// At is when.
	At time.Time
	// Err is why, nil when there is nothing wrong.
	Err error
}

// Batch describes one request and its reply.
type Batch struct {
	// ID is the client request id (x-ms-client-request-id).
	ID string
	// RequestID is the service's own id of the request, if it answered.
	RequestID string
	// Actions and Bytes are the size of the request, envelope included.
	Actions int
	Bytes   int64
	// Duration is the time from the call to the reply.
	Duration time.Duration
	// StatusCode is the HTTP status of the reply, 0 if there was none.
	StatusCode int
	// Succeeded, Failed and Retried count what became of the actions. Their sum
	// is Actions, unless Split is true: then all three are zero.
	Succeeded, Failed, Retried int
	// Split is true if the request was refused as a whole and its parts will be
	// sent again.
	Split bool
	// Err is why the request as a whole failed, or nil.
	Err error
}
