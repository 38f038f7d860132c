package repair

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
)

// Watch makes a pass per interval until ctx ends, and returns the error of ctx. The first pass begins after a random
// part of the interval, so that processes do not start together; the following intervals are up to a tenth shorter or
// longer. Ranges that another process with the same Store has compared in the last half interval are left out. each
// receives the report and the error of each pass, also of one that ctx has cut off; without it, Logger gets the errors.
// After an error Watch continues with the next pass. A positive AllowDeletes applies to the first pass
// only, a negative one to all passes.
//
// With Options.Tree Watch also calls RunTree every ten minutes, never during a pass, and calls each; Report.Tree is
// then not nil. The first call builds the due segments of the tree, and later calls do so at most once per interval.
func (r *Repairer) Watch(ctx context.Context, every time.Duration, each func(Report, error)) error {
	if every <= 0 {
		return errors.New("repair: Watch: the time between two passes must be positive")
	}
	checked, err := r.newPass()
	if err != nil {
		return err
	}
	w := watch{Repairer: *r, logger: checked.Logger, each: each}
	ended, stop, err := watchAge(checked.MeterProvider, checked.Name)
	if err != nil {
		return err
	}
	defer stop()

	pass, byTree := time.Now().Add(rand.N(every)), time.Time{} // when each is due
	if checked.Tree != nil {
		byTree = time.Now().Add(rand.N(checked.treeEvery))
	}
	var built time.Time        // when segments were last built
	byDigests := new(Repairer) // the same for all calls, see sqlkit.CallsOf
	for {
		if checked.Tree != nil && byTree.Before(pass) {
			if err := sleep.For(ctx, time.Until(byTree)); err != nil {
				return err
			}
			build := built.IsZero() || time.Since(built) >= every
			if build {
				built = time.Now()
			}
			*byDigests = w.Repairer
			byDigests.Options.AllowDeletes = min(byDigests.Options.AllowDeletes, 0)
			report, err := byDigests.runTree(ctx, checked.Tree, build)
			if err := w.said(ctx, report, err); err != nil {
				return err
			}
			byTree = time.Now().Add(around(checked.treeEvery))
			continue
		}
		if err := sleep.For(ctx, time.Until(pass)); err != nil {
			return err
		}
		report, err := w.run(ctx, time.Now().Add(-every/2))
		if err == nil {
			ended()
		}
		if err := w.said(ctx, report, err); err != nil {
			return err
		}
		w.Options.AllowDeletes = min(w.Options.AllowDeletes, 0)
		pass = time.Now().Add(around(every))
	}
}

// around returns a random duration within a tenth of d.
func around(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) }

// watch is the state of a Watch.
type watch struct {
	Repairer
	logger *slog.Logger
	each   func(Report, error)
}

// said reports the result of a pass. It returns the error of ctx.
func (w *watch) said(ctx context.Context, report Report, err error) error {
	switch {
	case w.each != nil:
		w.each(report, err)
	case err != nil && ctx.Err() == nil:
		w.logger.LogAttrs(ctx, slog.LevelWarn, "repair: pass failed", slog.Any("error", err))
	}
	return ctx.Err()
}
