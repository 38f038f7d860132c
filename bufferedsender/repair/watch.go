package repair

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Watch makes a pass every so often, until ctx ends, which is its error: at first after a part of that time, which is drawn so that processes do not begin
// together, then a tenth earlier or later. What a process has compared others that share the Store do not compare again within half of
// the time. each gets the report and the error of each pass; if it is nil, Logger gets the error. A pass with an error is followed by the next in its time. AllowDeletes counts for
// the first pass alone.
func Watch(ctx context.Context, every time.Duration, source Source, index Index, to Sender, opts *Options, each func(Report, error)) error {
	if every <= 0 {
		return errors.New("repair: Watch: the time between two passes is to be positive")
	}
	checked, err := newPass(source, index, to, opts)
	if err != nil {
		return err
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	wait := rand.N(every)
	for {
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		report, err := run(ctx, source, index, to, &o, time.Now().Add(-every/2))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o.AllowDeletes = 0
		switch {
		case each != nil:
			each(report, err)
		case err != nil:
			checked.Logger.LogAttrs(ctx, slog.LevelWarn, "repair: a pass has ended with an error", slog.Any("error", err))
		}
		wait = every - every/10 + rand.N(every/5+1)
	}
}
