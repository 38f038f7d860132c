package publisher

import (
	"context"
	"errors"
	"slices"
	"time"
)

// errAgain is why what was applied is sent again because the Tap says so.
var errAgain = errors.New("applied to an index that was replaced; sent again to its successor")

// Tap lets somebody know of the keys that requests write, for example because an index
// is being rebuilt and must not miss them. It runs on the goroutine of a request, within
// its time. A panic counts as a lost connection.
type Tap interface {
	// Before is asked before each request. With an error the request is not sent, uses no
	// attempt, and is tried again after a pause of the whole publisher.
	Before(ctx context.Context, keys []string) error
	// Confirm is asked, when the service has applied the items of these keys, before they
	// are completed. If they are to be sent again, or there is an error, they are not: no
	// attempt is used, and with an error the whole publisher pauses first.
	Confirm(ctx context.Context, keys []string) (again bool, err error)
}

// sendTapped sends a batch with the Tap's consent. trial is how long the service may take, if
// it is positive. slot, if there is one, is not kept from others while the Tap takes long.
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
		return reply // nothing is applied, as far as anybody knows
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
		reply.Pause, reply.Unconfirmed = true, true
		if reply.Err == nil {
			reply.Err = err
		}
	}
	return reply
}
