package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// aliasAt reads the alias, and returns ErrAliasMoved unless it points at one of the indexes. A request whose answer
// never comes is given up.
func (r *runner) aliasAt(ctx context.Context, name string, indexes ...string) (models.Alias, error) {
	limited, cancel := context.WithTimeout(ctx, aliasLimit)
	defer cancel()
	alias, err := r.client.GetAlias(limited, name, nil)
	if err != nil {
		return alias, noAlias(name, err)
	}
	if len(alias.Indexes) != 1 || !slices.Contains(indexes, alias.Indexes[0]) {
		return alias, fmt.Errorf("%w: %q is at %q, not at %q", ErrAliasMoved, name, alias.Indexes, indexes)
	}
	return alias, nil
}

// noAlias explains why an alias cannot be read.
func noAlias(name string, err error) error {
	if errors.Is(err, search.ErrAliasNotFound) {
		return fmt.Errorf("rebuild: the alias %q does not exist: create it with IndexClient.CreateAlias at the index that writers use, and let readers use it; or leave Options.Alias out: %w", name, err)
	}
	return fmt.Errorf("rebuild: reading the alias: %w", passes(err))
}

// moveAlias points the alias at the new index, under the ETag read while it pointed at the old one. If asked is true
// the request was sent, and after an error the alias may point at either index.
func (r *runner) moveAlias(ctx context.Context) (asked bool, err error) {
	x := r.now()
	alias, err := r.aliasAt(ctx, x.Alias, x.Old, x.New)
	if err != nil || alias.Indexes[0] == x.New {
		return false, err
	}
	if err := r.stillOwner(ctx); err != nil {
		return false, err
	}
	if err := r.line("alias"); err != nil {
		return false, err
	}
	if err := r.stillFilled(ctx); err != nil {
		return false, err
	}
	alias.Indexes = []string{x.New}
	return true, passes(r.writeAlias(ctx, alias))
}

// writeAlias writes the alias under the ETag in it. A request whose answer never comes is given up.
func (r *runner) writeAlias(ctx context.Context, alias models.Alias) error {
	limited, cancel := context.WithTimeout(ctx, aliasLimit)
	defer cancel()
	_, err := r.client.CreateOrUpdateAlias(limited, alias, nil)
	return err
}

// stillOwner changes the record to check the ownership. Call it between reading the alias and writing it under the ETag
// that was read: an Abort after it changes the ETag. If it came before the read, a runner stopped in between could read
// the ETag that Abort has made.
func (r *runner) stillOwner(ctx context.Context) error {
	return r.insist(ctx, func(x *Record) { x.Beat++ })
}

// settleAlias finds out where the alias points, after a request to move it that had no answer, or that another runner
// may still send. If it points at the old index it is written again, so that no request with an older ETag can move it.
// settleAlias retries for five minutes, and half a minute after ctx has ended, because the writers must not continue
// before.
func (r *runner) settleAlias(ctx context.Context) (atNew bool, err error) {
	ctx, cancel := insisting(ctx, outage)
	defer cancel()
	x := r.now()
	for {
		alias, err := r.aliasAt(ctx, x.Alias, x.Old, x.New)
		switch {
		case err == nil && alias.Indexes[0] == x.New:
			return true, nil
		case err == nil:
			asking, cancel := context.WithTimeout(ctx, aliasLimit)
			err = r.stillOwner(asking)
			if cancel(); errors.Is(err, ErrTakenOver) {
				return false, err
			}
			if err != nil {
				break
			}
			if err = r.writeAlias(ctx, alias); err == nil {
				return false, nil
			}
		case errors.Is(err, ErrAliasMoved), errors.Is(err, search.ErrAliasNotFound):
			return false, err
		}
		r.opts.Logger.Warn("rebuild: alias cannot be read; writers wait", "alias", x.Alias, "error", err)
		if ended := sleep.For(ctx, 200*time.Millisecond); ended != nil {
			return false, fmt.Errorf("%w: %w", ended, err)
		}
	}
}

// swapAlias moves the alias while the writers wait, and lets them continue. began is when they began to wait, zero if
// another runner has closed the taps; that runner may have sent the request to move it.
func (r *runner) swapAlias(ctx context.Context, began time.Time) error {
	others := began.IsZero()
	if others {
		began = time.Now()
	}
	limited, cancel := context.WithDeadlineCause(ctx, began.Add(closedLimit-margin), ErrTooSlow)
	asked, err := r.moveAlias(limited)
	err = tooSlow(limited, err)
	cancel()
	if err != nil {
		if errors.Is(err, errStopped) || errors.Is(err, ErrTakenOver) {
			return err
		}
		if !asked && !others {
			return errors.Join(err, r.open(ctx, began, stepCatchingUp, PhaseMarking))
		}
		atNew, settled := r.settleAlias(ctx)
		switch {
		case errors.Is(settled, ErrTakenOver):
			return settled
		case errors.Is(settled, ErrAliasMoved), errors.Is(settled, search.ErrAliasNotFound):
			return errors.Join(settled, r.open(ctx, began, stepCatchingUp, PhaseMarking))
		case settled != nil:
			return errors.Join(fmt.Errorf("%w: call Run again, or Abort", ErrClosed), err, settled)
		case !atNew:
			return errors.Join(err, r.open(ctx, began, stepCatchingUp, PhaseMarking))
		}
	}
	if err := r.line("alias moved"); err != nil {
		return err
	}
	return r.open(ctx, began, stepSettling, PhaseSwapped)
}

// bearable is how long errors are retried while writers wait for this runner. Giving up would stop the writers until an
// operator acts.
const bearable = 5 * time.Minute

// bears reports whether to continue despite an error. since is the time of the first of consecutive errors.
func (r *runner) bears(ctx context.Context, err error, since *time.Time) bool {
	var refused *RefusedError
	if ctx.Err() != nil || errors.Is(err, ErrTakenOver) || errors.Is(err, errStopped) || errors.As(err, &refused) {
		return false
	}
	if since.IsZero() {
		*since = time.Now()
	}
	r.opts.Logger.Warn("rebuild: writers wait until marked documents are copied", "error", err)
	return time.Since(*since) < bearable
}

// settle copies marked documents until readers use the new index: until Shown reports it, or for long without Shown.
func (r *runner) settle(ctx context.Context, long time.Duration) error {
	began := time.Now()
	if r.opts.Shown == nil {
		r.opts.Logger.Info("rebuild: bringing over what is written meanwhile", "for", max(long, 0))
	} else {
		r.opts.Logger.Info("rebuild: bringing over writes until Shown is true")
	}
	shown := func() bool { return time.Since(began) >= long }
	if r.opts.Shown != nil {
		a := asker{runner: r, answers: make(chan answer, 1)}
		a.ctx, a.end = context.WithCancel(ctx)
		defer a.leave()
		shown = a.ask
	}
	for first := true; ; first = false {
		if err := r.bring(ctx, first); err != nil {
			if !r.bears(ctx, err, &r.failing) {
				return err
			}
			if err := sleep.For(ctx, time.Second); err != nil {
				return err
			}
			continue
		}
		r.failing = time.Time{}
		if shown() && r.rests() == 0 {
			return nil
		}
		if err := sleep.For(ctx, replayEvery); err != nil {
			return err
		}
	}
}

// asker calls Shown while writers wait for other work of the runner, because Shown may be slow.
type asker struct {
	*runner
	ctx     context.Context // of all calls
	end     func()
	answers chan answer
	under   bool      // a call is under way
	asked   time.Time // start of the last call
	often   int       // consecutive calls that have returned true
}

type answer struct {
	is  bool
	err error
}

// ask returns whether readers are known to use the new index. It does not block.
func (a *asker) ask() bool {
	var err error
	select {
	case got := <-a.answers:
		a.under = false
		if err = got.err; err == nil {
			a.silent = time.Time{}
		}
		if a.often++; !got.is || err != nil {
			a.often = 0
		}
	default:
		if a.under && time.Since(a.asked) > tryLimit+time.Second {
			err = errors.New("it does not return, although its context has ended")
		}
	}
	if a.often >= 3 || err != nil && a.fails(err) {
		return true
	}
	if !a.under && time.Since(a.asked) >= time.Second {
		a.under, a.asked = true, time.Now()
		go a.call()
	}
	return false
}

// call calls Shown.
func (a *asker) call() {
	ctx, cancel := context.WithTimeout(a.ctx, tryLimit)
	defer cancel()
	var got answer
	defer func() {
		if v := recover(); v != nil { // no caller can recover on this goroutine
			got = answer{err: fmt.Errorf("it panicked: %v", v)}
		}
		a.answers <- got
	}()
	got.is, got.err = a.opts.Shown(ctx)
}

// leave ends a call under way and waits for it, but not for a call that ignores its context.
func (a *asker) leave() {
	a.end()
	if a.under && time.Since(a.asked) < tryLimit {
		select {
		case <-a.answers:
		case <-time.After(time.Second):
		}
	}
}

// fails records an error of Shown. It reports whether there were only errors for so long that Run continues as if
// Settle were over. Copying forever would help no writer.
func (a *asker) fails(err error) bool {
	if now := time.Now(); a.silent.IsZero() {
		a.silent = now
		a.opts.Logger.Warn("rebuild: Shown failed; readers may see the old index", "error", err, "for", bearable)
	} else if now.Sub(a.silent) >= max(bearable, a.opts.Settle) {
		a.opts.Logger.Error("rebuild: Shown failed too long; writers switch anyway", "error", err)
		return true
	}
	return false
}
