package repair

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// heldAtMost is the timeout for reading the truth of held keys, because other writers of these keys wait meanwhile.
const heldAtMost = time.Minute

// Sides are user code and may panic. A panic must end the pass and not the process: the pass holds keys, and runs
// goroutines that the caller cannot recover.

// panicked sets err if v, the result of recover, is not nil.
func panicked(who string, v any, err *error) {
	if v != nil {
		*err = fmt.Errorf("%s panicked: %v", who, v)
	}
}

// answerAtMost is the timeout for a Lookup or a Read. A Scan may have to sort first: it ends when it has given no row
// for longer than silentAtMost. Otherwise a side that hangs would keep a Watch from all further passes.
const (
	answerAtMost = time.Minute
	silentAtMost = 5 * time.Minute
)

// answer calls a side with its timeout.
func answer(ctx context.Context, what string, call func(ctx context.Context) error) (err error) {
	limited, cancel := context.WithTimeout(ctx, answerAtMost)
	defer cancel()
	defer func() {
		if limited.Err() != nil && ctx.Err() == nil && err != nil {
			err = fmt.Errorf("%s took longer than %v: %w", what, answerAtMost, err)
		}
	}()
	defer func() { panicked(what, recover(), &err) }()
	if err = call(limited); err == nil { // an answer that was cut off may lack rows
		err = limited.Err()
	}
	return err
}

// guardedIndex is an Index that returns panics as errors, and an error if it does not answer.
type guardedIndex struct {
	Index
	name string
}

// Scan implements Index.
func (g guardedIndex) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		ended := false
		if err := g.scan(ctx, after, through, func(row models.Row, err error) bool {
			ended = ended || !yield(row, err)
			return !ended
		}); err != nil && !ended {
			yield(models.Row{}, err)
		}
	}
}

func (g guardedIndex) scan(outer context.Context, after, through string, yield func(models.Row, error) bool) (err error) {
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	var moves atomic.Int64 // odd while the caller has a row
	defer watchSilence(&moves, func() { cancel(errSilent) })()
	defer func() { panicked("Scan of the "+g.name, recover(), &err) }()
	cut := func() error { return fmt.Errorf("Scan of the %s: %w", g.name, errSilent) }
	g.Index.Scan(ctx, after, through)(func(row models.Row, err error) bool {
		moves.Add(1)
		defer moves.Add(1)
		if err != nil && context.Cause(ctx) == errSilent { //nolint:errorlint // it is that very one
			err = cut()
		}
		return yield(row, err)
	})
	if context.Cause(ctx) == errSilent { //nolint:errorlint // it is that very one
		return cut()
	}
	return nil
}

// watchSilence calls cut if moves has stayed the same even number for longer than silentAtMost, until stop is called.
func watchSilence(moves *atomic.Int64, cut func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		ticks := time.NewTicker(silentAtMost)
		defer ticks.Stop()
		for seen := int64(-1); ; {
			select {
			case <-done:
				return
			case <-ticks.C:
			}
			now := moves.Load()
			if now == seen && now%2 == 0 {
				cut()
				return
			}
			seen = now
		}
	}()
	return func() { close(done) }
}

var errSilent = fmt.Errorf("it has returned no row for more than %v", silentAtMost)

// Lookup implements Index.
func (g guardedIndex) Lookup(ctx context.Context, keys []string) (rows []models.Row, err error) {
	if f, is := g.Index.(Functions); is && f.LookupKeys == nil { // it scans, which ends by its silence
		defer func() { panicked("Lookup of the "+g.name, recover(), &err) }()
		f.ScanRows = g.Scan
		return f.Lookup(ctx, keys)
	}
	err = answer(ctx, "Lookup of the "+g.name, func(ctx context.Context) (err error) {
		rows, err = g.Index.Lookup(ctx, keys)
		return err
	})
	return rows, err
}

// guardedSource is a Source that returns panics as errors.
type guardedSource struct {
	guardedIndex
	source Source
}

// Read implements Source.
func (g guardedSource) Read(ctx context.Context, keys []string) (actions []models.RawAction, err error) {
	err = answer(ctx, "Read of the source", func(ctx context.Context) (err error) {
		actions, err = g.source.Read(ctx, keys)
		return err
	})
	return actions, err
}
