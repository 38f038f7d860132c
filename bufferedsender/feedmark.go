package bufferedsender

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// mark marks in the queue which suspects are about to be in a request, and reports whether the request may be sent.
// Without suspects, the usual case, it makes no call. It runs on the goroutine of the request.
func (f *feed) mark(batch *batch) bool {
	var holdings []*holding
	see := func(v *payload) {
		if h := v.from.holding; h != nil && h.lease.Expired > 0 {
			holdings = append(holdings, h)
		}
	}
	for i := range batch.Items {
		see(&batch.Items[i].Value)
		for j := range batch.Items[i].Parts {
			see(&batch.Items[i].Parts[j].Value)
		}
	}
	return f.request(holdings)
}

// request marks the suspects among holdings before code that may not return, see queue.Lease. It returns false if not
// all were marked; the unmarked ones go back to the queue.
func (f *feed) request(holdings []*holding) bool {
	var suspects []*holding
	var leases []queue.Lease
	for _, h := range holdings {
		if h.lease.Expired > 0 && h.requested.CompareAndSwap(false, true) {
			suspects = append(suspects, h)
			leases = append(leases, queue.Lease{Key: h.lease.Key, Token: h.lease.Token, Requested: true})
		}
	}
	if len(suspects) == 0 {
		return true
	}
	length := f.wanted.For
	ctx, cancel := context.WithTimeout(f.ctx, length/leaseExtends)
	defer cancel()
	end := time.Now().Add(length)
	lost, err := f.queue.Extend(ctx, length, leases...)
	if err != nil {
		f.warn("azsearch: suspects not marked, and not sent", err)
		for _, h := range suspects {
			h.requested.Store(false)
			h.lasts.GiveBack()
		}
		return false
	}
	f.extended(suspects, lost, &end)
	return len(lost) == 0
}
