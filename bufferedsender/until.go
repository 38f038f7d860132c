package bufferedsender

import (
	"context"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/publisher"
)

// bound limits the remaining duration of a request by the leases of its keys, of the feed or of the caller that added
// an action.
type bound struct {
	left    time.Duration
	limited bool
	now     time.Time // read once for all leases of the feed: reading a clock can be slow
}

func boundOf(b *batch) (all bound) {
	for i := range b.Items {
		all.see(&b.Items[i])
	}
	return all
}

// see adds the bounds of an action and of the actions folded into it.
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

// watch cancels a request when the leases of its keys are about to end without having been extended. Leases are shorter
// than the longest request, so that a holder's death is detected within seconds, and are extended while the request
// runs. The watch checks when the first lease would end, and then again.
type watch struct {
	batch  *batch
	cancel context.CancelFunc

	mu    sync.Mutex
	timer *time.Timer
	ended bool // the batch is not read any more
	cut   bool
}

// watchLeases starts a watch of the request with this ctx. It returns nil if no action has a bound.
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

// end ends the watch and reports whether it cut the request off.
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

// cutOff is the reply to a request that outlasted its leases. It says nothing about the service and uses no attempt.
func cutOff(n int) reply {
	r := notSent(n)
	for i := range r.Results {
		r.Results[i].Unknown, r.Results[i].Cut = true, true
	}
	return r
}

// notSent is the reply to a request that was not sent. Its actions wait again; Leave then returns them to the queue.
func notSent(n int) reply {
	r := reply{Results: make([]result, n), Err: errLeaseEnds, RetryAfter: -1, Unconfirmed: true}
	for i := range r.Results {
		r.Results[i] = result{Err: errLeaseEnds, Free: true, Next: publisher.Requeue}
	}
	return r
}
