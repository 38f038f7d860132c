package rebuild

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// runner is one call of Run, or of Abort, that owns the record.
type runner struct {
	store  Store
	client *search.IndexClient
	next   models.SearchIndex
	fill   Fill
	opts   Options
	sender Sender
	id     string
	report Report
	line   func(string) error // before each line of DESIGN.md; tests stop there

	failing time.Time // since when errors are borne, because writers wait
	silent  time.Time // since when Shown gives no answer but errors
	counted bool      // the new index was found to have enough documents

	turn chan struct{} // has a place, which who changes the record has while one request for it is under way
	shut bool          // the writers wait, or may wait; for who has the turn

	mu     sync.Mutex // held for no request
	record Record
	late   time.Time // until when the service may carry out a request to the new index that had no answer

	under  atomic.Int64            // actions that were given to the sender and have no outcome yet
	cut    atomic.Bool             // the answer of some of them is unknown: the service may still carry them out
	fills  atomic.Pointer[filling] // the fill, whose cursor is stored with each swap; nil before it
	beaten atomic.Pointer[instant] // when the last swap that succeeded was begun; read by the sender
}

func newRunner(store Store, client *search.IndexClient) *runner {
	return &runner{store: store, client: client, id: rand.Text(), turn: make(chan struct{}, 1), line: func(string) error { return nil }}
}

func both() instant {
	now := time.Now()
	return instant{now, now.Round(0)}
}

// now returns the record as this runner has it.
func (r *runner) now() Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record
}

// How long a request for the record may take. One that hangs, on a connection that is cut, is given up: it may have
// been done.
const (
	closedRequest = 250 * time.Millisecond // while writers wait
	openRequest   = 3 * time.Second        // less than what open has
)

// patiently calls f until it says that it is not to be called again, for half a minute: a database that changes over
// to another machine is away for some seconds, and a Run that gave up then would leave an hour's work to be resumed,
// or writers waiting. A try has no longer than limit, if that is positive: on a connection that is cut it would hang.
func (r *runner) patiently(ctx context.Context, limit time.Duration, f func(ctx context.Context) (again bool, err error)) error {
	return r.patientlyFor(ctx, outage, limit, f)
}

// patientlyFor is patiently for as long as total.
func (r *runner) patientlyFor(ctx context.Context, total, limit time.Duration, f func(ctx context.Context) (again bool, err error)) error {
	began, wait := time.Now(), 100*time.Millisecond
	for n := 1; ; n++ {
		limited, cancel := ctx, func() {}
		if limit > 0 {
			limited, cancel = context.WithTimeout(ctx, limit)
		}
		again, err := f(limited)
		cancel()
		if !again || err == nil || errors.Is(err, errStopped) || time.Since(began) >= total {
			return err
		}
		if ended := context.Cause(ctx); ended != nil && errors.Is(err, ended) {
			return err
		} else if ended != nil {
			return fmt.Errorf("%w: %w", ended, err)
		}
		if errors.Is(err, ErrChanged) && n < 5 { // by ourselves, as is known by now
			continue
		}
		if n == 1 {
			r.opts.Logger.Warn("rebuild: store or source does not answer; retrying", "error", err, "for", total)
		}
		if ended := sleep.For(ctx, wait); ended != nil {
			return fmt.Errorf("%w: %w", ended, err)
		}
		wait = min(2*wait, time.Second)
	}
}

// insisting returns a context for what writers wait for, and what should be done even if ctx has ended: then it has
// so much more.
func insisting(ctx context.Context, more time.Duration) (context.Context, func()) {
	insisting, cancel := context.WithTimeout(context.WithoutCancel(ctx), bearable)
	stop := context.AfterFunc(ctx, func() {
		if sleep.For(insisting, more) == nil {
			cancel()
		}
	})
	return insisting, func() { stop(); cancel() } // cancel ends what stop comes too late for
}

// swap changes the record. What change does must come to the same when it is done twice, since an
// answer can be lost.
func (r *runner) swap(ctx context.Context, change func(*Record)) error {
	return r.patiently(ctx, outage, func(ctx context.Context) (again bool, err error) { return r.swapOnce(ctx, closedRequest, change) })
}

// insist is swap for what writers wait for, so nothing is won by giving up. Each try may take twice as long as the
// one before: a connection that was cut has to be made again.
func (r *runner) insist(ctx context.Context, change func(*Record)) error {
	hurried := closedRequest / 2
	return r.patientlyFor(ctx, bearable, bearable, func(ctx context.Context) (again bool, err error) {
		hurried = min(2*hurried, openRequest)
		return r.swapOnce(ctx, hurried, change)
	})
}

// swapOnce is a try of swap, which may take as long as hurried while writers wait. It says whether there is to be
// another one, for which it leaves the turn to who waits.
func (r *runner) swapOnce(ctx context.Context, hurried time.Duration, change func(*Record)) (again bool, err error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	next := r.now()
	change(&next)
	r.shut = r.shut || next.Phase == PhaseClosed
	limit := openRequest
	if r.shut {
		limit = hurried
	}
	if f := r.fills.Load(); f != nil {
		next.Cursor = f.reached()
	}
	begun := both()
	limited, cancel := context.WithTimeout(ctx, limit)
	got, err := r.store.Swap(limited, next)
	cancel()
	if err == nil {
		r.has(got)
		r.beaten.Store(&begun)
		return false, nil
	}
	if !errors.Is(err, ErrChanged) {
		return true, err
	}
	limited, cancel = context.WithTimeout(ctx, limit)
	defer cancel()
	if got, err = r.store.Load(limited); err != nil {
		return true, err
	}
	if got.Owner != r.id {
		if next.Version++; !reflect.DeepEqual(got, next) { // that could be ours, by which this runner is not the owner any more
			return false, ErrTakenOver
		}
		r.has(got)
		return false, nil
	}
	r.has(got) // by a swap of ours whose answer was lost; when it was done nobody knows, so it is no beat
	return true, ErrChanged
}

// has notes the record as it is, for who has the turn.
func (r *runner) has(got Record) {
	r.shut = got.Phase == PhaseClosed
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record = got
}

// left returns for how much longer this runner is the owner for certain. It is the Until of all
// that it writes to the new index, so the sender asks it before each request, and cuts the request
// off: what is written later could be older than what the next owner has written.
func (r *runner) left() time.Duration {
	beaten := *r.beaten.Load()
	at := both()
	a, b := at.monotonic.Sub(beaten.monotonic), at.wall.Sub(beaten.wall)
	if a < 0 || b < 0 { // a clock was put back
		return 0
	}
	return r.now().term().valid - max(a, b)
}

// load reads the record.
func (r *runner) load(ctx context.Context) (got Record, err error) {
	err = r.patiently(ctx, tryLimit, func(ctx context.Context) (again bool, err error) {
		got, err = r.store.Load(ctx)
		return true, err
	})
	return got, err
}

// marked and unmark are those of the store.
func (r *runner) marked(ctx context.Context, last int64) (keys []string, err error) {
	err = r.patiently(ctx, tryLimit, func(ctx context.Context) (again bool, err error) {
		keys, err = r.store.Marked(ctx, last, chunk)
		return true, err
	})
	return keys, err
}

func (r *runner) unmark(ctx context.Context, last int64, keys []string) error {
	return r.patiently(ctx, tryLimit, func(ctx context.Context) (again bool, err error) { return true, r.store.Unmark(ctx, last, keys) })
}

// errLost means that the runner may not be the owner any more.
var errLost = errors.New("rebuild: the record could not be changed for a while, or this process was stopped: another Run may have taken over")

// own makes this runner the owner of a rebuild that is under way, if nobody else is.
func (r *runner) own(ctx context.Context, found Record) error {
	if found.Owner != "" {
		term := found.term()
		wait := max(term.takeOver, term.valid+r.unknownWait()+time.Second)
		r.opts.Logger.Info("rebuild: waiting for the previous Run", "owner", found.Owner, "for", wait)
		for range int(wait / time.Second) {
			if err := sleep.For(ctx, time.Second); err != nil {
				return err
			}
			now, err := r.load(ctx)
			if err != nil {
				return err
			}
			if now.Version != found.Version {
				return fmt.Errorf("%w (%s)", ErrRunning, now.Owner)
			}
		}
	}
	return r.take(ctx, found, func(*Record) {})
}

// take makes this runner the owner of the record that was found.
func (r *runner) take(ctx context.Context, found Record, change func(*Record)) error {
	next := found
	next.Owner = r.id
	change(&next)
	begun := both() // of the first try, which may be the one that was done
	var got Record
	if err := r.patiently(ctx, tryLimit, func(ctx context.Context) (again bool, err error) {
		if got, err = r.store.Swap(ctx, next); !errors.Is(err, ErrChanged) {
			return true, err
		}
		if got, err = r.store.Load(ctx); err == nil && got.Owner != r.id {
			return false, ErrRunning
		}
		return true, err
	}); err != nil {
		return err
	}
	r.has(got)
	r.beaten.Store(&begun)
	return nil
}

// beat shows others that the owner is there, until ctx ends. When somebody else is the owner
// it ends the run.
func (r *runner) beat(ctx context.Context, end context.CancelCauseFunc) {
	for sleep.For(ctx, r.now().term().every) == nil {
		if err := r.swap(ctx, func(x *Record) { x.Beat++ }); errors.Is(err, ErrTakenOver) {
			end(err)
			return
		} else if err != nil && ctx.Err() == nil {
			r.opts.Logger.Warn("rebuild: record not changed", "error", err)
		}
	}
}

// present ends the run when the new index is gone while it is filled. The sender would keep what is copied, as in an
// outage, for as long as there is none: for ever. One look may have met a service that does not show it for a moment.
func (r *runner) present(ctx context.Context, end context.CancelCauseFunc) {
	for gone := 0; sleep.For(ctx, stuckLimit/2) == nil; {
		x := r.now()
		if x.Step != StepFilling && x.Step != stepCatchingUp {
			gone = 0
			continue
		}
		limited, cancel := context.WithTimeout(ctx, stuckLimit/4)
		_, err := r.client.GetIndex(limited, x.New, nil)
		cancel()
		switch {
		case errors.Is(err, search.ErrIndexNotFound):
			gone++
		case err == nil:
			gone = 0
		}
		if gone == 2 {
			end(fmt.Errorf("rebuild: the new index %q is gone; call Abort, then Run: %w", x.New, err))
			return
		}
	}
}

// noteLate notes that a request to the new index has had no answer. The sender has sent again what was in it, and
// keeps the next write of the same keys back for UnknownWait; the writers have other senders, which do not know of
// it.
func (r *runner) noteLate() {
	wait := r.unknownWait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = time.Now().Add(wait)
}

// unknownWait is for how long a request without an answer may still be carried out.
func (r *runner) unknownWait() time.Duration {
	if s, can := r.sender.(models.InfoSender); can {
		return s.Info().UnknownWait
	}
	return lateRequests
}

// rests returns how much longer the writers must not write to the new index themselves.
func (r *runner) rests() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, time.Until(r.late))
}

// leave lets another Run go on at once, unless the sender of this one may still have something to send, or the
// service something to carry out whose answer is unknown: then that one waits until it is not sent any more, as after
// a kill.
func (r *runner) leave(ctx context.Context) {
	if r.under.Load() > 0 || r.cut.Load() || r.rests() > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = r.swap(ctx, func(x *Record) { x.Owner = "" }) // otherwise it waits
}
