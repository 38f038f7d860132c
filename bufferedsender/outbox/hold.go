package outbox

import (
	"sync/atomic"
	"time"
)

// lease is the time for which this relay has a range: from the acquisition until it ends, is
// lost or given away. It never comes back: an action that was made under a lease is not sent
// under a later one, when another relay may have sent what is newer. Senders read it.
type lease struct {
	part   uint8
	epoch  int64
	margin time.Duration
	span   atomic.Pointer[span]
	// revoked has what is not in a request taken back: the lease is about to end, or to be
	// given away.
	revoked atomic.Bool
}

// span is how long a lease lasts, by both clocks: a machine that sleeps stops the monotonic
// one, and somebody who sets the time moves the other.
type span struct{ end time.Time }

// left is how much of it is left, by the clock that says less.
func (s *span) left(now time.Time) time.Duration {
	if s == nil {
		return 0
	}
	return min(s.end.Sub(now), s.end.Round(0).Sub(now.Round(0)))
}

// until is for how much longer a request may go on.
func (l *lease) until() time.Duration { return l.span.Load().left(time.Now()) - l.margin }

// hold is a range, and the lease on it if this relay has one. The loop owns it.
type hold struct {
	lease    *lease // nil: none
	gen      uint32 // which lease of this relay it is; 0: none
	draining bool
	cut      time.Time // when a request of the range was cut off last
}

// holds are all ranges.
type holds struct {
	parts  [ranges]hold
	gens   [ranges]uint32 // of parts, for the desk
	last   uint32
	margin time.Duration
}

// extend notes that a lease lasts until end. One that is new gets a generation.
func (h *holds) extend(part int, epoch int64, end time.Time) {
	p := &h.parts[part]
	if p.lease == nil || p.lease.epoch != epoch {
		h.last++
		*p = hold{lease: &lease{part: uint8(part), epoch: epoch, margin: h.margin}, gen: h.last}
		h.gens[part] = p.gen
	}
	p.lease.span.Store(&span{end})
	p.lease.revoked.Store(p.draining)
}

// lose notes that a lease has ended.
func (h *holds) lose(part int) {
	p := &h.parts[part]
	p.lease.span.Store(nil)
	p.lease.revoked.Store(true)
	*p, h.gens[part] = hold{}, 0
}

// drain begins to give a range away.
func (h *holds) drain(part int) {
	p := &h.parts[part]
	p.draining = true
	p.lease.revoked.Store(true)
}

// count is how many ranges are held, and how many of them are being given away.
func (h *holds) count() (held, draining int) {
	for i := range h.parts {
		if h.parts[i].lease != nil {
			held++
		}
		if h.parts[i].draining {
			draining++
		}
	}
	return held, draining
}

// mask has a bit for each range of which rows may be read.
func (h *holds) mask() (m int64) {
	for i := range h.parts {
		if p := &h.parts[i]; p.lease != nil && !p.draining {
			m |= 1 << i
		}
	}
	return m
}

// open reports whether a request that takes so long may still be made for a range.
func (h *holds) open(part uint8, takes time.Duration) bool {
	p := &h.parts[part]
	return p.lease != nil && !p.draining && p.lease.until() >= takes
}

// share is how many ranges belong to the relay that is the rank-th of so many.
func share(members, rank int) int {
	n := ranges / members
	if rank < ranges%members {
		n++
	}
	return n
}

// surplus are the ranges to give away so that want remain, those with the highest numbers.
func (h *holds) surplus(want int) (parts []int) {
	held, draining := h.count()
	held -= draining
	for i := ranges - 1; i >= 0 && held > want; i-- {
		if p := &h.parts[i]; p.lease != nil && !p.draining {
			parts = append(parts, i)
			held--
		}
	}
	return parts
}
