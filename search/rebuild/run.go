package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// errStopped is what a test stops a runner with: it is as if it were killed.
var errStopped = errors.New("rebuild: stopped by a test")

// Run replaces the index that the writers write to by a new one, next, which it creates, fills,
// and points the alias at, while the writers go on. Without need, by search.DiffIndex, it does nothing. If a
// rebuild to the same name is under way, because Run was killed or returned an error, it goes on where that one
// stopped, after a minute in which it makes sure that nobody else is at work (at once if that one returned an error, and
// left nothing in the sender; one that was cut off while it filled nearly always has). Meanwhile nothing changes in the record.
//
// It blocks until the writers write to the new index: TapOptions.IdleValid at least, a minute by default, then as long as filling takes, then Settle. Where an index of
// the name of next was deleted by DropOld or Abort in the last ten minutes it waits 75 s before it begins: what was on its way to that one is over then.
// ctx ends it: what is done is kept. The writers go on with the old index, marking what they write, until Run is called again, or
// Abort; but once the alias was moved nothing is confirmed until then, so let a ctx that has a deadline have a late one. A store that fails is asked
// again for half a minute, and so is Fill once it has worked. The errors are *RefusedError, ErrTooSlow, ErrAliasMoved, ErrRunning, ErrTakenOver, ErrClosed, those of Fill, of the store and of
// the service. Nothing is sent if the options are wrong.
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
	if found.active() {
		err = r.own(ctx, found)
	} else {
		err = r.take(ctx, found, func(x *Record) {
			x.Step, x.Old, x.New, x.Alias, x.Cursor = StepCreating, x.Route, r.next.Name, r.opts.Alias, ""
		})
	}
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	var beating sync.WaitGroup
	beating.Go(func() { r.beat(ctx, end) })
	err = r.steps(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, ErrTakenOver) {
		err = cause
	}
	end(nil)
	beating.Wait()
	if errors.Is(err, ErrTakenOver) || errors.Is(err, errStopped) {
		return err
	}
	if phase := r.now().Phase; err != nil && !errors.Is(err, ErrClosed) && (phase == PhaseSwapped || phase == PhaseClosed) {
		err = fmt.Errorf("%w, because readers may be at the new index already: call Run again, or Abort: %w", ErrClosed, err)
	}
	r.leave(ctx)
	return err
}

// start looks whether there is anything to do, and whether it can be done. It changes nothing but
// for the record of an index that has no writers, which it makes.
func (r *runner) start(ctx context.Context) (Record, error) {
	found, err := r.store.Load(ctx)
	if err != nil {
		return found, err
	}
	if found.Version == 0 {
		if !r.opts.Alone || r.opts.Alias == "" {
			return found, errors.New("rebuild: no writer has made a Tap on this store, so the index that they write to is not known: begin with the writers, see NewTap")
		}
		alias, err := r.client.GetAlias(ctx, r.opts.Alias, nil)
		if err != nil {
			return found, fmt.Errorf("rebuild: reading the alias: %w", err)
		}
		if len(alias.Indexes) != 1 {
			return found, fmt.Errorf("rebuild: the alias %q is at %q: point it at the index that is to be replaced", r.opts.Alias, alias.Indexes)
		}
		if found, err = begin(ctx, r.store, alias.Indexes[0], 0); err != nil {
			return found, err
		}
	}
	if r.report.Writers, err = r.store.Writers(ctx); err != nil {
		return found, err
	}
	if found.active() {
		r.report.Needed = true
		return found, r.goesOn(ctx, found)
	}
	return found, r.begins(ctx, found)
}

// goesOn says whether a rebuild that is under way is this one.
func (r *runner) goesOn(ctx context.Context, found Record) error {
	r.report.Old, r.report.Index = found.Old, found.New
	if found.Step == StepAborting {
		return errors.New("rebuild: an Abort was begun and has not ended: call Abort again")
	}
	if found.New != r.next.Name || found.Alias != r.opts.Alias {
		return fmt.Errorf("rebuild: one from %q to %q with the alias %q is under way (%s): finish it with the same options, or call Abort", found.Old, found.New, found.Alias, found.Step)
	}
	if found.Step != StepCreating {
		if err := r.sameDefinition(ctx); err != nil {
			return err
		}
	}
	r.opts.Logger.Info("rebuild: going on", "step", string(found.Step), "old", found.Old, "new", found.New)
	return nil
}

// sameDefinition says whether the new index that is there is the one that is wanted.
func (r *runner) sameDefinition(ctx context.Context) error {
	there, err := r.client.GetIndex(ctx, r.next.Name, nil)
	if err != nil {
		return fmt.Errorf("rebuild: reading the definition of the new index: %w", err)
	}
	changes, err := search.DiffIndex(there, r.next)
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	if changes.Kind() != search.ChangeNone {
		return fmt.Errorf("rebuild: the index %q is there with another definition (%v): finish with that one, or call Abort and begin anew", r.next.Name, changes)
	}
	return nil
}

// begins says whether a rebuild is needed, and whether it can begin.
func (r *runner) begins(ctx context.Context, found Record) error {
	old := found.Route
	r.report.Old = old
	if found.Step == StepMoved && r.next.Name == found.Old {
		return fmt.Errorf("rebuild: the index %q is kept until %v from the rebuild before: give the new one another name", found.Old, found.KeepUntil)
	}
	if r.opts.Alias != "" && old == r.opts.Alias {
		return fmt.Errorf("rebuild: the writers write to the alias %q, which cannot be replaced behind it: TapOptions.Index must be an index; have all writers make their taps on a store of another name with it", old)
	}
	before, err := r.client.GetIndex(ctx, old, nil)
	if err != nil {
		return fmt.Errorf("rebuild: reading the definition of the index that is to be replaced: %w", err)
	}
	after := r.next
	after.Name = before.Name // that it is another one is not the question
	if r.report.Changes, err = search.DiffIndex(before, after); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	if !r.opts.Always && r.report.Changes.Kind() != search.ChangeNeedsRebuild {
		r.report.Index, r.report.Old = old, "" // nobody is to delete it
		return nil
	}
	r.report.Index = r.next.Name
	var errs []error
	if found.Step == StepMoved {
		errs = append(errs, fmt.Errorf("the index %q of the rebuild before is still kept: delete it with DropOld first", found.Old))
	}
	if _, err := r.client.GetIndex(ctx, r.next.Name, nil); err == nil {
		errs = append(errs, fmt.Errorf("there is an index %q: give the new one a name that no index has", r.next.Name))
	} else if !errors.Is(err, search.ErrIndexNotFound) {
		errs = append(errs, err)
	}
	if r.opts.Alias != "" {
		if _, err := r.aliasAt(ctx, r.opts.Alias, old); err != nil {
			errs = append(errs, err)
		}
	}
	registered := make([]string, len(r.report.Writers))
	for i, w := range r.report.Writers {
		registered[i] = w.Name
	}
	for _, w := range r.opts.Writers {
		if !slices.Contains(registered, w) {
			errs = append(errs, fmt.Errorf("the writer %q has made no Tap on this store: what it writes would be missing. Registered are %q", w, registered))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	if at, known := found.Dropped[r.next.Name]; known && time.Since(at) < dropsKnown {
		r.opts.Logger.Info("rebuild: waits before it begins, because what was sent to the index of that name which was deleted may still come", "index", r.next.Name, "deleted", at, "wait", nameRests)
		if err := sleep(ctx, nameRests); err != nil {
			return err
		}
	}
	r.report.Needed = true
	r.opts.Logger.Info("rebuild: begins. What is written by a program without a Tap will be missing from the new index: it cannot be seen. "+
		"That a writer is registered does not say that all its processes have one",
		"old", old, "new", r.next.Name, "alias", r.opts.Alias, "writers", r.opts.Writers, "registered", registered)
	return nil
}

// steps goes from line to line of DESIGN.md.
func (r *runner) steps(ctx context.Context) error {
	var err error
	if r.sender, err = r.opts.Sender(r.next.Name); err != nil || r.sender == nil {
		return errors.Join(errors.New("rebuild: Sender returned none"), err)
	}
	if err := r.checkSender(); err != nil {
		return err
	}
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
		case StepCreating:
			err = r.create(ctx)
		case StepMarking:
			if err = sleep(ctx, x.idleValid()+time.Second); err == nil {
				err = r.swap(ctx, func(x *Record) { x.Step = StepFilling })
			}
		case StepFilling:
			if err = r.fillAll(ctx); err == nil {
				err = r.swap(ctx, func(x *Record) { x.Step = StepCatchingUp })
			}
		case StepCatchingUp:
			closed, err = r.lastOnes(ctx, &tries)
		case StepClosing: // somebody was killed in it
			err = r.open(ctx, time.Time{}, StepCatchingUp, PhaseMarking)
		case StepSwapping:
			if err = r.swapAlias(ctx, closed); err != nil {
				err = r.again(ctx, &tries, err)
			} else {
				tries = 0
			}
		case StepSettling:
			long := r.opts.Settle
			if tries > 0 { // readers have had their time
				long = min(long, time.Second<<min(tries, 4))
			}
			if err = r.settle(ctx, long); err == nil {
				err = r.comeOver(ctx, &tries)
			}
		case StepMoving: // somebody was killed in it
			err = r.open(ctx, time.Time{}, StepSettling, PhaseSwapped)
		case StepMoved:
			r.report.Index, r.report.KeepUntil = x.New, x.KeepUntil
			return nil
		default:
			return fmt.Errorf("rebuild: there is no step %q: a newer version of this package has written it", x.Step)
		}
		if err != nil {
			return err
		}
	}
}

// checkSender says whether the sender is one for the new index, as far as it says what it is like.
func (r *runner) checkSender() error {
	s, can := r.sender.(interface{ Info() models.SenderInfo })
	if !can {
		return nil
	}
	var errs []error
	info := s.Info()
	if info.IndexName != "" && info.IndexName != r.next.Name {
		errs = append(errs, fmt.Errorf("it writes to %q: make it with a client of %q, which is what the function is given, and without a Tap", info.IndexName, r.next.Name))
	}
	if info.Queued {
		errs = append(errs, errors.New("it has a Queue, so that others may write what it is given, at any time: make one without"))
	}
	if info.UnknownWait <= 0 {
		errs = append(errs, errors.New("its UnknownWait is turned off: a request without an answer could put an older document over what writers write later. Leave it out"))
	}
	if most := 4 * beatValid; info.RequestTimeout > most {
		errs = append(errs, fmt.Errorf("its RequestTimeout is %v: use %v at the most, since what it sends is valid for a part of that only", info.RequestTimeout, most))
	}
	if len(errs) > 0 {
		return fmt.Errorf("rebuild: the sender of Options.Sender cannot be used: %w", errors.Join(errs...))
	}
	return nil
}

// create makes the new index. One that is there is ours: there was none when the step began.
func (r *runner) create(ctx context.Context) error {
	var status interface{ HTTPStatus() int }
	if _, err := r.client.CreateIndex(ctx, r.next, nil); err != nil {
		if !errors.As(err, &status) || status.HTTPStatus() != 409 {
			return fmt.Errorf("rebuild: creating the new index: %w", err)
		}
		if err := r.sameDefinition(ctx); err != nil {
			return err
		}
	}
	if err := r.line("created"); err != nil {
		return err
	}
	epoch, round := r.now().Epoch+1, r.now().Round+1
	return r.swap(ctx, func(x *Record) { x.Step, x.Phase, x.Epoch, x.Round = StepMarking, PhaseMarking, epoch, round })
}

// lastOnes brings the last writes over while the writers wait, for the alias to be moved, or for the end if
// there is none. nil and the same step mean: once more.
func (r *runner) lastOnes(ctx context.Context, tries *int) (time.Time, error) {
	if r.opts.Alias == "" { // the writers come over next
		if err := sleep(ctx, r.rests()); err != nil {
			return time.Time{}, err
		}
	}
	if err := r.catchUp(ctx); err != nil {
		return time.Time{}, err
	}
	if err := r.line("close"); err != nil {
		return time.Time{}, err
	}
	began, err := r.close(ctx, StepClosing, StepCatchingUp, PhaseMarking)
	if err != nil {
		return time.Time{}, r.again(ctx, tries, err)
	}
	if err := r.line("closed"); err != nil {
		return began, err
	}
	if r.opts.Alias == "" {
		return began, r.moved(ctx, began)
	}
	if err := r.swap(ctx, func(x *Record) { x.Step = StepSwapping }); err != nil {
		return began, errors.Join(err, r.open(ctx, began, StepCatchingUp, PhaseMarking))
	}
	return began, nil
}

// comeOver brings the last writes over while the writers wait, and lets them go on at the new index.
func (r *runner) comeOver(ctx context.Context, tries *int) error {
	if err := r.line("close again"); err != nil {
		return err
	}
	began, err := r.close(ctx, StepMoving, StepSettling, PhaseSwapped)
	if errors.Is(err, ErrTooSlow) && !errors.Is(err, ErrClosed) {
		// Back to bringing over, at once: what is written is confirmed only when that has been done, and there is nothing to give up to.
		*tries++
		r.opts.Logger.Warn("rebuild: the last writes are not over within a second; once more", "err", err)
		return nil
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
	r.opts.Logger.Warn("rebuild: the last writes are not over within a second; once more", "err", err)
	return sleep(ctx, time.Second<<*tries)
}

// moved lets the writers go on at the new index.
func (r *runner) moved(ctx context.Context, began time.Time) error {
	until := time.Now().Add(max(r.opts.Keep, 0)).UTC().Truncate(time.Millisecond)
	epoch := r.now().Epoch + 1
	ctx, cancel := insisting(ctx)
	defer cancel()
	if err := r.swap(ctx, func(x *Record) {
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
	_, err := r.roundTrip(ctx, pool.Expedited)
	return err
}
