package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

// roundTrip copies everything marked so far to the new index, and returns the number of keys.
func (r *runner) roundTrip(ctx context.Context, class models.Class) (int, error) {
	last := r.now().Round
	if err := r.swap(ctx, func(x *Record) { x.Round = last + 1 }); err != nil {
		return 0, err
	}
	return r.drain(ctx, class, last)
}

// drain copies the keys of rounds up to last, which get no more marks, to the new index.
func (r *runner) drain(ctx context.Context, class models.Class, last int64) (n int, err error) {
	for {
		keys, err := r.marked(ctx, last)
		if err != nil {
			return n, err
		}
		if len(keys) == 0 {
			return n, r.swap(ctx, func(x *Record) { x.Drained = last })
		}
		if err := r.replay(ctx, class, keys); err != nil {
			return n, err
		}
		if err := r.unmark(ctx, last, keys); err != nil {
			return n, err
		}
		n += len(keys)
		r.report.Replayed += int64(len(keys))
	}
}

// replay reads the truth of keys and writes it to the new index.
func (r *runner) replay(ctx context.Context, class models.Class, keys []string) error {
	var actions []models.RawAction
	if err := r.patiently(ctx, outage, func(ctx context.Context) (again bool, err error) {
		if actions, err = r.fill.Keys(ctx, slices.Clone(keys)); err == nil {
			err = ctx.Err() // a key missing because ctx ended is not deleted
		}
		return true, err
	}); err != nil {
		return fmt.Errorf("rebuild: Fill.Keys: %w", err)
	}
	missing := make(map[string]bool, len(keys))
	for _, key := range keys {
		missing[key] = true
	}
	for _, a := range actions {
		if err := uploads(a); err != nil {
			return (*RefusedError)(nil).add(a.Key, err)
		}
		if !missing[a.Key] {
			return fmt.Errorf("rebuild: Fill.Keys returned the key %q, which it was not asked for, or twice", a.Key)
		}
		delete(missing, a.Key)
	}
	for _, key := range keys {
		if missing[key] {
			actions = append(actions, models.RawAction{Key: key, Type: models.ActionTypeDelete})
		}
	}
	if r.left() <= 0 {
		return errLost
	}
	awaited, give := context.WithCancelCause(ctx)
	defer give(nil)
	limited, f, free := r.filling(models.WithClass(awaited, class))
	defer free()
	if r.now().Phase == PhaseSwapped { // the sender would retry for as long as the index fails
		stuck := time.AfterFunc(stuckLimit, func() { give(errStuck) })
		defer stuck.Stop()
		f.moves = func() { stuck.Reset(stuckLimit) }
	}
	left := r.left
	for i, a := range actions {
		actions[i].Until, actions[i].OnOutcome = left, f.add(a)
	}
	results, err := r.sender.AddAndWait(limited, actions)
	r.under.Add(int64(len(results) - len(actions))) // the rest was not accepted by the sender
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case context.Cause(awaited) == errStuck: //nolint:errorlint // the cause is this value and nothing around it
		return f.failure(r.stuck())
	}
	if n := len(results); n < len(actions) && rejects(err) {
		return f.failure((*RefusedError)(nil).add(actions[n].Key, err))
	}
	return f.failure(fmt.Errorf("rebuild: copying marked documents: %w", err))
}

// rejects reports whether a sender has refused a document for its content.
func rejects(err error) bool {
	var bad models.RejectedError
	return errors.As(err, &bad) && bad.Rejected()
}

// errStuck means that the new index accepts nothing while writers wait.
var errStuck = fmt.Errorf("rebuild: no marked document copied for %v; see the errors of Options.Sender", stuckLimit)

// stuck returns errStuck with the sender's reason, if it has one.
func (r *runner) stuck() error {
	if s, can := r.sender.(models.InfoSender); can {
		if held := s.Info().Held; held != nil {
			return fmt.Errorf("%w: %w", errStuck, held)
		}
	}
	return errStuck
}

// catchUp makes round trips until few keys are left.
func (r *runner) catchUp(ctx context.Context) error {
	const trips = 50 // if writers are faster than that, closing reports it
	for range trips {
		began := time.Now()
		n, err := r.roundTrip(ctx, models.ClassAssured1)
		if err != nil {
			return err
		}
		if n < fewKeys && time.Since(began) < drainLimit/2 {
			break
		}
	}
	return nil
}

// close makes the writers wait, and copies the last of their writes to the new index. It returns the time of closing.
// After an error they are open again, in the given step and phase.
func (r *runner) close(ctx context.Context, step, back Step, phase Phase) (time.Time, error) {
	began := time.Now()
	last := r.now().Round
	limited, cancel := context.WithDeadlineCause(ctx, began.Add(drainLimit), ErrTooSlow)
	defer cancel()
	err := r.swap(limited, func(x *Record) { x.Step, x.Phase, x.Round = step, PhaseClosed, last+1 })
	if err == nil {
		if err = r.line("drain " + string(step)); err == nil {
			err = sleep.For(limited, routeValid+margin)
		}
		if err == nil {
			_, err = r.drain(limited, models.ClassExpedited, last)
		}
	}
	if err == nil && (step == stepMoving || r.opts.Alias == "") && r.rests() > 0 { // the writers switch next
		err = fmt.Errorf("%w: a request to the new index had no answer, and the service may still be at work on it", ErrTooSlow)
	}
	if err = tooSlow(limited, err); err == nil {
		return began, nil
	}
	if open := r.open(ctx, began, back, phase); open != nil {
		return began, errors.Join(err, open)
	}
	return began, err
}

// tooSlow adds ErrTooSlow to an error if the time to close was over.
func tooSlow(limited context.Context, err error) error {
	if err != nil && context.Cause(limited) == ErrTooSlow && !errors.Is(err, ErrTooSlow) { //nolint:errorlint // the cause is this value and nothing around it
		err = fmt.Errorf("%w: %w", ErrTooSlow, err)
	}
	return err
}

// open lets the writers continue. began is when they began to wait, zero if another runner has closed the taps.
func (r *runner) open(ctx context.Context, began time.Time, step Step, phase Phase) error {
	ctx, cancel := insisting(ctx, 5*time.Second)
	defer cancel()
	epoch := r.now().Epoch
	if phase == PhaseSwapped { // a mark made with an earlier record would not be waited for
		epoch++
	}
	err := r.insist(ctx, func(x *Record) { x.Step, x.Phase, x.Epoch = step, phase, epoch })
	if err != nil {
		return fmt.Errorf("%w, because the record could not be changed: call Run again, or Abort: %w", ErrClosed, err)
	}
	if !began.IsZero() {
		r.report.Closed = append(r.report.Closed, time.Since(began))
	}
	return nil
}
