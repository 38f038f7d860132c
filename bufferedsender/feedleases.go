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

// reported records the outcome of a reserved record after the handlers have run. It runs on the publisher goroutine.
func (f *feed) reported(s *settlement, err error) {
	v := &s.Item.Value
	h := v.from.holding
	if h == nil {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	end := fateOf(s)
	f.mu.Lock()
	h.sent = h.sent || s.Item.Attempt > 0
	more := h.left > 1
	f.mu.Unlock()
	unknown := s.Cut || s.Unknown && !s.Item.Unknown
	defer f.ended(v, end, unknown, reason) // also if a callback ends the goroutine
	if end == relay.Refused && more {
		// Later records of the key stay in the queue, parked behind this one, and are not sent.
		h.lasts.GiveBack()
		f.s.publisher.Sweep(f.s.gone)
	}
	if s.Outcome != publisher.Returned { // also for records that Close gave up: their handlers have run
		all := h.locals[v.from.record]
		h.locals[v.from.record] = nil
		eachOnce(0, len(all), func(i int) { f.follow(all[i], v, s, err) })
	}
}

// follow gives a record that another one replaced the outcome of that one.
func (f *feed) follow(l *local, v *payload, s *settlement, err error) {
	if l == v.from.own {
		return
	}
	end := *s
	it := *s.Item
	it.Value, it.Parts = l.value, nil
	f.s.observer.fill(&it.Value)
	end.Item, end.Folded, end.Superseded, end.Carrier = &it, true, err == nil, nil
	end.Unknown = end.Unknown || err != nil
	f.s.observer.notify(&end, err)
}

// eachOnce calls do for each number. If do ends the goroutine, it continues with the next number.
func eachOnce(from, n int, do func(i int)) {
	defer func() {
		if from < n {
			eachOnce(from, n, do)
		}
	}()
	for from < n {
		from++
		do(from - 1)
	}
}

// ended records the outcome of a record. After the last record of its key the lease can be settled, which the next
// round does.
func (f *feed) ended(v *payload, end relay.Verdict, unknown bool, reason string) {
	h := v.from.holding
	if end == relay.Returned {
		defer f.locals.tell(f.locals.giveBack(h.lease.Key, h.locals[v.from.record]))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h.ends[v.from.record] = end
	h.unknown = h.unknown || unknown
	h.again = h.again || unknown && end == relay.Returned && h.lease.Records[v.from.record].Op != ""
	if end == relay.Refused {
		h.reason = reason
	}
	f.held.records--
	if h.left--; h.left > 0 {
		return
	}
	f.held.remove(h)
	f.again = true
	if h.lasts.Ended() {
		return
	}
	e := h.end(f.wanted.Uncertain)
	if e.Fate == queue.Park {
		f.notePark(&h.lease.Records[e.Done])
	}
	if h.probe && e.Fate == queue.Release && h.lease.Expired == 0 && f.probes(f.s.publisher.Condition()) {
		f.setAside(e)
		return
	}
	if cap(f.ends) == 0 {
		f.ends = make([]queue.End, 0, min(len(f.held.all)+1, queue.MaxCall))
	}
	f.ends = append(f.ends, e)
}

// aside is a key whose probe failed. Its lease is kept, without its records, so that the next probe is another key:
// otherwise a few bad documents at the head of the queue would be the only probes. The key goes back when sending
// resumes, when the queue has no other key, or after asideFor: if the service answers no request of this sender, other
// processes get its keys.
type aside struct {
	end   queue.End
	since time.Time
}

const (
	asideFor  = 2 * time.Minute
	mostAside = 64
)

// setAside keeps the lease of a failed probe. Called with the lock.
func (f *feed) setAside(e queue.End) {
	e.After = 0
	f.aside = append(f.aside, aside{e, time.Now()})
	if len(f.aside) > mostAside {
		f.takeBack(1)
	}
}

// takeBack gives back the first n keys that were set aside. Called with the lock.
func (f *feed) takeBack(n int) {
	for _, a := range f.aside[:n] {
		a.end.Uncertain = max(0, a.end.Uncertain-time.Since(a.since))
		f.ends = append(f.ends, a.end)
	}
	f.aside, f.again = slices.Delete(f.aside, 0, n), f.again || n > 0
}

// restedAside returns how many keys were set aside longer than asideFor ago. Called with the lock.
func (f *feed) restedAside() (n int) {
	for n < len(f.aside) && time.Since(f.aside[n].since) > asideFor {
		n++
	}
	return n
}

// probes reports whether sending is suspended while probes test whether it can resume.
func (f *feed) probes(c publisher.Condition) bool {
	return c.State == publisher.Ready || c.State < publisher.Paused && f.isHeld(c)
}

// afterSent delays a key that is given back after its request failed.
const afterSent = time.Second

// delivered is called after a batch was reported.
func (f *feed) delivered() {
	f.mu.Lock()
	work := f.again
	f.mu.Unlock()
	if work {
		f.wake()
	}
}

// conditionChanged gives held keys back when sending is suspended, and resumes reserving when it is not. It runs on the
// publisher goroutine. Between probes the key that waits to be the next one stays: it would only be reserved again.
func (f *feed) conditionChanged(from, to publisher.Condition) {
	between := from.State == publisher.Ready && f.probes(to)
	if to.State == publisher.Closing && to.Held() != nil || to.State != publisher.Ready && f.isHeld(to) && !between {
		f.giveBack()
	}
	if !f.probes(to) {
		f.mu.Lock()
		f.takeBack(len(f.aside))
		f.mu.Unlock()
	}
	f.wake()
}

// cameBack records that a request did not settle an item. It runs on the publisher goroutine.
func (f *feed) cameBack(v *payload) {
	h := v.from.holding
	f.mu.Lock()
	h.sent = true
	probe := len(f.held.all) == 1
	f.mu.Unlock()
	if probe && f.isHeld(f.s.publisher.Condition()) {
		f.wake() // the next probe should be another key
	}
}

// giveBackTried gives back the keys that were probes, except those in not.
func (f *feed) giveBackTried(not []*holding) {
	f.mu.Lock()
	n := f.held.giveBack(func(h *holding) bool {
		h.probe = h.sent && !slices.Contains(not, h)
		return h.probe
	})
	f.mu.Unlock()
	if n > 0 {
		f.s.publisher.Sweep(f.s.gone)
	}
}

// giveBack returns all records to the queue that are not in a request.
func (f *feed) giveBack() {
	f.mu.Lock()
	n := f.held.giveBack(func(*holding) bool { return true })
	if f.adding != nil {
		f.adding()
	}
	f.mu.Unlock()
	if n > 0 {
		f.s.publisher.Sweep(f.s.gone)
	}
}

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
