package book

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Settle ends leases. It returns the indexes of the ends whose leases had ended before.
func (b *Book[R]) Settle(now time.Time, ends []queue.End) (stale []int) {
	b.advance(now)
	for i := range ends {
		e := &ends[i]
		n, at := b.lookup(b.hash(e.Lease.Key))
		if n == nil || !n.isLeased() || n.more.from.token != e.Lease.Token {
			stale = append(stale, i)
			continue
		}
		b.end(n, at, now, e)
	}
	b.counts.stale += int64(len(stale))
	return stale
}

// Extend makes leases last until now + d. It returns the indexes of leases that had ended before.
func (b *Book[R]) Extend(now time.Time, d time.Duration, leases []queue.Lease) (lost []int) {
	b.advance(now)
	for i := range leases {
		n, _ := b.lookup(b.hash(leases[i].Key))
		if n == nil || !n.isLeased() || n.more.from.token != leases[i].Token {
			lost = append(lost, i)
			continue
		}
		n.more.until = b.instant(now).after(d)
		n.more.requested = n.more.requested || leases[i].Requested
		_, at := n.at.split()
		b.fix(&b.leases, at)
	}
	b.counts.stale += int64(len(lost))
	return lost
}

// end ends the lease of a key.
func (b *Book[R]) end(n *node[R], at int32, now time.Time, e *queue.End) {
	m := n.more
	b.unlease(n)
	if e.Uncertain > 0 {
		m.quiet = b.instant(now).after(e.Uncertain)
	}
	done := e.Done
	if e.Fate == queue.Commit {
		done = len(m.leased)
	}
	rest := b.commit(n, min(done, len(m.leased)))
	switch {
	case len(rest) == 0:
		b.pardon(n)
	case e.Fate == queue.Release:
		if e.Again {
			m.tries++
		}
		if e.After > 0 {
			m.due = b.instant(now).after(e.After)
		}
		b.putBack(n, rest)
	default:
		b.park(n, rest, m.leasedPlace, now, e.Reason)
	}
	b.settleIn(n, at, now)
}

// unlease removes the key from its reservation. Its records stay in leased.
func (b *Book[R]) unlease(n *node[R]) {
	m := n.more
	b.leave(n)
	b.leased--
	b.ungen(m.leasedGen)
	r := m.from
	m.from = nil
	if n.isSuspect() {
		r.by.suspects--
	}
	if r.by.leases--; r.by.leases == 0 {
		delete(b.holders, r.by.id)
	}
	if r.live--; r.live == 0 {
		delete(b.reservations, r.token)
	}
}

func (b *Book[R]) ungen(gen uint32) {
	if b.gens[gen]--; b.gens[gen] == 0 {
		delete(b.gens, gen)
	}
}

// commit drops the first done leased records and returns the others.
func (b *Book[R]) commit(n *node[R], done int) (rest []Rec[R]) {
	m := n.more
	for i := range m.leased[:done] {
		b.letGo(m.leased[i].Ref)
	}
	rest = m.leased[done:]
	m.leased = nil
	return rest
}

// pardon resets the counts that make a key a suspect.
func (b *Book[R]) pardon(n *node[R]) {
	m := n.more
	m.expired, m.deaths, m.tries = 0, 0, 0
	b.forgetReplaced(n)
}

// putBack puts records in front of the pile, with the place that they had, even if that of the pile is earlier: the
// result must not depend on whether an Append comes before or after the end of the lease is detected.
func (b *Book[R]) putBack(n *node[R], recs []Rec[R]) {
	m := n.more
	p, gen := m.leasedPlace, m.leasedGen
	if n.waits() {
		b.ungen(n.gen)
		gen = min(gen, n.gen)
	} else {
		b.waiting++
	}
	if n.waits() && n.first.Replaces {
		for i := range recs {
			b.letGo(recs[i].Ref)
		}
		b.counts.replaced += int64(len(recs))
		p = p.ofClass(n.place.class())
	} else {
		all := slices.Clone(recs)
		b.eachWaiting(n, func(r *Rec[R]) { all = append(all, *r) })
		if n.waits() {
			p = p.withClass(n.place.class())
		}
		n.first, m.rest = all[0], all[1:]
	}
	n.place, n.gen = p, gen
	b.gens[gen]++
}

// park parks records. Waiting records of the key wait behind them, unless they replace them.
func (b *Book[R]) park(n *node[R], recs []Rec[R], at place, now time.Time, reason string) {
	m := n.extra()
	if n.waits() {
		b.ungen(n.gen) // records behind parked ones count as settled
	}
	m.parked, m.parkedPlace, m.parkedAt = recs, at, now.UnixMilli()
	b.say(&m.reason, reason)
	m.due = 0
	b.parked++
	b.parkedBytes += bytesOf(recs)
	if !n.waits() || !n.first.Replaces {
		return
	}
	first := n.first
	rest := m.rest
	n.first, m.rest = Rec[R]{}, nil
	b.counts.replaced += int64(b.unpark(n))
	n.first, m.rest = first, rest
	b.gens[n.gen]++
}

// settleIn puts a key into the heap from which it will be taken next, or removes it from the book.
func (b *Book[R]) settleIn(n *node[R], at int32, now time.Time) {
	vacant := n.vacant()
	if m := n.more; m != nil && m.vacant != vacant {
		if m.vacant = vacant; vacant {
			b.quiets++
		} else {
			b.quiets--
		}
	}
	var to kind
	switch later := n.more != nil && n.more.dueAt() > b.instant(now); {
	case n.isLeased():
		return
	case vacant && !later:
		b.leave(n)
		if n.more != nil {
			b.quiets--
		}
		b.forget(n, at)
		return
	case n.isParked():
		b.leave(n)
		return
	case later:
		to = inDelayed
	case n.isSuspect():
		if to = inSuspects; n.more.deaths > 1 {
			to = inLone
		}
	default:
		to = inReady
		n.simplify()
	}
	if k, i := n.at.split(); n.at != nowhere && k == to {
		b.fix(b.heapOf(to), i)
		return
	}
	b.leave(n)
	b.push(to, at)
}

// simplify frees the memory that a simple key does not need.
func (n *node[R]) simplify() {
	if m := n.more; m != nil && len(m.rest) == 0 && m.replaced == nil && m.expired == 0 && m.tries == 0 {
		n.more = nil
	}
}
