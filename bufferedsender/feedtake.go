package bufferedsender

import (
	"context"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// take puts what was reserved into the buffer.
func (f *feed) take(leases []queue.Lease, began time.Time, probe bool) {
	lasts := &span{began.Add(f.lease)}
	f.mu.Lock()
	holdings := make([]*holding, 0, len(leases))
	for i := range leases {
		h := newHolding(leases[i])
		h.span.Store(lasts)
		for j := range h.lease.Records {
			h.bytes += len(h.lease.Records[j].Body)
		}
		f.held[h] = struct{}{}
		f.records += h.left
		f.bytes += h.bytes
		holdings = append(holdings, h)
	}
	if f.extender == nil {
		f.extender = time.AfterFunc(f.lease/leaseExtends, f.extend)
	}
	f.again = true // there may be more
	flushing := f.flushing > 0
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
		for i := range items { // the sender is being closed, or what it holds goes back
			f.ended(&items[i].Value, recordBack, false, "")
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
		f.giveBack() // sending has come to be held in the meantime
	case slices.ContainsFunc(holdings, func(h *holding) bool { return h.back.Load() }):
		f.s.publisher.Sweep(f.s.gone) // that was so for a while
	}
	switch {
	case flushing:
		f.s.publisher.FlushAfter(0)
	case urgent:
		f.s.publisher.FlushAfter(max(f.s.options.Waiting.Interval, 0))
	}
}

// items makes items of the records that were reserved.
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
			it := item{Key: r.Key, Body: r.Body, Class: min(r.Class, uint8(models.ClassBestEffort)), Own: true, Value: payload{typ: r.Op}}
			if r.Op == "" { // the first: it replaces what was before it
				l, ok := loaded[h]
				if !ok {
					break // it was released
				}
				it.Body, it.Value = l.body, payload{typ: l.typ}
			}
			var own *local
			h.locals[j], own = f.claim(r)
			if own != nil {
				typ := it.Value.typ
				it.Value = own.value
				it.Value.typ = typ
			}
			if f.s.observer.wantsActions && it.Value.action == nil {
				it.Value.action = f.s.documents.blank(it.Value.typ)
			}
			if it.Value.typ == models.ActionTypeMerge && f.s.options.OnMergeMissing == MergeMissingUpload {
				it.Body = widen(slices.Clone(it.Body), 0)
			}
			it.Value.from = reserved{h, j, own}
			items = append(items, it)
		}
	}
	return items
}

// claim takes what this process knows of a record: its own waiter, and those of the
// records that it has replaced, which end like it. Earlier ones that it has not replaced were
// dealt with by another process, or are part of it: nobody here can tell.
func (f *feed) claim(r *queue.Record) (all []*local, own *local) {
	all = f.locals.take(r.Key, f.appender.adder, &r.From)
	if n := len(all); n > 0 && all[n-1].number == r.From.Number && all[n-1].index == r.From.Index {
		own = all[n-1]
	}
	if r.Replaces() {
		return all, own
	}
	var others []item
	for _, l := range all {
		if l != own {
			others = append(others, item{Key: r.Key, Value: l.value})
		}
	}
	f.tell(others, ErrElsewhere)
	if own == nil {
		return nil, nil
	}
	return []*local{own}, own
}
