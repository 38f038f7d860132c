package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// An Error reports failures by index.
type Error struct {
	// Op is the operation, such as "flush".
	Op string
	// Indexes are the errors, sorted by name: a *bufferedsender.FlushError, a *bufferedsender.CloseError or, for a flush
	// whose context ended, its cause, wrapping ErrCircuitOpen or ErrPaused if sending was suspended.
	Indexes []IndexError
	// Of is the number of indexes covered by the operation.
	Of int
}

// IndexError is the error of one index.
type IndexError struct {
	Index string
	Err   error
}

// Error names the first three.
func (e *Error) Error() string {
	const most = 3
	var b strings.Builder
	fmt.Fprintf(&b, "fleet: %s: %d of %d indexes failed: ", e.Op, len(e.Indexes), e.Of)
	for i := range e.Indexes[:min(most, len(e.Indexes))] {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%q: %v", e.Indexes[i].Index, e.Indexes[i].Err)
	}
	if len(e.Indexes) > most {
		fmt.Fprintf(&b, "; and %d more", len(e.Indexes)-most)
	}
	return b.String()
}

// Unwrap returns the errors of the indexes.
func (e *Error) Unwrap() []error {
	errs := make([]error, len(e.Indexes))
	for i := range e.Indexes {
		errs[i] = e.Indexes[i].Err
	}
	return errs
}

// together calls do for all entries at once and returns nil or an *Error.
func together(op string, all []*entry, do func(e *entry) error) error {
	var wait sync.WaitGroup
	errs := make([]error, len(all))
	for i, e := range all {
		wait.Go(func() { errs[i] = do(e) })
	}
	wait.Wait()
	used := 0
	for _, e := range all {
		if e.get() != nil {
			used++
		}
	}
	report := &Error{Op: op, Of: used}
	for i, err := range errs {
		if err != nil {
			report.Indexes = append(report.Indexes, IndexError{all[i].name, err})
		}
	}
	if len(report.Indexes) == 0 {
		return nil
	}
	return report
}

// Flush flushes all senders at once, see bufferedsender.BufferedSender.Flush, and returns nil or an *Error. If ctx
// ends, the error names the indexes that were not flushed.
func (f *Fleet) Flush(ctx context.Context) error { return f.Drain(ctx, nil) }

// Drain is Flush for the indexes for which match returns true; nil matches all.
func (f *Fleet) Drain(ctx context.Context, match func(index string) bool) error {
	var all []*entry
	for _, e := range f.all() {
		if e.get() != nil && (match == nil || match(e.name)) {
			all = append(all, e)
		}
	}
	return together("flush", all, func(e *entry) error { return e.get().Flush(ctx, nil) })
}

// Close refuses new senders, closes all at once, see bufferedsender.BufferedSender.Close, shuts the pool down, and
// returns nil or an *Error. ctx bounds all of this. In a callback of a sender, that sender refuses to close: call Close
// again elsewhere. Later calls return nil, or the error of shutting down the pool.
func (f *Fleet) Close(ctx context.Context) error {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.ended)
	}
	f.mu.Unlock()
	all := f.all()
	var refused atomic.Bool
	err := together("close", all, func(e *entry) error { // also senders that are being created
		over, err := f.end(ctx, e)
		if over {
			f.forget(e)
		} else {
			refused.Store(true)
		}
		return err
	})
	if refused.Load() {
		return err // the remaining senders need the pool
	}
	f.mu.Lock()
	cancel := f.cancel
	f.cancel = nil
	f.mu.Unlock()
	for _, c := range cancel {
		c()
	}
	if shut := f.pool.Shutdown(ctx); shut != nil {
		return errors.Join(err, fmt.Errorf("fleet: close: %w", shut))
	}
	return err
}

// Pause suspends the given indexes until Resume or, without arguments, all present and future ones. A named index that
// the fleet does not have yet is added, paused.
func (f *Fleet) Pause(indexes ...string) error { return f.setPaused(true, indexes) }

// Resume ends the pause of the given indexes or, without arguments, of all, including those paused by name.
func (f *Fleet) Resume(indexes ...string) error { return f.setPaused(false, indexes) }

func (f *Fleet) setPaused(paused bool, indexes []string) error {
	f.pausing.Lock()
	defer f.pausing.Unlock()
	var chosen []*entry
	for _, name := range indexes {
		e, err := f.know(name)
		if err != nil {
			return err
		}
		chosen = append(chosen, e)
	}
	if len(indexes) == 0 {
		f.mu.Lock()
		f.paused = paused
		f.mu.Unlock()
		chosen = f.all()
	}
	for _, e := range chosen {
		e.paused = paused
		switch s := e.get(); {
		case s == nil: // use pauses a sender that is being created
		case paused:
			s.Pause()
		default:
			s.Resume()
		}
	}
	return nil
}
