package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// When the new index has refused a document it will not do; some more are awaited to be named.
// A sender that thinks it is the index holds the rest back for ever.
const (
	tooMany = 100
	enough  = 10 * time.Second
)

// mostBehind is how many keys a fill keeps behind a document that has no outcome, for the cursor: then it waits for
// that one.
const mostBehind = 100_000

// filling is what became of the documents of a fill. The sender's goroutine and the fill's
// share it.
type filling struct {
	mu      sync.Mutex
	keys    []string // of what was offered and may not have an outcome yet, in that order
	applied []bool   // of each
	begun   int      // how many are no longer in keys
	open    int      // without an outcome
	cursor  string   // everything up to it is applied
	refused *RefusedError
	other   error         // why a document was not applied that was not refused
	ended   chan struct{} // has a place; sent to when there are fewer keys, or open becomes 0
	give    func()        // gives up what is not over
	timer   *time.Timer   // until then, when a document was refused
	under   *atomic.Int64 // counts what is open for the runner, also when this is over
	cut     *atomic.Bool  // the service may still carry something out
	late    func()        // told when it may still carry out a request although all is well
	moves   func()        // told of each document that is applied; nil: nobody asks
}

// filling returns a context that ends when it is known that not all will be applied, and what
// is told of it. The function frees both.
func (r *runner) filling(ctx context.Context) (context.Context, *filling, func()) {
	ctx, cancel := context.WithCancel(ctx)
	f := &filling{ended: make(chan struct{}, 1), give: cancel, cursor: r.now().Cursor, under: &r.under, cut: &r.cut, late: r.noteLate}
	return ctx, f, func() {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.timer != nil {
			f.timer.Stop()
		}
	}
}

// add returns the function that is told of an outcome.
func (f *filling) add(a models.RawAction) func(models.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.begun + len(f.keys)
	f.keys, f.applied = append(f.keys, a.Key), append(f.applied, false)
	f.open++
	f.under.Add(1)
	told := a.OnOutcome // and not the document, which the sender is to give up as soon as it can
	return func(o models.Outcome) {
		if told != nil {
			told(o)
		}
		f.end(at, o)
	}
}

// end notes an outcome.
func (f *filling) end(at int, o models.Outcome) {
	f.under.Add(-1)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case o.Completed():
		f.applied[at-f.begun] = true
		if f.moves != nil {
			f.moves()
		}
	case o.Rejected():
		if f.refused = f.refused.add(o.Key, o.Err); f.timer == nil {
			f.timer = time.AfterFunc(enough, f.give)
		} else if f.refused.Count == tooMany {
			f.give()
		}
	case o.Reason == models.ReasonWithdrawn: // by its Until, or by a context that has ended
		if f.other == nil {
			f.other = fmt.Errorf("%w: %w", errLost, o.Err)
		}
		f.give() // what comes behind it would be read and written for nothing
	default:
		if f.other == nil {
			f.other = fmt.Errorf("rebuild: filling the new index: %w", o.Err)
		}
		f.give()
	}
	if o.Unknown {
		f.cut.Store(true)
	}
	if o.Unknown || o.Cut {
		f.late()
	}
	n := 0
	for n < len(f.keys) && f.applied[n] {
		f.cursor = f.keys[n]
		n++
	}
	f.keys, f.applied, f.begun = f.keys[n:], f.applied[n:], f.begun+n
	if f.open--; f.open == 0 || n > 0 {
		select {
		case f.ended <- struct{}{}:
		default: // it has been said
		}
	}
}

// await waits until so much has ended that is is true, which is called under the lock.
func (f *filling) await(ctx context.Context, is func() bool) error {
	for {
		f.mu.Lock()
		yes := is()
		f.mu.Unlock()
		if yes {
			return nil
		}
		select {
		case <-f.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// reached returns the key up to which everything is applied.
func (f *filling) reached() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cursor
}

// failure returns why not all is applied: what was refused, what became of the first other one, which has ended all
// the rest, or err.
func (f *filling) failure(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.refused; r != nil {
		return &RefusedError{Count: r.Count, Keys: slices.Clone(r.Keys), Err: r.Err}
	}
	var refused *RefusedError
	if f.other == nil || errors.As(err, &refused) || errors.Is(err, errStuck) {
		return err
	}
	return f.other
}

// fillAll writes everything to the new index, behind the cursor.
func (r *runner) fillAll(ctx context.Context) error {
	limited, f, free := r.filling(models.WithClass(ctx, models.ClassBestEffort))
	defer free()
	r.fills.Store(f)
	err := f.failure(r.fillFrom(limited, f))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// fillFrom asks All again when it breaks off, behind the last document that came.
func (r *runner) fillFrom(ctx context.Context, f *filling) error {
	p := pouring{runner: r, f: f, after: f.reached()}
	defer func() { r.under.Add(-int64(len(p.waiting))) }() // which the sender never got
	for breaks := 0; ; breaks++ {
		var came int64
		var failed bool
		err := r.patiently(ctx, 0, func(ctx context.Context) (again bool, err error) {
			before := p.came
			failed, err = p.pour(ctx)
			came = p.came - before
			return failed && came == 0 && p.came > 0, err
		})
		if err == nil {
			break
		}
		if !failed || came == 0 || breaks == mostBreaks || ctx.Err() != nil {
			return err
		}
		r.opts.Logger.Warn("rebuild: Fill.All broke off; resuming", "after", p.after, "error", err)
	}
	if err := p.send(ctx); err != nil {
		return err
	}
	return f.await(ctx, func() bool { return f.open == 0 })
}

// pouring gives the sender what All yields.
type pouring struct {
	*runner
	f       *filling
	after   string // the key of the last document that came
	came    int64  // how many did
	waiting []models.RawAction
}

// pour asks All once. It says whether that has failed, or something else.
func (p *pouring) pour(ctx context.Context) (failed bool, err error) {
	left := p.left // one function for all of them
	for a, err := range p.fill.All(ctx, p.after) {
		if err != nil {
			return true, fmt.Errorf("rebuild: Fill.All: %w", err)
		}
		if err := uploads(a); err != nil {
			return false, (*RefusedError)(nil).add(a.Key, err)
		}
		p.after = a.Key
		p.came++
		a.OnOutcome, a.Until = p.f.add(a), left
		if p.waiting = append(p.waiting, a); len(p.waiting) == chunk/2 {
			if err := p.send(ctx); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// send gives the sender what waits.
func (p *pouring) send(ctx context.Context) error {
	if len(p.waiting) == 0 {
		return nil
	}
	if err := p.f.await(ctx, func() bool { return len(p.f.keys) < mostBehind }); err != nil {
		return err
	}
	if p.left() <= 0 {
		return errLost
	}
	n, err := p.sender.Offer(ctx, p.waiting)
	p.report.Filled += int64(n)
	if err == nil {
		p.waiting = p.waiting[:0]
		return nil
	}
	p.waiting = p.waiting[n:]
	if rejects(err) {
		return (*RefusedError)(nil).add(p.waiting[0].Key, err)
	}
	return fmt.Errorf("rebuild: filling the new index: %w", err)
}

// uploads returns an error for an action that is not the truth of a document.
func uploads(a models.RawAction) error {
	if a.Key == "" {
		return errors.New("Fill returned an action without Key")
	}
	if a.Type != models.ActionTypeUpload {
		return fmt.Errorf("Fill returned an action of type %q: return uploads, whole documents", a.Type)
	}
	return nil
}
