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

// roundTrip brings what was marked until now to the new index, and returns how many keys it
// were.
func (r *runner) roundTrip(ctx context.Context, class models.Class) (int, error) {
	last := r.now().Round
	if err := r.swap(ctx, func(x *Record) { x.Round = last + 1 }); err != nil {
		return 0, err
	}
	return r.drain(ctx, class, last)
}

// drain brings the keys of rounds up to last, to which nothing is added any more, to the new index.
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
			err = ctx.Err() // what it has not come to is not gone
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
	if r.now().Phase == PhaseSwapped { // the sender would wait for as long as the index is sick
		stuck := time.AfterFunc(stuckLimit, func() { give(errStuck) })
		defer stuck.Stop()
		f.moves = func() { stuck.Reset(stuckLimit) }
	}
	left := r.left
	for i, a := range actions {
		actions[i].Until, actions[i].OnOutcome = left, f.add(a)
	}
	results, err := r.sender.AddAndWait(limited, actions)
	r.under.Add(int64(len(results) - len(actions))) // which the sender has not accepted
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

// rejects reports whether a sender has refused a document for what it is.
func rejects(err error) bool {
	var bad models.RejectedError
	return errors.As(err, &bad) && bad.Rejected()
}

// errStuck means that the new index takes nothing while writers wait.
var errStuck = fmt.Errorf("rebuild: no marked document copied for %v; see the errors of Options.Sender", stuckLimit)

// stuck returns errStuck, with what the sender knows about it.
func (r *runner) stuck() error {
	if s, can := r.sender.(models.InfoSender); can {
		if held := s.Info().Held; held != nil {
			return fmt.Errorf("%w: %w", errStuck, held)
		}
	}
	return errStuck
}

// catchUp makes round trips until one has little to bring.
func (r *runner) catchUp(ctx context.Context) error {
	const trips = 50 // who writes faster than they are is told so by closing
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

// close has the writers wait, and brings the last of what they have written to the new index.
// It returns when they were closed. With an error they are open again, in the step and the phase given.
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
	if err == nil && (step == stepMoving || r.opts.Alias == "") && r.rests() > 0 { // the writers are to come over
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

// tooSlow says of an error that the time of the taps was over, if it was.
func tooSlow(limited context.Context, err error) error {
	if err != nil && context.Cause(limited) == ErrTooSlow && !errors.Is(err, ErrTooSlow) { //nolint:errorlint // the cause is this value and nothing around it
		err = fmt.Errorf("%w: %w", ErrTooSlow, err)
	}
	return err
}

// open lets the writers go on. began is when they began to wait, zero if another runner had them wait.
func (r *runner) open(ctx context.Context, began time.Time, step Step, phase Phase) error {
	ctx, cancel := insisting(ctx, 5*time.Second)
	defer cancel()
	epoch := r.now().Epoch
	if phase == PhaseSwapped { // a mark by a record of before would not be waited for
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
