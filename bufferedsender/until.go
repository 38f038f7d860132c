package bufferedsender

import (
	"context"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/publisher"
)

// bound is how much longer a request may last because of its actions, if there is a bound: a key may be leased, by
// the feed or by the caller that has added the action.
type bound struct {
	left    time.Duration
	limited bool
	now     time.Time // the same for all leases of the feed: a clock can be slow
}

func boundOf(b *batch) (all bound) {
	for i := range b.Items {
		all.see(&b.Items[i])
	}
	return all
}

// see takes an action in, with what was folded into it.
func (b *bound) see(it *item) {
	b.add(&it.Value)
	for i := range it.Parts {
		b.add(&it.Parts[i].Value)
	}
}

func (b *bound) add(v *payload) {
	var left time.Duration
	switch h := v.from.holding; {
	case h != nil:
		if b.now.IsZero() {
			b.now = time.Now()
		}
		left = h.terms.Until(&h.lasts, b.now)
	case v.own != nil && v.own.until != nil:
		left = v.own.until()
	default:
		return
	}
	if !b.limited || left < b.left {
		b.left, b.limited = left, true
	}
}

// watch cuts a request when the leases of its keys are about to end and have not been extended meanwhile. Leases are
// shorter than a request may take, so that a holder that dies is missed for seconds, and are extended while it lasts.
// It looks when the first of them would end, and then again.
type watch struct {
	batch  *batch
	cancel context.CancelFunc

	mu    sync.Mutex
	timer *time.Timer
	ended bool // nobody reads the batch any more
	cut   bool
}

// watchLeases begins to watch; ctx is that of the request. Of a batch whose actions have no bound it is nil.
func watchLeases(ctx context.Context, b *batch, left bound) (context.Context, *watch) {
	if !left.limited {
		return ctx, nil
	}
	w := &watch{batch: b}
	ctx, w.cancel = context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(left.left, w.look)
	return ctx, w
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if left := boundOf(w.batch).left; left > 0 {
		w.timer.Reset(left)
		return
	}
	w.cut = true
	w.cancel()
}

// end ends the watch, and reports whether the request was cut.
func (w *watch) end() (cut bool) {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
	w.cancel()
	return w.cut
}

// cutOff is the reply to a request whose leases have not lasted. It says nothing about the service, and uses no
// attempt.
func cutOff(n int) reply {
	r := notSent(n)
	for i := range r.Results {
		r.Results[i].Unknown, r.Results[i].Cut = true, true
	}
	return r
}

// notSent is the reply to a request that was held back: all of it waits again, and
// Leave has it taken back.
func notSent(n int) reply {
	r := reply{Results: make([]result, n), Err: errLeaseEnds, RetryAfter: -1, Unconfirmed: true}
	for i := range r.Results {
		r.Results[i] = result{Err: errLeaseEnds, Free: true, Next: publisher.Requeue}
	}
	return r
}
