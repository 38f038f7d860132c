package repair

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
)

// Watch makes a pass every so often, until ctx ends, which is its error: at first after a part of that time, which is
// drawn so that processes do not begin together, then a tenth earlier or later. What a process has compared others
// that share the Store do not compare again within half of the time. each gets the report and the error of each pass,
// also of one that the end of ctx has ended; if it is nil, Logger gets the error. A pass with an error is followed by
// the next in its time. AllowDeletes counts for the first pass alone.
//
// With Options.Tree it calls RunTree each ten minutes as well, never while a pass goes on, and each gets that too:
// Report.Tree is not nil then. What is due of the tree is built at the first time, and no more often than passes are
// made.
func (r *Repairer) Watch(ctx context.Context, every time.Duration, each func(Report, error)) error {
	if every <= 0 {
		return errors.New("repair: Watch: the time between two passes is to be positive")
	}
	checked, err := r.newPass()
	if err != nil {
		return err
	}
	w := watch{Repairer: *r, logger: checked.Logger, each: each}

	pass, byTree := time.Now().Add(rand.N(every)), time.Time{} // what is due next
	if checked.Tree != nil {
		byTree = time.Now().Add(rand.N(checked.treeEvery))
	}
	var built time.Time // when the tree could be
	for {
		if checked.Tree != nil && byTree.Before(pass) {
			if err := sleep.For(ctx, time.Until(byTree)); err != nil {
				return err
			}
			build := built.IsZero() || time.Since(built) >= every
			if build {
				built = time.Now()
			}
			byDigests := w.Repairer
			byDigests.Options.AllowDeletes = 0
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
		if err := w.said(ctx, report, err); err != nil {
			return err
		}
		w.Options.AllowDeletes = 0
		pass = time.Now().Add(around(every))
	}
}

// around is a time, or up to a tenth less or more.
func around(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) }

// watch is what a Watch knows.
type watch struct {
	Repairer
	logger *slog.Logger
	each   func(Report, error)
}

// said passes on what has come of a pass. Its error is that of ctx.
func (w *watch) said(ctx context.Context, report Report, err error) error {
	switch {
	case w.each != nil:
		w.each(report, err)
	case err != nil && ctx.Err() == nil:
		w.logger.LogAttrs(ctx, slog.LevelWarn, "repair: pass failed", slog.Any("error", err))
	}
	return ctx.Err()
}
