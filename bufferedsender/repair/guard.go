package repair

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
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

// answerAtMost is the timeout for a Lookup, a Read or a Pending. A Scan may have to sort first: it ends when it has
// given no row for longer than silentAtMost. Otherwise a side that hangs would keep a Watch from all further passes.
// After silence the log names the call. If a driver ignores the end of the context, the call is abandoned after
// abandonAfter: it changes nothing, but its goroutine stays, so sqlkit.Calls bounds their number.
const (
	answerAtMost = time.Minute
	silentAtMost = 5 * time.Minute
	silence      = 10 * time.Second
	abandonAfter = 5 * time.Second
)

const unheard = "repair: call has not returned for ten seconds"

// waiting logs that a side does not answer, when it has not for the time of silence. Call stop when it has.
func waiting(log *slog.Logger, what string) (stop func() bool) {
	return time.AfterFunc(silence, func() { log.Warn(unheard, "call", what) }).Stop
}

// answer calls a side with its timeout, on a goroutine of its own: nothing that the call writes may be read with an
// error.
func answer[T any](ctx context.Context, g guard, what string, call func(ctx context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, answerAtMost)
	defer cancel()
	result, err := unlimited(limited, g, what, call)
	if err == nil { // an answer that was cut off may lack rows
		err = limited.Err()
	}
	if limited.Err() != nil && ctx.Err() == nil && err != nil {
		err = fmt.Errorf("%s took longer than %v: %w", what, answerAtMost, err)
	}
	return result, err
}

// unlimited is answer without a timeout.
func unlimited[T any](ctx context.Context, g guard, what string, call func(ctx context.Context) (T, error)) (T, error) {
	defer waiting(g.log, what)()
	return sqlkit.Call(ctx, g.calls, abandonAfter, func() (result T, err error) {
		defer func() { panicked(what, recover(), &err) }()
		return call(ctx)
	})
}

// guard bounds the abandoned calls of a side, and logs calls that do not return.
type guard struct {
	calls *sqlkit.Calls
	log   *slog.Logger
}

// guardedIndex is an Index that returns panics as errors, and an error if it does not answer.
type guardedIndex struct {
	Index
	guard
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

// scannedRow is one result of a scan.
type scannedRow struct {
	row models.Row
	err error
}

const scannedAhead = 256 // rows of a scan that may wait for its caller, who then needs no switch of goroutines for each

func (g guardedIndex) scan(outer context.Context, after, through string, yield func(models.Row, error) bool) error {
	what := "Scan of the " + g.name
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	var moves atomic.Int64 // odd while the scan waits for the caller
	defer g.watchSilence(what, &moves, func() { cancel(errSilent) })()
	rows, done := make(chan scannedRow, scannedAhead), make(chan error, 1)
	go func() {
		_, err := sqlkit.Call(ctx, g.calls, abandonAfter, func() (_ struct{}, err error) {
			defer func() { panicked(what, recover(), &err) }()
			g.Index.Scan(ctx, after, through)(func(row models.Row, err error) bool {
				moves.Add(1)
				defer moves.Add(1)
				select {
				case rows <- scannedRow{row, err}:
					return true
				case <-ctx.Done():
					return false
				}
			})
			return struct{}{}, nil
		})
		done <- err
	}()
	silent := func() bool { return context.Cause(ctx) == errSilent } //nolint:errorlint // it is that very one
	give := func(r scannedRow) {
		if r.err != nil && silent() {
			r.err = fmt.Errorf("%s: %w", what, errSilent)
		}
		if !yield(r.row, r.err) {
			cancel(nil)
		}
	}
	for {
		select {
		case r := <-rows:
			give(r)
		case err := <-done:
			for len(rows) > 0 && err == nil {
				give(<-rows)
			}
			if err == nil && ctx.Err() != nil { // it may have been cut off
				err = context.Cause(ctx)
			}
			if silent() {
				err = fmt.Errorf("%s: %w", what, err)
			}
			return err
		}
	}
}

// watchSilence watches moves, which changes with each row, until stop is called. While it stays the same even number
// the log says so, and after silentAtMost cut is called.
func (g guard) watchSilence(what string, moves *atomic.Int64, cut func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		ticks := time.NewTicker(silence / 2)
		defer ticks.Stop()
		since, seen, said := time.Now(), int64(0), false
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
			}
			now, quiet := moves.Load(), time.Since(since)
			switch {
			case now != seen || now%2 != 0:
				since, seen, said = time.Now(), now, false
			case quiet >= silentAtMost:
				cut()
				return
			case quiet >= silence && !said:
				said = true
				g.log.Warn(unheard, "call", what)
			}
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
	return answer(ctx, g.guard, "Lookup of the "+g.name, func(ctx context.Context) ([]models.Row, error) { return g.Index.Lookup(ctx, keys) })
}

// guardedSource is a Source that returns panics as errors.
type guardedSource struct {
	guardedIndex
	source Source
}

// Read implements Source.
func (g guardedSource) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	return answer(ctx, g.guard, "Read of the source", func(ctx context.Context) ([]models.RawAction, error) { return g.source.Read(ctx, keys) })
}
