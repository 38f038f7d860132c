package publisher

import (
	"context"
	"errors"
	"slices"
	"time"
)

// errAgain is the error of an applied item that the Tap wants sent again.
var errAgain = errors.New("applied to an index that was replaced; sent again to its successor")

// Tap observes the keys that requests write, for example because an index is being rebuilt and must not miss any. It
// runs on the goroutine of a request, within its time limit. A panic counts as a lost connection.
type Tap interface {
	// Before is called before each request. If it returns an error, the request is not sent, uses no attempt, and is tried
	// again after a pause of the whole publisher.
	Before(ctx context.Context, keys []string) error
	// Confirm is called after the service has applied the items of these keys, before they complete. If it returns again or
	// an error they are sent again without using an attempt; with an error the whole publisher pauses first, longer each
	// time.
	Confirm(ctx context.Context, keys []string) (again bool, err error)
}

// sendTapped sends a batch with the Tap's consent. trial is the time limit for the service, if positive. While the Tap
// takes long, slot, if not nil, may go to others.
func (p *Publisher[V, R]) sendTapped(ctx context.Context, batch *Batch[V], trial time.Duration, slot Slot) Reply[R] {
	send := func() Reply[R] {
		ctx, cancel := ctx, context.CancelFunc(func() {})
		if trial > 0 {
			ctx, cancel = context.WithTimeout(ctx, trial)
		}
		defer cancel()
		return p.config.Transport.Send(ctx, batch)
	}
	tap := p.config.Tap
	if tap == nil {
		return send()
	}
	keys := make([]string, len(batch.Items))
	for i := range batch.Items {
		keys[i] = batch.Items[i].Key
	}
	if slot != nil {
		slot.Elsewhere(true)
	}
	var err error
	p.visit("Options.Tap", len(keys), func() { err = tap.Before(ctx, keys) })
	if slot != nil {
		slot.Elsewhere(false)
	}
	if err != nil {
		held := Result[R]{Err: err, Free: true}
		return Reply[R]{Results: slices.Repeat([]Result[R]{held}, len(keys)), Err: err, Pause: true, RetryAfter: -1, Unconfirmed: true}
	}
	reply := send()
	if len(reply.Results) != len(keys) {
		return reply // nothing is known to be applied
	}
	applied := keys[:0]
	for i := range reply.Results {
		if reply.Results[i].Next == Complete {
			applied = append(applied, batch.Items[i].Key)
		}
	}
	if len(applied) == 0 {
		return reply
	}
	if slot != nil {
		slot.Release(true)
	}
	var again bool
	p.visit("Options.Tap", len(applied), func() { again, err = tap.Confirm(ctx, applied) })
	if !again && err == nil {
		return reply
	}
	why := err
	if why == nil {
		why = errAgain
	}
	for i := range reply.Results {
		if result := &reply.Results[i]; result.Next == Complete {
			result.Next, result.Err, result.Unknown, result.Free = Requeue, why, true, true
		}
	}
	if err != nil {
		reply.Pause, reply.Unconfirmed, reply.Resend = true, true, true
		if reply.Err == nil {
			reply.Err = err
		}
	}
	return reply
}
