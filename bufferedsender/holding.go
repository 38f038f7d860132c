package bufferedsender

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/internal/relay"
)

// holding is a reserved key whose records are in the buffer.
type holding struct {
	lease     queue.Lease
	lasts     relay.Lease
	terms     *relay.Terms
	requested atomic.Bool // a suspect that was marked

	// Guarded by the feed's lock.
	left   int // records without an outcome
	ends   []relay.Verdict
	bytes  int
	locals [][]*local // by record; the last one of each is the record's own, if it has one
	reason string     // why a record was refused

	sent    bool // a record has been in a request
	probe   bool // a failed probe; another key is next, see aside
	unknown bool // the last request that was cut off may still be applied
	again   bool // a document that goes back may have been applied

	// Storage of ends and locals for a key with one record, the usual case.
	oneEnd   [1]relay.Verdict
	oneLocal [1][]*local
}

func newHolding(l queue.Lease, terms *relay.Terms, end *time.Time) *holding {
	h := &holding{lease: l, terms: terms, left: len(l.Records)}
	if h.ends, h.locals = h.oneEnd[:], h.oneLocal[:]; len(l.Records) != 1 {
		h.ends, h.locals = make([]relay.Verdict, len(l.Records)), make([][]*local, len(l.Records))
	}
	for i := range l.Records {
		h.bytes += len(l.Records[i].Body)
	}
	h.lasts.Extend(end)
	return h
}

// name returns the lease without its records.
func (h *holding) name() queue.Lease { return queue.Lease{Key: h.lease.Key, Token: h.lease.Token} }

// maybe reports whether a record may have been applied by an earlier holder, or by this process before it gave the key
// back. For a key without a document only an expired lease counts, because it is also released if the Loader does not
// return the key.
func (h *holding) maybe(r *queue.Record) bool {
	return h.lease.Expired > 0 || h.lease.Tries > 0 && r.Op != ""
}

// end returns how to settle the lease once all records have outcomes.
func (h *holding) end(unknownWait time.Duration) queue.End {
	done, v := relay.Settle(h.ends)
	e := queue.End{Lease: h.name(), Fate: queue.Commit}
	if h.unknown {
		e.Uncertain = unknownWait
	}
	switch v {
	case relay.Confirmed:
		return e
	case relay.Refused:
		e.Done, e.Fate, e.Reason = done, queue.Park, h.reason
	default:
		if e.Done, e.Fate, e.Again = done, queue.Release, h.again; h.sent {
			e.After = afterSent
		}
	}
	return e
}

// reserved links an item of the buffer to its lease.
type reserved struct {
	holding *holding
	record  int
	own     *local // state kept by this process; nil if another process appended the record
}

// goesBack reports whether an item returns to the queue when it is withdrawn or Close gives it up.
func (f *feed) goesBack(v *payload) bool {
	return v.goesBack() || v.from.holding != nil && f.stopped.Load()
}

// goesBack reports whether the lease of an item is being given back.
func (v *payload) goesBack() bool { return v.from.holding != nil && v.from.holding.lasts.GoesBack() }

// giveBack marks the lease of an item to be given back, if it has one.
func (v *payload) giveBack() {
	if v.from.holding != nil {
		v.from.holding.lasts.GiveBack()
	}
}

// detach lets an action of the queue be sent although its caller is gone, and reports whether the action is from the
// queue. It may have replaced actions of other callers, so it cannot be withdrawn. Its caller has already got an
// unknown outcome.
func (v *payload) detach() bool {
	if v.from.holding == nil {
		return false
	}
	v.waiter = nil
	return true
}

// fateOf maps the outcome of a record to a verdict.
func fateOf(s *settlement) relay.Verdict {
	switch {
	case s.Outcome == publisher.Completed:
		return relay.Confirmed
	case s.Outcome == publisher.Returned || s.Outcome == publisher.Unsent:
		return relay.Returned
	case s.Withdrawn || s.Kept:
		return relay.Confirmed // withdrawn on purpose, or kept as a dead letter
	default:
		return relay.Refused
	}
}

// holdings are the reserved keys in the buffer. The feed's lock guards them.
type holdings struct {
	all     map[*holding]struct{}
	records int
	bytes   int
}

func (hs *holdings) add(h *holding) {
	hs.all[h] = struct{}{}
	hs.records += h.left
	hs.bytes += h.bytes
}

func (hs *holdings) remove(h *holding) {
	delete(hs.all, h)
	hs.records -= h.left
	hs.bytes -= h.bytes
}

// untried reports whether a held key could be the next probe, or is on its way back.
func (hs *holdings) untried() bool {
	for h := range hs.all {
		if !h.sent {
			return true
		}
	}
	return len(hs.all) > 1
}

// giveBack marks the selected holdings to be given back and returns how many there are.
func (hs *holdings) giveBack(which func(*holding) bool) (n int) {
	for h := range hs.all {
		if which(h) {
			h.lasts.GiveBack()
			n++
		}
	}
	return n
}

// A lease is extended after each fifth of its length, and sooner after a failure. Its last tenth is a margin for clock
// differences, in which no request may be in flight.
const (
	longestLease = 12 * time.Second
	leaseExtends = 5
	leaseMargin  = 10
)

// extend extends the leases of held keys. It runs on the goroutine of a timer.
func (f *feed) extend() {
	if f.hangs() {
		f.giveBack()
	}
	f.mu.Lock()
	if n := f.restedAside(); n > 0 {
		f.takeBack(n)
		defer f.wake()
	}
	if len(f.held.all)+len(f.ends)+len(f.aside) == 0 || f.unwatch == nil {
		f.timers.extend = nil
		f.mu.Unlock()
		return
	}
	holdings := make([]*holding, 0, len(f.held.all))
	leases := make([]queue.Lease, 0, len(f.held.all)+len(f.ends))
	now, length := time.Now(), f.wanted.For
	for h := range f.held.all { // except those reserved or extended recently
		if !h.lasts.Ended() && h.lasts.Left(now) <= length-length/leaseExtends {
			holdings, leases = append(holdings, h), append(leases, h.name())
		}
	}
	for i := range f.ends { // until they are settled
		leases = append(leases, f.ends[i].Lease)
	}
	for i := range f.aside {
		leases = append(leases, f.aside[i].end.Lease)
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(f.ctx, length/2)
	defer cancel()
	end, next := now.Add(length), length/leaseExtends
	var lost []queue.Lease
	var err error
	if len(leases) > 0 {
		lost, err = f.queue.Extend(ctx, length, leases...)
		f.tally.silent.note(err)
	}
	if err != nil {
		f.warn("azsearch: leases not extended", err)
		next = length / (4 * leaseExtends)
	} else {
		f.extended(holdings, lost, &end)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timers.extend = nil; f.unwatch != nil {
		f.timers.extend = time.AfterFunc(next, f.extend)
	}
}

// leaseName identifies a lease.
type leaseName struct {
	key   string
	token queue.ID
}

func nameOf(l *queue.Lease) leaseName { return leaseName{l.Key, l.Token} }

func leaseSet(leases []queue.Lease) map[leaseName]bool {
	set := make(map[leaseName]bool, len(leases))
	for i := range leases {
		set[nameOf(&leases[i])] = true
	}
	return set
}

func (f *feed) extended(holdings []*holding, lost []queue.Lease, end *time.Time) {
	gone := leaseSet(lost)
	f.mu.Lock()
	for _, h := range holdings {
		if _, held := f.held.all[h]; held && gone[nameOf(&h.lease)] {
			h.lasts.End()
			f.tally.stale.Add(1)
			continue
		}
		h.lasts.Extend(end)
	}
	f.mu.Unlock()
	if len(lost) > 0 {
		// A lease in lost that is not held any more was settled by this process.
		f.s.publisher.Sweep(f.s.gone)
	}
}
