package bufferedsender

import (
	"context"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// take puts reserved records into the buffer.
func (f *feed) take(leases []queue.Lease, began time.Time, probe bool) {
	end := began.Add(f.wanted.For)
	f.mu.Lock()
	holdings := make([]*holding, 0, len(leases))
	for i := range leases {
		h := newHolding(leases[i], &f.terms, &end)
		f.held.add(h)
		holdings = append(holdings, h)
	}
	if f.timers.extend == nil {
		f.timers.extend = time.AfterFunc(f.wanted.For/leaseExtends, f.extend)
	}
	f.again = true // there may be more
	flushing := f.flushes.waiting > 0 || leases[0].Expired > 0
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	f.adding = cancel
	f.mu.Unlock()
	items := f.items(holdings)
	urgent := slices.ContainsFunc(items, func(it item) bool { return it.Value.waiter != nil })
	for len(items) > 0 {
		n, err := f.s.publisher.Add(ctx, items, true, false)
		items = items[n:]
		if err == nil {
			continue
		}
		for i := range items { // the sender is being closed, or its records go back
			f.ended(&items[i].Value, relay.Returned, false, "")
		}
		break
	}
	f.mu.Lock()
	f.adding = nil
	f.mu.Unlock()
	switch c := f.s.publisher.Condition(); {
	case probe && c.State != publisher.Paused && !f.stopped.Load() && f.isHeld(c):
		f.giveBackTried(holdings)
	case f.isHeld(c):
		f.giveBack() // sending was suspended meanwhile
	case slices.ContainsFunc(holdings, func(h *holding) bool { return h.lasts.GoesBack() }):
		f.s.publisher.Sweep(f.s.gone) // giving back was requested meanwhile
	}
	switch {
	case flushing:
		f.s.publisher.FlushAfter(0)
	case urgent:
		f.s.publisher.FlushAfter(max(f.s.options.Waiting.Interval, 0))
	}
}

// items turns reserved records into items. Records without a document are loaded first.
func (f *feed) items(holdings []*holding) (items []item) {
	var unloaded []*holding
	for _, h := range holdings {
		for j := range h.lease.Records {
			r := &h.lease.Records[j]
			if r.Op == "" {
				unloaded = append(unloaded, h)
				break
			}
		}
	}
	loaded := f.load(unloaded)
	n := 0
	for _, h := range holdings {
		n += len(h.lease.Records)
	}
	items = make([]item, 0, n)
	for _, h := range holdings {
		for j := range h.lease.Records {
			r := &h.lease.Records[j]
			it := item{Key: r.Key, Body: r.Body, Class: min(r.Class, uint8(models.ClassBestEffort)), Own: true, Unknown: h.maybe(r), Value: payload{typ: r.Op}}
			if r.Op == "" { // the first record: it replaces all earlier ones
				l, ok := loaded[h]
				if !ok {
					break // it was released
				}
				it.Body, it.Value = l.body, payload{typ: l.typ}
			}
			var own *local
			h.locals[j], own = f.locals.claim(r)
			if own != nil {
				typ := it.Value.typ
				it.Value = own.value
				it.Value.typ = typ
			}
			f.s.observer.fill(&it.Value)
			if it.Value.typ == models.ActionTypeMerge && f.s.options.OnMergeMissing == MergeMissingUpload {
				it.Body = widen(slices.Clone(it.Body), 0)
			}
			it.Value.from = reserved{h, j, own}
			items = append(items, it)
		}
	}
	return items
}
