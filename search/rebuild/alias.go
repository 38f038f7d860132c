package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// aliasAt reads the alias, which must be at one of the indexes.
func (r *runner) aliasAt(ctx context.Context, name string, indexes ...string) (models.Alias, error) {
	alias, err := r.client.GetAlias(ctx, name, nil)
	if err != nil {
		return alias, fmt.Errorf("rebuild: reading the alias: %w", err)
	}
	if len(alias.Indexes) != 1 || !slices.Contains(indexes, alias.Indexes[0]) {
		return alias, fmt.Errorf("%w: %q is at %q, not at %q", ErrAliasMoved, name, alias.Indexes, indexes)
	}
	return alias, nil
}

// moveAlias points the alias at the new index, under the ETag that was read with the old one in
// it. If it was asked for, an error says nothing about where the alias is.
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
	alias.Indexes = []string{x.New}
	_, err = r.client.CreateOrUpdateAlias(ctx, alias, nil)
	return true, err
}

// stillOwner is asked between reading the alias and writing it under the ETag that was read: an
// Abort that comes after it changes the ETag. If it were asked before reading, a runner that is
// stopped in between would read the ETag that Abort has made.
func (r *runner) stillOwner(ctx context.Context) error {
	return r.swap(ctx, func(x *Record) { x.Beat++ })
}

// settleAlias makes sure where the alias is after a request to move it that was not answered,
// or that somebody else may still send: it writes the alias where it is, and no request with an older ETag can change it
// any more. It tries for half a minute, because the writers must not go on before.
func (r *runner) settleAlias(ctx context.Context) (atNew bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	x := r.now()
	for {
		alias, err := r.aliasAt(ctx, x.Alias, x.Old, x.New)
		switch {
		case err == nil && alias.Indexes[0] == x.New:
			return true, nil
		case err == nil:
			asking, cancel := context.WithTimeout(ctx, 5*time.Second)
			err = r.stillOwner(asking)
			if cancel(); errors.Is(err, ErrTakenOver) {
				return false, err
			}
			if err != nil {
				break
			}
			if _, err = r.client.CreateOrUpdateAlias(ctx, alias, nil); err == nil {
				return false, nil
			}
		case errors.Is(err, ErrAliasMoved), errors.Is(err, search.ErrAliasNotFound):
			return false, err
		}
		r.opts.Logger.Warn("rebuild: the writers are kept waiting, because nobody can say where the alias is", "alias", x.Alias, "err", err)
		if ended := sleep(ctx, 200*time.Millisecond); ended != nil {
			return false, fmt.Errorf("%w: %w", ended, err)
		}
	}
}

// swapAlias moves the alias while the writers wait, and opens. began is when they began to, zero if
// another runner had them wait, which may have asked for it.
func (r *runner) swapAlias(ctx context.Context, began time.Time) error {
	others := began.IsZero()
	if others {
		began = time.Now()
	}
	limited, cancel := context.WithDeadlineCause(ctx, began.Add(closedLimit-margin), ErrTooSlow)
	asked, err := r.moveAlias(limited)
	if err != nil && context.Cause(limited) == ErrTooSlow { //nolint:errorlint // the cause is this value and nothing around it
		err = fmt.Errorf("%w: %w", ErrTooSlow, err)
	}
	cancel()
	if err != nil {
		if errors.Is(err, errStopped) || errors.Is(err, ErrTakenOver) {
			return err
		}
		if !asked && !others {
			return errors.Join(err, r.open(ctx, began, StepCatchingUp, PhaseMarking))
		}
		atNew, settled := r.settleAlias(ctx)
		switch {
		case errors.Is(settled, ErrTakenOver):
			return settled
		case errors.Is(settled, ErrAliasMoved), errors.Is(settled, search.ErrAliasNotFound):
			return errors.Join(settled, r.open(ctx, began, StepCatchingUp, PhaseMarking))
		case settled != nil:
			return errors.Join(fmt.Errorf("%w: call Run again, or Abort", ErrClosed), err, settled)
		case !atNew:
			return errors.Join(err, r.open(ctx, began, StepCatchingUp, PhaseMarking))
		}
	}
	if err := r.line("alias moved"); err != nil {
		return err
	}
	return r.open(ctx, began, StepSettling, PhaseSwapped)
}

// bearable is how long errors are borne one after another while writers wait for this runner: whoever gives up then stops them until somebody comes.
const bearable = 5 * time.Minute

// bears reports whether to go on in spite of an error, of which the first of several was at since.
func (r *runner) bears(ctx context.Context, err error, since *time.Time) bool {
	var refused *RefusedError
	if ctx.Err() != nil || errors.Is(err, ErrTakenOver) || errors.Is(err, errStopped) || errors.As(err, &refused) {
		return false
	}
	if since.IsZero() {
		*since = time.Now()
	}
	r.opts.Logger.Warn("rebuild: writers wait for what was written to be brought over", "err", err)
	return time.Since(*since) < bearable
}

// settle brings what is written over all the time, until readers are at the new index, for which they have so long if nobody knows.
func (r *runner) settle(ctx context.Context, long time.Duration) error {
	began, asked, shown := time.Now(), time.Time{}, 0
	var failing, asking time.Time
	for first := true; ; first = false {
		if err := r.bring(ctx, first); err != nil {
			if !r.bears(ctx, err, &failing) {
				return err
			}
			if err := sleep(ctx, time.Second); err != nil {
				return err
			}
			continue
		}
		failing = time.Time{}
		switch now := time.Now(); {
		case r.opts.Shown == nil:
			if now.Sub(began) >= long && r.rests() == 0 {
				return nil
			}
		case now.Sub(asked) >= time.Second:
			asked = now
			is, err := r.opts.Shown(ctx)
			if err != nil {
				if err = fmt.Errorf("rebuild: Shown: %w", err); !r.bears(ctx, err, &asking) {
					return err
				}
			} else {
				asking = time.Time{}
			}
			if shown++; !is || err != nil {
				shown = 0
			}
			if shown >= 3 && r.rests() == 0 {
				return nil
			}
		}
		if err := sleep(ctx, replayEvery); err != nil {
			return err
		}
	}
}
