package outbox

import (
	"time"

	"github.com/go-azsearch/azsearch/internal/relay"
)

// lease is this relay's lease on a range. Senders read it.
type lease struct {
	relay.Lease

	part  uint8
	epoch int64
	terms *relay.Terms
}

// until returns how much longer a request may run.
func (l *lease) until() time.Duration { return l.terms.Until(&l.Lease, time.Now()) }

// hold is a range, with the lease on it if this relay has one. The loop owns it.
type hold struct {
	lease    *lease // nil: none
	draining bool
	cut      time.Time // time of the last cut-off request of the range
	sent     int       // actions that the sender has; both also from earlier leases
}

// holds are all ranges.
type holds struct {
	parts       [ranges]hold
	gens        [ranges]uint32 // generation of this relay's lease on each; 0: no lease
	last        uint32
	terms       *relay.Terms
	unknownWait time.Duration // 0: no request is applied late
	withdraw    bool          // the sender may have actions of revoked leases
	gifts       []gift
	owed        []gift // the pool has failed to give them away
	turn        int    // the last range that was drained
}

// extend records that a lease lasts until end. A new lease gets a generation.
func (h *holds) extend(part int, epoch int64, end time.Time) {
	p := &h.parts[part]
	if p.lease == nil || p.lease.epoch != epoch {
		h.last++
		*p = hold{lease: &lease{part: uint8(part), epoch: epoch, terms: h.terms}, cut: p.cut, sent: p.sent}
		h.gens[part] = h.last
	}
	p.lease.Extend(&end)
	if !p.draining {
		p.lease.Keep()
	}
}

// lose records the end of a lease.
func (h *holds) lose(part int) {
	p := &h.parts[part]
	p.lease.End()
	*p, h.gens[part] = hold{cut: p.cut, sent: p.sent}, 0
}

// drain starts giving a range away.
func (h *holds) drain(part int) {
	p := &h.parts[part]
	p.draining, h.withdraw = true, true
	p.lease.GiveBack()
}

// give ends the lease on a range. The sender must have no actions of it.
func (h *holds) give(part int, now time.Time) {
	p := &h.parts[part]
	g := gift{part: part, epoch: p.lease.epoch}
	if !p.cut.IsZero() {
		g.wait = max(0, p.cut.Add(h.unknownWait).Sub(now))
	}
	h.gifts = append(h.gifts, g)
	h.lose(part)
}

// cut records that a request with an action of a lease was cut off, which may be an earlier one of this relay.
func (h *holds) cut(of *lease, now time.Time) { h.parts[of.part].cut = now }

// next returns the next time at which a lease ends, or is too short for another request, so that the loop must act.
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

// count returns how many ranges are held, and how many of them are being given away.
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

// mask returns a bit mask of the ranges that may be read.
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

// share returns the fair share of all ranges for the member with this rank.
func share(all, members, rank int) int {
	n := all / members
	if rank < all%members {
		n++
	}
	return n
}

// surplus returns the ranges to give away so that want remain: those below the last one given away, so that a probing
// relay does not get the same range twice in a row.
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
