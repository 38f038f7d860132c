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
	// Why its last attempt has failed, nil before one has. The publisher goroutine
	// writes it.
	lastErr atomic.Pointer[error]
	// Written by the publisher goroutine before state is waiterSettled, read by the
	// caller after.
	result models.IndexingResult
	err    *ActionError // nil if the action was completed
}

// waiterState is where an action is that somebody waits for. The publisher and
// the caller who gives up both change it, by compare-and-swap, so that they agree
// on who came first.
type waiterState = int32

const (
	waiterQueued     waiterState = iota // certainly not applied
	waiterTravelling                    // in a request
	waiterMaybe                         // queued again, and may have been applied
	waiterFolded                        // part of another action: it cannot be taken out
	waiterWithdrawn                     // the caller has taken it back, it must not travel
	waiterLeft                          // the caller has gone while it was in a request: it must not travel again
	waiterSettled
)

// waitingCall is one call of IndexDocumentsAndWait.
type waitingCall struct {
	outstanding atomic.Int64  // actions that are not settled, or not accepted yet
	done        chan struct{} // closed when there are none
	back        chan struct{} // an action has come back from a request
}

func (c *waitingCall) countDown(n int64) {
	if c.outstanding.Add(-n) == 0 {
		close(c.done)
	}
}

// end gives the caller what became of the action, if it is still there.
func (w *waiter) end(result models.IndexingResult, err *ActionError) {
	w.result, w.err = result, err
	switch w.state.Swap(waiterSettled) {
	case waiterWithdrawn, waiterLeft:
	default:
		w.call.countDown(1)
	}
}

// giveUp takes the action back for a caller whose context has ended. It returns
// nil if the action has settled, and else what the caller is given in place of its
// outcome.
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

// withdrawnAfter returns ErrWithdrawn with why the last attempt failed, if there was
// one.
func withdrawnAfter(lastErr *error) error {
	if lastErr == nil {
		return ErrWithdrawn
	}
	return fmt.Errorf("%w; its last attempt: %w", ErrWithdrawn, *lastErr)
}

// withdrawn reports whether the action was taken back and is not in a request.
func (w *waiter) withdrawn() bool { return w != nil && w.state.Load() == waiterWithdrawn }

// foldWaiters notes that two actions become one, and reports whether they may: not if
// one has been taken back.
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

// fold notes that the action becomes part of another, and reports whether it may.
func (w *waiter) fold() bool {
	return w == nil || w.state.CompareAndSwap(waiterQueued, waiterFolded)
}

// unfold undoes fold.
func (w *waiter) unfold() {
	if w != nil {
		w.state.CompareAndSwap(waiterFolded, waiterQueued)
	}
}

// leave notes that an action is about to travel, and reports whether it may.
func leave(it *item) bool {
	w := it.Value.waiter
	if w == nil {
		return true
	}
	return w.state.CompareAndSwap(waiterQueued, waiterTravelling) || w.state.CompareAndSwap(waiterMaybe, waiterTravelling) ||
		w.state.Load() == waiterFolded
}

// back notes that an action has come back, and reports whether it is to travel
// again.
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
	again := w.state.CompareAndSwap(waiterTravelling, to) || w.state.Load() == waiterFolded
	select {
	case w.call.back <- struct{}{}:
	default:
	}
	return again
}

// WaitError says that not all actions of a call were completed.
type WaitError struct {
	// Failed is how many have failed. When the call ended early, Withdrawn were taken back and not applied, and Unknown
	// may have been applied, or are in a queue that has not answered. Only that queue sends any of them again.
	Failed, Withdrawn, Unknown int
	// Errors has one error for each, in the order of the call; those of Withdrawn and Unknown wrap ErrWithdrawn.
	Errors []*ActionError
	// Err is why the call ended early (ctx, ErrClosed, ErrCircuitOpen, ErrPaused) or did not accept all (*AddError).
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
// results of the accepted ones in order, with a *WaitError unless all were completed. When ctx ends, what is not
// settled is withdrawn and has status 0. Close does not report these failures again, nor Flush unless it waits for
// them. If the index refuses twenty documents in a row for one reason, the call ends with ErrCircuitOpen once three
// of its own, or all that are left, were refused.
//
// A request handler answers, in this order: no error 200; an *AddError that is Rejected 422; WaitError.Unknown > 0
// 504; ErrCircuitOpen, ErrPaused or ErrClosed 503; an *ActionError that is Rejected 422; any other 503.
func (s *BufferedSender[T]) IndexDocumentsAndWait(ctx context.Context, actions []models.IndexDocumentsAction[T], _ *IndexDocumentsAndWaitOptions) ([]models.IndexingResult, error) {
	ctx = orBackground(ctx)
	return s.addAndWait(ctx, len(actions), func(ctx context.Context, c *chunk, i int) (string, error) {
		putAction(c, &actions[i])
		return c.add(ctx)
	}, func(i int) (string, models.ActionType) { return s.keyOf(&actions[i]), actions[i].Type })
}

// addAndWait is IndexDocumentsAndWait for n actions, the i-th of which add puts into a
// chunk; name says which it is.
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
	if err := s.holds(); err != nil {
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
		call.countDown(int64(n - accepted))
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

// holds says why nothing is sent at the moment, if the calls that wait for an
// outcome are to fail because of it.
func (s *sender) holds() error {
	if !s.options.Waiting.FailFast {
		return nil
	}
	c := s.publisher.Condition()
	if c.State == publisher.Ready || c.Apart {
		return nil // what is added now finds out whether the service works, or is not held apart
	}
	return c.Held()
}

// travels reports whether an action of the call is in a request: while sending is
// held that request is the probe, and must be waited for.
func travels(waiters []waiter) bool {
	for i := range waiters {
		if waiters[i].state.Load() == waiterTravelling {
			return true
		}
	}
	return false
}

// addUnlessHeld is addWaiting that does not wait for room either while sending is
// held, if the calls are to fail because of that.
func (s *sender) addUnlessHeld(ctx context.Context, waiters []waiter, add addOne) error {
	if !s.options.Waiting.FailFast {
		return s.addWaiting(ctx, waiters, add)
	}
	adding, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	look := func() {
		if err := s.holds(); err != nil {
			cancel(err)
		}
	}
	defer s.held.watch(look)()
	look() // it may have been held since it was asked last
	err := s.addWaiting(adding, waiters, add)
	if refused := (*AddError)(nil); adding.Err() != nil && ctx.Err() == nil && errors.As(err, &refused) && errors.Is(refused.Err, context.Canceled) {
		return &AddError{Accepted: refused.Accepted, Err: context.Cause(adding)}
	}
	return err
}

// addWaiting adds the actions and has them sent soon.
func (s *sender) addWaiting(ctx context.Context, waiters []waiter, add addOne) error {
	// Also while the call waits for room: what it has added already would wait
	// for a full batch otherwise.
	defer s.publisher.FlushAfter(max(s.options.Waiting.Interval, 0))
	return s.addAll(ctx, len(waiters), true, func(ctx context.Context, c *chunk, i int) (string, error) {
		c.waiters = waiters[i : i+1]
		return add(ctx, c, i)
	})
}

// await waits until the actions of a call are settled, ctx ends, sending is held
// and the call is to fail because of that, the index is held to be the cause of what
// became of them, or the sender is closed without having reported them.
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
		if err := cmp.Or(s.holds(), s.suspicion(waiters)); err != nil && !travels(waiters) {
			return err
		}
	}
}

// proof is how many actions of a call must have been probes that the service has refused, while
// the index is held to be the cause, for the call to end.
const proof = 3

// suspicion returns why a call ends although not all of its actions are settled: the service
// refuses one document after the other for the same reason, and since then has refused all that
// is left of the call, or as much of it as is a proof, or holds it apart for that reason. A stream
// waits until the index is repaired. A call that waits says what is wrong, and takes back the rest.
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

// signal wakes all who wait for it, again and again.
type signal struct {
	mu       sync.Mutex
	ch       chan struct{} // closed at the next one; nil while nobody waits
	watchers map[*func()]struct{}
}

// watch has f called at every send until stop is called. It must not block.
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

// keyOf returns the key of an action that was accepted.
func (s *BufferedSender[T]) keyOf(a *models.IndexDocumentsAction[T]) string {
	d := typedDocument[T]{of: s.documents.(*typedDocuments[T]), value: a.Document} //nolint:forcetypeassert // New has put them there
	key, err := d.key(a.Type)
	if err != nil {
		return ""
	}
	return key
}
