package rebuild

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/bound"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// errStopped is what a test stops a runner with: it is as if it were killed.
var errStopped = errors.New("rebuild: stopped by a test")

// Run replaces the index that the writers write to by a new one, next, which it creates, fills, and points the alias
// at, while the writers go on. Without need, by search.DiffIndex, it does nothing. If a rebuild to the same name is
// under way, because Run was killed or returned an error, it goes on where that one stopped, after a minute in which
// it makes sure that nobody else is at work (at once if that one returned an error, and left nothing in the sender;
// one that was cut off while it filled nearly always has). Meanwhile nothing changes in the record.
//
// It blocks until the writers write to the new index: TapOptions.IdleValid at least, a minute by default, then as
// long as filling takes, then Settle. Where an index of the name of next was deleted by DropOld or Abort in the last
// ten minutes it waits 75 s before it begins: what was on its way to that one is over then. ctx ends it: what is done
// is kept. The writers go on with the old index, marking what they write, until Run is called again, or Abort; but
// once the alias was moved nothing is confirmed until then, so let a ctx that has a deadline have a late one. A store
// that fails is asked again for half a minute, for five where writers wait, and so is Fill once it has worked. The
// errors are *RefusedError, ErrTooFew, ErrTooSlow, ErrAliasMoved, ErrRunning, ErrTakenOver, ErrClosed, those of Fill,
// of the store and of the service. Nothing is sent if the options are wrong.
func Run(ctx context.Context, store Store, client *search.IndexClient, next models.SearchIndex, fill Fill, opts Options) (Report, error) {
	if err := opts.check(store, client, next, fill); err != nil {
		return Report{}, fmt.Errorf("rebuild: %w", err)
	}
	r := newRunner(store, client)
	r.next, r.fill, r.opts = next, fill, opts
	err := r.run(ctx)
	return r.report, err
}

// run is Run with options that are right.
func (r *runner) run(ctx context.Context) error {
	found, err := r.start(ctx)
	if err != nil || !r.report.Needed {
		return err
	}
	if r.sender, err = r.opts.Sender(r.next.Name); err != nil || nilcheck.IsNil(r.sender) {
		return errors.Join(errors.New("rebuild: Sender returned none"), err)
	}
	if err := r.checkSender(); err != nil {
		return err
	}
	if found.active() {
		err = r.own(ctx, found)
	} else {
		err = r.take(ctx, found, func(x *Record) {
			x.Step, x.Old, x.New, x.Alias, x.Cursor = stepCreating, x.Route, r.next.Name, r.opts.Alias, ""
			x.Settle, x.Endpoint = r.opts.Settle, r.client.Endpoint()
		})
	}
	if err != nil {
		return err
	}
	callers := ctx
	ctx, end := context.WithCancelCause(ctx)
	var beating sync.WaitGroup
	beating.Go(func() { r.beat(ctx, end) })
	beating.Go(func() { r.present(ctx, end) })
	err = r.steps(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Cause(callers)) { // of beat or present
		err = cause
	}
	end(nil)
	beating.Wait()
	if errors.Is(err, ErrTakenOver) || errors.Is(err, errStopped) {
		return err
	}
	if err != nil && callers.Err() != nil {
		err = fmt.Errorf("rebuild: the context of Run has ended in the step %q: call Run again to go on, or Abort: %w", r.now().Step, err)
	}
	if phase := r.now().Phase; err != nil && !errors.Is(err, ErrClosed) && (phase == PhaseSwapped || phase == PhaseClosed) {
		err = fmt.Errorf("%w, because readers may be at the new index already: call Run again, or Abort: %w", ErrClosed, err)
	}
	r.leave(ctx)
	return err
}

// steps goes from line to line of DESIGN.md.
func (r *runner) steps(ctx context.Context) error {
	var err error
	tries := 0 // to close
	var closed time.Time
	for {
		x := r.now()
		r.report.Old = x.Old
		if err := r.line(string(x.Step)); err != nil {
			return err
		}
		r.opts.Logger.Info("rebuild: step", "step", string(x.Step), "old", x.Old, "new", x.New)
		switch x.Step {
		case stepCreating:
			err = r.create(ctx)
		case stepMarking:
			if err = sleep.For(ctx, x.idleValid()+time.Second); err == nil {
				err = r.swap(ctx, func(x *Record) { x.Step = StepFilling })
			}
		case StepFilling:
			if err = r.fillAll(ctx); err == nil {
				err = r.swap(ctx, func(x *Record) { x.Step = stepCatchingUp })
			}
		case stepCatchingUp:
			closed, err = r.lastOnes(ctx, &tries)
		case stepClosing: // somebody was killed in it
			err = r.open(ctx, time.Time{}, stepCatchingUp, PhaseMarking)
		case stepSwapping:
			if err = r.swapAlias(ctx, closed); err != nil {
				err = r.again(ctx, &tries, err)
			} else {
				tries = 0
			}
		case stepSettling:
			long := r.opts.Settle
			if tries > 0 { // readers have had their time
				long = min(long, time.Second<<min(tries, 4))
			}
			if err = r.settle(ctx, long); err == nil {
				err = r.comeOver(ctx, &tries)
			}
		case stepMoving: // somebody was killed in it
			err = r.open(ctx, time.Time{}, stepSettling, PhaseSwapped)
		case StepMoved:
			r.report.Index, r.report.KeepUntil = x.New, x.KeepUntil
			return nil
		default:
			return fmt.Errorf("rebuild: unknown step %q; use the version of this package that wrote it, or a newer one", x.Step)
		}
		if err != nil {
			return err
		}
	}
}

// count returns how many documents an index has.
func (r *runner) count(ctx context.Context, index string) (int64, error) {
	c, err := r.client.Client(index)
	if err != nil {
		return 0, err
	}
	n, err := c.DocumentCount(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("rebuild: counting the documents of %q: %w", index, err)
	}
	return n, nil
}

// lacks says that the new index has too few documents, if it has: a truth that was cut short would look like one of
// which the rest was deleted.
func (r *runner) lacks(ctx context.Context) error {
	if r.opts.MinShare < 0 || r.counted {
		return nil
	}
	x := r.now()
	ctx = wholeindex.Require(ctx)
	before, err := r.count(ctx, x.Old)
	if errors.Is(err, search.ErrIndexNotFound) { // readers lose nothing
		return nil
	}
	if err != nil {
		return err
	}
	after, err := r.count(ctx, x.New)
	if err != nil {
		return err
	}
	r.report.OldDocuments, r.report.NewDocuments = before, after
	least := before - bound.Most(before, 0)
	if r.opts.MinShare > 0 {
		least = int64(math.Ceil(r.opts.MinShare * float64(before)))
	}
	if after < least {
		return fmt.Errorf("%w: %q has %d, %q has %d, want at least %d. If Fill.All has ended too early, call Abort, correct it and start over; otherwise call Run again with an Options.MinShare below %.2g, or a negative one",
			ErrTooFew, x.New, after, x.Old, before, least, float64(after)/float64(before))
	}
	r.opts.Logger.Info("rebuild: documents counted", "new", x.New, "new_documents", after, "old", x.Old, "old_documents", before)
	r.counted = true
	return nil
}

// catchUpWith brings what was written over until little is left, and looks whether the new index has enough; the
// service may count documents some seconds late.
func (r *runner) catchUpWith(ctx context.Context) error {
	for n := 0; ; n++ {
		if err := r.catchUp(ctx); err != nil {
			return err
		}
		err := r.lacks(ctx)
		if err == nil || n == countings || errors.Is(err, search.ErrPartialView) {
			return err
		}
		if ended := sleep.For(ctx, time.Second); ended != nil {
			return fmt.Errorf("%w: %v", ended, err) //nolint:errorlint // that it has too few is not decided yet
		}
	}
}

// lastOnes brings the last writes over while the writers wait, for the alias to be moved, or for the end if
// there is none. nil and the same step mean: once more.
func (r *runner) lastOnes(ctx context.Context, tries *int) (time.Time, error) {
	if r.opts.Alias == "" { // the writers come over next
		if err := sleep.For(ctx, r.rests()); err != nil {
			return time.Time{}, err
		}
	}
	if err := r.catchUpWith(ctx); err != nil {
		return time.Time{}, err
	}
	if err := r.line("close"); err != nil {
		return time.Time{}, err
	}
	began, err := r.close(ctx, stepClosing, stepCatchingUp, PhaseMarking)
	if err != nil {
		return time.Time{}, r.again(ctx, tries, err)
	}
	if err := r.line("closed"); err != nil {
		return began, err
	}
	if r.opts.Alias == "" {
		return began, r.moved(ctx, began)
	}
	limited, cancel := context.WithDeadlineCause(ctx, began.Add(closedLimit-margin), ErrTooSlow)
	defer cancel()
	if err := r.insist(limited, func(x *Record) { x.Step = stepSwapping }); err != nil {
		err = tooSlow(limited, err)
		if open := r.open(ctx, began, stepCatchingUp, PhaseMarking); open != nil {
			return began, errors.Join(err, open)
		}
		return began, r.again(ctx, tries, err)
	}
	return began, nil
}

// comeOver brings the last writes over while the writers wait, and lets them go on at the new index.
func (r *runner) comeOver(ctx context.Context, tries *int) error {
	if err := r.line("close again"); err != nil {
		return err
	}
	began, err := r.close(ctx, stepMoving, stepSettling, PhaseSwapped)
	if errors.Is(err, ErrTooSlow) && !errors.Is(err, ErrClosed) {
		// Back to bringing over, at once: what is written is confirmed only when that has been done, and there is
		// nothing to give up to.
		*tries++
		r.opts.Logger.Warn("rebuild: last writes took over a second; retrying", "error", err)
		return nil
	}
	if err != nil && !errors.Is(err, ErrClosed) && r.bears(ctx, err, &r.failing) { // they are open again, and served
		*tries++
		return sleep.For(ctx, time.Second)
	}
	if err != nil {
		return err
	}
	if err := r.line("closed again"); err != nil {
		return err
	}
	return r.moved(ctx, began)
}

// again says whether to try once more to close, and waits before.
func (r *runner) again(ctx context.Context, tries *int, err error) error {
	if !errors.Is(err, ErrTooSlow) && !errors.Is(err, search.ErrPreconditionFailed) || errors.Is(err, ErrClosed) {
		return err
	}
	if *tries++; *tries == closings {
		return err
	}
	r.opts.Logger.Warn("rebuild: last writes took over a second; retrying", "error", err)
	return sleep.For(ctx, time.Second<<*tries)
}

// moved lets the writers go on at the new index.
func (r *runner) moved(ctx context.Context, began time.Time) error {
	until := time.Now().Add(max(r.opts.Keep, 0)).UTC().Truncate(time.Millisecond)
	epoch := r.now().Epoch + 1
	ctx, cancel := insisting(ctx, 5*time.Second)
	defer cancel()
	if err := r.insist(ctx, func(x *Record) {
		x.Step, x.Phase, x.Route, x.Epoch, x.KeepUntil = StepMoved, PhaseIdle, x.New, epoch, until
	}); err != nil {
		return fmt.Errorf("%w: call Run again, or Abort: %w", ErrClosed, err)
	}
	r.report.Closed = append(r.report.Closed, time.Since(began))
	return nil
}

// bring is a round trip, if there is anything to bring.
func (r *runner) bring(ctx context.Context, always bool) error {
	x := r.now()
	if !always && x.Drained >= x.Round-1 {
		limited, cancel := context.WithTimeout(ctx, tryLimit)
		keys, err := r.store.Marked(limited, x.Round, 1) // its errors are borne by who calls
		if cancel(); err != nil || len(keys) == 0 {
			return err
		}
	}
	_, err := r.roundTrip(ctx, models.ClassExpedited)
	return err
}
