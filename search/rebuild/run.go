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

// errStopped simulates a kill in tests.
var errStopped = errors.New("rebuild: stopped by a test")

// Run replaces the index that the writers use by a new one: it creates and fills next, points the alias at it, and lets
// the writers switch. Writers continue meanwhile. If search.DiffIndex finds no change that needs a new index, Run does
// nothing, unless Options.Always is set. If a rebuild to the same name is under way, because Run was killed or returned
// an error, Run resumes it. First it watches the record for a minute to make sure that no other Run is at work. It does
// not wait if the previous Run returned an error and left nothing in its sender; a Run cut off while filling almost
// always leaves something.
//
// Run blocks until the writers use the new index: TapOptions.IdleValid, a minute by default, then the time to fill,
// then Settle. If DropOld or Abort has deleted an index with the name of next in the last ten minutes, Run first waits
// 75 s, until requests to that index have ended.
//
// When ctx ends Run stops and keeps its progress. Writers continue with the old index and mark what they write until
// Run or Abort is called. But once the alias was moved nothing is confirmed until then, so give ctx no deadline or a
// late one. Calls of the store that fail are retried for half a minute, for five minutes while writers wait, and so are
// calls of Fill once one has succeeded. The errors are *RefusedError, ErrTooFew, ErrTooSlow, ErrAliasMoved, ErrRunning,
// ErrTakenOver, ErrClosed, those of Fill, of the store and of the service. With invalid options nothing is sent.
func Run(ctx context.Context, store Store, client *search.IndexClient, next models.SearchIndex, fill Fill, opts Options) (Report, error) {
	if err := opts.check(store, client, next, fill); err != nil {
		return Report{}, fmt.Errorf("rebuild: %w", err)
	}
	r := newRunner(store, client)
	r.next, r.fill, r.opts = next, fill, opts
	err := r.run(ctx)
	return r.report, err
}

// run is Run with valid options.
func (r *runner) run(ctx context.Context) error {
	found, err := r.start(ctx)
	if err != nil || !r.report.Needed {
		return err
	}
	if r.sender, err = r.opts.Sender(r.next.Name); err != nil || nilcheck.IsNil(r.sender) {
		return errors.Join(errors.New("rebuild: Options.Sender returned no sender"), err)
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
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Cause(callers)) { // by beat or present
		err = cause
	}
	end(nil)
	beating.Wait()
	if errors.Is(err, ErrTakenOver) || errors.Is(err, errStopped) {
		return err
	}
	if err != nil && callers.Err() != nil {
		err = fmt.Errorf("rebuild: the context of Run has ended in the step %q: call Run again to resume, or Abort: %w", r.now().Step, err)
	}
	if phase := r.now().Phase; err != nil && !errors.Is(err, ErrClosed) && (phase == PhaseSwapped || phase == PhaseClosed) {
		err = fmt.Errorf("%w, because readers may be at the new index already: call Run again, or Abort: %w", ErrClosed, err)
	}
	r.leave(ctx)
	return err
}

// steps executes the lines of DESIGN.md.
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
			long := x.idleValid() + time.Second
			r.opts.Logger.Info("rebuild: waiting for all writers to learn of it", "for", long)
			if err = sleep.For(ctx, long); err == nil {
				err = r.swap(ctx, func(x *Record) { x.Step = StepFilling })
			}
		case StepFilling:
			if err = r.fillAll(ctx); err == nil {
				err = r.swap(ctx, func(x *Record) { x.Step = stepCatchingUp })
			}
		case stepCatchingUp:
			closed, err = r.lastOnes(ctx, &tries)
		case stepClosing: // a runner was killed in this step
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
		case stepMoving: // a runner was killed in this step
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

// count returns the number of documents of an index.
func (r *runner) count(ctx context.Context, index string) (int64, error) {
	c, err := r.client.Client(index)
	if err != nil {
		return 0, err
	}
	limited, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	n, err := c.DocumentCount(limited, nil)
	if err != nil {
		return 0, fmt.Errorf("rebuild: counting the documents of %q: %w", index, err)
	}
	return n, nil
}

// lacks returns an error if the new index has too few documents: a truth that was cut short looks like one with many
// deletions.
func (r *runner) lacks(ctx context.Context) error {
	if r.opts.MinShare < 0 || r.counted {
		return nil
	}
	x := r.now()
	ctx = wholeindex.Require(ctx)
	before, err := r.count(ctx, x.Old)
	if errors.Is(err, search.ErrIndexNotFound) { // without an old index readers lose nothing
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

// catchUpWith copies marked documents until few are left and the new index has enough. The service may count documents
// some seconds late.
func (r *runner) catchUpWith(ctx context.Context) error {
	for n := 0; ; n++ {
		if err := r.catchUp(ctx); err != nil {
			return err
		}
		err := r.stillFilled(ctx)
		if err == nil {
			err = r.lacks(ctx)
		}
		if err == nil || n == countings || errors.Is(err, errMadeAnew) || errors.Is(err, search.ErrPartialView) {
			return err
		}
		if n == 0 {
			r.opts.Logger.Warn("rebuild: new index is not complete; checking again", "error", err, "for", countings*time.Second)
		}
		if ended := sleep.For(ctx, time.Second); ended != nil {
			return fmt.Errorf("%w: %v", ended, err) //nolint:errorlint // whether it has too few is not decided yet
		}
	}
}

// lastOnes copies the last writes while the writers wait, before the alias is moved, or before the end if there is
// none. If it returns nil and the step has not changed, it must be called again.
func (r *runner) lastOnes(ctx context.Context, tries *int) (time.Time, error) {
	if r.opts.Alias == "" { // the writers switch next
		if err := sleep.For(ctx, r.rests()); err != nil {
			return time.Time{}, err
		}
	}
	if err := r.catchUpWith(ctx); errors.Is(err, errMadeAnew) {
		return time.Time{}, r.fillAnew(ctx)
	} else if err != nil {
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

// comeOver copies the last writes while the writers wait, and lets them continue with the new index.
func (r *runner) comeOver(ctx context.Context, tries *int) error {
	if err := r.line("close again"); err != nil {
		return err
	}
	began, err := r.close(ctx, stepMoving, stepSettling, PhaseSwapped)
	if errors.Is(err, ErrTooSlow) && !errors.Is(err, ErrClosed) {
		// Continue copying at once: writes are confirmed only when they are copied, and there is no earlier state to return to.
		*tries++
		r.opts.Logger.Warn("rebuild: last writes took over a second; retrying", "error", err)
		return nil
	}
	if err != nil && !errors.Is(err, ErrClosed) && r.bears(ctx, err, &r.failing) { // the taps are open again
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

// again returns nil after a wait if closing should be tried once more, and otherwise the error.
func (r *runner) again(ctx context.Context, tries *int, err error) error {
	if errors.Is(err, errMadeAnew) && !errors.Is(err, ErrClosed) { // it is filled again next
		return nil
	}
	if !errors.Is(err, ErrTooSlow) && !errors.Is(err, search.ErrPreconditionFailed) && !errors.As(err, new(passing)) || errors.Is(err, ErrClosed) {
		return err
	}
	if *tries++; *tries == closings {
		return err
	}
	r.opts.Logger.Warn("rebuild: writers continue with the old index; retrying", "error", err)
	return sleep.For(ctx, time.Second<<*tries)
}

// moved lets the writers continue with the new index.
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

// bring makes a round trip if there are marks, or always.
func (r *runner) bring(ctx context.Context, always bool) error {
	x := r.now()
	if !always && x.Drained >= x.Round-1 {
		limited, cancel := context.WithTimeout(ctx, tryLimit)
		keys, err := r.store.Marked(limited, x.Round, 1) // the caller retries its errors
		if cancel(); err != nil || len(keys) == 0 {
			return err
		}
	}
	_, err := r.roundTrip(ctx, models.ClassExpedited)
	return err
}
