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

// After the new index has rejected a document the rebuild fails. The fill waits for some more rejections to report
// them. A sender that takes them for a problem of the index would suspend sending indefinitely.
const (
	tooMany = 100
	enough  = 10 * time.Second
)

// mostBehind bounds the keys that a fill keeps behind a document without an outcome. The cursor cannot pass that
// document, so the fill then waits for it.
const mostBehind = 100_000

// filling has the outcomes of the documents of a fill. The goroutines of the sender and of the fill share it.
type filling struct {
	mu      sync.Mutex
	keys    []string // offered keys, in order, from the first that is not applied
	applied []bool   // of each of keys
	begun   int      // how many were removed from keys
	open    int      // without an outcome
	cursor  string   // everything up to it is applied
	refused *RefusedError
	other   error         // first failure that is not a rejection
	ended   chan struct{} // buffered; signaled when keys shrinks, or open becomes 0
	give    func()        // cancels the rest
	timer   *time.Timer   // calls give some time after the first rejection
	under   *atomic.Int64 // open actions of the runner, of all fillings
	cut     *atomic.Bool  // set if the service may still execute a request
	late    func()        // called if the service may still execute a request
	moves   func()        // called for each applied document; may be nil
}

// filling returns a context that ends when some document will not be applied, and the filling that records outcomes.
// The function releases both.
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

// add records an action and returns its OnOutcome.
func (f *filling) add(a models.RawAction) func(models.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.begun + len(f.keys)
	f.keys, f.applied = append(f.keys, a.Key), append(f.applied, false)
	f.open++
	f.under.Add(1)
	told := a.OnOutcome // do not capture a: the sender must be able to free the document early
	return func(o models.Outcome) {
		if told != nil {
			told(o)
		}
		f.end(at, o)
	}
}

// end records an outcome.
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
		f.give() // later documents would be read and written for nothing
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
		default: // signaled already
		}
	}
}

// await waits until is returns true. It calls is under the lock.
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

// failure returns the reason why not all is applied: the rejections, else the first other failure, which has cancelled
// the rest, else err.
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

// fillAll writes all documents behind the cursor to the new index.
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

// errMadeAnew means that the new index is not the one that was filled.
var errMadeAnew = errors.New("rebuild: the new index is not the one that was filled: it was created again, or its definition changed")

// mostFills is the number of times that Run starts to fill.
const mostFills = 4

// stillFilled returns errMadeAnew if the new index is not the one that was filled. An index that was deleted and
// created again has another ETag. So has one with a changed definition: the two cases look the same.
func (r *runner) stillFilled(ctx context.Context) error {
	x := r.now()
	there, err := getIndex(ctx, r.client, x.New)
	if err != nil {
		return fmt.Errorf("rebuild: reading the definition of the new index: %w", passes(err))
	}
	if x.Made != "" && there.ETag != "" && there.ETag != x.Made {
		return errMadeAnew
	}
	return nil
}

// fillAnew starts to fill from the beginning again.
func (r *runner) fillAnew(ctx context.Context) error {
	var etag string
	if err := r.patiently(ctx, 0, func(ctx context.Context) (again bool, err error) {
		etag, err = r.sameDefinition(ctx)
		return errors.As(err, new(passing)), err
	}); err != nil {
		return err
	}
	if r.anew++; r.anew == mostFills {
		return fmt.Errorf("%w, %d times: stop whatever replaces %q, then call Run again", errMadeAnew, r.anew, r.next.Name)
	}
	r.opts.Logger.Warn("rebuild: new index was replaced; filling it again", "new", r.next.Name)
	r.counted = false
	r.fills.Store(nil)
	return r.swap(ctx, func(x *Record) { x.Step, x.Cursor, x.Made = StepFilling, "", etag })
}

// fillFrom calls All, and after a failure again behind the last document.
func (r *runner) fillFrom(ctx context.Context, f *filling) error {
	p := pouring{runner: r, f: f, after: f.reached()}
	defer func() { r.under.Add(-int64(len(p.waiting))) }() // never accepted by the sender
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

// pouring passes the documents of All to the sender.
type pouring struct {
	*runner
	f       *filling
	after   string // the key of the last document
	came    int64  // number of documents
	waiting []models.RawAction
}

// silence is the time after which a Fill.All that returns no document is mentioned in the log, and then twice as long.
const silence = 10 * time.Second

// watchSilence logs that Fill.All returns no document, until stop is called. turns is odd while pour has one.
func (p *pouring) watchSilence(turns *atomic.Int64) (stop func()) {
	done := make(chan struct{})
	go func() {
		began, next, seen := time.Now(), silence, turns.Load()
		for {
			select {
			case <-done:
				return
			case <-time.After(silence):
			}
			if now := turns.Load(); now != seen || now%2 != 0 {
				began, next, seen = time.Now(), silence, now
			} else if quiet := time.Since(began); quiet >= next {
				p.opts.Logger.Warn("rebuild: Fill.All returns no document", "new", p.next.Name, "for", quiet.Round(time.Second))
				next = 2*next + silence // 10 s, 30 s, 70 s, ...
			}
		}
	}()
	return func() { close(done) }
}

// pour calls All once. failed reports whether All has returned the error.
func (p *pouring) pour(ctx context.Context) (failed bool, err error) {
	left := p.left // one function value for all actions
	var turns atomic.Int64
	defer p.watchSilence(&turns)()
	for a, err := range p.fill.All(ctx, p.after) {
		turns.Add(1)
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
		turns.Add(1)
	}
	return false, nil
}

// send offers the waiting documents to the sender.
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

// uploads returns an error for an action that is not an upload with a key.
func uploads(a models.RawAction) error {
	if a.Key == "" {
		return errors.New("Fill returned an action without Key")
	}
	if a.Type != models.ActionTypeUpload {
		return fmt.Errorf("Fill returned an action of type %q: return uploads, whole documents", a.Type)
	}
	return nil
}
