package book

import (
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// advance ends leases that have run out, and makes delayed keys due.
func (b *Book[R]) advance(now time.Time) {
	b.shrink()
	at := b.instant(now)
	for len(b.leases.items) > 0 {
		i := b.leases.items[0]
		n := b.nodes.at(i)
		if n.more.until > at {
			break
		}
		b.runOut(n, i, now)
		b.ripe = true
	}
	for len(b.delayed.items) > 0 {
		i := b.delayed.items[0]
		n := b.nodes.at(i)
		if n.more.dueAt() > at {
			break
		}
		b.settleIn(n, i, now)
		b.ripe = true
	}
}

// Ripe reports whether time has made keys due since its last call. Any method may make keys due, even one that only
// counts, so watchers must be woken.
func (b *Book[R]) Ripe() bool {
	ripe := b.ripe
	b.ripe = false
	return ripe
}

// runOut ends an expired lease.
func (b *Book[R]) runOut(n *node[R], i int32, now time.Time) {
	m := n.more
	alone := m.requested && !m.from.by.company
	if m.deaths == 0 || m.deaths == 1 && m.requested || alone {
		m.deaths++
	}
	m.quiet = max(m.quiet, m.until.after(m.uncertain))
	b.unlease(n)
	m.expired++
	b.counts.expired++
	if recs := b.commit(n, 0); alone && m.deaths >= queue.MaxDeaths {
		b.park(n, recs, m.leasedPlace, now, fmt.Sprintf("%d holders died with it, the last one with nothing else", m.deaths))
	} else {
		b.putBack(n, recs)
	}
	b.settleIn(n, i, now)
}

// RunOutAll ends all leases because their holder has died. The keys are withheld for the Uncertain of their
// reservations.
func (b *Book[R]) RunOutAll(now time.Time) {
	b.advance(now)
	b.emptying = longAgo
	for _, i := range b.leases.items {
		b.nodes.at(i).more.until = b.instant(now)
	}
	b.advance(now)
}

// Next returns the next time at which a key becomes due without a call, false if there is none.
func (b *Book[R]) Next(now time.Time) (time.Time, bool) {
	next := never
	if len(b.leases.items) > 0 {
		next = b.nodes.at(b.leases.items[0]).more.until
	}
	if len(b.delayed.items) > 0 {
		next = min(next, b.nodes.at(b.delayed.items[0]).more.dueAt())
	}
	if b.emptying > b.instant(now) {
		next = min(next, b.emptying)
	}
	if next == never {
		return time.Time{}, false
	}
	return b.time(next), true
}
