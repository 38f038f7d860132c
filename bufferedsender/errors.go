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
	// ErrClosed says that the sender was closed before the action could be
	// accepted or, in an ActionError, before it could be sent.
	ErrClosed = errors.New("the sender is closed")
	// ErrBufferFull says that there is no room and that the call does not wait
	// for it: TryIndexDocuments, a sender with DisableAutoFlush, or a call from
	// inside a callback. Call Flush, or try again later.
	ErrBufferFull = errors.New("the buffer is full")
	// ErrInCallback says that Flush or Close was called from inside a callback,
	// where it would wait for itself: with the context that the callback was
	// given, or with any other in the callbacks that run on the publisher
	// goroutine (all but ActionAdded).
	ErrInCallback = errors.New("Flush and Close cannot be called from inside a callback")
	// ErrNoResult says that the service answered but said nothing, or nothing
	// sensible, about the action. It may have been applied.
	ErrNoResult = errors.New("the reply has no result for this document")
	// ErrDocumentTooLarge says that a document does not fit into a request even
	// alone.
	ErrDocumentTooLarge = errors.New("document too large")
	// ErrCircuitOpen says that the circuit breaker is not closed: the service did
	// not work when it was tried last. It is in the error of a Flush, a Close or
	// an adding call whose context ended while the breaker was the reason to wait.
	// The chain also holds a *breaker.OpenError with the details, and what the
	// service answered.
	ErrCircuitOpen = publisher.ErrShut
	// ErrPaused says that Pause was called and Resume was not. It is where
	// ErrCircuitOpen would be.
	ErrPaused = publisher.ErrPaused
	// ErrPurged says that an accepted action was given up to make room for newer
	// ones, as Options.Outage allows.
	ErrPurged = errors.New("purged to make room")
	// ErrWithdrawn says that the program has taken an accepted action back, with
	// Withdraw or by ending the context of IndexDocumentsAndWait.
	ErrWithdrawn = models.ErrWithdrawn
	// ErrNotSent is the error of an events.Batch that was not sent after all, because
	// sending was held while its ActionSent events were reported. Its actions wait
	// again.
	ErrNotSent = publisher.ErrNotSent
	// ErrQueueFull says that the durable queue holds as much as it may, see its options. It
	// is where ErrBufferFull would be without a queue, and in the error of an adding call
	// whose context ended while it waited for room.
	ErrQueueFull = errors.New("the queue is full")
	// ErrElsewhere says that the durable queue has kept the action and that another process,
	// or people, have dealt with it: what has become of it is not known here.
	ErrElsewhere = errors.New("dealt with elsewhere")
	// ErrParked says that the action is parked in the durable queue, or waits there behind a change of its key that is.
	// It was not applied, and is not sent until people release what is parked, or drop it.
	ErrParked = errors.New("parked in the queue, for people to look at")
	// ErrNobodySends says that a Flush waits for nothing: nobody reserves what is in the
	// durable queue.
	ErrNobodySends = errors.New("nobody sends what is in the queue")
)

// errNoKeyField says that the sender does not know which field of a document is its key.
var errNoKeyField = errors.New("the key field is not known")

// AddError says that an adding call did not accept all of its documents.
type AddError struct {
	// Accepted is how many were: exactly the first Accepted of the call. They
	// will be sent; the others certainly will not.
	Accepted int
	// Key is the key of the document at position Accepted, if it has one and the
	// error is about it.
	Key string
	// Tag is that of the rejected action of an IndexSeq, whose position tells nobody where it came from: give it the
	// line, or the offset. It is nil otherwise.
	Tag any
	// Err is why: ErrClosed, ErrBufferFull, the error of the context,
	// ErrDocumentTooLarge, *models.EncodeError, *keys.InvalidKeyError, the error
	// of an ActionAdded handler or of a sequence.
	Err error

	// Unknown is how many documents, from position Accepted on, may have been kept by
	// Options.Queue: ctx ended before its answer came. They are settled by Continue. It is 0
	// without a queue.
	Unknown int

	document bool                                            // it is about the document
	again    func(ctx context.Context) (more int, err error) // waits for the answer of the queue
}

// Continue goes on waiting for the answer of the queue about the documents of which it is
// Unknown whether it has kept them, and returns how many of the call are accepted then: with
// nil those too. It adds nothing: the documents behind them were not tried. Adding the same
// documents anew instead is new work, which may land after what others have added
// meanwhile. An error of ctx leaves open what it was; Continue may be called again.
func (e *AddError) Continue(ctx context.Context) (accepted int, err error) {
	if e.again == nil {
		return e.Accepted, e
	}
	more, err := e.again(orBackground(ctx))
	return e.Accepted + more, err
}

// unfitError marks an error that is about the document, and not about the sender or
// the call.
type unfitError struct{ error }

// unfit returns err with the mark, which refusal takes off.
func unfit(err error) error { return unfitError{err} }

// refusal returns the error of a call that has accepted n documents and refuses the
// next, and counts the document if it is the reason.
func (s *sender) refusal(n int, key string, err error) *AddError {
	e := &AddError{Accepted: n, Key: key, Err: err}
	if marked, ok := err.(unfitError); ok { //nolint:errorlint // it is never wrapped
		e.Err, e.document = marked.error, true
		s.observer.rejected(e.Err)
	}
	return e
}

func (e *AddError) Error() string {
	if e.Unknown > 0 {
		return fmt.Sprintf("document %d was perhaps accepted, the queue has not answered: %v", e.Accepted, e.Err)
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

// Unwrap returns Err.
func (e *AddError) Unwrap() error { return e.Err }

// Rejected reports whether the document at position Accepted is the reason: its key,
// what it is encoded to, or its size. It will not be accepted the next time either.
// Other errors (the context has ended, there is no room, the sender is closed) say
// nothing about it.
func (e *AddError) Rejected() bool { return e.document }

// DocumentTooLargeError says by how much a document is too large.
// ErrDocumentTooLarge is in its chain.
type DocumentTooLargeError struct {
	Size  int // of a request with this document alone, in bytes
	Limit int // Limits.MaxBatchBytes, or MaxBufferedBytes if that is less
}

func (e *DocumentTooLargeError) Error() string {
	return fmt.Sprintf("%v: alone it makes a request of %d bytes, the limit is %d", ErrDocumentTooLarge, e.Size, e.Limit)
}

// Unwrap returns ErrDocumentTooLarge.
func (e *DocumentTooLargeError) Unwrap() error { return ErrDocumentTooLarge }

// ActionError says why an action failed for good.
type ActionError struct {
	Key  string
	Type models.ActionType
	// Reason says whom or what it is up to.
	Reason models.Reason
	// Status is the status that the service gave the document, or the whole
	// request if it refused that; 0 if there was no answer.
	Status int
	// Message is the service's own explanation, if it gave one.
	Message string
	// Attempts is how often the action was sent, but for the times at which the
	// breaker was not closed.
	Attempts int
	// Exhausted is true if the last answer allows another try but the attempts
	// are used up.
	Exhausted bool
	// Unknown is true if a request that carried the action was cut off, so that
	// it may have been applied all the same.
	Unknown bool
	// DeadLetter is true if Options.DeadLetters has taken it.
	DeadLetter bool
	// Err is the error of the request, ErrNoResult, ErrClosed, ErrPurged, or nil
	// if the service refused the document alone.
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

// Unwrap returns Err.
func (e *ActionError) Unwrap() error { return e.Err }

// Rejected reports whether the service has refused the document for what it is, so
// that sending it again would not help: set it aside and go on. Other failures say
// nothing about the document.
func (e *ActionError) Rejected() bool { return e.Reason.Rejected() }

// FlushError says that actions accepted before a Flush have failed.
type FlushError struct {
	// Count is how many failed and were not reported by an earlier Flush.
	Count int
	// Unsent is how many of them were given up by a Close whose context ended
	// while Flush waited, and Withdrawn how many were taken back meanwhile.
	Unsent    int
	Withdrawn int
	// DeadLetters is how many of them Options.DeadLetters has taken.
	DeadLetters int
	// Parked is how many keys have changes of this sender that are not in Count, and that others have parked in the
	// queue, or that wait behind what is parked: they are not in the index. No earlier Flush has reported them. With
	// FlushOptions.WholeQueue it is how many keys of the queue are parked. It is 0 without a queue.
	Parked int
	// Errors holds the first hundred.
	Errors []*ActionError
}

// parkedToo adds parked keys to what a Flush has found.
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

// Unwrap returns Errors.
func (e *FlushError) Unwrap() []error { return unwrapAll(e.Errors) }

// CloseError says that not everything that was accepted is in the index.
type CloseError struct {
	// Unsent is how many actions were given up because ctx ended, and were
	// certainly not applied.
	Unsent int
	// Unknown is how many were given up and may have been applied: a request
	// that carried them was cut off.
	Unknown int
	// Failed is how many failed without having been reported by a Flush.
	Failed int
	// DeadLetters is how many of all these Options.DeadLetters has taken. The others are
	// nowhere but in the program, or with those who wait for them.
	DeadLetters int
	// Held is why sending was held when ctx ended (ErrCircuitOpen or ErrPaused is in
	// its chain), or nil.
	Held error
	// Errors holds the first hundred of all these.
	Errors []*ActionError
	// Queue says that Options.Queue has lost what it had acknowledged (queue.ErrLost is in its chain): what was added
	// here and no earlier Flush has confirmed may be neither in the index nor in the queue. It is nil otherwise.
	Queue error
	// Handlers is the error of the Closed handler, or nil.
	Handlers error
	// CallbackStuck is true if a callback did not return, so that Close gave up
	// waiting for it. Callbacks may then still run after Close, and Errors is
	// empty.
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
		parts[0] += fmt.Sprintf(" (sending was held: %v)", e.Held)
	}
	if e.DeadLetters > 0 {
		parts = append(parts, fmt.Sprintf("%d of them in the dead letters", e.DeadLetters))
	}
	if e.CallbackStuck {
		parts = append(parts, "a callback did not return")
	}
	if e.Queue != nil {
		parts = append(parts, "a queue that has lost some of it: "+e.Queue.Error())
	}
	if e.Handlers != nil {
		parts = append(parts, "a handler that says: "+e.Handlers.Error())
	}
	return "closed with " + strings.Join(parts, ", ") + first(e.Errors)
}

// Unwrap returns Errors, Held, Queue and Handlers.
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

// translate turns an error of the publisher into one of this package.
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

// translateClose is translate for calls that may return the result of Close,
// which is the same value for everybody.
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
		if s.feed != nil && e.Stuck { // what is not settled goes back to the queue
			e.Unsent, e.Unknown = 0, 0
		}
		s.closeErr = &CloseError{
			Unsent: int(e.Unsent), Unknown: int(e.Unknown), Failed: int(e.Failed), DeadLetters: int(e.Kept),
			Errors: actionErrors(e.Errors), CallbackStuck: e.Stuck, Handlers: e.Hook, Held: e.Held, Queue: lost,
		}
	})
	return s.closeErr
}

// actionErrors loses nothing: every failure of the publisher was made by
// observer.settled, and is an *ActionError.
func actionErrors(errs []error) []*ActionError {
	all := make([]*ActionError, 0, len(errs))
	for _, err := range errs {
		if failed := (*ActionError)(nil); errors.As(err, &failed) {
			all = append(all, failed)
		}
	}
	return all
}
