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
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

// runner is one call of Run or Abort that owns the record.
type runner struct {
	store  Store
	client *search.IndexClient
	next   models.SearchIndex
	fill   Fill
	opts   Options
	sender Sender
	id     string
	report Report
	line   func(string) error // called before each line of DESIGN.md; tests stop there

	failing time.Time // start of the errors that are retried because writers wait
	silent  time.Time // start of the errors of Shown
	counted bool      // the new index was found to have enough documents
	anew    int       // how often the new index was not the one that was filled

	turn chan struct{} // holds a token while a request changes the record
	shut bool          // the writers wait, or may wait; guarded by turn

	mu     sync.Mutex // not held during requests
	record Record
	late   time.Time // until then the service may execute a request to the new index that had no answer

	under  atomic.Int64            // actions passed to the sender without an outcome
	cut    atomic.Bool             // some outcome is unknown: the service may still execute a request
	fills  atomic.Pointer[filling] // the fill, whose cursor is stored with each swap; nil before it
	beaten atomic.Pointer[instant] // start of the last successful swap; read by the sender
}

func newRunner(store Store, client *search.IndexClient) *runner {
	return &runner{store: returning(store), client: client, id: rand.Text(), turn: make(chan struct{}, 1), line: func(string) error { return nil }}
}

func both() instant {
	now := time.Now()
	return instant{now, now.Round(0)}
}

// now returns the record as this runner last saw it.
func (r *runner) now() Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record
}

// Timeouts of a request that changes the record. A request that hangs on a broken connection is given up, and may have
// taken effect.
const (
	closedRequest = 250 * time.Millisecond // while writers wait
	openRequest   = 3 * time.Second        // less than open has
)

// patiently calls f until it succeeds or returns again as false, for half a minute. A failover of a database takes some
// seconds; giving up then would interrupt an hour's work, or leave writers waiting. A positive limit bounds each call,
// which could otherwise hang on a broken connection.
func (r *runner) patiently(ctx context.Context, limit time.Duration, f func(ctx context.Context) (again bool, err error)) error {
	return r.patientlyFor(ctx, outage, limit, f)
}

// patientlyFor is patiently for another time than half a minute.
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
		if errors.Is(err, ErrChanged) && n < 5 { // by an earlier attempt of this runner
			continue
		}
		if n == 1 {
			r.opts.Logger.Warn("rebuild: store, source or service does not answer; retrying", "error", err, "for", total)
		}
		if ended := sleep.For(ctx, wait); ended != nil {
			return fmt.Errorf("%w: %w", ended, err)
		}
		wait = min(2*wait, time.Second)
	}
}

// passing is an error of a call of the service that may succeed later: a 503, a 429, a broken connection. The client
// repeats calls for a few seconds, or not at all if its user has turned that off. An hour's work must not end with
// them.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// passes makes an error of the service a passing one if it may be that. A 409 is not a passing error: the caller must
// look.
func passes(err error) error {
	d, status := retry.ForError(err)
	if d.Verdict != retry.Retry || status == 409 || errors.Is(err, errStopped) {
		return err
	}
	return passing{err}
}

// insisting returns a context for work that writers wait for, and that should complete even if ctx ends: it ends after
// bearable, or when `more` has passed since the end of ctx.
func insisting(ctx context.Context, more time.Duration) (context.Context, func()) {
	insisting, cancel := context.WithTimeout(context.WithoutCancel(ctx), bearable)
	stop := context.AfterFunc(ctx, func() {
		if sleep.For(insisting, more) == nil {
			cancel()
		}
	})
	return insisting, func() { stop(); cancel() } // stop may come too late; cancel ends the wait then
}

// swap changes the record. change must be idempotent, because the answer of a successful swap may be lost and the swap
// repeated.
func (r *runner) swap(ctx context.Context, change func(*Record)) error {
	return r.patiently(ctx, outage, func(ctx context.Context) (again bool, err error) { return r.swapOnce(ctx, closedRequest, change) })
}

// insist is swap while writers wait, so it does not give up early. Each attempt has twice the time of the one before,
// because a broken connection must be made again.
func (r *runner) insist(ctx context.Context, change func(*Record)) error {
	hurried := closedRequest / 2
	return r.patientlyFor(ctx, bearable, bearable, func(ctx context.Context) (again bool, err error) {
		hurried = min(2*hurried, openRequest)
		return r.swapOnce(ctx, hurried, change)
	})
}

// swapOnce is one attempt of swap. It takes at most hurried while writers wait. again reports whether to retry. It
// releases the turn in between.
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
		if next.Version++; !reflect.DeepEqual(got, next) { // it may be our own swap that gave up the ownership
			return false, ErrTakenOver
		}
		r.has(got)
		return false, nil
	}
	r.has(got) // by an earlier swap whose answer was lost; its time is unknown, so it does not count as a beat
	return true, ErrChanged
}

// has stores the record. The caller has the turn.
func (r *runner) has(got Record) {
	r.shut = got.Phase == PhaseClosed
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record = got
}

// left returns for how long this runner is certainly still the owner. It is the Until of everything written to the new
// index: the sender calls it before each request and cuts the request off, because a later write could be older than
// the next owner's.
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

// marked and unmark repeat failed calls of the store.
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

// errLost means that the runner may no longer be the owner.
var errLost = errors.New("rebuild: the record could not be changed for a while, or this process was stopped: another Run may have taken over")

// own makes this runner the owner of a rebuild under way, if it has no other.
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

// take makes this runner the owner of the record found.
func (r *runner) take(ctx context.Context, found Record, change func(*Record)) error {
	next := found
	next.Owner = r.id
	change(&next)
	begun := both() // the first attempt may be the one that took effect
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

// beat shows other runners that the owner is alive, until ctx ends. If another runner is the owner, beat ends the run.
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

// present ends the run if the new index is deleted while it is filled. The sender would retry forever, as in an
// outage. It checks twice, because the service may fail to show an index for a moment.
func (r *runner) present(ctx context.Context, end context.CancelCauseFunc) {
	for gone := 0; sleep.For(ctx, stuckLimit/2) == nil; {
		x := r.now()
		if x.Step != StepFilling && x.Step != stepCatchingUp {
			gone = 0
			continue
		}
		_, err := getIndex(ctx, r.client, x.New)
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

// noteLate records that a request to the new index had no answer. The sender has sent its actions again, and delays the
// next write of their keys for UnknownWait. The writers have other senders, which do not know of that request.
func (r *runner) noteLate() {
	wait := r.unknownWait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = time.Now().Add(wait)
}

// unknownWait is how long a request without an answer may still be executed.
func (r *runner) unknownWait() time.Duration {
	if s, can := r.sender.(models.InfoSender); can {
		return s.Info().UnknownWait
	}
	return lateRequests
}

// rests returns how long the writers must not yet write to the new index.
func (r *runner) rests() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, time.Until(r.late))
}

// leave gives up the ownership, so that another Run can start at once. It does not if the sender still has actions, or
// if the service may still execute a request: then the next Run waits, as after a kill.
func (r *runner) leave(ctx context.Context) {
	if r.under.Load() > 0 || r.cut.Load() || r.rests() > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = r.swap(ctx, func(x *Record) { x.Owner = "" }) // on an error the next Run waits
}
