package outbox

import (
	"time"

	"github.com/go-azsearch/azsearch/internal/relay"
)

// lease is the time for which this relay has a range. Senders read it.
type lease struct {
	relay.Lease

	part  uint8
	epoch int64
	terms *relay.Terms
}

// until is for how much longer a request may go on.
func (l *lease) until() time.Duration { return l.terms.Until(&l.Lease, time.Now()) }

// hold is a range, and the lease on it if this relay has one. The loop owns it.
type hold struct {
	lease    *lease // nil: none
	draining bool
	cut      time.Time // when a request of the range was cut off last
	sent     int       // actions that the sender has, also under earlier leases
}

// holds are all ranges.
type holds struct {
	parts       [ranges]hold
	gens        [ranges]uint32 // which lease of this relay each has; 0: none
	last        uint32
	terms       *relay.Terms
	unknownWait time.Duration // 0: nothing is applied later
	withdraw    bool          // leases were revoked of which the sender may have actions
	gifts       []gift
	turn        int // the range that was drained last
}

// extend notes that a lease lasts until end. One that is new gets a generation.
func (h *holds) extend(part int, epoch int64, end time.Time) {
	p := &h.parts[part]
	if p.lease == nil || p.lease.epoch != epoch {
		h.last++
		*p = hold{lease: &lease{part: uint8(part), epoch: epoch, terms: h.terms}, sent: p.sent}
		h.gens[part] = h.last
	}
	p.lease.Extend(&end)
	if !p.draining {
		p.lease.Keep()
	}
}

// lose notes that a lease has ended.
func (h *holds) lose(part int) {
	p := &h.parts[part]
	p.lease.End()
	*p, h.gens[part] = hold{sent: p.sent}, 0
}

// drain begins to give a range away.
func (h *holds) drain(part int) {
	p := &h.parts[part]
	p.draining, h.withdraw = true, true
	p.lease.GiveBack()
}

// give ends the lease on a range of which the sender has nothing.
func (h *holds) give(part int, now time.Time) {
	p := &h.parts[part]
	g := gift{part: part, epoch: p.lease.epoch}
	if !p.cut.IsZero() {
		g.wait = max(0, p.cut.Add(h.unknownWait).Sub(now))
	}
	h.gifts = append(h.gifts, g)
	h.lose(part)
}

// cut notes that a request with an action of a lease was cut off.
func (h *holds) cut(of *lease, now time.Time) {
	if p := &h.parts[of.part]; p.lease == of {
		p.cut = now
	}
}

// next is when a lease ends, or does not last for another request, and the loop has to know.
func (h *holds) next(now time.Time) (next time.Time) {
	for i := range h.parts {
		p := &h.parts[i]
		if p.lease == nil {
			continue
		}
		left := p.lease.Left(now)
		if low := left - h.terms.Margin - h.terms.Shortest; low >= 0 {
			left = low + 1
		}
		if at := now.Add(left); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
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

// open reports whether another request may be made for a range.
func (h *holds) open(part uint8, now time.Time) bool {
	p := &h.parts[part]
	return p.lease != nil && !p.draining && h.terms.Lasts(&p.lease.Lease, now)
}

// share is how many of so many ranges belong to the relay that is the rank-th of the members.
func share(all, members, rank int) int {
	n := all / members
	if rank < all%members {
		n++
	}
	return n
}

// surplus are the ranges to give away so that want remain: those below the one that was given away last, so that none
// goes to a relay that probes twice in a row.
func (h *holds) surplus(want int) (parts []int) {
	held, draining := h.count()
	held -= draining
	for i := 0; i < ranges && held > want; i++ {
		h.turn = (h.turn + ranges - 1) % ranges
		if p := &h.parts[h.turn]; p.lease != nil && !p.draining {
			parts = append(parts, h.turn)
			held--
		}
	}
	return parts
}
