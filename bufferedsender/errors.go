package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

var (
	// ErrClosed means that the sender was closed before it accepted the action or, in an ActionError, before it sent it.
	ErrClosed = errors.New("sender is closed")
	// ErrBufferFull means that a call that does not wait found no room: TryIndexDocuments, DisableAutoFlush, a callback.
	ErrBufferFull = errors.New("buffer is full")
	// ErrInCallback means that a callback called Flush, Close, IndexDocumentsAndWait or HoldKeys, which wait for callbacks.
	ErrInCallback = errors.New("this call would wait for itself: it was made inside a callback")
	// ErrNoResult means that the reply has no result for the action, or contradictory ones. It may have been applied.
	ErrNoResult = errors.New("reply has no result for this document")
	// ErrDocumentTooLarge means that a document alone exceeds the size limit of a request.
	ErrDocumentTooLarge = errors.New("document too large")
	// ErrCircuitOpen means that the breaker is not closed. It wraps a *breaker.OpenError and the service's answer.
	ErrCircuitOpen = publisher.ErrShut
	// ErrPaused means that the sender or its queue is paused.
	ErrPaused = publisher.ErrPaused
	// ErrPurged means that an accepted action was given up to make room for newer ones, see WhenFull.
	ErrPurged = errors.New("purged to make room")
	// ErrWithdrawn means that Withdraw, or the end of IndexDocumentsAndWait, took an accepted action back.
	ErrWithdrawn = models.ErrWithdrawn
	// ErrNotSent is the error of an events.Batch that was suspended during its ActionSent handlers; its actions wait again.
	ErrNotSent = publisher.ErrNotSent
	// ErrQueueFull means that Options.Queue is full. A sender with a queue returns it instead of ErrBufferFull.
	ErrQueueFull = errors.New("queue is full")
	// ErrElsewhere means that another process or an operator has settled the queued action. The outcome is unknown.
	ErrElsewhere = errors.New("settled elsewhere, outcome unknown")
	// ErrParked means that the action, or an earlier change of its key, is parked in the queue. It was not applied.
	ErrParked = errors.New("parked in the queue until an operator acts")
	// ErrNobodySends means that a Flush would block forever: no process reserves from the queue.
	ErrNobodySends = errors.New("no process sends from the queue")
)

// errNoKeyField means that the sender cannot determine the key field of documents.
var errNoKeyField = errors.New("the key field is not known")

// AddError means that an adding call did not accept all of its documents.
type AddError struct {
	// Accepted is the number of accepted documents, always the first ones. The others will not be sent, but see Unknown.
	Accepted int
	// Key is the key of the document at position Accepted, if it has one and the error is about it.
	Key string
	// Tag is the tag of the rejected action, for example a line number; otherwise nil.
	Tag any
	// Err is ErrClosed, ErrBufferFull, ErrQueueFull, ErrDocumentTooLarge, *models.EncodeError, *keys.InvalidKeyError, or
	// the error of the context, an ActionAdded handler or a sequence.
	Err error
	// Unknown is how many further documents the queue may have kept: ctx ended before its answer. See Continue.
	Unknown int

	document bool                                            // the error is about the document
	again    func(ctx context.Context) (more int, err error) // waits for the answer of the queue
}

// Continue waits for the queue's answer about Unknown documents and returns how many of the call's documents are then
// accepted. A nil error means that the Unknown ones are. If ctx ended first, call Continue again; adding the documents
// again may overwrite newer changes.
func (e *AddError) Continue(ctx context.Context) (accepted int, err error) {
	if e.again == nil {
		return e.Accepted, e
	}
	more, err := e.again(orBackground(ctx))
	return e.Accepted + more, err
}

// unfitError marks an error that is about the document, not about the sender or the call.
type unfitError struct{ error }

// unfit marks err; refusal removes the mark.
func unfit(err error) error { return unfitError{err} }

// refusal returns the error of a call that accepted n documents and refused the next one. It counts the document as
// rejected if the error is about it.
func (s *sender) refusal(n int, key string, tag any, err error) *AddError {
	e := &AddError{Accepted: n, Key: key, Tag: tag, Err: err}
	if marked, ok := err.(unfitError); ok { //nolint:errorlint // it is never wrapped
		e.Err, e.document = marked.error, true
		s.observer.rejected(e.Err)
	}
	return e
}

func (e *AddError) Error() string {
	if e.Unknown > 0 {
		return fmt.Sprintf("document %d was perhaps accepted: the queue has not answered: %v", e.Accepted, e.Err)
	}
	which := ""
	switch {
	case e.Key != "" && e.Tag != nil:
		which = fmt.Sprintf(" (key %q, tag %v)", e.Key, e.Tag)
	case e.Key != "":
		which = fmt.Sprintf(" (key %q)", e.Key)
	case e.Tag != nil:
		which = fmt.Sprintf(" (tag %v)", e.Tag)
	}
	return fmt.Sprintf("document %d%s was not accepted: %v", e.Accepted, which, e.Err)
}

func (e *AddError) Unwrap() error { return e.Err }

// Rejected reports whether the document at position Accepted is the cause.
func (e *AddError) Rejected() bool { return e.document }

// DocumentTooLargeError has size and limit. It wraps ErrDocumentTooLarge.
type DocumentTooLargeError struct {
	Size  int // of a request with this document alone, in bytes
	Limit int // Limits.MaxBatchBytes or, if less, MaxBufferedBytes; in bytes
}

func (e *DocumentTooLargeError) Error() string {
	return fmt.Sprintf("%v: alone it makes a request of %d bytes, the limit is %d", ErrDocumentTooLarge, e.Size, e.Limit)
}

func (e *DocumentTooLargeError) Unwrap() error { return ErrDocumentTooLarge }

// ActionError is the reason why an action failed for good.
type ActionError struct {
	Key  string
	Type models.ActionType
	// Reason classifies the cause.
	Reason models.Reason
	// Status is the HTTP status of the document, or of the request if it was refused as a whole; 0 without an answer.
	Status int
	// Message is the service's explanation, or "".
	Message string
	// Attempts is how often the action was sent, except while the breaker was not closed.
	Attempts int
	// Exhausted means that the failure was retryable but the attempts are used up. Unknown means that the action may have
	// been applied: a request that carried it was cut off. DeadLetter means that Options.DeadLetters has kept the action.
	Exhausted, Unknown, DeadLetter bool
	// Err is the error of the request, ErrNoResult, ErrClosed, ErrPurged, ErrWithdrawn, ErrElsewhere or ErrParked; nil if
	// the service refused the document.
	Err error
}

func (e *ActionError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of document %q failed", e.Type, e.Key)
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " after %d attempts", e.Attempts)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " with status %d", e.Status)
	}
	switch {
	case e.Message != "":
		b.WriteString(": " + e.Message)
	case e.Err != nil:
		b.WriteString(": " + e.Err.Error())
	}
	if e.Unknown {
		b.WriteString(" (it may have been applied)")
	}
	return b.String()
}

func (e *ActionError) Unwrap() error { return e.Err }

// Rejected reports whether the service refused the content of the document.
func (e *ActionError) Rejected() bool { return e.Reason.Rejected() }

// FlushError means that actions accepted before a Flush have failed.
type FlushError struct {
	// Count is the number of failed actions that no earlier Flush has reported.
	Count int
	// Unsent, Withdrawn and DeadLetters are parts of Count: actions given up by a Close whose context ended meanwhile,
	// actions taken back, and actions that Options.DeadLetters has kept.
	Unsent, Withdrawn, DeadLetters int
	// Parked counts further keys that no earlier Flush reported: a change of this sender is parked, or waits behind a
	// parked one. With WholeQueue it counts all parked keys of the queue.
	Parked int
	// Errors holds the first hundred.
	Errors []*ActionError
}

// parkedToo adds parked keys to the result of a Flush.
func parkedToo(err error, parked int) error {
	if parked == 0 {
		return err
	}
	var failed *FlushError
	if !errors.As(err, &failed) {
		if err != nil {
			return err
		}
		failed = &FlushError{}
	}
	failed.Parked = parked
	return failed
}

func (e *FlushError) Error() string {
	if e.Count == 0 && e.Parked > 0 {
		return fmt.Sprintf("%d %s parked in the queue, with changes that are not in the index", e.Parked, plural(e.Parked, "key"))
	}
	withdrawn := ""
	if e.Withdrawn > 0 {
		withdrawn = fmt.Sprintf(", %d of them withdrawn", e.Withdrawn)
	}
	return fmt.Sprintf("%d %s failed%s%s", e.Count, plural(e.Count, "action"), withdrawn, first(e.Errors))
}

func (e *FlushError) Unwrap() []error { return unwrapAll(e.Errors) }

// CloseError means that not every accepted action is in the index.
type CloseError struct {
	// Unsent and Unknown count actions that were given up because ctx ended. Unsent ones were not applied; Unknown ones may
	// have been: a request that carried them was cut off. Failed counts failed actions that no Flush has reported.
	// DeadLetters is how many of all these Options.DeadLetters has kept.
	Unsent, Unknown, Failed, DeadLetters int
	// Held wraps ErrCircuitOpen or ErrPaused if sending was suspended when ctx ended; otherwise nil.
	Held error
	// Errors holds the first hundred of all these. It is empty if CallbackStuck is true.
	Errors []*ActionError
	// Queue is set if Options.Queue has lost acknowledged records (queue.ErrLost). Actions added here since the last Flush
	// may be lost.
	Queue error
	// Handlers is the error of the Closed handler.
	Handlers error
	// CallbackStuck is true if a callback did not return in time. It may still run after Close.
	CallbackStuck bool
}

func (e *CloseError) Error() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{e.Unsent, "unsent"}, {e.Unknown, "with unknown outcome"}, {e.Failed, "failed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s %s", part.n, plural(part.n, "action"), part.what))
		}
	}
	if e.Held != nil && len(parts) > 0 && e.Unsent+e.Unknown > 0 {
		parts[0] += fmt.Sprintf(" (sending was suspended: %v)", e.Held)
	}
	if e.DeadLetters > 0 {
		parts = append(parts, fmt.Sprintf("%d of them in the dead letters", e.DeadLetters))
	}
	if e.CallbackStuck {
		parts = append(parts, "a callback did not return")
	}
	if e.Queue != nil {
		parts = append(parts, "records lost by the queue: "+e.Queue.Error())
	}
	if e.Handlers != nil {
		parts = append(parts, "an error of the Closed handler: "+e.Handlers.Error())
	}
	return "closed with " + strings.Join(parts, ", ") + first(e.Errors)
}

func (e *CloseError) Unwrap() []error {
	all := unwrapAll(e.Errors)
	for _, err := range []error{e.Held, e.Queue, e.Handlers} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func first(errs []*ActionError) string {
	if len(errs) == 0 {
		return ""
	}
	return "; first: " + errs[0].Error()
}

func unwrapAll(errs []*ActionError) []error {
	all := make([]error, len(errs))
	for i, err := range errs {
		all[i] = err
	}
	return all
}

// translate converts an error of the publisher into one of this package.
func translate(err error) error {
	if err == nil {
		return nil
	}
	var flush *publisher.FlushError
	var full *publisher.FullError
	switch {
	case errors.Is(err, publisher.ErrClosed):
		return ErrClosed
	case errors.As(err, &full):
		return fmt.Errorf("%w: %w", ErrBufferFull, full.Held)
	case errors.Is(err, publisher.ErrFull):
		return ErrBufferFull
	case errors.Is(err, publisher.ErrInCallback):
		return ErrInCallback
	case errors.As(err, &flush):
		return &FlushError{Count: int(flush.Count), Unsent: int(flush.Unsent), Withdrawn: int(flush.Withdrawn), DeadLetters: int(flush.Kept), Errors: actionErrors(flush.Errors)}
	}
	return err // of a context
}

// translateClose is translate for calls that may return the result of Close. All of them return the same value.
func (s *sender) translateClose(err error) error {
	e := new(publisher.CloseError)
	var lost error
	if s.feed != nil {
		lost = s.feed.lost()
	}
	if !errors.As(err, &e) && (lost == nil || err != nil) {
		return translate(err)
	}
	s.closeOnce.Do(func() {
		if s.feed != nil && e.Stuck { // unsettled actions go back to the queue
			e.Unsent, e.Unknown = 0, 0
		}
		s.closeErr = &CloseError{
			Unsent: int(e.Unsent), Unknown: int(e.Unknown), Failed: int(e.Failed), DeadLetters: int(e.Kept),
			Errors: actionErrors(e.Errors), CallbackStuck: e.Stuck, Handlers: e.Hook, Held: e.Held, Queue: lost,
		}
	})
	return s.closeErr
}

// actionErrors converts the failures of the publisher. None is dropped: observer.settled makes each an *ActionError.
func actionErrors(errs []error) []*ActionError {
	all := make([]*ActionError, 0, len(errs))
	for _, err := range errs {
		if failed := (*ActionError)(nil); errors.As(err, &failed) {
			all = append(all, failed)
		}
	}
	return all
}
