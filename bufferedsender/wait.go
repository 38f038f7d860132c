package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-azsearch/azsearch/models"
)

// waiter is the place of one action in a call of IndexDocumentsAndWait.
type waiter struct {
	call *waitingCall
	// Written by the publisher goroutine before it counts call down, read by the
	// caller after settled is true.
	result  models.IndexingResult
	err     *ActionError // nil if the action was completed
	settled atomic.Bool
}

// waitingCall is one call of IndexDocumentsAndWait.
type waitingCall struct {
	outstanding atomic.Int64  // actions that are not settled, or not accepted yet
	done        chan struct{} // closed when there are none
}

func (c *waitingCall) countDown(n int64) {
	if c.outstanding.Add(-n) == 0 {
		close(c.done)
	}
}

// end tells the caller what became of the action.
func (w *waiter) end(result models.IndexingResult, err *ActionError) {
	if w == nil {
		return
	}
	w.result, w.err = result, err
	w.settled.Store(true)
	w.call.countDown(1)
}

// WaitError says that not all actions of an IndexDocumentsAndWait were
// completed.
type WaitError struct {
	// Failed is how many failed, and Errors says why, in the order of the call.
	Failed int
	Errors []*ActionError
	// Unsettled is how many were accepted and have no outcome yet: they are
	// still on their way. Their results have status 0.
	Unsettled int
	// Err is why the call returned early or did not accept all actions: the error
	// of the context, ErrClosed, or an *AddError; nil if it did neither.
	Err error
}

func (e *WaitError) Error() string {
	text := fmt.Sprintf("%d %s failed%s", e.Failed, plural(e.Failed, "action"), first(e.Errors))
	if e.Unsettled > 0 {
		text += fmt.Sprintf("; %d not settled yet", e.Unsettled)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Errors and Err.
func (e *WaitError) Unwrap() []error {
	all := unwrapAll(e.Errors)
	if e.Err != nil {
		all = append(all, e.Err)
	}
	return all
}

// IndexDocumentsAndWait adds actions and waits until they are settled and their
// callbacks have run. It returns their results in the order given, and a
// *WaitError unless all of them were completed. Many goroutines can do so with
// one sender, and share requests: an action waits WaitInterval for others, not
// for a full batch.
//
// ctx bounds the waiting, for room and for the outcome. When it ends, what was
// accepted is still sent; the result of an action that is not settled has
// status 0. If not all actions were accepted, the results are those of the
// accepted ones. A failed action is also reported by the next Flush. Called from
// inside a callback it accepts nothing and returns ErrInCallback.
func (s *BufferedSender[T]) IndexDocumentsAndWait(ctx context.Context, actions ...models.IndexDocumentsAction[T]) ([]models.IndexingResult, error) {
	if len(actions) == 0 {
		return nil, nil
	}
	ctx = orBackground(ctx)
	if s.publisher.InsideHook(ctx) {
		return nil, &WaitError{Err: &AddError{Err: ErrInCallback}}
	}
	call := &waitingCall{done: make(chan struct{})}
	call.outstanding.Store(int64(len(actions)))
	waiters := make([]waiter, len(actions))
	for i := range waiters {
		waiters[i].call = call
	}
	result := &WaitError{Err: s.addWaiting(ctx, waiters, actions)}
	if result.Err != nil {
		accepted := len(actions)
		if refused := (*AddError)(nil); errors.As(result.Err, &refused) {
			accepted = refused.Accepted
		}
		call.countDown(int64(len(actions) - accepted))
		waiters = waiters[:accepted]
	}
	if err := s.await(ctx, call); err != nil {
		result.Err = errors.Join(result.Err, err)
	}
	results := make([]models.IndexingResult, len(waiters))
	for i := range waiters {
		w := &waiters[i]
		switch {
		case !w.settled.Load():
			result.Unsettled++
			results[i].Key = s.keyFor(ctx, actions[i])
			continue
		case w.err != nil:
			result.Failed++
			result.Errors = append(result.Errors, w.err)
		}
		results[i] = w.result
	}
	if result.Err == nil && result.Failed == 0 {
		return results, nil
	}
	return results, result
}

// addWaiting adds the actions and has them sent soon.
func (s *BufferedSender[T]) addWaiting(ctx context.Context, waiters []waiter, actions []models.IndexDocumentsAction[T]) error {
	// Also while the call waits for room: what it has added already would wait
	// for a full batch otherwise.
	defer s.publisher.Hasten(max(s.options.WaitInterval, 0))
	return s.addAll(ctx, len(actions), true, func(ctx context.Context, c *chunk[T], i int) (string, error) {
		c.waiters = waiters[i : i+1]
		c.action = actions[i]
		return c.add(ctx)
	})
}

// await waits until the actions of a call are settled, ctx ends, or the sender
// is closed without having told of them.
func (s *BufferedSender[T]) await(ctx context.Context, call *waitingCall) error {
	select {
	case <-call.done:
		return nil
	default:
	}
	select {
	case <-call.done:
		return nil
	case <-ctx.Done():
		return s.publisher.WaitError(ctx)
	case <-s.publisher.Done():
	}
	select {
	case <-call.done:
		return nil
	default: // a callback is stuck, and Close has settled the rest without it
		return ErrClosed
	}
}

// keyFor returns the key of an action that was accepted.
func (s *BufferedSender[T]) keyFor(ctx context.Context, a models.IndexDocumentsAction[T]) string {
	key, err := s.keyOf.get(context.WithoutCancel(ctx), a.Type, &a.Document)
	if err != nil {
		return ""
	}
	return key
}
