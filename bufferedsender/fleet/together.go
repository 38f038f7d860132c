package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// An Error is what has failed, by index.
type Error struct {
	// Op is the operation, such as "flush".
	Op string
	// Indexes are the errors, in the order of the names: *bufferedsender.FlushError, *bufferedsender.CloseError, or, of
	// a flush whose context ended, its cause, with ErrCircuitOpen or ErrPaused in the chain if sending was suspended.
	Indexes []IndexError
	// Of is how many indexes the operation covered.
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

// together does something with all entries at once, and returns nil or an *Error.
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

// Flush flushes all senders at once, see bufferedsender.BufferedSender.Flush, and returns nil or an *Error. When
// ctx ends all that could be flushed is, and the error names the other indexes.
func (f *Fleet) Flush(ctx context.Context) error { return f.Drain(ctx, nil) }

// Drain is Flush for the indexes that match; nil matches all.
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
// returns nil or an *Error. One context bounds them all. In a callback of a sender, that sender refuses: call it
// again elsewhere. Later calls return nil, or the error of shutting the pool down.
func (f *Fleet) Close(ctx context.Context) error {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.ended)
	}
	f.mu.Unlock()
	all := f.all()
	var refused atomic.Bool
	err := together("close", all, func(e *entry) error { // those that are just being made, too
		over, err := f.end(ctx, e)
		if over {
			f.forget(e)
		} else {
			refused.Store(true)
		}
		return err
	})
	if refused.Load() {
		return err // the senders that are left need the pool
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

// Pause stops the sending of some indexes, of all that there are and will be if none is named, until Resume. A
// named index becomes known, and begins paused.
func (f *Fleet) Pause(indexes ...string) error { return f.setPaused(true, indexes) }

// Resume ends Pause of some indexes, or, if none is named, of all, those named by Pause too.
func (f *Fleet) Resume(indexes ...string) error { return f.setPaused(false, indexes) }

func (f *Fleet) setPaused(paused bool, indexes []string) error {
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
		e.pause(paused, len(indexes) > 0 || !paused)
	}
	return nil
}

// pause pauses or resumes an index; named says that it is to be so for a sender to come, too.
func (e *entry) pause(paused, named bool) {
	if named {
		e.paused.Store(paused) // whoever is making the sender looks at it afterwards
	}
	switch s := e.get(); {
	case s == nil:
	case paused:
		s.Pause()
	default:
		s.Resume()
	}
}
