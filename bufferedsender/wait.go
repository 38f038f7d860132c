package bufferedsender

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// waiter is the place of one action in a call of IndexDocumentsAndWait.
type waiter struct {
	call  *waitingCall
	state atomic.Int32 // a waiterState
	out   atomic.Bool  // no longer outstanding
	// Why its last attempt failed; nil before a failure. Written by the publisher goroutine.
	lastErr atomic.Pointer[error]
	// Written by the publisher goroutine before state is waiterSettled, read by the caller after that.
	result models.IndexingResult
	err    *ActionError // nil if the action completed
}

// waiterState is the progress of an action with a waiting caller. The publisher and a caller that gives up both change
// it by compare-and-swap, so that they agree on which came first.
type waiterState = int32

const (
	waiterQueued     waiterState = iota // certainly not applied
	waiterTravelling                    // in a request
	waiterMaybe                         // waits again, may have been applied
	waiterFolded                        // part of another action, cannot be taken out
	waiterWithdrawn                     // taken back by the caller, must not be sent
	waiterLeft                          // the caller left while it was in a request; must not be sent again
	waiterSettled
)

// waitingCall is one call of IndexDocumentsAndWait.
type waitingCall struct {
	outstanding atomic.Int64  // actions not settled, or not accepted yet
	done        chan struct{} // closed when there are none
	back        chan struct{} // an action has come back from a request
}

// countDown records that the action is settled or not accepted. One whose record may be in a queue, although the call
// that added it failed, can be both.
func (w *waiter) countDown() {
	if w.out.CompareAndSwap(false, true) && w.call.outstanding.Add(-1) == 0 {
		close(w.call.done)
	}
}

// end reports the outcome of the action to the caller, unless it has left.
func (w *waiter) end(result models.IndexingResult, err *ActionError) {
	w.result, w.err = result, err
	switch w.state.Swap(waiterSettled) {
	case waiterWithdrawn, waiterLeft:
	default:
		w.countDown()
	}
}

// giveUp takes the action back for a caller whose context has ended. It returns nil if the action is settled, otherwise
// the error that replaces its outcome.
func (w *waiter) giveUp() *ActionError {
	for {
		was, to := w.state.Load(), waiterLeft
		switch was {
		case waiterSettled:
			return nil
		case waiterQueued, waiterMaybe:
			to = waiterWithdrawn
		}
		if w.state.CompareAndSwap(was, to) {
			return &ActionError{Reason: models.ReasonWithdrawn, Unknown: was != waiterQueued, Err: withdrawnAfter(w.lastErr.Load())}
		}
	}
}

// withdrawnAfter returns ErrWithdrawn, with the error of the last attempt if there was one.
func withdrawnAfter(lastErr *error) error {
	if lastErr == nil {
		return ErrWithdrawn
	}
	return fmt.Errorf("%w; its last attempt: %w", ErrWithdrawn, *lastErr)
}

// withdrawn reports whether the action was taken back and is not in a request.
func (w *waiter) withdrawn() bool { return w != nil && w.state.Load() == waiterWithdrawn }

// foldWaiters records that two actions become one. It returns false if one of them was taken back.
func foldWaiters(older, newer *waiter) bool {
	if !older.fold() {
		return false
	}
	if !newer.fold() {
		older.unfold()
		return false
	}
	return true
}

// fold records that the action becomes part of another, and reports whether it may.
func (w *waiter) fold() bool {
	return w == nil || w.state.CompareAndSwap(waiterQueued, waiterFolded)
}

// unfold undoes fold.
func (w *waiter) unfold() {
	if w != nil {
		w.state.CompareAndSwap(waiterFolded, waiterQueued)
	}
}

// leave records that an action is about to be sent, and reports whether it may be.
func leave(it *item) bool {
	w := it.Value.waiter
	if w == nil {
		return true
	}
	return w.state.CompareAndSwap(waiterQueued, waiterTravelling) || w.state.CompareAndSwap(waiterMaybe, waiterTravelling) ||
		w.state.Load() == waiterFolded
}

// back records that an action came back from a request, and reports whether to send it again.
func back(it *item, unknown bool, err error) bool {
	w, to := it.Value.waiter, waiterQueued
	if w == nil {
		return true
	}
	if unknown {
		to = waiterMaybe
	}
	if err != nil {
		w.lastErr.Store(&err)
	}
	again := w.state.CompareAndSwap(waiterTravelling, to)
	switch w.state.Load() {
	case waiterFolded, waiterQueued, waiterMaybe: // part of another, or it only got the cause while it waits
		again = true
	}
	select {
	case w.call.back <- struct{}{}:
	default:
	}
	return again
}

// WaitError means that not all actions of a call were completed.
type WaitError struct {
	// Failed counts failed actions. If the call ended early, Withdrawn counts actions that were taken back and not applied;
	// Unknown counts those that may have been applied, or that are in a queue without an answer. Only those in the queue,
	// and those folded with actions of other calls, may still be sent.
	Failed, Withdrawn, Unknown int
	// Errors has one error for each accepted one, in the order of the call. Those of Withdrawn and Unknown wrap
	// ErrWithdrawn.
	Errors []*ActionError
	// Err is the reason why the call ended early (ctx, ErrClosed, ErrCircuitOpen, ErrPaused) or did not accept all
	// (*AddError).
	Err error
}

func (e *WaitError) Error() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{e.Failed, "failed"}, {e.Withdrawn, "withdrawn"}, {e.Unknown, "with unknown outcome"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s %s", part.n, plural(part.n, "action"), part.what))
		}
	}
	switch {
	case e.Err != nil && e.Failed == 0:
		parts = append(parts, e.Err.Error())
	case e.Err != nil:
		parts = append(parts, e.Err.Error()+first(e.Errors))
	default:
		return strings.Join(parts, ", ") + first(e.Errors)
	}
	return strings.Join(parts, ", ")
}

func (e *WaitError) Unwrap() []error {
	all := unwrapAll(e.Errors)
	if e.Err != nil {
		all = append(all, e.Err)
	}
	return all
}

// IndexDocumentsAndWait adds actions, waits until they are settled and their callbacks have run, and returns the
// results of the accepted ones in order, with a *WaitError unless all completed. When ctx ends, unsettled actions are
// withdrawn and have status 0. Close does not report these failures again, nor does a Flush unless it waits for them.
// If the index refuses twenty documents in a row for one reason, the call ends with ErrCircuitOpen once three of its
// own, or all that are left, were refused.
//
// An HTTP handler should answer with the first that applies: 200 without an error, 422 if an *AddError is Rejected, 504
// if WaitError.Unknown > 0, 503 for ErrCircuitOpen, ErrPaused, ErrClosed, 422 if an *ActionError is Rejected, else 503.
func (s *BufferedSender[T]) IndexDocumentsAndWait(ctx context.Context, actions []models.IndexDocumentsAction[T], _ *IndexDocumentsAndWaitOptions) ([]models.IndexingResult, error) {
	ctx = orBackground(ctx)
	return s.addAndWait(ctx, len(actions), func(ctx context.Context, c *chunk, i int) (string, error) {
		putAction(c, &actions[i])
		return c.add(ctx)
	}, func(i int) (string, models.ActionType) { return s.keyOf(&actions[i]), actions[i].Type })
}

// addAndWait is IndexDocumentsAndWait for n actions. add puts the i-th one into a chunk, name returns its key and type.
func (s *sender) addAndWait(ctx context.Context, n int, add addOne, name func(i int) (string, models.ActionType)) ([]models.IndexingResult, error) {
	if n == 0 {
		return nil, nil
	}
	if s.publisher.InsideHook(ctx) {
		return nil, &WaitError{Err: &AddError{Err: ErrInCallback}}
	}
	if s.feed != nil && !s.feed.sends {
		return nil, &WaitError{Err: &AddError{Err: errAdderOnly}}
	}
	held := s.held.wait()
	if err := s.holds(ctx); err != nil {
		return nil, &WaitError{Err: &AddError{Err: err}}
	}
	call := &waitingCall{done: make(chan struct{}), back: make(chan struct{}, 1)}
	call.outstanding.Store(int64(n))
	waiters := make([]waiter, n)
	for i := range waiters {
		waiters[i].call = call
	}
	result := &WaitError{Err: s.addUnlessHeld(ctx, waiters, add)}
	if result.Err != nil {
		accepted := n
		if refused := (*AddError)(nil); errors.As(result.Err, &refused) {
			accepted = refused.Accepted
			result.Unknown += refused.Unknown
		}
		for i := range waiters[accepted:] {
			waiters[accepted+i].countDown()
		}
		waiters = waiters[:accepted]
	}
	if err := s.await(ctx, call, waiters, held); err != nil {
		result.Err = errors.Join(result.Err, err)
	}
	results, left := make([]models.IndexingResult, len(waiters)), false
	for i := range waiters {
		w := &waiters[i]
		if given := w.giveUp(); given != nil {
			left = true
			given.Key, given.Type = name(i)
			results[i].Key = given.Key
			if result.Errors = append(result.Errors, given); given.Unknown {
				result.Unknown++
			} else {
				result.Withdrawn++
			}
			continue
		}
		if w.err != nil {
			result.Failed++
			result.Errors = append(result.Errors, w.err)
		}
		results[i] = w.result
	}
	if left {
		s.publisher.Sweep(s.gone)
	}
	if result.Err == nil && len(result.Errors) == 0 {
		return results, nil
	}
	return results, result
}

// holds returns why sending is suspended at least until ctx ends, if waiting calls must fail for that reason.
func (s *sender) holds(ctx context.Context) error {
	if !s.options.Waiting.FailFast {
		return nil
	}
	c := s.publisher.Condition()
	if c.State == publisher.Ready || c.Apart {
		return nil // an action added now becomes the probe, or is not set apart
	}
	return cmp.Or(c.Held(), c.Beyond(ctx))
}

// travels reports whether an action of the call is in a request. While sending is suspended that request is the probe,
// so the call waits for it.
func travels(waiters []waiter) bool {
	for i := range waiters {
		if waiters[i].state.Load() == waiterTravelling {
			return true
		}
	}
	return false
}

// addUnlessHeld is addWaiting, but with FailFast it also stops waiting for room while sending is suspended.
func (s *sender) addUnlessHeld(ctx context.Context, waiters []waiter, add addOne) error {
	if !s.options.Waiting.FailFast {
		return s.addWaiting(ctx, waiters, add)
	}
	adding, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	look := func() {
		if err := s.holds(ctx); err != nil {
			cancel(err)
		}
	}
	defer s.held.watch(look)()
	look() // sending may have been suspended since the last check
	err := s.addWaiting(adding, waiters, add)
	if refused := (*AddError)(nil); adding.Err() != nil && ctx.Err() == nil && errors.As(err, &refused) && errors.Is(refused.Err, context.Canceled) {
		return &AddError{Accepted: refused.Accepted, Err: context.Cause(adding)}
	}
	return err
}

// addWaiting adds the actions and schedules a flush.
func (s *sender) addWaiting(ctx context.Context, waiters []waiter, add addOne) error {
	// Also if the call still waits for room: otherwise its accepted actions would wait for a full batch.
	defer s.publisher.FlushAfter(max(s.options.Waiting.Interval, 0))
	return s.addAll(ctx, len(waiters), true, func(ctx context.Context, c *chunk, i int) (string, error) {
		c.waiters = waiters[i : i+1]
		return add(ctx, c, i)
	})
}

// await waits until the actions of a call are settled. It returns early if ctx ends, if sending is suspended with
// FailFast, if the index is suspected to cause their refusals, or if the sender was closed without reporting them.
func (s *sender) await(ctx context.Context, call *waitingCall, waiters []waiter, held <-chan struct{}) error {
	for {
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
		case <-held:
			held = s.held.wait()
		case <-call.back:
		case <-s.publisher.Done():
			select {
			case <-call.done:
				return nil
			default: // a callback is stuck, and Close has settled the rest without it
				return ErrClosed
			}
		}
		if err := cmp.Or(s.holds(ctx), s.suspicion(waiters)); err != nil && !travels(waiters) {
			return err
		}
	}
}

// proof is the number of refused probes after which a call ends while the index is the suspect.
const proof = 3

// suspicion returns why a call ends although some of its actions are unsettled: the service refuses one document after
// the other for the same reason. Since then it has refused, or set apart, all remaining actions of the call, or at
// least proof of them. A stream waits until the index is repaired; a waiting call returns the reason and withdraws the
// rest.
func (s *sender) suspicion(waiters []waiter) error {
	why := s.suspect.Load()
	suspected, probes, untried := why != nil, 0, false
	for i := range waiters {
		last, refused := waiters[i].lastErr.Load(), (*publisher.IndexError)(nil)
		switch {
		case waiters[i].state.Load() == waiterSettled:
		case last == nil || !errors.As(*last, &refused):
			untried = true
		case refused.Apart():
			why = cmp.Or(why, refused)
		case !suspected:
			untried = true
		case refused.Probe:
			probes++
		}
	}
	if why == nil || untried && probes < proof {
		return nil
	}
	return why
}

// signal wakes all its waiters, repeatedly.
type signal struct {
	mu       sync.Mutex
	ch       chan struct{} // closed by the next send; nil without waiters
	watchers map[*func()]struct{}
}

// watch calls f at every send until stop is called. f must not block.
func (s *signal) watch(f func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers == nil {
		s.watchers = make(map[*func()]struct{})
	}
	s.watchers[&f] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, &f)
	}
}

// wait returns a channel that is closed by the next send.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
	for f := range s.watchers {
		(*f)()
	}
}

// keyOf returns the key of an accepted action.
func (s *BufferedSender[T]) keyOf(a *models.IndexDocumentsAction[T]) string {
	d := typedDocument[T]{of: s.documents.(*typedDocuments[T]), value: a.Document} //nolint:forcetypeassert // New has put them there
	key, err := d.key(a.Type)
	if err != nil {
		return ""
	}
	return key
}
