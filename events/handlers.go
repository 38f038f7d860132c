package events

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Handlers are the callbacks of a sender. All fields are optional. ActionAdded receives the context of the adding call,
// the others a context without deadline that is never cancelled. By both the sender recognizes calls from inside a
// handler, so pass them on. Handlers of a Multi share the event: read it only, except for Veto.
type Handlers[T any] struct {
	// ActionAdded runs in the adding call, on its goroutine, after the document was checked and encoded and before it is
	// accepted. Several calls may run concurrently. An error or a panic refuses the action, and the adding call returns it
	// in an AddError. If the sender cannot accept the action afterwards, because the adding call's context ends while it
	// waits for room or the sender is closed, no further event follows and the adding call returns the error. An adding
	// call that has come this far may run ActionAdded while Close returns.
	ActionAdded func(context.Context, *ActionAdded[T]) error
	// ActionSent runs before each request that carries the action.
	ActionSent func(context.Context, *ActionSent[T])
	// ActionCompleted runs after the service has applied the action.
	ActionCompleted func(context.Context, *ActionCompleted[T])
	// ActionFailed runs after the action has failed permanently.
	ActionFailed func(context.Context, *ActionFailed[T])
	// BatchCompleted runs after each request, before the events of its actions.
	BatchCompleted func(context.Context, *Batch)
	// HealthChanged runs when the health of the sender has changed, on the same goroutine as other events and in order with
	// them. States too short for the sender to observe are not reported.
	HealthChanged func(context.Context, *HealthChange)
	// Closed runs once, after the last event. Close waits for it and returns its error in a CloseError. Its context ends
	// one second after that of Close.
	Closed func(context.Context) error
}

// ActionAdded is an action that is about to be accepted.
type ActionAdded[T any] struct {
	Action models.IndexDocumentsAction[T]
	// Key is the key of the document.
	Key string
	// Bytes is the size of the encoded action.
	Bytes int
}

// ActionSent is an action that is about to be sent.
type ActionSent[T any] struct {
	Action models.IndexDocumentsAction[T]
	Key    string
	// Attempt is the number of the attempt, from 1. The parts of a divided request have the number of the whole.
	Attempt int
	// BatchID is the client request ID of the request.
	BatchID string
}

// ActionCompleted is an action that the service has applied.
type ActionCompleted[T any] struct {
	Action models.IndexDocumentsAction[T]
	Key    string
	// Result is the service's answer.
	Result models.IndexingResult
	// Attempts is the number of attempts, from 1. Attempts while the circuit breaker is not closed do not count.
	Attempts int
	// Folded reports that the action was sent together with others of its key, as one action with the effect of all.
	Folded bool
	// Superseded reports that the action was not sent, because a newer version of the document was on its way. Folded is
	// then true too.
	Superseded bool
	// Veto lets a handler in front of Track hold the mark. Set an error if the handler could not do what must be done
	// before the mark passes the action. A panic of that handler does the same.
	Veto error
}

// ActionFailed is an action that was given up.
type ActionFailed[T any] struct {
	Action models.IndexDocumentsAction[T]
	Key    string
	// Err is a *bufferedsender.ActionError with the reason.
	Err error
	// Result is the service's last answer about this action, nil if there was none. It is also nil if the service rejects a
	// whole request because of this document, as for a value of the wrong type. So use Rejected instead of
	// Result.StatusCode.
	Result *models.IndexingResult
	// Attempts is the number of attempts; 0 if the action was never sent.
	Attempts int
	// Unknown reports that a request with the action was cut off, so that the action may have been applied.
	Unknown bool
	// Unsent reports that Close gave up the action: ErrClosed is in the chain of Err. It does not concern the document.
	Unsent bool
	// DeadLetter reports that the sender's DeadLetters have stored the action.
	DeadLetter bool
	// Folded, Superseded and Veto are as in ActionCompleted.
	Folded, Superseded bool
	Veto               error
}

func (e *ActionCompleted[T]) veto(err error) { e.Veto = cmp.Or(e.Veto, err) }
func (e *ActionFailed[T]) veto(err error)    { e.Veto = cmp.Or(e.Veto, err) }

// Rejected reports whether the service rejected this document for its content: sent again unchanged, it would be
// rejected again. Store such a document as a dead letter, or correct it. Rejected is false for failures that do not
// concern the document (no answer, attempts used up, a quota, a wrong API key, Close). The same document may be sent
// again after these.
//
// The result is that of the first error in the chain of Err with a method Rejected() bool, false without one.
func (e *ActionFailed[T]) Rejected() bool {
	var err models.RejectedError
	return errors.As(e.Err, &err) && err.Rejected()
}

// HealthState is a state of a sender's health.
type HealthState uint8

const (
	// HealthStateHealthy means that the sender sends without delay.
	HealthStateHealthy HealthState = iota
	// HealthStateWaitingForSlot means that a request is ready but senders that share its slots use all of them.
	HealthStateWaitingForSlot
	// HealthStateThrottled means that the service asked for fewer requests, or a request failed: sending pauses for a
	// moment and then resumes.
	HealthStateThrottled
	// HealthStateHalfOpen means that the circuit breaker is not closed, and that the next action is sent to probe the
	// service. Continue reading from upstream.
	HealthStateHalfOpen
	// HealthStateCircuitOpen means that only occasional probes are sent: the circuit breaker is not closed, because the
	// service fails or the index refuses everything.
	HealthStateCircuitOpen
	// HealthStatePaused means that nothing is sent until Resume.
	HealthStatePaused
	// HealthStateClosing means that Close was called and actions are left to send.
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

// WantsWork reports whether an action added now is sent soon. A program may stop reading from upstream while it is
// false. Do not wait for HealthStateHealthy instead: a breaker closes only after an action was sent.
func (s HealthState) WantsWork() bool { return s <= HealthStateHalfOpen }

// HealthChange is a change of a sender's health.
type HealthChange struct {
	From, To HealthState
	// At is the time of the change.
	At time.Time
	// Err is the reason, nil when the sender is healthy.
	Err error
}

// Batch describes one request and its reply.
type Batch struct {
	// ID is the client request id (x-ms-client-request-id).
	ID string
	// RequestID is the service's ID of the request, "" without an answer.
	RequestID string
	// Actions and Bytes are the size of the request, including the envelope.
	Actions int
	Bytes   int64
	// Duration is the time from the call to the reply.
	Duration time.Duration
	// StatusCode is the HTTP status of the reply, 0 without one.
	StatusCode int
	// Succeeded, Failed and Retried count the actions by outcome. Their sum is Actions, or all three are 0 if Split is
	// true.
	Succeeded, Failed, Retried int
	// Split reports that the request was refused as a whole and is sent again in parts.
	Split bool
	// Err is the error of the request as a whole, or nil.
	Err error
}
